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
//!
//! Many modes may have the same solution (diodes side by side, a node that all its diodes cut off). Lemke's method ends with a basis,
//! and the mode of a basis is regular. With s⁰ + ε ṡ⁰ in the place of s⁰ it is a mode that still holds a moment later.

use crate::compile::{MixedBlock, Step};
use crate::crossings::positive_side;
use crate::machine::{Machine, Note};
use crate::mixed::Loop;
use saltus_solver::lcp::{lemke, lemke_ahead};
use saltus_solver::nonlinear::dense::Lu;
use saltus_structure::RelationKind;

/// Loops with more relations, or more unknowns, are left to other methods.
const MOST: usize = 256;
const MOST_UNKNOWNS: usize = 1000;

impl Machine {
    /// Looks for a consistent mode of a loop by pivoting, from the mode whose discrete values are given. The loop holds its
    /// values if there is one.
    pub(crate) fn complementary(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        // Equations that Newton's method does not solve are far from affine.
        let patient = std::mem::take(&mut self.patient);
        let found = self.pivot(m, from) || self.pivot_about(m, from, None);
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
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) residual: Vec<f64>,
    pub(crate) slope: Vec<f64>,
    pub(crate) functions: Vec<f64>,
    pub(crate) gradients: Vec<f64>,
    pub(crate) added: Vec<f64>,
    /// How residuals and functions change with time; zero if nobody knows.
    pub(crate) residual_rate: Vec<f64>,
    pub(crate) function_rate: Vec<f64>,
}

impl Form {
    /// Scales equations and unknowns to entries about one. The units that unknowns are counted in afterwards.
    pub(crate) fn equilibrate(&mut self) -> Vec<f64> {
        let (rows, units) = self.scales();
        self.scale(&rows, &units);
        units
    }

    /// Factors of equations, and units of unknowns, that make entries about one.
    pub(crate) fn scales(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.residual.len();
        let power = |v: f64| if v > 0.0 { (-v.log2().round()).clamp(-900.0, 900.0).exp2() } else { 1.0 };
        let rows: Vec<f64> =
            (0..n).map(|i| power((0..n).fold(0.0f64, |m, j| m.max(self.slope[i + j * n].abs())))).collect();
        let largest = |c: &[f64]| c.iter().zip(&rows).fold(0.0f64, |m, (v, s)| m.max((v * s).abs()));
        let units = self.slope.chunks_exact(n).map(|c| power(largest(c))).collect();
        (rows, units)
    }

    pub(crate) fn scale(&mut self, rows: &[f64], units: &[f64]) {
        let (n, r) = (self.residual.len(), self.functions.len());
        self.residual.iter_mut().zip(rows).for_each(|(f, s)| *f *= s);
        self.residual_rate.iter_mut().zip(rows).for_each(|(f, s)| *f *= s);
        let matrices = self.slope.chunks_exact_mut(n).chain(self.added.chunks_exact_mut(n));
        matrices.for_each(|column| column.iter_mut().zip(rows).for_each(|(f, s)| *f *= s));
        for (j, unit) in units.iter().enumerate() {
            self.slope[j * n..][..n].iter_mut().for_each(|v| *v *= unit);
            self.gradients[j * r..][..r].iter_mut().for_each(|v| *v *= unit);
        }
    }

    /// Flips bit k.
    fn flip(&mut self, k: usize) {
        let (n, r) = (self.residual.len(), self.functions.len());
        for i in 0..n {
            let a = self.added[i + k * n];
            self.residual[i] -= a * self.functions[k];
            self.residual_rate[i] -= a * self.function_rate[k];
            for j in 0..n {
                self.slope[i + j * n] -= a * self.gradients[k + j * r];
            }
        }
        // Counted by the other side now.
        self.functions[k] = -self.functions[k];
        self.function_rate[k] = -self.function_rate[k];
        (0..n).for_each(|j| self.gradients[k + j * r] = -self.gradients[k + j * r]);
    }

    /// Flips bits until the matrix is regular. Which ones, if that is possible.
    pub(crate) fn make_regular(&mut self) -> Option<Vec<usize>> {
        let (n, r) = (self.residual.len(), self.functions.len());
        let mut flipped = Vec::new();
        let mut lu = Lu::new();
        if lu.factor(n, &self.slope, &vec![1.0; n]).is_ok() && lu.pivot_ratio() > SMALL {
            return Some(flipped);
        }
        let right = null_vectors(&self.slope, n, false);
        let left = null_vectors(&self.slope, n, true);
        let dot = |a: &[f64], b: &mut dyn Iterator<Item = f64>| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let unit = |mut v: Vec<f64>| {
            let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= if size > 0.0 { size } else { 1.0 });
            v
        };
        let mut spans: Vec<[Vec<f64>; 2]> = (0..r)
            .map(|k| {
                let a = unit(self.added[k * n..][..n].to_vec());
                let g = unit((0..n).map(|j| self.gradients[k + j * r]).collect());
                [
                    left.iter().map(|l| dot(l, &mut a.iter().copied())).collect(),
                    right.iter().map(|v| dot(v, &mut g.iter().copied())).collect(),
                ]
            })
            .collect();
        let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let weight = |s: &[Vec<f64>; 2]| size(&s[0]).min(size(&s[1]));
        for _ in 0..right.len() {
            let k = (0..r).max_by(|&a, &b| weight(&spans[a]).total_cmp(&weight(&spans[b])).then(b.cmp(&a)))?;
            if weight(&spans[k]) < SMALL {
                return None;
            }
            let chosen = spans[k].clone();
            for s in &mut spans {
                for (v, c) in s.iter_mut().zip(&chosen) {
                    let f = dot(v, &mut c.iter().copied()) / dot(c, &mut c.iter().copied());
                    v.iter_mut().zip(c).for_each(|(v, c)| *v -= f * c);
                }
            }
            self.flip(k);
            flipped.push(k);
        }
        Some(flipped)
    }
}

/// How many bands about zero leave a relation either value, where equations are singular in some modes.
pub(crate) const AT_ZERO: f64 = 1e3;

/// What counts as zero of functions, beside the largest.
const SAME: f64 = 1e-11;

/// ε of a moment ahead: what losses move charges by on the way (C ε i/h) must be small beside i, and their voltages clear of what left limits
/// are wrong by.
const LOSS: f64 = 1e-10;

/// What is left of zero by rounding, beside the largest of the functions.
pub(crate) const ROUNDING: f64 = 1e-14;

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
    /// Takes the mode that the final basis of Lemke's method tells: its matrix is regular even where the loop has many solutions,
    /// and functions that are zero in it have the side that the basis gives them.
    pub(crate) fn basic_mode(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        let patient = std::mem::take(&mut self.patient);
        let found = self.pivot_about(m, from, None);
        self.patient = patient;
        found
    }

    /// The same from a solved loop with functions at zero, so that the mode still holds a moment later: `later` moves everything that the
    /// loop reads to so many seconds from now. Whether relations have turned; those of a mode that holds are noted.
    pub(crate) fn turn_ahead(&mut self, m: &MixedBlock, later: &mut dyn FnMut(&mut Machine) -> Option<f64>) -> bool {
        // With losses functions are seldom at zero, and those near it are so by their size.
        let Some(relations) = self.pairs(m).filter(|_| !self.is_lossy(m)) else { return false };
        let mut g = vec![0.0; relations.len()];
        self.crossing_values(&relations, &mut g);
        let at_zero = (0..g.len()).filter(|&k| g[k].abs() <= AT_ZERO * self.band(relations[k])).count();
        // One alone has just crossed, and what crosses tells where it goes.
        if at_zero < if self.is_degenerate(m) { 1 } else { 2 } {
            return false;
        }
        let mode: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        let patient = std::mem::take(&mut self.patient);
        let found = self.pivot_about(m, &mode, Some(later));
        self.patient = patient;
        m.degenerate.set(m.degenerate.get() || found);
        let turned = found && !m.agree(&self.values, &mode, 0.0);
        if found && !turned {
            self.holds_ahead.extend(&relations);
        }
        turned
    }

    fn pivot_about(
        &mut self,
        m: &MixedBlock,
        from: &[f64],
        later: Option<&mut dyn FnMut(&mut Machine) -> Option<f64>>,
    ) -> bool {
        let Some(relations) = self.pairs(m) else { return false };
        let keep = self.values.clone();
        let found = self.with_loop(m, from, MOST_UNKNOWNS, |system, z| {
            let mut form = system.form(z, from, &relations)?;
            if let Some(later) = later {
                system.rates(&mut form, z, from, &relations, later)?;
            }
            let units = form.equilibrate();
            let flipped = form.make_regular()?;
            let (step, basic) = form.solution(SAME)?;
            z.iter_mut().zip(step.iter().zip(&units)).for_each(|(z, (d, unit))| *z += d * unit);
            Some((0..relations.len()).filter(|k| basic[*k] != flipped.contains(k)).collect::<Vec<usize>>())
        });
        self.host.error = None;
        let good = found.flatten().is_some_and(|turned| self.holds_at_zero(m, from, &relations, &turned));
        if good {
            self.note(|| Note::End { solved: true, how: format!("pivoting, {} relations", relations.len()) });
        } else {
            self.values.copy_from_slice(&keep);
        }
        good
    }

    /// Whether a loop is solved regularly with these of its relations turned, either value of a relation at zero being right.
    fn holds_at_zero(&mut self, m: &MixedBlock, from: &[f64], relations: &[usize], turned: &[usize]) -> bool {
        m.slots.iter().zip(from).for_each(|(&s, &v)| self.values[s as usize] = v);
        for &k in turned {
            let slot = self.relations[relations[k]].var as usize;
            self.values[slot] = 1.0 - self.values[slot];
        }
        let (regular_only, slack) = (self.regular_only, self.slack);
        self.regular_only = true;
        let mut good = self.follows(m);
        let mode: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        good = good && self.run(&m.continuous).is_ok();
        self.regular_only = regular_only;
        // What remembers where it came from takes a function that has crossed for crossed.
        let slacks: &[f64] = if m.remembers { &[1.0] } else { &[1.0, AT_ZERO] };
        for &slack in slacks {
            self.slack = slack;
            m.slots.iter().zip(&mode).for_each(|(&s, &v)| self.values[s as usize] = v);
            if good && self.run(&m.discrete).is_ok() && m.agree(&self.values, &mode, 0.0) {
                self.slack = 1.0;
                return true;
            }
        }
        self.slack = slack;
        self.host.error = None;
        false
    }
}

impl Form {
    /// The functions at the solution with no bit flipped; the matrix must be regular.
    pub(crate) fn locked(&self) -> Option<Vec<f64>> {
        let (n, r) = (self.residual.len(), self.functions.len());
        let mut lu = Lu::new();
        lu.factor(n, &self.slope, &vec![1.0; n]).ok()?;
        let mut step: Vec<f64> = self.residual.iter().map(|f| -f).collect();
        lu.solve(&mut step);
        let function = |k: usize| self.functions[k] + (0..n).map(|j| self.gradients[k + j * r] * step[j]).sum::<f64>();
        Some((0..r).map(function).collect())
    }

    /// The same with small losses: each relation is for a part ε what it is not (`losses`), and so are the conditions that memory holds,
    /// which add `held` when they are flipped.
    fn with_losses(&self, held: &Form) -> Form {
        let (n, r) = (self.residual.len(), self.functions.len());
        let mut lossy = self.clone();
        lossy.residual.iter_mut().zip(&held.residual).for_each(|(f, h)| *f += LOSS * h);
        lossy.slope.iter_mut().zip(&held.slope).for_each(|(f, h)| *f += LOSS * h);
        for k in 0..r {
            for i in 0..n {
                let a = self.added[i + k * n];
                if a != 0.0 {
                    lossy.residual[i] -= LOSS * a * self.functions[k];
                    (0..n).for_each(|j| lossy.slope[i + j * n] -= LOSS * a * self.gradients[k + j * r]);
                }
            }
        }
        lossy.added.iter_mut().for_each(|a| *a *= 1.0 - 2.0 * LOSS);
        lossy
    }

    /// The step to the solution that small losses lead to, and which relations are beyond zero there. Of shares that the equations leave open
    /// as many go to zero as make the matrix regular, from where losses have them, the cheapest first.
    pub(crate) fn solution_with_losses(&self, held: &Form, cost: &[u8]) -> Option<(Vec<f64>, Vec<bool>)> {
        let (n, r) = (self.residual.len(), self.functions.len());
        let lossy = self.with_losses(held);
        let (mut step, mut beyond) = lossy.solution(0.0).or_else(|| lossy.solution(ROUNDING))?;
        let mut here = self.clone();
        (0..r).filter(|&k| beyond[k]).for_each(|k| here.flip(k));
        let mut lu = Lu::new();
        for _ in 0..=n {
            if lu.factor(n, &here.slope, &vec![1.0; n]).is_ok() && lu.pivot_ratio() > SMALL {
                step = here.residual.iter().map(|f| -f).collect();
                lu.solve(&mut step);
                return Some((step, beyond));
            }
            let along = |v: &[f64], k: usize| (0..n).map(|j| here.gradients[k + j * r] * v[j]).sum::<f64>();
            let shares: Vec<f64> = (0..r).map(|k| (here.functions[k] + along(&step, k)).max(0.0)).collect();
            let switching = |k: &usize| here.added[k * n..][..n].iter().any(|a| *a != 0.0);
            let mut best: Option<(u8, f64, usize, Vec<f64>)> = None;
            for open in null_vectors(&here.slope, n, false) {
                for sign in [1.0, -1.0] {
                    let direction: Vec<f64> = open.iter().map(|v| sign * v).collect();
                    let rates: Vec<f64> = (0..r).map(|k| along(&direction, k)).collect();
                    let fastest = rates.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    let falling = (0..r).filter(|k| rates[*k] < -SMALL * fastest && switching(k));
                    let first = falling.map(|k| (shares[k] / -rates[k], cost[k], k));
                    let first = first.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let Some((length, worth, k)) = first else { continue };
                    let better = |b: &(u8, f64, usize, Vec<f64>)| (worth, length) < (b.0, b.1);
                    if best.as_ref().is_none_or(better) {
                        best = Some((worth, length, k, direction));
                    }
                }
            }
            let (_, length, k, direction) = best?;
            step.iter_mut().zip(&direction).for_each(|(z, d)| *z += length * d);
            here.flip(k);
            beyond[k] = !beyond[k];
        }
        None
    }

    /// The step of the unknowns to a solution, and which relations are beyond zero there; the matrix must be regular. Functions below
    /// this part of the largest count as zero.
    pub(crate) fn solution(&self, zero: f64) -> Option<(Vec<f64>, Vec<bool>)> {
        let (n, r) = (self.residual.len(), self.functions.len());
        let mut lu = Lu::new();
        lu.factor(n, &self.slope, &vec![1.0; n]).ok()?;
        let functions = |y: &[f64], k: usize| (0..n).map(|j| self.gradients[k + j * r] * y[j]).sum::<f64>();
        let mut step: Vec<f64> = self.residual.iter().map(|f| -f).collect();
        lu.solve(&mut step);
        let s: Vec<f64> = (0..r).map(|k| self.functions[k] + functions(&step, k)).collect();
        let mut columns: Vec<f64> = self.added.iter().map(|a| -a).collect();
        columns.chunks_exact_mut(n).for_each(|c| lu.solve(c));
        // Relations that change nothing take no part: their columns are zero but not their rows, which no pivoting is made for.
        let (open, others): (Vec<usize>, Vec<usize>) =
            (0..r).partition(|k| self.added[k * n..][..n].iter().any(|a| *a != 0.0));
        let m = open.len();
        let mut matrix = vec![0.0; m * m];
        for (c, &k) in open.iter().enumerate() {
            for (i, &of) in open.iter().enumerate() {
                matrix[i + c * m] = functions(&columns[k * n..][..n], of) + f64::from(u8::from(i == c));
            }
        }
        let mut drift: Vec<f64> = self.residual_rate.iter().map(|f| -f).collect();
        lu.solve(&mut drift);
        let rate: Vec<f64> = open.iter().map(|&k| self.function_rate[k] + functions(&drift, k)).collect();
        let q: Vec<f64> = open.iter().map(|&k| s[k]).collect();
        let zero = zero * q.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let found = lemke_ahead(&matrix, &q, &rate, zero).or_else(|_| lemke_ahead(&matrix, &q, &vec![0.0; m], zero));
        let found = found.ok()?;
        for j in 0..n {
            step[j] += open.iter().zip(&found.z).map(|(k, z)| columns[j + k * n] * z).sum::<f64>();
        }
        let mut basic = vec![false; r];
        open.iter().zip(&found.basic).for_each(|(&k, b)| basic[k] = *b);
        others.iter().for_each(|&k| basic[k] = self.functions[k] + functions(&step, k) < 0.0);
        Some((step, basic))
    }
}

impl Loop<'_> {
    /// The loop about z, in the mode whose discrete values are given.
    fn form(&mut self, z: &[f64], from: &[f64], relations: &[usize]) -> Option<Form> {
        let (n, r) = (z.len(), relations.len());
        let places = self.places(relations)?;
        let sign = self.signs(relations, &places, from);
        let evaluate = |me: &mut Self, y: &[f64], bits: &[f64]| me.evaluate_locked(y, bits, relations, &sign);
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
            flipped[places[k]] = f64::from(from[places[k]] == 0.0);
            let (other, _) = evaluate(self, &y, &flipped)?;
            if g[k] == 0.0 {
                return None;
            }
            added.extend(f.iter().zip(&other).map(|(a, b)| (a - b) / g[k]));
        }
        let (residual_rate, function_rate) = (vec![0.0; n], vec![0.0; r]);
        Some(Form { residual, slope, functions, gradients, added, residual_rate, function_rate })
    }

    /// Which discrete unknowns the relations are.
    fn places(&self, relations: &[usize]) -> Option<Vec<usize>> {
        let place = |&i: &usize| self.m.slots.iter().position(|&s| s == self.machine.relations[i].var);
        relations.iter().map(place).collect()
    }

    /// Functions are counted positive on the side of their bits.
    fn signs(&self, relations: &[usize], places: &[usize], bits: &[f64]) -> Vec<f64> {
        let positive = |(&i, &p): (&usize, &usize)| positive_side(&self.machine.relations[i].kind, bits[p]);
        relations.iter().zip(places).map(|x| if positive(x) { 1.0 } else { -1.0 }).collect()
    }

    /// Residuals and functions of relations, counted by `sign`, at y in a mode.
    fn evaluate_locked(
        &mut self,
        y: &[f64],
        bits: &[f64],
        relations: &[usize],
        sign: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let (mut f, mut g) = (vec![0.0; y.len()], vec![0.0; relations.len()]);
        self.locked(y, bits, &mut f).ok()?;
        self.machine.crossing_values(relations, &mut g);
        g.iter_mut().zip(sign).for_each(|(g, s)| *g *= s);
        f.iter().chain(&g).all(|v| v.is_finite()).then_some((f, g))
    }

    /// How residuals and functions at z change while everything that the loop reads moves on.
    fn rates(
        &mut self,
        form: &mut Form,
        z: &[f64],
        from: &[f64],
        relations: &[usize],
        later: &mut dyn FnMut(&mut Machine) -> Option<f64>,
    ) -> Option<()> {
        let places = self.places(relations)?;
        let sign = self.signs(relations, &places, from);
        let keep = self.machine.values.clone();
        let after = later(self.machine);
        let there = after.and_then(|_| self.evaluate_locked(z, from, relations, &sign));
        self.machine.values.copy_from_slice(&keep);
        let ((f, g), after) = (there?, after?);
        form.function_rate = g.iter().zip(&form.functions).map(|(a, b)| (a - b) / after).collect();
        form.residual_rate = f.iter().zip(&form.residual).map(|(a, b)| (a - b) / after).collect();
        Some(())
    }
}
