//! Narrowing the bracket of a sign change.

/// Narrows [a, b] (either order) with f(a) ≥ 0 and f(b) < 0 until |b − a| ≤ tol or a and b are neighbours, keeping both
/// signs. Returns (a, b).
///
/// Interpolate–truncate–project (Oliveira and Takahashi 2020): superlinear on smooth functions, never more than one
/// evaluation above bisection. A NaN value counts as negative, so the bracket stays on the known side of it.
pub fn sign_change(mut f: impl FnMut(f64) -> f64, a: f64, fa: f64, b: f64, fb: f64, tol: f64) -> (f64, f64) {
    let (mut a, mut fa, mut b, mut fb) = (a, fa, b, fb);
    let ulp = |x: f64| x.abs().next_up() - x.abs();
    let width = (b - a).abs();
    let epsilon = 0.5 * tol.max(ulp(a.abs().max(b.abs()))).max(f64::MIN_POSITIVE);
    let bisections = (width / (2.0 * epsilon)).log2().ceil().clamp(0.0, 2000.0);
    let kappa = 0.2 / width.max(f64::MIN_POSITIVE);
    let mut k = 0.0;
    while (b - a).abs() > tol && k < 3000.0 {
        let middle = 0.5 * a + 0.5 * b;
        let half = 0.5 * (b - a).abs();
        let radius = (epsilon * (bisections + 1.0 - k).exp2() - half).max(0.0);
        let interpolated = if fb.is_finite() && fa > fb { (fb * a - fa * b) / (fb - fa) } else { middle };
        let towards = (middle - interpolated).signum();
        let delta = (kappa * (b - a) * (b - a)).max(ulp(interpolated));
        let truncated = if delta <= (middle - interpolated).abs() { interpolated + towards * delta } else { middle };
        let mut x = if (truncated - middle).abs() <= radius { truncated } else { middle - towards * radius };
        let inside = |x: f64| (x > a && x < b) || (x > b && x < a);
        if !inside(x) {
            x = middle;
            if !inside(x) {
                break;
            }
        }
        let fx = f(x);
        if fx >= 0.0 {
            (a, fa) = (x, fx);
        } else {
            (b, fb) = (x, fx);
        }
        k += 1.0;
    }
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_few_evaluations() {
        for (root, power) in [(0.3, 1), (0.3, 3), (1e-9, 1), (0.999_999, 1), (0.5, 5)] {
            let mut count = 0;
            let mut f = |x: f64| {
                count += 1;
                -(x - root).powi(power)
            };
            let (fa, fb) = (f(0.0), f(1.0));
            let (a, b) = sign_change(&mut f, 0.0, fa, 1.0, fb, 0.0);
            assert!(f(a) >= 0.0 && f(b) < 0.0);
            assert_eq!(a.next_up(), b, "{root} {power}");
            assert!(count < 75, "{count} evaluations for {root}, {power}");
            if power == 1 && root == 0.3 {
                assert!(count < 20, "{count} evaluations");
            }
        }
        // Backwards, and a jump.
        let step = |x: f64| if x > 0.7 { 1.0 } else { -1.0 };
        let (a, b) = sign_change(step, 1.0, 1.0, 0.0, -1.0, 0.0);
        assert_eq!(b.next_up(), a);
        assert_eq!(b, 0.7);
        let (a, b) = sign_change(|_| f64::NAN, 0.0, 1.0, 1.0, f64::NAN, 1e-6);
        assert!(a == 0.0 && b <= 1e-6);
    }
}
