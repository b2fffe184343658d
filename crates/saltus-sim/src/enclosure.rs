//! Crossing functions over a time interval and a box of states: where the enclosure excludes zero, there is no event.
//!
//! Steps are run over intervals. Simultaneous equations are enclosed by Krawczyk's operator (Krawczyk 1969; Neumaier,
//! Interval Methods for Systems of Equations, 1990, ch. 5) around their present solution y,
//!
//! ```text
//! K(X) = y − C f(y) + (I − C f'(X)) (X − y),      C ≈ f'(y)⁻¹:
//! ```
//!
//! K(X) inside X proves that X holds exactly one solution for each point of the box, and that it lies in K(X). For one unknown the
//! same holds of Newton's operator y − f(y) / f'(X), which does not care how far slopes differ as long as none is zero.

use crate::block::SolveBlock;
use crate::compile::Step;
use crate::crossings::Gradient;
use crate::machine::Machine;
use crate::model::ModeProgram;
use rustc_hash::FxHashMap;
use saltus_program::{Chain, Interval, Region};

/// Blocks with more unknowns are not enclosed, and those with more than so many have an allowance of their own: others shall not starve.
const LARGEST_BLOCK: usize = 200;
const LARGE_BLOCK: usize = 24;
/// How often a box of unknowns is widened before it is given up.
const WIDENINGS: usize = 8;
/// How often the range of one unknown is narrowed.
const NARROWINGS: usize = 4;

/// Encloses what a mode computes; keeps its memory between uses.
#[derive(Default)]
pub struct Enclosure {
    region: Region,
    /// Rows enclosed so far; a call of a function counts as many.
    pub work: u64,
    /// The same for blocks that count as large, and what it may come to.
    large: u64,
    pub(crate) large_allowed: f64,
    /// Approximate inverses of blocks, by the slots of their unknowns. Any will do that makes the operator contract.
    inverses: FxHashMap<Vec<u32>, Vec<f64>>,
}

/// Products of intervals that count as one row.
const PRODUCTS: u64 = 8;

/// Rows that a call of a function counts as.
const CALL: u64 = 2500;

impl Enclosure {
    /// All values of crossing function `k` of a mode (an index into its [`crate::crossings::Crossings::functions`]) while time and states lie in
    /// these intervals and everything discrete keeps its present value. The whole line if nothing is known. The values of
    /// the machine are not touched.
    pub fn crossing(
        &mut self,
        m: &mut Machine,
        program: &ModeProgram,
        k: usize,
        t: Interval,
        x: &[Interval],
    ) -> Interval {
        let states: Vec<(usize, Interval)> = x.iter().copied().enumerate().collect();
        self.of_states(m, program, k, t, &states)
    }

    /// The same where the intervals of some states are given, those that the function reads among them.
    pub(crate) fn of_states(
        &mut self,
        m: &mut Machine,
        program: &ModeProgram,
        k: usize,
        t: Interval,
        states: &[(usize, Interval)],
    ) -> Interval {
        let f = &program.crossings.functions[k];
        m.host.opaque = false;
        self.begin(m, program, t, states);
        self.steps(m, &f.slice);
        let r = &m.relations[f.relation];
        m.backend.enclose(&r.batch, &m.values, &mut self.region, &mut m.host);
        let range = self.region.get(r.g, &m.values);
        // A call that failed somewhere in the box is no failure of the run.
        m.host.error = None;
        range
    }

    fn begin(&mut self, m: &Machine, program: &ModeProgram, t: Interval, states: &[(usize, Interval)]) {
        self.region.clear();
        self.region.set(m.time, t);
        for &(state, range) in states {
            self.region.set(program.states[state].0, range);
        }
    }

    /// All rates of a function with these derivatives while time and states lie in these intervals and change at these rates, in the
    /// same order. The whole line if nothing is known.
    pub(crate) fn rate(
        &mut self,
        m: &mut Machine,
        program: &ModeProgram,
        gradient: &Gradient,
        (t, dt): (Interval, Interval),
        (states, rates): (&[(usize, Interval)], &[Interval]),
    ) -> Interval {
        self.begin(m, program, t, states);
        self.chain(m, &gradient.slopes);
        let slope = |slot: u32, sign: f64| self.region.get(slot, &m.values) * sign;
        let along = gradient.states.iter().map(|&(k, slot, sign)| match states.iter().position(|s| s.0 == k) {
            Some(at) => slope(slot, sign) * rates[at],
            None => Interval::WHOLE,
        });
        let in_time = gradient.time.iter().map(|&(slot, sign)| slope(slot, sign) * dt);
        let sum = along.chain(in_time).fold(Interval::ZERO, |sum, r| sum + r);
        m.host.error = None;
        sum
    }

    fn chain(&mut self, m: &mut Machine, chain: &Chain) {
        for b in chain {
            self.work += b.rows.len() as u64;
            m.backend.enclose(b, &m.values, &mut self.region, &mut m.host);
        }
        self.work += CALL * std::mem::take(&mut m.host.enclosed);
    }

    fn unknown(&mut self, slots: &[u32]) {
        slots.iter().for_each(|&s| self.region.set(s, Interval::WHOLE));
    }

    fn steps(&mut self, m: &mut Machine, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Assign(chain) => self.chain(m, chain),
                Step::Solve(b) => {
                    if self.solve(m, b).is_none() {
                        self.unknown(&b.unknowns);
                    }
                }
                // Held between events.
                Step::Relation(_) | Step::When(_) => {}
                // Its relations are held, too.
                Step::Mixed(b) => self.steps(m, &b.continuous),
            }
        }
    }

    /// Encloses the solution of a block.
    fn solve(&mut self, m: &mut Machine, b: &SolveBlock) -> Option<()> {
        let n = b.unknowns.len();
        if n <= LARGE_BLOCK {
            return self.solve_block(m, b);
        }
        if n > LARGEST_BLOCK || self.large as f64 > self.large_allowed {
            return None;
        }
        let before = self.work;
        let found = self.solve_block(m, b);
        self.large += std::mem::replace(&mut self.work, before) - before;
        found
    }

    fn solve_block(&mut self, m: &mut Machine, b: &SolveBlock) -> Option<()> {
        let n = b.unknowns.len();
        if n == 1 {
            return self.newton(m, b);
        }
        let found = self.solve_together(m, b);
        let one = b.torn.used && b.torn.tears.len() == 1 && b.torn.residual_slots.len() == 1;
        if found.is_none() && one { self.newton(m, b) } else { found }
    }

    fn solve_together(&mut self, m: &mut Machine, b: &SolveBlock) -> Option<()> {
        let n = b.unknowns.len();
        let y: Vec<f64> = b.unknowns.iter().map(|&s| m.values[s as usize]).collect();
        self.place(b, y.iter().map(|&v| Interval::point(v)));
        let slopes = self.slopes(m, b);
        // The inverse kept from before serves as long as it is close to one here.
        let mut c = self.inverses.remove(&b.unknowns).unwrap_or_default();
        if c.len() != n * n || !close(n, &self.contraction(&c, &slopes)) {
            self.work += (n * n * n) as u64 / (4 * PRODUCTS);
            c = inverse(n, slopes.iter().map(|s| s.mid()).collect())?;
        }
        let found = self.krawczyk(m, b, &y, &c, &slopes);
        self.inverses.insert(b.unknowns.clone(), c);
        found
    }

    /// Newton's operator for the one unknown, or the one torn unknown, of a block: what it leaves of the range of the solution is
    /// narrowed around its middle.
    fn newton(&mut self, m: &mut Machine, b: &SolveBlock) -> Option<()> {
        let k = if b.torn.used { b.torn.tears[0] as usize } else { 0 };
        let mut x = self.one_solution(m, b, k)?;
        for _ in 0..NARROWINGS {
            let (middle, before) = (Interval::point(x.mid()), x.width());
            let slope = self.slope(m, b, k, x);
            x = x.intersection(middle - self.residual(m, b, k, middle) / slope)?;
            if x.width() > 0.5 * before {
                break;
            }
        }
        self.residual(m, b, k, x);
        Some(())
    }

    /// A range about the present value of unknown `k` that holds exactly one solution for each point of the box.
    fn one_solution(&mut self, m: &mut Machine, b: &SolveBlock, k: usize) -> Option<Interval> {
        let y = Interval::point(m.values[b.unknowns[k] as usize]);
        let f = self.residual(m, b, k, y);
        let mut x = (y - f / self.slope(m, b, k, y)).hull(y);
        for _ in 0..WIDENINGS {
            x = widened(x, b.nominal[k]);
            let next = y - f / self.slope(m, b, k, x);
            if !next.lo.is_finite() || !next.hi.is_finite() {
                return None;
            }
            if x.lo < next.lo && next.hi < x.hi {
                return Some(next);
            }
            x = next.hull(x);
        }
        None
    }

    /// What is left of the block's equations while its one unknown, the `k`th, is in `x`; inner ones follow.
    fn residual(&mut self, m: &mut Machine, b: &SolveBlock, k: usize, x: Interval) -> Interval {
        self.region.set(b.unknowns[k], x);
        let (chain, slots) = match b.torn.used {
            true => (&b.torn.evaluation, &b.torn.residual_slots),
            false => (&b.residual, &b.residual_slots),
        };
        self.chain(m, chain);
        self.region.get(slots[0], &m.values)
    }

    /// The slopes of that.
    fn slope(&mut self, m: &mut Machine, b: &SolveBlock, k: usize, x: Interval) -> Interval {
        if !b.torn.used {
            self.region.set(b.unknowns[k], x);
            return self.slopes(m, b)[0];
        }
        self.residual(m, b, k, x);
        self.chain(m, &b.jacobian);
        let e = &b.torn.elimination;
        self.chain(m, &e.chain);
        e.entries.iter().fold(Interval::ZERO, |sum, &(.., word)| sum + self.region.get(word, &m.values))
    }

    /// Krawczyk's operator with the preconditioner `c`, around `y`, where the slopes are these.
    fn krawczyk(&mut self, m: &mut Machine, b: &SolveBlock, y: &[f64], c: &[f64], slopes: &[Interval]) -> Option<()> {
        let n = y.len();
        self.chain(m, &b.residual);
        let f: Vec<Interval> = b.residual_slots.iter().map(|&s| self.region.get(s, &m.values)).collect();
        let newton: Vec<Interval> = (0..n)
            .map(|i| Interval::point(y[i]) - (0..n).fold(Interval::ZERO, |sum, j| sum + f[j] * c[i * n + j]))
            .collect();
        let mut x: Vec<Interval> = newton
            .iter()
            .zip(y)
            .zip(&b.nominal)
            .map(|((v, &y), size)| widened(v.hull(Interval::point(y)), *size))
            .collect();
        let mut rest = self.contraction(c, slopes);
        for _ in 0..WIDENINGS {
            if x.iter().any(|x| !x.lo.is_finite() || !x.hi.is_finite()) {
                return None;
            }
            self.place(b, x.iter().copied());
            if !b.linear {
                let slopes = self.slopes(m, b);
                rest = self.contraction(c, &slopes);
            }
            let mut next = newton.clone();
            for i in 0..n {
                // The size of what is left, up to rounding.
                let far = |j: usize| rest[i * n + j].magnitude() * (x[j].hi - y[j]).max(y[j] - x[j].lo);
                let sum: f64 = (0..n).map(far).sum::<f64>() * (1.0 + (n + 4) as f64 * f64::EPSILON);
                next[i] = if sum.is_finite() { next[i] + Interval { lo: -sum, hi: sum } } else { Interval::WHOLE };
            }
            self.work += (n * n) as u64 / (4 * PRODUCTS);
            if next.iter().zip(&x).all(|(k, x)| x.lo < k.lo && k.hi < x.hi) {
                self.place(b, next.into_iter());
                return Some(());
            }
            let wider = |(k, (x, size)): (&Interval, (&Interval, &f64))| widened(k.hull(*x), *size);
            x = next.iter().zip(x.iter().zip(&b.nominal)).map(wider).collect();
        }
        None
    }

    /// I − C S, the part of Krawczyk's operator that must contract; S is sparse.
    fn contraction(&mut self, c: &[f64], slopes: &[Interval]) -> Vec<Interval> {
        let n = slopes.len().isqrt();
        // As middle and radius, transposed: whole rows at a time, without directed rounding. What rounding adds is below n + 2 units in
        // the last place of the sum of all sizes.
        let (mut middle, mut radius, mut products) = (vec![0.0; n * n], vec![0.0; n * n], 0);
        let units = (n + 2) as f64 * f64::EPSILON;
        let columns: Vec<f64> = (0..n * n).map(|at| c[at % n * n + at / n]).collect();
        (0..n).for_each(|i| middle[i * n + i] = 1.0);
        for (at, &slope) in slopes.iter().enumerate().filter(|(_, s)| **s != Interval::ZERO) {
            let (l, j) = (at / n, at % n);
            let (mid, rad) = (slope.mid(), 0.5 * (slope.hi - slope.lo) + units * slope.magnitude());
            let column = &columns[l * n..(l + 1) * n];
            let (m, r) = (&mut middle[j * n..(j + 1) * n], &mut radius[j * n..(j + 1) * n]);
            for i in 0..n {
                m[i] -= mid * column[i];
                r[i] += rad * column[i].abs();
            }
            products += n as u64;
        }
        self.work += products / (4 * PRODUCTS);
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            let (m, r) = (middle[j * n + i], radius[j * n + i] * (1.0 + units) + units * f64::from(i == j));
            if r.is_finite() { Interval { lo: m - r, hi: m + r } } else { Interval::WHOLE }
        };
        (0..n * n).map(entry).collect()
    }

    fn place(&mut self, b: &SolveBlock, x: impl Iterator<Item = Interval>) {
        b.unknowns.iter().zip(x).for_each(|(&s, x)| self.region.set(s, x));
    }

    /// The Jacobian of a block over its box, row by row.
    fn slopes(&mut self, m: &mut Machine, b: &SolveBlock) -> Vec<Interval> {
        self.chain(m, &b.jacobian);
        let n = b.unknowns.len();
        let mut slopes = vec![Interval::ZERO; n * n];
        for (&(_, slot, sign), &(i, j)) in b.entries.iter().zip(&b.places) {
            slopes[i * n + j] = slopes[i * n + j] + self.region.get(slot, &m.values) * sign;
        }
        slopes
    }
}

/// Whether I − C S is small in its middle: C is close to an inverse.
fn close(n: usize, rest: &[Interval]) -> bool {
    rest.chunks(n).all(|row| row.iter().map(|r| r.mid().abs()).sum::<f64>() < 0.1)
}

/// A little more on each side, so that what is inside can be told from what touches.
fn widened(x: Interval, size: f64) -> Interval {
    let more = 0.1 * (x.hi - x.lo) + 1e-12 * (x.magnitude() + size.abs());
    Interval { lo: x.lo - more, hi: x.hi + more }
}

/// The inverse of a matrix given row by row, by Gauss–Jordan elimination; rounding errors do not matter here.
fn inverse(n: usize, mut a: Vec<f64>) -> Option<Vec<f64>> {
    let mut c = vec![0.0; n * n];
    (0..n).for_each(|i| c[i * n + i] = 1.0);
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))?;
        let pivot = a[p * n + k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return None;
        }
        for j in 0..n {
            a.swap(k * n + j, p * n + j);
            c.swap(k * n + j, p * n + j);
        }
        for j in 0..n {
            a[k * n + j] /= pivot;
            c[k * n + j] /= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k];
            if factor != 0.0 {
                for j in 0..n {
                    a[i * n + j] -= factor * a[k * n + j];
                    c[i * n + j] -= factor * c[k * n + j];
                }
            }
        }
    }
    c.iter().all(|v| v.is_finite()).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse() {
        let a = vec![0.0, 2.0, 1.0, 1.0, -1.0, 4.0, 3.0, 0.5, 0.25];
        let c = inverse(3, a.clone()).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let v: f64 = (0..3).map(|k| a[i * 3 + k] * c[k * 3 + j]).sum();
                assert!((v - f64::from(i == j)).abs() < 1e-14);
            }
        }
        assert!(inverse(2, vec![1.0, 2.0, 2.0, 4.0]).is_none());
    }
}
