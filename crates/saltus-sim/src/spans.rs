//! Slots as stretches of the array of values: what looks at many of them runs over a few stretches instead.

use std::ops::Range;

/// Stretches that contain some slots. So many others in a row are taken along rather than left out.
const GAP: u32 = 8;

/// Slots as stretches, in ascending order.
#[derive(Default)]
pub struct Spans(Vec<Range<usize>>);

impl Spans {
    /// The stretches that contain these slots.
    pub fn new(slots: impl IntoIterator<Item = u32>) -> Spans {
        let mut slots: Vec<u32> = slots.into_iter().collect();
        slots.sort_unstable();
        let parts = slots.chunk_by(|a, b| b - a <= GAP);
        Spans(parts.map(|p| p[0] as usize..p[p.len() - 1] as usize + 1).collect())
    }

    /// Copies what stands there.
    pub fn save(&self, values: &[f64], out: &mut Vec<f64>) {
        out.clear();
        self.0.iter().for_each(|s| out.extend_from_slice(&values[s.clone()]));
    }

    /// Where a slot, one of those given, is in such a copy.
    pub fn position(&self, slot: u32) -> u32 {
        let mut before = 0;
        for s in &self.0 {
            if s.contains(&(slot as usize)) {
                return (before + slot as usize - s.start) as u32;
            }
            before += s.len();
        }
        before as u32
    }

    /// Whether all of it is fine, what lies between the slots included; without branches.
    pub fn all(&self, values: &[f64], fine: impl Fn(f64) -> bool) -> bool {
        self.0.iter().all(|s| values[s.clone()].iter().fold(true, |all, v| all & fine(*v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_contain_the_slots() {
        let slots = [3, 40, 5, 41, 7];
        let spans = Spans::new(slots);
        assert_eq!(spans.0, [3..8, 40..42]);
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let mut copy = Vec::new();
        spans.save(&values, &mut copy);
        for s in slots {
            assert_eq!(copy[spans.position(s) as usize], f64::from(s));
        }
        assert!(spans.all(&values, |v| v < 42.0) && !spans.all(&values, |v| v != 4.0));
    }
}
