//! Nonlinear equations F(z) = 0.
//!
//! * [`newton`]: damped Newton with bounds and automatic scaling, the method for good guesses.
//! * [`solve`](mod@solve): the ladder for bad ones: Newton, Levenberg–Marquardt, dogleg, homotopies, multi-start;
//!   its report says what was tried.
//! * [`homotopy`]: predictor–corrector arclength continuation of H(z, λ) = 0 from λ = 0 to λ = 1.
//! * [`least_squares`]: minimum-norm Gauss–Newton for over- and under-determined systems, with ranks.
//! * [`simplicial`](mod@simplicial): piecewise-linear continuation, for residuals that are continuous and no more.
//! * [`piecewise`]: mode search for systems that are smooth only while a set of relations is locked.
//!
//! Everything works on slices; matrices are dense and column-major.

// NaN must fail these tests: `!(a < b)` is not `a >= b`.

pub mod dense;
pub mod homotopy;
pub mod least_squares;
pub mod newton;
pub mod piecewise;
pub mod simplicial;
pub mod solve;
pub(crate) mod trust;

pub use homotopy::{Homotopy, HomotopyFailure, HomotopyOptions, HomotopyReport, Reached, continuation, follow};
pub use least_squares::{LeastSquaresOptions, LeastSquaresReport, ResidualSystem, least_squares};
pub use newton::{NewtonFailure, NewtonOptions, NewtonReport, NewtonWork, Trouble, newton};
pub use piecewise::{PiecewiseOptions, PiecewiseOutcome, PiecewiseSystem, solve_piecewise};
pub use simplicial::{SimplicialFailure, SimplicialOptions, SimplicialReport, simplicial};
pub use solve::{Attempt, Method, SolveFailure, SolveOptions, SolveReport, solve};

/// The residual cannot be evaluated at this point (square root of a negative number, assertion, overflow).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DomainError;

impl std::fmt::Display for DomainError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the residual cannot be evaluated at this point")
    }
}

impl std::error::Error for DomainError {}

/// A square system F(z) = 0.
pub trait NonlinearSystem {
    /// The number of unknowns and of equations.
    fn dim(&self) -> usize;

    /// Writes F(z) to `r`. `Err` means z lies outside the domain of F; a non-finite entry means the same.
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError>;

    /// Writes ∂F/∂z, column-major n × n, to `jac`. `Ok(false)` means there is none: finite differences are used.
    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        let _ = (z, jac);
        Ok(false)
    }
}

/// A [`NonlinearSystem`] made of a closure; its Jacobian comes from finite differences.
pub struct FnSystem<F> {
    dim: usize,
    f: F,
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>> FnSystem<F> {
    /// The system of `dim` equations evaluated by `f`.
    pub fn new(dim: usize, f: F) -> Self {
        Self { dim, f }
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>> NonlinearSystem for FnSystem<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
        (self.f)(z, r)
    }
}

/// Evaluates a residual and turns non-finite values into domain errors.
pub(crate) fn checked(result: Result<(), DomainError>, r: &[f64]) -> Result<(), DomainError> {
    result?;
    if r.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(DomainError) }
}

/// Forward differences of a residual with `m` rows, kept inside [min, max]; `f` evaluates the residual.
///
/// The increment of unknown j is √ε times `scale(j, z_j)`, if there is a scale. Where the shifted point is outside
/// the domain the other side and then smaller increments are tried. A tiny unknown without a scale gets growing
/// increments until two of them agree, since a change of √ε |z_j| could be lost in rounding.
pub(crate) fn finite_differences(
    mut f: impl FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>,
    z: &mut [f64],
    r: &[f64],
    scale: impl Fn(usize, f64) -> Option<f64>,
    bounds: impl Fn(usize) -> (f64, f64),
    shifted: &mut [f64],
    jac: &mut [f64],
) -> Result<usize, DomainError> {
    const TINY: f64 = 1e-3;
    let root = f64::EPSILON.sqrt();
    let m = r.len();
    let mut evaluations = 0;
    for j in 0..z.len() {
        let z_j = z[j];
        let column = &mut jac[j * m..(j + 1) * m];
        let limits = bounds(j);
        let (size, certain) = match scale(j, z_j) {
            Some(v) if v.is_finite() && v > 0.0 => (v, true),
            _ if z_j == 0.0 => (1.0, true),
            _ => (z_j.abs(), z_j.abs() >= TINY),
        };
        let mut h = (root * size).max(f64::MIN_POSITIVE);
        difference(&mut f, z, j, h, limits, r, shifted, column, &mut evaluations)?;
        if certain {
            continue;
        }
        let mut previous = column.to_vec();
        while h < root {
            h = (h * 1024.0).min(root);
            difference(&mut f, z, j, h, limits, r, shifted, column, &mut evaluations)?;
            let largest = column.iter().fold(0.0f64, |s, v| s.max(v.abs()));
            let change = column.iter().zip(&previous).fold(0.0f64, |s, (a, b)| s.max((a - b).abs()));
            if largest > 0.0 && change <= 0.02 * largest {
                break;
            }
            previous.copy_from_slice(column);
        }
    }
    Ok(evaluations)
}

/// One column of forward differences with increment ±h.
fn difference(
    f: &mut impl FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>,
    z: &mut [f64],
    j: usize,
    h: f64,
    (lo, hi): (f64, f64),
    r: &[f64],
    shifted: &mut [f64],
    column: &mut [f64],
    evaluations: &mut usize,
) -> Result<(), DomainError> {
    let z_j = z[j];
    let mut h = if z_j + h > hi || (z_j < 0.0 && z_j - h >= lo) { -h } else { h };
    for attempt in 0..8 {
        let inside = z_j + h >= lo && z_j + h <= hi;
        if inside || attempt >= 6 {
            z[j] = z_j + h;
            let step = z[j] - z_j;
            *evaluations += 1;
            let result = if step == 0.0 { Err(DomainError) } else { checked(f(z, shifted), shifted) };
            z[j] = z_j;
            if result.is_ok() {
                for ((c, s), r) in column.iter_mut().zip(shifted.iter()).zip(r) {
                    *c = (s - r) / step;
                }
                return Ok(());
            }
        }
        h = if attempt % 2 == 0 { -h } else { h / 32.0 };
    }
    Err(DomainError)
}
