//! The real Fourier transform, for any length (fast for products of small primes).

use super::{ExtArg, ExtDerivative, ExtResult, External, array, set_array};
use std::f64::consts::TAU;

/// Σ x_k exp(-2πi jk/n) for every j; `x` is read with a stride.
fn transform(x: &[f64], stride: usize, n: usize) -> Vec<(f64, f64)> {
    if n <= 1 {
        return vec![(x.first().copied().unwrap_or(0.0), 0.0); n];
    }
    let p = (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n);
    let m = n / p;
    let parts: Vec<Vec<(f64, f64)>> = (0..p).map(|r| transform(&x[r * stride..], stride * p, m)).collect();
    (0..n)
        .map(|j| {
            let mut sum = (0.0, 0.0);
            for (r, part) in parts.iter().enumerate() {
                let (a, b) = part[j % m];
                let (s, c) = (-TAU * ((r * j) % n) as f64 / n as f64).sin_cos();
                sum = (sum.0 + a * c - b * s, sum.1 + a * s + b * c);
            }
            sum
        })
        .collect()
}

/// Amplitudes and phases (rad); 0 if done, 1 for an odd length. As in the library a line is divided by the number of lines,
/// n/2 + 1, not by n/2.
fn real_fft(a: &mut [ExtArg]) -> ExtResult {
    let u = array(a, 0)?.1.to_vec();
    let n = u.len();
    if !n.is_multiple_of(2) || n == 0 {
        return Ok(1.0);
    }
    let f = transform(&u, 1, n);
    let lines = n / 2 + 1;
    let amplitudes: Vec<f64> = f[..lines].iter().map(|z| z.0.hypot(z.1) / lines as f64).collect();
    let phases: Vec<f64> = f[..lines].iter().map(|z| z.1.atan2(z.0)).collect();
    set_array(a, 4, &amplitudes)?;
    set_array(a, 5, &phases)?;
    Ok(0.0)
}

pub(super) static LIST: &[External] =
    &[External { symbol: "ModelicaFFT_kiss_fftr", call: real_fft, derivative: ExtDerivative::Differences }];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_lines() {
        let n = 60;
        let u: Vec<f64> = (0..n)
            .map(|k| {
                let t = TAU * f64::from(k) / f64::from(n);
                3.0 + 2.0 * (4.0 * t).cos() + 0.5 * (7.0 * t).sin()
            })
            .collect();
        let f = transform(&u, 1, n as usize);
        assert!((f[0].0 / 60.0 - 3.0).abs() < 1e-12);
        assert!((f[4].0 / 30.0 - 2.0).abs() < 1e-12 && f[4].1.abs() < 1e-10);
        assert!((f[7].1 / 30.0 + 0.5).abs() < 1e-12);
        assert!(f[5].0.hypot(f[5].1) < 1e-10);
    }

    #[test]
    fn amplitudes_are_per_line() {
        let u: Vec<f64> = (0..8).map(|k| (TAU * f64::from(k) / 4.0).cos()).collect();
        let reals = |v: &[f64]| ExtArg::Array { dims: vec![v.len()], data: v.to_vec() };
        let (work, room) = (reals(&[0.0; 34]), reals(&[0.0; 5]));
        let mut args = [reals(&u), ExtArg::Num(8.0), work, ExtArg::Num(34.0), reals(&[0.0; 5]), room];
        assert_eq!(real_fft(&mut args).unwrap(), 0.0);
        // Four samples' worth of amplitude over five lines.
        assert!((array(&args, 4).unwrap().1[2] - 0.8).abs() < 1e-12);
    }
}
