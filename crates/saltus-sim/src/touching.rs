//! Where a crossing function touches zero and goes back: `a >= 0` is true there, for one instant.
//!
//! What is integrated comes to zero within its errors only, so it touches if it comes closer than `close`, the weight of these errors,
//! from further away, and goes away again. The instant is that of the extremum; where that lies in an earlier step than the one in
//! which it turns out that the function goes back, the beginning of the latter, which cannot be told from it.
//!
//! All functions look at σ g, positive on the side that the function is on.

use saltus_solver::interp::substitute_affine;
use saltus_solver::roots::{
    CrossingOptions, Sign,
    generic::{GenericOptions, first_crossing_sampled},
    poly,
};

/// Within so many times `close` a function that ends a step may have come close in the next one, where `close` may be more.
const BESIDE: f64 = 4.0;

/// The first place in [a, 1] where σ g is below a level, or above if `up`.
fn leaves(c: &[f64], sigma: f64, level: f64, up: bool, a: f64) -> Option<f64> {
    let sign = if up { -sigma } else { sigma };
    let mut c: Vec<f64> = c.iter().map(|v| sign * v).collect();
    c[0] += if up { level } else { -level };
    substitute_affine(&mut c, 1.0 - a, a);
    let found = poly::first_crossing(&c, Sign::Positive, &CrossingOptions::default())?;
    Some(a + found.s_after * (1.0 - a))
}

/// Where in [a, b] a polynomial σ g ceases to fall.
fn lowest(c: &[f64], sigma: f64, a: f64, b: f64) -> f64 {
    let mut slope: Vec<f64> = c.iter().enumerate().skip(1).map(|(k, v)| -sigma * k as f64 * v).collect();
    if slope.is_empty() {
        return a;
    }
    substitute_affine(&mut slope, b - a, a);
    let found = poly::first_crossing(&slope, Sign::Positive, &CrossingOptions::default());
    found.map_or(b, |f| a + f.s_after * (b - a))
}

/// Where the polynomial Σ c_k s^k on [0, 1] first touches zero before it crosses it. `near`: whether it has come close in an earlier
/// step (within [`BESIDE`] times `close`), and whether it is at the end of this one.
pub(crate) fn polynomial(c: &[f64], sigma: f64, close: f64, crosses: Option<f64>, near: &mut bool) -> Option<f64> {
    let limit = crosses.unwrap_or(1.0);
    let came = std::mem::take(near);
    let mut from = 0.0;
    if sigma * c[0] <= 2.0 * close {
        let away = leaves(c, sigma, 2.0 * close, true, 0.0).filter(|s| *s < limit);
        if came {
            *near = away.is_none() && crosses.is_none();
            return away.map(|away| lowest(c, sigma, 0.0, away));
        }
        from = away?;
    }
    let Some(enters) = leaves(c, sigma, close, false, from).filter(|s| *s < limit) else {
        // The next step tells how close it comes, if it is on its way: what rises is not, least of all from a crossing.
        let slope: f64 = c.iter().enumerate().map(|(k, v)| k as f64 * v).sum();
        *near = crosses.is_none() && sigma * slope < 0.0 && sigma * poly::evaluate(c, 1.0) <= BESIDE * close;
        return None;
    };
    let away = leaves(c, sigma, 2.0 * close, true, enters).filter(|s| *s < limit);
    *near = away.is_none() && crosses.is_none();
    away.map(|away| lowest(c, sigma, enters, away))
}

/// The same for a function of which only values are known, on a stretch of time that ends where it crosses, if it does.
pub(crate) fn sampled(
    g: &mut dyn FnMut(f64) -> f64,
    sigma: f64,
    close: f64,
    (from, to): (f64, f64),
    crosses: bool,
    near: &mut bool,
) -> Option<f64> {
    let came = std::mem::take(near);
    let (first, last) = (sigma * g(from), sigma * g(to));
    let falls = last < sigma * g(to - 0.01 * (to - from));
    if came && first <= 2.0 * close {
        *near = !crosses && !(last > 2.0 * close);
        return (!crosses && last > 2.0 * close).then(|| lowest_seen(g, sigma, from, to));
    }
    let side = if sigma > 0.0 { Sign::Positive } else { Sign::Negative };
    let options = CrossingOptions { tol: close, touching: true, s_tol: 0.0 };
    // The proxy must be good to a small part of `close`.
    let limits = GenericOptions { fit_tol: 1e-13, ..Default::default() };
    let found = first_crossing_sampled(g, from, to, side, &options, &limits).crossing;
    // A dip beyond zero that is too shallow to be a crossing is a touch.
    let at = found.filter(|c| c.touching || !crosses).map(|c| c.s_after);
    let at = at.filter(|t| sigma * g(*t) <= 2.0 * close);
    // What has touched zero has come from further away, and gone away from it, before it crosses, too.
    let mut away = |a: f64, b: f64| (1..=8).any(|j| sigma * g(a + 0.125 * f64::from(j) * (b - a)) > 2.0 * close);
    let at = at.filter(|t| away(*t, from) && away(*t, to));
    // What is close to zero at the end may go on: the next step tells.
    let beside = if at.is_some() { 2.0 } else { BESIDE };
    *near = !crosses && first > 2.0 * close && (falls || last <= 2.0 * close) && last <= beside * close;
    at.filter(|_| !*near)
}

/// Where in [a, b] a function of which only values are known, with one minimum of σ g there, is lowest.
fn lowest_seen(g: &mut dyn FnMut(f64) -> f64, sigma: f64, mut a: f64, mut b: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let (mut c, mut d) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut at_c, mut at_d) = (sigma * g(c), sigma * g(d));
    for _ in 0..40 {
        if at_c <= at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - GOLDEN * (b - a);
            at_c = sigma * g(c);
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + GOLDEN * (b - a);
            at_d = sigma * g(d);
        }
    }
    0.5 * (a + b)
}

/// Where a function of which only values are known comes to zero to stay there for a while: until it goes back (it was found to touch
/// zero at `touches`), goes on to the other side (at `crosses`), or the stretch ends. `tiny` is its rounding; a while is a
/// thousandth of `step`.
pub(crate) fn arrival(
    g: &mut dyn FnMut(f64) -> f64,
    sigma: f64,
    tiny: f64,
    (from, to, step): (f64, f64, f64),
    touches: Option<f64>,
    crosses: Option<f64>,
) -> Option<f64> {
    let before = |t: f64| (t - 1e-3 * step).max(from);
    let rests = match (touches, crosses) {
        (Some(t), _) => t,
        (None, Some(t)) => before(t),
        (None, None) if g(to).abs() <= tiny => before(to),
        (None, None) => return None,
    };
    if !(g(rests).abs() <= tiny && sigma * g(from) > tiny) {
        return None;
    }
    let side = if sigma > 0.0 { Sign::Positive } else { Sign::Negative };
    let mut beyond = |t: f64| g(t) - sigma * tiny;
    let found = first_crossing_sampled(&mut beyond, from, rests, side, &Default::default(), &Default::default());
    let at = found.crossing.map(|c| c.s_after).filter(|t| rests - t > 1e-5 * (to - from))?;
    // What falls all the way to where it crosses is flat there (u⁵), and does not rest.
    let flat = crosses.is_some_and(|crosses| touches.is_none() && falls(g, sigma, at, crosses));
    (!flat).then_some(at)
}

/// Whether σ g falls all the way from a to b.
pub(crate) fn falls(g: &mut dyn FnMut(f64) -> f64, sigma: f64, a: f64, b: f64) -> bool {
    let values: Vec<f64> = (0..=8).map(|j| sigma * g(a + 0.125 * f64::from(j) * (b - a))).collect();
    values.windows(2).all(|v| v[0] > v[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas() {
        // −(s − 0.3)² touches; 1e-6 below it does within 1e-5, not within 1e-7.
        let parabola = |depth: f64| [-0.09 - depth, 0.6, -1.0];
        let at = |depth, close| polynomial(&parabola(depth), -1.0, close, None, &mut false);
        assert!((at(0.0, 1e-12).unwrap() - 0.3).abs() < 1e-9);
        assert!((at(1e-6, 1e-5).unwrap() - 0.3).abs() < 1e-9);
        assert_eq!(at(1e-6, 1e-7), None);
    }

    #[test]
    fn over_two_steps() {
        // −(s − 1.001)²: it comes close in one step and goes away in the next, where the extremum is.
        let mut near = false;
        assert_eq!(polynomial(&[-1.001f64.powi(2), 2.002, -1.0], -1.0, 1e-5, None, &mut near), None);
        assert!(near);
        let at = polynomial(&[-1e-6, 2e-3, -1.0], -1.0, 1e-5, None, &mut near).unwrap();
        assert!((at - 1e-3).abs() < 1e-9 && !near);
    }

    #[test]
    fn coming_to_zero_and_resting_there() {
        // (s − 1)³ up to 1, zero up to 2, then up or back.
        let g = |s: f64, after: f64| if s < 1.0 { (s - 1.0).powi(3) } else { after * (s - 2.0).max(0.0) };
        let arrives = |after, to, touches, crosses| {
            arrival(&mut |s: f64| g(s, after), -1.0, 1e-15, (0.0, to, to), touches, crosses).unwrap()
        };
        assert!((arrives(1.0, 3.0, None, Some(2.0)) - 1.0).abs() < 2e-5);
        assert!((arrives(-1.0, 3.0, Some(1.6), None) - 1.0).abs() < 2e-5);
        assert!((arrives(1.0, 1.9, None, None) - 1.0).abs() < 2e-5);
        // A flat crossing does not rest, however flat.
        assert_eq!(arrival(&mut |s: f64| (s - 1.0).powi(7), -1.0, 1e-15, (0.0, 3.0, 3.0), None, Some(1.0)), None);
        assert_eq!(arrival(&mut |s: f64| (s - 1.0).powi(3), -1.0, 1e-15, (0.0, 3.0, 3.0), None, Some(1.0)), None);
        // Nor does it where only the last of the step is looked at.
        let late = arrival(&mut |s: f64| (s - 1.0).powi(3), -1.0, 1e-15, (0.9999, 1.0, 1.0), None, None);
        assert_eq!(late, None);
    }

    #[test]
    fn a_touch_shortly_after_the_beginning() {
        // (s − 0.1)² begins a little further away than what counts as close.
        let mut near = false;
        let at = sampled(&mut |s: f64| (s - 0.1).powi(2), 1.0, 4e-3, (0.0, 1.0), false, &mut near).unwrap();
        assert!((at - 0.1).abs() < 0.05 && !near);
        // What ends a little further away than that may come closer in the next step.
        let at = sampled(&mut |s: f64| (s - 1.1).powi(2), 1.0, 4e-3, (0.0, 1.0), false, &mut near);
        assert!(at.is_none() && near);
    }

    #[test]
    fn coming_and_staying_is_no_touch() {
        // Zero from 0.5 on.
        let mut near = false;
        assert_eq!(sampled(&mut |s: f64| (s - 0.5).min(0.0), -1.0, 1e-6, (0.0, 1.0), false, &mut near), None);
        assert!(near);
        // −e^(−20 s) comes close and stays.
        let mut near = false;
        assert_eq!(sampled(&mut |s: f64| -(-20.0 * s).exp(), -1.0, 1e-6, (0.0, 1.0), false, &mut near), None);
        assert!(near);
        assert_eq!(sampled(&mut |s: f64| -(-20.0 - s).exp(), -1.0, 1e-6, (0.0, 1.0), false, &mut near), None);
    }
}
