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
//!
//! Where the mode, or one with a bit flipped, has no solution (two ideal diodes that conduct side by side), the same problem is made
//! from residuals: with f the residuals of the locked mode, flipping bit k adds a_k z_k to f, so that
//!
//! ```text
//! f + A y + Σ a_k z_k = 0,      w − z = s = s⁰ + G y
//! ```
//!
//! A mode with A − Σ_K a_k G_k regular, bits K flipped, takes the place of a singular one: a_k, k ∈ K, must span what A leaves out, and G_k tell
//! apart what A sends to zero.

use crate::compile::{MixedBlock, Step};
use crate::crossings::positive_side;
use crate::machine::Machine;
use crate::mixed::Loop;
use saltus_solver::lcp::lemke;
use saltus_solver::linear::DenseLu;
use saltus_structure::RelationKind;

/// Loops with more relations are left to other methods.
const MOST: usize = 256;

impl Machine {
    /// Looks for a consistent mode of a loop by pivoting, from the mode whose discrete values are given. The loop holds its
    /// values if there is one.
    pub(crate) fn complementary(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        // Equations that Newton's method does not solve are far from affine.
        let patient = std::mem::take(&mut self.patient);
        let found = self.pivot(m, from) || self.pivot_residuals(m, from);
        self.patient = patient;
        found
    }

    /// The relations of a loop, if they can be taken for complementarity pairs.
    fn pairs(&self, m: &MixedBlock) -> Option<Vec<usize>> {
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
        let fits = (2..=MOST).contains(&relations.len()) && !self.hold_relations && relations.iter().all(plain);
        fits.then_some(relations)
    }

    fn pivot(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        let Some(relations) = self.pairs(m) else { return false };
        let n = relations.len();
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

/// Residuals f + A y and functions s = s⁰ + G y of a loop about a point, in a mode. Columns of `added` are what flipped bits add to f
/// for each unit that s is beyond zero.
struct Form {
    residual: Vec<f64>,
    slope: Vec<f64>,
    functions: Vec<f64>,
    gradients: Vec<f64>,
    added: Vec<f64>,
}

impl Form {
    /// Flips bit k.
    fn flip(&mut self, k: usize) {
        let (n, r) = (self.residual.len(), self.functions.len());
        for i in 0..n {
            let a = self.added[i + k * n];
            self.residual[i] -= a * self.functions[k];
            for j in 0..n {
                self.slope[i + j * n] -= a * self.gradients[k + j * r];
            }
        }
        // Counted by the other side now.
        self.functions[k] = -self.functions[k];
        (0..n).for_each(|j| self.gradients[k + j * r] = -self.gradients[k + j * r]);
    }

    /// Flips bits until the matrix is regular. Whether that has been possible.
    fn make_regular(&mut self) -> bool {
        let (n, r) = (self.residual.len(), self.functions.len());
        let right = null_vectors(&self.slope, n, false);
        if right.is_empty() {
            return true;
        }
        let left = null_vectors(&self.slope, n, true);
        let dot = |a: &[f64], b: &mut dyn Iterator<Item = f64>| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut spans: Vec<[Vec<f64>; 2]> = (0..r)
            .map(|k| {
                let a = &self.added[k * n..][..n];
                let g = (0..n).map(|j| self.gradients[k + j * r]);
                [
                    left.iter().map(|l| dot(l, &mut a.iter().copied())).collect(),
                    right.iter().map(|v| dot(v, &mut g.clone())).collect(),
                ]
            })
            .collect();
        let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let weight = |s: &[Vec<f64>; 2]| size(&s[0]).min(size(&s[1]));
        for _ in 0..right.len() {
            let Some(k) = (0..r).max_by(|&a, &b| weight(&spans[a]).total_cmp(&weight(&spans[b])).then(b.cmp(&a)))
            else {
                return false;
            };
            if weight(&spans[k]) < SMALL {
                return false;
            }
            let chosen = spans[k].clone();
            for s in &mut spans {
                for (v, c) in s.iter_mut().zip(&chosen) {
                    let f = dot(v, &mut c.iter().copied()) / dot(c, &mut c.iter().copied());
                    v.iter_mut().zip(c).for_each(|(v, c)| *v -= f * c);
                }
            }
            self.flip(k);
        }
        true
    }
}

/// What counts as zero in matrices of loops, beside their entries.
const SMALL: f64 = 1e-9;

/// Vectors v with A v = 0, or v A = 0, by complete pivoting.
fn null_vectors(slope: &[f64], n: usize, from_left: bool) -> Vec<Vec<f64>> {
    let mut a: Vec<f64> = (0..n * n).map(|p| if from_left { slope[p] } else { slope[p / n + p % n * n] }).collect();
    let (mut free_rows, mut pivots): (Vec<usize>, Vec<(usize, usize)>) = ((0..n).collect(), Vec::new());
    let largest = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    while !free_rows.is_empty() {
        let all = free_rows.iter().flat_map(|&i| (0..n).map(move |j| (i, j)));
        let Some((i, j)) = all.max_by(|x, y| a[x.0 * n + x.1].abs().total_cmp(&a[y.0 * n + y.1].abs())) else { break };
        if a[i * n + j].abs() <= SMALL * largest {
            break;
        }
        free_rows.retain(|&r| r != i);
        let pivot: Vec<f64> = a[i * n..][..n].to_vec();
        for r in (0..n).filter(|&r| r != i) {
            let f = a[r * n + j] / pivot[j];
            if f != 0.0 {
                a[r * n..][..n].iter_mut().zip(&pivot).for_each(|(x, p)| *x -= f * p);
                a[r * n + j] = 0.0;
            }
        }
        pivots.push((i, j));
    }
    let free = (0..n).filter(|j| pivots.iter().all(|p| p.1 != *j));
    free.map(|j| {
        let mut v = vec![0.0; n];
        v[j] = 1.0;
        pivots.iter().for_each(|&(r, c)| v[c] = -a[r * n + j] / a[r * n + c]);
        v
    })
    .collect()
}

impl Machine {
    fn pivot_residuals(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        let Some(relations) = self.pairs(m) else { return false };
        self.as_one(m, from, |system, z| {
            let mut form = system.form(z, from, &relations)?;
            if !form.make_regular() {
                return None;
            }
            let (n, r) = (z.len(), relations.len());
            let mut lu = DenseLu::new(n);
            lu.matrix_mut().copy_from_slice(&form.slope);
            lu.factor().ok()?;
            let functions = |y: &[f64], k: usize| (0..n).map(|j| form.gradients[k + j * r] * y[j]).sum::<f64>();
            let mut first: Vec<f64> = form.residual.iter().map(|f| -f).collect();
            lu.solve(&mut first);
            let s: Vec<f64> = (0..r).map(|k| form.functions[k] + functions(&first, k)).collect();
            let mut columns = form.added.clone();
            columns.iter_mut().for_each(|a| *a = -*a);
            columns.chunks_exact_mut(n).for_each(|c| lu.solve(c));
            let mut matrix = vec![0.0; r * r];
            for (k, column) in columns.chunks_exact(n).enumerate() {
                for i in 0..r {
                    matrix[i + k * r] = functions(column, i) + f64::from(u8::from(i == k));
                }
            }
            let found = lemke(&matrix, &s).ok()?;
            for j in 0..n {
                z[j] += first[j] + (0..r).map(|k| columns[j + k * n] * found.z[k]).sum::<f64>();
            }
            Some(format!("pivoting on residuals, {} relations", r))
        })
    }
}

impl Loop<'_> {
    /// The loop about z, in the mode whose discrete values are given.
    fn form(&mut self, z: &[f64], from: &[f64], relations: &[usize]) -> Option<Form> {
        let (n, r) = (z.len(), relations.len());
        let place: Vec<usize> = relations
            .iter()
            .map(|&i| self.m.slots.iter().position(|&s| s == self.machine.relations[i].var))
            .collect::<Option<_>>()?;
        let sign: Vec<f64> = (0..r)
            .map(|k| {
                let kind = &self.machine.relations[relations[k]].kind;
                if positive_side(kind, from[place[k]]) { 1.0 } else { -1.0 }
            })
            .collect();
        let evaluate = |me: &mut Self, y: &[f64], bits: &[f64]| -> Option<(Vec<f64>, Vec<f64>)> {
            let (mut f, mut g) = (vec![0.0; n], vec![0.0; r]);
            me.locked(y, bits, &mut f).ok()?;
            me.machine.crossing_values(relations, &mut g);
            g.iter_mut().zip(&sign).for_each(|(g, s)| *g *= s);
            f.iter().chain(&g).all(|v| v.is_finite()).then_some((f, g))
        };
        let (residual, functions) = evaluate(self, z, from)?;
        let (mut slope, mut gradients) = (Vec::with_capacity(n * n), Vec::with_capacity(n * r));
        for j in 0..n {
            let mut y = z.to_vec();
            let by = z[j].abs().max(1.0);
            y[j] += by;
            let (f, g) = evaluate(self, &y, from)?;
            slope.extend(f.iter().zip(&residual).map(|(a, b)| (a - b) / by));
            gradients.extend(g.iter().zip(&functions).map(|(a, b)| (a - b) / by));
        }
        let mut added = Vec::with_capacity(n * r);
        for k in 0..r {
            // Away from zero, where the flip shows.
            let mut y = z.to_vec();
            let j = (0..n).max_by(|&a, &b| gradients[k + a * r].abs().total_cmp(&gradients[k + b * r].abs()))?;
            if functions[k].abs() <= SMALL {
                y[j] += z[j].abs().max(1.0);
            }
            let (f, g) = evaluate(self, &y, from)?;
            let mut flipped = from.to_vec();
            flipped[place[k]] = f64::from(from[place[k]] == 0.0);
            let (other, _) = evaluate(self, &y, &flipped)?;
            if g[k] == 0.0 {
                return None;
            }
            added.extend(f.iter().zip(&other).map(|(a, b)| (a - b) / g[k]));
        }
        Some(Form { residual, slope, functions, gradients, added })
    }
}
