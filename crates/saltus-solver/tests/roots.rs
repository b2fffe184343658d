//! Earliest crossings on polynomials, enclosures and black boxes.

use proptest::prelude::*;
use saltus_solver::interval::Interval;
use saltus_solver::roots::generic::*;
use saltus_solver::roots::poly::*;
use saltus_solver::roots::*;

/// Coefficients of scale · Π (s − r).
fn from_roots(roots: &[f64], scale: f64) -> Vec<f64> {
    let mut c = vec![scale];
    for r in roots {
        c.push(0.0);
        for k in (0..c.len()).rev() {
            c[k] = if k > 0 { c[k - 1] } else { 0.0 } - r * c[k];
        }
    }
    c
}

const PLAIN: CrossingOptions = CrossingOptions { tol: 0.0, touching: false, s_tol: 0.0 };
const TOUCH: CrossingOptions = CrossingOptions { tol: 0.0, touching: true, s_tol: 0.0 };

fn tol(tol: f64) -> CrossingOptions {
    CrossingOptions { tol, ..PLAIN }
}

#[track_caller]
fn near(found: Option<Crossing>, expected: f64, within: f64) -> Crossing {
    let c = found.expect("a crossing");
    assert!((c.s_before - expected).abs() <= within && (c.s_after - expected).abs() <= within, "{c:?} for {expected}");
    assert!(c.s_after >= c.s_before);
    c
}

#[test]
fn simple_roots() {
    let c = near(first_crossing(&[0.3, -1.0], Sign::Positive, &PLAIN), 0.3, 1e-16);
    assert_eq!(c.s_before.next_up(), c.s_after);
    assert!(!c.touching && !c.at_left);
    assert_eq!(first_crossing(&[0.3, 1.0], Sign::Positive, &PLAIN), None);
    near(first_crossing(&[-0.5, 1.0], Sign::Negative, &PLAIN), 0.5, 2e-16);
    // Two crossings close together.
    let p = from_roots(&[0.5, 0.5001], 1.0);
    near(first_crossing(&p, Sign::Positive, &PLAIN), 0.5, 1e-11);
    let p = from_roots(&[0.5, 0.500_001], 1.0);
    near(first_crossing(&p, Sign::Positive, &PLAIN), 0.5, 1e-9);
    assert_eq!(all_roots(&from_roots(&[0.1, 0.2, 0.9], 1.0), 0.0).len(), 3);
}

#[test]
fn the_locked_side_is_the_reference() {
    // On the wrong side from the start.
    let c = first_crossing(&[-1.0, 2.0], Sign::Positive, &PLAIN).unwrap();
    assert!(c.at_left && c.s_after == 0.0);
    // Starts at zero and goes the right way, then crosses.
    near(first_crossing(&[0.0, 1.0, -2.0], Sign::Positive, &PLAIN), 0.5, 1e-15);
    assert_eq!(first_crossing(&[0.0, 1.0], Sign::Positive, &PLAIN), None);
    // Starts at zero and goes the wrong way.
    let c = first_crossing(&[0.0, -1.0], Sign::Positive, &PLAIN).unwrap();
    assert!(c.at_left && c.s_before == 0.0 && c.s_after < 1e-14, "{c:?}");
    // Slightly on the wrong side, within the error weight, and coming back: no event.
    assert_eq!(first_crossing(&[-1e-9, 1.0], Sign::Positive, &tol(1e-8)), None);
    // … and crossing later.
    near(first_crossing(&[-1e-9, 1.0, -1.0], Sign::Positive, &tol(1e-8)), 1.0, 1e-8);
    // Slightly wrong and moving away: at the left end.
    let c = first_crossing(&[-1e-9, -1.0], Sign::Positive, &tol(1e-8)).unwrap();
    assert!(c.at_left && c.s_before == 0.0 && c.s_after == 0.0);
    // Slightly right and moving through: at the true zero.
    let c = near(first_crossing(&[1e-9, -1.0], Sign::Positive, &tol(1e-8)), 1e-9, 1e-15);
    assert!(!c.at_left);
    // Stays within the weight: masked.
    assert_eq!(first_crossing(&[1e-9, -2e-9], Sign::Positive, &tol(1e-8)), None);
    // Rises within the band, then leaves on the wrong side: the last zero counts.
    let p = from_roots(&[0.0, 0.001], -1.0);
    near(first_crossing(&p, Sign::Positive, &tol(1e-6)), 0.001, 1e-12);
    // A shallow dip away from the left end counts although it is within the weight.
    let p = from_roots(&[0.5, 0.5001], 1.0);
    near(first_crossing(&p, Sign::Positive, &tol(1e-8)), 0.5, 1e-11);
}

#[test]
fn touching_and_multiple_roots() {
    let double = from_roots(&[0.3, 0.3], 1.0);
    assert_eq!(first_crossing(&double, Sign::Positive, &PLAIN), None);
    let c = near(first_crossing(&double, Sign::Positive, &TOUCH), 0.3, 1e-8);
    assert!(c.touching);
    // Not quite touching, unless the weight says so.
    let near_miss = [0.09 + 1e-9, -0.6, 1.0];
    assert_eq!(first_crossing(&near_miss, Sign::Positive, &TOUCH), None);
    let c = near(first_crossing(&near_miss, Sign::Positive, &CrossingOptions { tol: 1e-8, ..TOUCH }), 0.3, 1e-12);
    assert!(c.touching);
    // A touch before a crossing.
    let p = from_roots(&[0.2, 0.2, 0.7], -1.0);
    assert!(near(first_crossing(&p, Sign::Positive, &TOUCH), 0.2, 1e-7).touching);
    assert!(!near(first_crossing(&p, Sign::Positive, &PLAIN), 0.7, 1e-14).touching);
    // A triple root crosses.
    let p = from_roots(&[0.4, 0.4, 0.4], -1.0);
    assert!(!near(first_crossing(&p, Sign::Positive, &PLAIN), 0.4, 1e-4).touching);
    assert!(!near(first_crossing(&p, Sign::Positive, &TOUCH), 0.4, 1e-4).touching);
}

#[test]
fn degenerate_polynomials() {
    for side in [Sign::Positive, Sign::Negative] {
        assert_eq!(first_crossing(&[], side, &TOUCH), None);
        assert_eq!(first_crossing(&[0.0; 5], side, &TOUCH), None);
        assert_eq!(first_crossing(&[f64::NAN, 1.0], side, &TOUCH), None);
        assert_eq!(first_crossing(&[1.0, f64::INFINITY], side, &TOUCH), None);
    }
    assert!(first_crossing(&[2.0], Sign::Negative, &PLAIN).unwrap().at_left);
    assert_eq!(first_crossing(&[2.0], Sign::Positive, &PLAIN), None);
    assert_eq!(first_root(&[0.0; 4], 0.0), None);
    // A root at the left end does not count for first_root.
    let r = first_root(&from_roots(&[0.0, 0.6], 1.0), 0.0).unwrap();
    assert!((r.s_before - 0.6).abs() < 1e-15 && r.direction == Sign::Positive && !r.touching);
    assert_eq!(first_root(&[0.0, 1.0], 0.0), None);
    assert_eq!(first_root(&[1.0, -1.0], 0.0).map(|r| r.s_before), Some(1.0));
    // Tiny and huge scales.
    near(first_crossing(&[3e-200, -1e-199], Sign::Positive, &PLAIN), 0.3, 1e-15);
    near(first_crossing(&[3e200, -1e201], Sign::Positive, &PLAIN), 0.3, 1e-15);
    // Beyond the Bernstein degree.
    let mut high = vec![0.0; 41];
    high[0] = 0.5;
    high[40] = -1.0;
    near(first_crossing(&high, Sign::Positive, &PLAIN), 0.5f64.powf(1.0 / 40.0), 1e-13);
}

#[test]
fn leaving_and_reaching_zero() {
    let (s, side) = leaves_zero(&[0.0, 0.0, 0.0, -1.0], 1e-9).unwrap();
    assert!(s < 1e-2 && side == Sign::Negative);
    assert_eq!(leaves_zero(&[1e-10, 1e-10], 1e-9), None);
    let (s, side) = leaves_zero(&from_roots(&[0.0, 0.25], 1e-3), 1e-3).map_or((0.0, Sign::Negative), |x| x);
    assert!(s == 0.0 || (s - 0.25).abs() < 1e-9, "{s} {side:?}");
    assert!((reaches_zero(&[1.0, -2.0], 1e-6).unwrap() - 0.5).abs() < 1e-6);
}

/// (x − c)² − w² with x = e^(−0.05 t), as black box and with enclosures.
struct Slit {
    c: f64,
    w: f64,
}

impl Slit {
    fn g(&self, t: f64) -> f64 {
        let x = (-0.05 * t).exp();
        (x - self.c) * (x - self.c) - self.w * self.w
    }
    fn first(&self) -> f64 {
        -20.0 * (self.c + self.w).ln()
    }
}

impl Enclosed for Slit {
    fn value(&mut self, s: f64) -> f64 {
        self.g(s)
    }
    fn enclose(&mut self, lo: f64, hi: f64) -> Interval {
        let x = (Interval::new(lo, hi) * -0.05).exp();
        (x - self.c).sqr() - self.w * self.w
    }
}

/// The same with a derivative.
struct WithDerivative(Slit);

impl Enclosed for WithDerivative {
    fn value(&mut self, s: f64) -> f64 {
        self.0.g(s)
    }
    fn enclose(&mut self, lo: f64, hi: f64) -> Interval {
        self.0.enclose(lo, hi)
    }
    fn enclose_derivative(&mut self, lo: f64, hi: f64) -> Option<Interval> {
        let x = (Interval::new(lo, hi) * -0.05).exp();
        Some((x - self.0.c) * 2.0 * x * -0.05)
    }
}

#[test]
fn narrow_slit_in_a_long_step() {
    for w in [1.5e-3, 1.5e-5, 1.5e-6] {
        for c in [0.6, 0.75, 0.8123, 0.9] {
            for (lo, hi) in [(0.0, 11.0), (0.5, 14.0), (1.0, 20.0)] {
                let slit = Slit { c, w };
                let expected = slit.first();
                let mut g = |t: f64| slit.g(t);
                let found = first_crossing_sampled(&mut g, lo, hi, Sign::Positive, &PLAIN, &Default::default());
                near(found.crossing, expected, 1e-13 / w * 20.0);
                assert!(found.evaluations < 200, "{found:?}");
                let mut slit = slit;
                let found = first_crossing_enclosed(&mut slit, lo, hi, Sign::Positive, &PLAIN, &Default::default());
                near(found.crossing, expected, 1e-13 / w * 20.0);
                let mut slit = WithDerivative(slit);
                let found = first_crossing_enclosed(&mut slit, lo, hi, Sign::Positive, &PLAIN, &Default::default());
                near(found.crossing, expected, 1e-13 / w * 20.0);
                assert!(found.certain && found.evaluations < 200, "{found:?}");
            }
        }
    }
}

#[test]
fn black_boxes() {
    let run = |g: &mut dyn FnMut(f64) -> f64, lo, hi, side, opts: &CrossingOptions| {
        first_crossing_sampled(g, lo, hi, side, opts, &Default::default())
    };
    // No crossing costs one interpolation.
    let found = run(&mut |t: f64| 2.0 + t.sin(), 0.0, 1.0, Sign::Positive, &PLAIN);
    assert!(found.crossing.is_none() && found.certain && found.evaluations <= 35, "{found:?}");
    // Oscillation with many crossings: the earliest.
    let found = run(&mut |t: f64| (60.0 * t).cos() + 0.5, 0.0, 3.0, Sign::Positive, &PLAIN);
    near(found.crossing, (2.0 * std::f64::consts::PI / 3.0) / 60.0, 1e-14);
    // A kink and a jump are not smooth; the values decide.
    let found = run(&mut |t: f64| (t - 0.3).abs() - 0.1, 0.0, 0.25, Sign::Positive, &PLAIN);
    near(found.crossing, 0.2, 1e-15);
    let found = run(&mut |t: f64| (t - 0.31).abs() - 1e-3, 0.0, 1.0, Sign::Positive, &PLAIN);
    near(found.crossing, 0.309, 1e-14);
    let found = run(&mut |t: f64| if t < 0.7 { 1.0 } else { -1.0 }, 0.0, 1.0, Sign::Positive, &PLAIN);
    near(found.crossing, 0.7, 1e-15);
    // Touching.
    let found = run(&mut |t: f64| 1.0 + (t + 1.0).sin(), 0.0, 6.0, Sign::Positive, &TOUCH);
    let c = near(found.crossing, 1.5 * std::f64::consts::PI - 1.0, 1e-4);
    assert!(c.touching);
    assert_eq!(run(&mut |t: f64| 1.0 + (t + 1.0).sin(), 0.0, 6.0, Sign::Positive, &PLAIN).crossing, None);
    // Constants, zero, NaN, empty intervals.
    assert_eq!(run(&mut |_| 0.0, 0.0, 1.0, Sign::Positive, &TOUCH).crossing, None);
    assert_eq!(run(&mut |_| f64::NAN, 0.0, 1.0, Sign::Positive, &TOUCH).crossing, None);
    assert_eq!(run(&mut |_| 1.0, 1.0, 1.0, Sign::Positive, &TOUCH).crossing, None);
    assert!(run(&mut |_| -1.0, 1.0, 1.0, Sign::Positive, &TOUCH).crossing.unwrap().at_left);
    // Starts at zero.
    let found = run(&mut |t: f64| t.sin(), 0.0, 4.0, Sign::Positive, &PLAIN);
    near(found.crossing, std::f64::consts::PI, 1e-14);
    let found = run(&mut |t: f64| -t.sin(), 0.0, 4.0, Sign::Positive, &PLAIN);
    assert!(found.crossing.unwrap().at_left);
}

#[test]
fn enclosed_touching_and_start_at_zero() {
    struct Square;
    impl Enclosed for Square {
        fn value(&mut self, s: f64) -> f64 {
            (s - 0.3) * (s - 0.3)
        }
        fn enclose(&mut self, lo: f64, hi: f64) -> Interval {
            (Interval::new(lo, hi) - 0.3).sqr()
        }
    }
    let found = first_crossing_enclosed(&mut Square, 0.0, 1.0, Sign::Positive, &PLAIN, &Default::default());
    assert!(found.crossing.is_none());
    let opts = CrossingOptions { tol: 1e-10, ..TOUCH };
    let found = first_crossing_enclosed(&mut Square, 0.0, 1.0, Sign::Positive, &opts, &Default::default());
    assert!(near(found.crossing, 0.3, 1e-5).touching);
    struct Sine;
    impl Enclosed for Sine {
        fn value(&mut self, s: f64) -> f64 {
            s.sin()
        }
        fn enclose(&mut self, lo: f64, hi: f64) -> Interval {
            Interval::new(lo, hi).sin()
        }
        fn enclose_derivative(&mut self, lo: f64, hi: f64) -> Option<Interval> {
            Some(Interval::new(lo, hi).cos())
        }
    }
    let found = first_crossing_enclosed(&mut Sine, 0.0, 4.0, Sign::Positive, &PLAIN, &Default::default());
    near(found.crossing, std::f64::consts::PI, 1e-14);
    let found = first_crossing_enclosed(&mut Sine, 0.0, 4.0, Sign::Negative, &PLAIN, &Default::default());
    assert!(found.crossing.unwrap().at_left);
}

/// A kink that touches zero has no smooth interpolant: its least value is looked for.
#[test]
fn kinks_that_touch() {
    for (lo, hi) in [(0.9, 1.1), (0.9990635, 1.000001), (0.3, 7.0)] {
        let mut g = |t: f64| (t - 1.0).abs();
        let options = CrossingOptions { tol: 1e-8, touching: true, s_tol: 0.0 };
        let found = first_crossing_sampled(&mut g, lo, hi, Sign::Positive, &options, &Default::default());
        let c = found.crossing.expect("it touches");
        assert!(c.touching && (c.s_before - 1.0).abs() < 1e-8, "{c:?}");
        let mut g = |t: f64| (t - 1.0).abs() + 1e-6;
        assert_eq!(
            first_crossing_sampled(&mut g, lo, hi, Sign::Positive, &options, &Default::default()).crossing,
            None
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Products of known roots, some inside [0, 1], some outside, some doubled: the earliest odd one is found.
    #[test]
    fn planted_roots(
        mut inside in proptest::collection::vec(0.02f64..0.98, 0..5),
        outside in proptest::collection::vec(prop_oneof![-3.0f64..-0.1, 1.1f64..4.0], 0..4),
        doubled in any::<bool>(),
        scale in prop_oneof![-5.0f64..-0.1, 0.1f64..5.0],
    ) {
        inside.sort_by(f64::total_cmp);
        inside.dedup_by(|a, b| (*a - *b).abs() < 1e-2);
        let mut all = inside.clone();
        all.extend(&outside);
        if doubled && let Some(first) = inside.first() {
            all.push(*first);
        }
        let coeffs = from_roots(&all, scale);
        let size: f64 = coeffs.iter().map(|v| v.abs()).sum();
        let side = Sign::of(coeffs[0]).unwrap();
        let odd: Vec<f64> = if doubled { inside.iter().skip(1).copied().collect() } else { inside.clone() };
        let found = first_crossing(&coeffs, side, &PLAIN);
        match odd.first() {
            None => prop_assert!(found.is_none_or(|c| doubled && (c.s_before - inside[0]).abs() < 1e-4), "{:?}", found),
            Some(r) => {
                let c = found.expect("a crossing");
                let slope: f64 = all.iter().filter(|v| *v != r).map(|v| (r - v).abs()).product::<f64>() * scale.abs();
                let allowed = 1e-13 * size / slope + 1e-15;
                // An inexact double root may be two close simple ones.
                let at_double = doubled && (c.s_before - inside[0]).abs() < 1e-4;
                prop_assert!(at_double || (c.s_before - r).abs() <= allowed, "{:?} for {}", c, r);
                prop_assert!(side.factor() * evaluate(&coeffs, c.s_after) < 0.0);
                prop_assert!(side.factor() * evaluate(&coeffs, c.s_before) >= 0.0);
            }
        }
        if doubled && !inside.is_empty() {
            let touch = first_crossing(&coeffs, side, &TOUCH).expect("the double root");
            prop_assert!((touch.s_before - inside[0]).abs() < 1e-3, "{:?} {:?}", touch, inside);
        }
        if !doubled {
            let roots = all_roots(&coeffs, 0.0);
            prop_assert_eq!(roots.len(), inside.len(), "{:?} {:?}", roots, inside);
        }
    }

    /// The three searches agree on a random polynomial.
    #[test]
    fn searches_agree(coeffs in proptest::collection::vec(-1.0f64..1.0, 1..9), negative in any::<bool>()) {
        let side = if negative { Sign::Negative } else { Sign::Positive };
        let exact = first_crossing(&coeffs, side, &PLAIN);
        let mut g = |s: f64| evaluate(&coeffs, s);
        let sampled = first_crossing_sampled(&mut g, 0.0, 1.0, side, &PLAIN, &Default::default()).crossing;
        struct Horner<'a>(&'a [f64]);
        impl Enclosed for Horner<'_> {
            fn value(&mut self, s: f64) -> f64 {
                evaluate(self.0, s)
            }
            fn enclose(&mut self, lo: f64, hi: f64) -> Interval {
                let s = Interval::new(lo, hi);
                self.0.iter().rev().fold(Interval::ZERO, |v, a| v * s + *a)
            }
        }
        let enclosed = first_crossing_enclosed(&mut Horner(&coeffs), 0.0, 1.0, side, &PLAIN, &Default::default()).crossing;
        for other in [sampled, enclosed] {
            match (exact, other) {
                (None, None) => {}
                (Some(a), Some(b)) => {
                    prop_assert!((a.s_before - b.s_before).abs() < 1e-8, "{:?} {:?}", exact, other);
                }
                // Only roots at the ends or of nearly even kind may be judged differently.
                (a, b) => {
                    let s = a.or(b).unwrap().s_before;
                    let around: f64 = [s - 1e-5, s + 1e-5].iter().map(|s| evaluate(&coeffs, s.clamp(0.0, 1.0)).abs()).fold(0.0, f64::max);
                    prop_assert!(around < 1e-9, "{:?} {:?}", exact, other);
                }
            }
        }
    }

    /// A random smooth function with two crossings h apart in a long step.
    #[test]
    fn close_pairs(center in 0.1f64..9.9, gap in -4.0f64..-1.0, rate in 0.01f64..0.5) {
        let half = 0.5 * 10f64.powf(gap);
        let x = |t: f64| (-rate * t).exp();
        let (a, b) = (x(center - half), x(center + half));
        let mut g = |t: f64| (x(t) - a) * (x(t) - b);
        let found = first_crossing_sampled(&mut g, 0.0, 10.0, Sign::Positive, &PLAIN, &Default::default());
        let c = found.crossing.expect("the first of the pair");
        prop_assert!((c.s_before - (center - half)).abs() < 1e-10, "{:?}", found);
    }
}
