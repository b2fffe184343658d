//! Folds: where the branch of solutions that a run follows turns back, and nothing next to it solves the equations beyond.
//!
//! ```text
//!   x³ − x = 0.2 t from x = −1: at t = 1.92 the branch meets another one (3 x² = 1), and both end; the only solution left is
//!   x = 1.15, far away
//! ```
//!
//! A solver started from the last values finds the other solution and the run would go on there without a word. So values that
//! have gone far in one step are looked at in its parts: what is continuous comes closer with shorter parts, a jump does not.
//! Before a fold values move like a square root, infinitely fast; before a jump that the equations themselves make they do not.

/// A part of this length of the step is an instant.
const INSTANT: f64 = 1e-13;

/// A root is between this and the hundred of a smooth function, when the time to its end shrinks to a hundredth.
const SMOOTH: f64 = 30.0;

/// Where in (t0, t1] values jump although they moved ever faster towards it: the last moment before, which of them, and its value there.
/// `at` computes the values at a time, where possible; told that this is on the way, it starts from there the next time. Those at t0 are
/// `first`: where a step ends next to a fold, they would be found anew on another branch.
pub(crate) fn find(
    at: &mut dyn FnMut(f64, bool) -> Option<Vec<f64>>,
    first: &[f64],
    t0: f64,
    t1: f64,
) -> Option<(f64, usize, f64)> {
    let far = |a: &[f64], b: &[f64], k: usize| (b[k] - a[k]).abs() / (a[k].abs().max(b[k].abs()) + 1e-3);
    let farthest = |b: &[f64]| (0..first.len()).max_by(|&i, &j| far(first, b, i).total_cmp(&far(first, b, j)));
    let close = INSTANT * (t1 - t0).max(t1.abs() * 1e-2);
    let Some(last) = at(t1, false) else {
        // There is no solution at the end: as far as there is one.
        let (mut a, mut b, mut left) = (t0, t1, first.to_vec());
        while b - a > close {
            let t = 0.5 * (a + b);
            if !(a < t && t < b) {
                break;
            }
            match at(t, false).and_then(|_| at(t, true)) {
                Some(v) => (a, left) = (t, v),
                None => b = t,
            }
        }
        let worst = farthest(&left)?;
        return is_root(at, a, left[worst], worst, t1 - t0, f64::INFINITY).then_some((a, worst, left[worst]));
    };
    let worst = farthest(&last)?;
    let whole = (last[worst] - first[worst]).abs();
    let (mut a, mut b, mut left, mut right) = (t0, t1, first[worst], Some(last[worst]));
    while b - a > close {
        let t = 0.5 * (a + b);
        if !(a < t && t < b) {
            break;
        }
        let value = at(t, false).map(|v| v[worst]);
        let (before, after) = match (value, right) {
            (Some(v), Some(r)) => ((v - left).abs(), (r - v).abs()),
            (Some(v), None) => ((v - left).abs(), f64::INFINITY),
            (None, _) => (f64::INFINITY, 0.0),
        };
        if before.max(after) < 0.5 * whole {
            return None;
        }
        if before > after {
            (b, right) = (t, value);
        } else {
            left = at(t, true)?[worst];
            a = t;
        }
    }
    is_root(at, a, left, worst, t1 - t0, whole).then_some((a, worst, left))
}

/// Whether a value ends at `a`, being `left` there, like a root: within less than half of `whole`, if it can be seen as near as that.
fn is_root(
    at: &mut dyn FnMut(f64, bool) -> Option<Vec<f64>>,
    a: f64,
    left: f64,
    worst: usize,
    h: f64,
    whole: f64,
) -> bool {
    let mut way = |part: f64| Some((at(a - part * h, false)?[worst] - left).abs());
    // From where the branch ends, the equations being singular, the solver may not find the way back on it.
    for part in [0.5, 0.005, 5e-5] {
        let (Some(long), Some(short)) = (way(part), way(0.01 * part)) else { return false };
        if long < 0.5 * whole {
            return long > 1e-9 * left.abs().max(1e-3) && long < SMOOTH * short;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_and_other_jumps() {
        // A square root that ends at 0.7, and goes on elsewhere; a jump of a smooth function; a step of a fast function.
        let fold = |t: f64| if t < 0.7 { -(0.7 - t).sqrt() } else { 5.0 };
        let jump = |t: f64| if t < 0.7 { t } else { 5.0 };
        let fast = |t: f64| (1e4 * (t - 0.7)).tanh();
        let from = |f: &dyn Fn(f64) -> f64, t0: f64, first: f64| find(&mut |t, _| Some(vec![f(t)]), &[first], t0, 1.0);
        let ask = |f: &dyn Fn(f64) -> f64| from(f, 0.0, f(0.0));
        let found = ask(&fold).expect("a fold");
        assert!((found.0 - 0.7).abs() < 1e-9);
        // A step that begins where it is, as far as numbers tell.
        let (at, _, value) = from(&fold, 0.7, -1e-8).expect("a fold");
        assert!((at - 0.7).abs() < 1e-9 && value == -1e-8);
        assert_eq!(ask(&jump), None);
        // Nothing beyond it solves the equations.
        let end = |t: f64| (t < 0.7).then(|| vec![-(0.7 - t).sqrt()]);
        let found = find(&mut |t, _| end(t), &[-(0.7f64).sqrt()], 0.0, 1.0).expect("an end");
        assert!((found.0 - 0.7).abs() < 1e-9);
        let stops = |t: f64| (t < 0.7).then(|| vec![t]);
        assert_eq!(find(&mut |t, _| stops(t), &[0.0], 0.0, 1.0), None);
        assert_eq!(ask(&fast), None);
    }
}
