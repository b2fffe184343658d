//! Mixed loops as linear complementarity problems.
//!
//! Let the relations of a loop be locked to a mode, and s_k be the function of relation k, counted positive on the side of its
//! bit. If the equations are piecewise affine and continuous where a relation switches, then flipping bits k adds a multiple of
//! z_k, how far s_k is beyond zero, to them, and with w_k the part of s_k on its own side
//!
//! ```text
//! s = w − z = s⁰ + H z,      w, z ≥ 0,  w·z = 0,      so      w = s⁰ + (I + H) z
//! ```
//!
//! which is Lemke's problem. s⁰ is the locked solution, and column k of H follows from the solution with bit k alone
//! flipped: z_k = −s_k there. The mode that comes out is checked with the equations themselves; nothing rests on the
//! assumptions.

use crate::compile::{MixedBlock, Step};
use crate::crossings::positive_side;
use crate::machine::Machine;
use saltus_solver::lcp::lemke;
use saltus_structure::RelationKind;

/// Loops with more relations are left to other methods.
const MOST: usize = 256;

impl Machine {
    /// Looks for a consistent mode of a loop by pivoting, from the mode whose discrete values are given. The loop holds its
    /// values if there is one.
    pub(crate) fn complementary(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        // Equations that Newton's method does not solve are far from affine.
        let patient = std::mem::take(&mut self.patient);
        let found = self.pivot(m, from);
        self.patient = patient;
        found
    }

    fn pivot(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        let relations: Vec<usize> = m
            .discrete
            .iter()
            .filter_map(|s| match s {
                Step::Relation(i) => Some(*i),
                _ => None,
            })
            .collect();
        let plain = |i: &usize| {
            let r = &self.relations[*i];
            matches!(r.kind, RelationKind::Sign(_)) && r.time.is_none() && !r.frozen
        };
        let n = relations.len();
        if !(2..=MOST).contains(&n) || self.hold_relations || !relations.iter().all(plain) {
            return false;
        }
        let bits: Vec<bool> = {
            m.slots.iter().zip(from).for_each(|(&s, &v)| self.values[s as usize] = v);
            relations.iter().map(|&i| self.values[self.relations[i].var as usize] != 0.0).collect()
        };
        let sign: Vec<f64> = (0..n)
            .map(|k| {
                let r = &self.relations[relations[k]];
                if positive_side(&r.kind, f64::from(bits[k])) { 1.0 } else { -1.0 }
            })
            .collect();
        let Some(s0) = self.locked(m, from, &relations, &bits, &sign) else { return false };
        let mut matrix = vec![0.0; n * n];
        for k in 0..n {
            let mut flipped = bits.clone();
            flipped[k] = !flipped[k];
            let Some(s) = self.locked(m, from, &relations, &flipped, &sign) else { return false };
            // A function that is zero there says nothing about its column.
            if s[k].abs() <= 1e-13 * s0[k].abs().max(1e-6) {
                return false;
            }
            for i in 0..n {
                matrix[i + k * n] = (s[i] - s0[i]) / -s[k] + f64::from(u8::from(i == k));
            }
        }
        let Ok(found) = lemke(&matrix, &s0) else { return false };
        let mode: Vec<bool> = (0..n).map(|k| bits[k] != (found.z[k] > 0.0)).collect();
        if self.locked(m, from, &relations, &mode, &sign).is_none() {
            return false;
        }
        // The equations have the last word.
        let kept: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        self.run(&m.discrete).is_ok() && m.slots.iter().zip(&kept).all(|(&s, v)| self.values[s as usize] == *v)
    }

    /// The functions of a loop's relations, counted by `sign`, with the relations locked to `bits`. Other discrete unknowns
    /// follow from the bits.
    fn locked(
        &mut self,
        m: &MixedBlock,
        from: &[f64],
        relations: &[usize],
        bits: &[bool],
        sign: &[f64],
    ) -> Option<Vec<f64>> {
        m.slots.iter().zip(from).for_each(|(&s, &v)| self.values[s as usize] = v);
        for (&i, &b) in relations.iter().zip(bits) {
            let slot = self.relations[i].var as usize;
            self.values[slot] = f64::from(b);
        }
        self.hold_relations = true;
        let defined = self.run(&m.discrete);
        self.hold_relations = false;
        if defined.is_err() || self.run(&m.continuous).is_err() {
            self.host.error = None;
            return None;
        }
        let mut g = vec![0.0; relations.len()];
        self.crossing_values(relations, &mut g);
        g.iter_mut().zip(sign).for_each(|(g, s)| *g *= s);
        g.iter().all(|g| g.is_finite()).then_some(g)
    }
}
