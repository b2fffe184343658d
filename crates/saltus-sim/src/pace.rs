//! A run in step with the wall clock.

use std::time::{Duration, Instant};

/// Seconds behind the clock that are worth telling.
const LATE: f64 = 0.5;
/// Seconds after which one that waits looks whether it is still wanted.
const NAP: f64 = 0.05;

/// Which model time it is by the wall clock.
pub(crate) struct Pace {
    start: f64,
    /// Model time per second.
    scale: f64,
    begun: Instant,
}

impl Pace {
    /// Model time `start` is now, and goes on by `scale` each second.
    pub fn new(start: f64, scale: f64) -> Pace {
        Pace { start, scale, begun: Instant::now() }
    }

    /// Waits until model time `t` has come, or nobody wants it any more. By how many seconds that is over, if they are many.
    pub fn wait(&self, t: f64, cancelled: impl Fn() -> bool) -> Option<f64> {
        let ahead = || (t - self.start) / self.scale - self.begun.elapsed().as_secs_f64();
        let first = ahead();
        let mut left = first;
        while left > 0.0 && !cancelled() {
            std::thread::sleep(Duration::from_secs_f64(left.min(NAP)));
            left = ahead();
        }
        (first < -LATE).then_some(-first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_early_waits_and_what_is_late_is_told() {
        let pace = Pace { begun: Instant::now() - Duration::from_secs(3), ..Pace::new(10.0, 2.0) };
        assert_eq!(pace.wait(16.2, || false), None);
        assert!(pace.begun.elapsed().as_secs_f64() >= 3.1);
        assert!(pace.wait(12.0, || false).is_some_and(|late| late >= 2.1));
        assert_eq!(pace.wait(1e9, || true), None);
    }
}
