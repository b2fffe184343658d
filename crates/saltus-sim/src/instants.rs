//! Which instants are one.
//!
//! The same instant is computed in different ways: `time >= 0.3`, the third tick of `sample(0, 0.1)`. What lies closer together than
//! rounding lets such values differ happens at once. Times may be large, runs and intervals short: what is far less than these and more than
//! rounding is told apart.

use crate::model::Ticker;

/// Rounding of instants, by their size, where nothing asks for more.
const USUAL: f64 = 1e-13;

/// Rounding of a few operations, by the size of what they add.
const FINEST: f64 = 4.0 * f64::EPSILON;

/// How close instants of a run are to each other that cannot be told apart.
#[derive(Clone, Copy, Debug)]
pub struct Instants {
    span: f64,
    /// The shortest interval of a sampler.
    interval: f64,
    /// The largest of what intervals are added to: their ticks are rounded accordingly, near zero too.
    origin: f64,
    /// What the user does not tell apart.
    resolution: f64,
}

impl Default for Instants {
    fn default() -> Instants {
        Instants::new(1.0, &[], 0.0)
    }
}

impl Instants {
    /// Of a run of this length, in which instants that are closer than `resolution` are one.
    pub fn new(span: f64, tickers: &[Ticker], resolution: f64) -> Instants {
        Instants {
            span,
            interval: tickers.iter().map(|k| k.interval).fold(f64::INFINITY, f64::min),
            origin: tickers.iter().map(|k| k.start.abs()).fold(0.0, f64::max),
            resolution,
        }
    }

    /// The length of the run.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// How far from `t` is as good as at `t`.
    pub fn close(&self, t: f64) -> f64 {
        let usual = USUAL * t.abs().max(1e-3 * self.span);
        usual.min(1e-6 * self.span.min(self.interval)).max(FINEST * t.abs().max(self.origin)).max(self.resolution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticker(start: f64, interval: f64) -> Ticker {
        Ticker { slot: 0, pre: 0, start, interval, next: 0, name: String::new() }
    }

    #[test]
    fn closeness() {
        // 0.1 + 0.2 and 0.3 are one instant.
        let usual = Instants::new(1.0, &[], 0.0);
        assert!((0.1 + 0.2) - 0.3 <= usual.close(0.3));
        // Ticks at large times, and very short ones, are several.
        assert!(Instants::new(1e-4, &[ticker(1e9, 1e-5)], 0.0).close(1e9) < 1e-6);
        assert!(Instants::new(1e-15, &[ticker(0.0, 1e-16)], 0.0).close(1e-15) < 1e-20);
        // −0.6 + 6·0.1 is zero.
        assert!(-0.6 + 6.0 * 0.1 <= Instants::new(1.0, &[ticker(-0.6, 0.1)], 0.0).close(0.0));
    }
}
