//! How stiff a system is at a point, before any step was taken.

use super::control::{eval_rhs, inverse_weights, wrms};
use super::{OdeSystem, Options, Stats};

/// The dominant eigenvalue of ∂f/∂x as the power method sees it, in the weighted norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    /// Estimate of the spectral radius.
    pub radius: f64,
    /// Rayleigh quotient of the last iterate: near −radius if the dominant eigenvalue is real and damped, small beside
    /// it if the motion oscillates.
    pub rayleigh: f64,
}

const ITERATIONS: usize = 12;

/// Nonlinear power method (as in Sommeijer, Shampine and Verwer's RKC): about a dozen evaluations, no Jacobian.
/// `None` if f cannot be evaluated near (t, x) or does not depend on x.
pub fn spectrum(sys: &mut dyn OdeSystem, opts: &Options, t: f64, x: &[f64]) -> Option<Spectrum> {
    let n = x.len();
    if n == 0 {
        return None;
    }
    let v = || vec![0.0; n];
    let (mut w, mut f0, mut f1, mut direction, mut y) = (v(), v(), v(), v(), v());
    let mut stats = Stats::default();
    inverse_weights(opts, x, &mut w);
    eval_rhs(sys, &mut stats, t, x, &mut f0).ok()?;
    // Weighted so that every component takes part, with alternating signs: diffusion's stiff modes oscillate in space.
    for i in 0..n {
        direction[i] = (1.0 + (i % 7) as f64 / 7.0) * if i % 2 == 0 { 1.0 } else { -1.0 } / w[i];
    }
    let mut found: Option<Spectrum> = None;
    for _ in 0..ITERATIONS {
        // A perturbation of a tenth of a tolerance is small enough to be linear and large enough to be seen.
        let size = 0.1 / wrms(&direction, &w);
        if !size.is_finite() {
            break;
        }
        for i in 0..n {
            direction[i] *= size;
            y[i] = x[i] + direction[i];
            direction[i] = y[i] - x[i];
        }
        eval_rhs(sys, &mut stats, t, &y, &mut f1).ok()?;
        f1.iter_mut().zip(&f0).for_each(|(a, b)| *a -= b);
        let (before, after) = (wrms(&direction, &w), wrms(&f1, &w));
        let dot: f64 = (0..n).map(|i| direction[i] * f1[i] * w[i] * w[i]).sum::<f64>() / n as f64;
        if !(after > 0.0 && before > 0.0) {
            break;
        }
        let new = Spectrum { radius: after / before, rayleigh: dot / (before * before) };
        let settled = found.is_some_and(|old| (new.radius - old.radius).abs() < 0.02 * new.radius);
        found = Some(new);
        direction.copy_from_slice(&f1);
        if settled {
            break;
        }
    }
    found
}
