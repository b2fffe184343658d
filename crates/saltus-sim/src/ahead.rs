//! The mode a moment ahead.
//!
//! Where guards depend on what they guard, n of them have 2ⁿ modes, and one condition after the other does not lead from one
//! consistent mode to the next: a switch closes, and five ideal diodes commutate. All of them follow together from one
//! implicit step of a short length h after the left limits,
//!
//! ```text
//! f(t + h, x⁻ + h ẋ, ẋ, y; b) = 0      for ẋ, y and the bits b of the relations
//! ```
//!
//! a mixed complementarity problem like that of a loop (`pivot`): modes in which states are constrained are as good as others there, and a
//! jump is a derivative of the size 1/h. The mode of Lemke's final basis has a regular matrix ∂f/∂ẋ + h ∂f/∂x, ∂f/∂y, so that its equations
//! determine everything, whatever their index; of diodes side by side it lets one conduct. Which of several switches take a current is said
//! by small losses, as in loops (`losses`); without them it is what the pivots say. Either is a proposal: the mode is entered only
//! if its guards agree with what its own equations give.

use crate::crossings::positive_side;
use crate::model::{ModeProgram, Model, Snapshot};
use crate::pivot::{Form, ROUNDING};
use crate::rhs::Rhs;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId};
use saltus_structure::{Cell, DiscKind, ModeKey, RelationKind, Role, chosen, continuous_args};

/// Larger problems are left to other methods.
const MOST_RELATIONS: usize = 256;
const MOST_UNKNOWNS: usize = 1000;

/// How far to look for the mode that follows, in parts of the run: next to errors of the left limits, and within the shortest transients.
pub(crate) const MOMENTS: [f64; 4] = [1e-6, 1e-8, 1e-4, 1e-10];

/// Linearizations until the bits have to agree, and what steps of the unknowns are by then.
const MOST_LINEARIZATIONS: usize = 12;
const SETTLED: f64 = 1e-6;

/// How many tolerances what has just crossed may be from zero, and how far, beside its size, what is there at the same time.
const NEAR: f64 = 100.0;
const AT_ONCE: f64 = 1e-9;

/// Sweeps in which what follows from bits must settle.
const MOST_SWEEPS: usize = 4;

/// An implicit step with open relations.
struct Ahead {
    /// Equations, in the branches of the moment.
    rows: Vec<Row>,
    /// The unknowns: variables with the order of their highest derivatives.
    unknowns: Vec<(VarId, u8)>,
    /// Of each unknown, the equations that it occurs in.
    readers: Vec<Vec<usize>>,
    /// Open relations, their bits and functions.
    relations: Vec<usize>,
    bits: Vec<VarId>,
    functions: Vec<Row>,
    /// What counts as zero of them.
    zeros: Vec<f64>,
    /// Discrete variables that follow from the bits, in order of the system.
    followers: Vec<(VarId, Row)>,
    /// What does not follow for now: conditions of the mode that ends, with their values there.
    held: Vec<(VarId, f64)>,
    /// Whether what follows from a bit has a memory.
    remembers: Vec<bool>,
    /// The equations that read bits or what follows from them.
    switching: Vec<usize>,
    /// The values before the step.
    left: Snapshot,
    h: f64,
}

/// A function at zero as a mode ends.
pub(crate) struct AtZero {
    relation: usize,
    /// Its bit before.
    before: bool,
    g: f64,
    rate: f64,
}

/// The values of relations that hold a moment ahead, and definitions of what follows from them.
#[derive(Default)]
pub(crate) struct Decision {
    pub(crate) relations: Vec<(usize, bool)>,
    pub(crate) followers: Vec<(VarId, Row)>,
}

impl Ahead {
    /// The values at the end of the step, lower derivatives from higher ones.
    fn place(&self, point: &mut Snapshot, z: &[f64]) {
        for (&(var, highest), &value) in self.unknowns.iter().zip(z) {
            point.set(Cell::new(var, highest), value);
            let mut above = value;
            for order in (0..highest).rev() {
                let lower = Cell::new(var, order);
                above = self.left.get(lower) + self.h * above;
                point.set(lower, above);
            }
        }
    }
}

impl Model {
    /// The values of the open relations that hold at the end of a step of length h from the present values, with small losses or without; `None` if the equations of the
    /// moment are no such problem, or if it has no solution. What is at zero was so in the
    /// mode that ends.
    pub(crate) fn decide_ahead(
        &mut self,
        h: f64,
        at_zero: &[AtZero],
        ending: Option<&ModeKey>,
        losses: bool,
    ) -> Option<Decision> {
        let mut ahead = self.step_ahead(h)?;
        let mut point = ahead.left.clone();
        let time = Cell::new(HybridDae::TIME, 0);
        point.set(time, ahead.left.get(time) + h);
        let mut z: Vec<f64> = ahead.unknowns.iter().map(|&(v, order)| ahead.left.get(Cell::new(v, order))).collect();
        z.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = 0.0);
        let mut bits: Vec<bool> = ahead.bits.iter().map(|&v| ahead.left.get(Cell::new(v, 0)) != 0.0).collect();
        for (i, b) in ahead.relations.iter().zip(&mut bits) {
            *b = at_zero.iter().find(|z| z.relation == *i).map_or(*b, |z| z.before);
        }
        if !at_zero.is_empty() {
            ahead.place(&mut point, &z);
            // A gate signal that comes now was not there.
            let conditions = ending.map(|key| self.modes.values(key)).unwrap_or_default();
            ahead.held = conditions.into_iter().map(|(v, b)| (v, f64::from(b))).collect();
            self.correct(&mut ahead, &mut point, &bits, at_zero);
            ahead.held.clear();
        }
        // Which shares go to zero last: those whose ends are remembered, then those that have just begun.
        let slots = ahead.relations.iter().map(|i| self.machine.relations[*i].var);
        let cost: Vec<u8> = slots
            .zip(&ahead.remembers)
            .map(|(s, remembers)| 2 * u8::from(*remembers) + u8::from(self.machine.fresh.contains(&s)))
            .collect();
        for _ in 0..MOST_LINEARIZATIONS {
            ahead.place(&mut point, &z);
            let (mut form, affine) = self.form_ahead(&ahead, &mut point, &bits)?;
            let held = losses.then(|| self.held_ahead(&mut ahead, &mut point, &bits));
            let (rows, units) = form.scales();
            form.scale(&rows, &units);
            let flipped = form.make_regular()?;
            let (step, basic) = match held {
                Some(mut held) => {
                    held.scale(&rows, &units);
                    form.solution_with_losses(&held, &cost)?
                }
                // What is at zero is told apart by the step itself, unless rounding makes that impossible.
                None => form.solution(0.0).or_else(|| form.solution(ROUNDING))?,
            };
            let before = std::mem::take(&mut bits);
            bits = (0..before.len()).map(|k| before[k] != (basic[k] != flipped.contains(&k))).collect();
            let mut settled = bits == before;
            for (z, (d, unit)) in z.iter_mut().zip(step.iter().zip(&units)) {
                settled &= (d * unit).abs() <= SETTLED * z.abs().max(*unit);
                *z += d * unit;
            }
            // On the other side functions have other units.
            (0..bits.len()).filter(|&k| bits[k] != before[k]).for_each(|k| ahead.zeros[k] = 0.0);
            if affine || settled {
                let relations = ahead.relations.into_iter().zip(bits).collect();
                return Some(Decision { relations, followers: ahead.followers });
            }
        }
        None
    }

    /// What is at zero leaves it at its rate of the moment. The step is of first order: derivatives of constrained variables change by half
    /// of what they should, so functions of them are counted from where the step leads them in the mode that ends.
    fn correct(&mut self, ahead: &mut Ahead, point: &mut Snapshot, bits: &[bool], at_zero: &[AtZero]) {
        let led = self.form_ahead(ahead, point, bits).and_then(|(form, _)| form.locked());
        for (k, i) in ahead.relations.iter().enumerate() {
            let Some(z) = at_zero.iter().find(|z| z.relation == *i) else { continue };
            let positive = positive_side(&self.machine.relations[*i].kind, f64::from(bits[k]));
            let there = led.as_ref().map(|s| if positive { s[k] } else { -s[k] });
            ahead.zeros[k] = there.map_or(z.g, |g| g - ahead.h * z.rate);
        }
    }

    /// Functions at zero as a mode ends, with their rates there; those that have just crossed go on the way they went.
    pub(crate) fn ending_at_zero(&mut self, old: &ModeProgram, t: f64) -> Vec<AtZero> {
        let keep = self.machine.values.clone();
        // What has just crossed was on its other side, as the key tells or, behind a formula, by itself.
        for slot in self.machine.fresh.clone() {
            let crosses =
                self.machine.relations.iter().any(|r| r.var == slot && matches!(r.kind, RelationKind::Sign(_)));
            if crosses {
                self.machine.values[slot as usize] = f64::from(keep[slot as usize] == 0.0);
            }
        }
        for (v, b) in self.modes.values(&old.plan.key) {
            if let Ok((s, _)) = self.locate(v) {
                self.machine.values[s as usize] = f64::from(b);
            }
        }
        let x: Vec<f64> = old.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        let mut dx = vec![0.0; x.len()];
        let mut found = Vec::new();
        if Rhs::new(&mut self.machine, old).field(t, &x, &mut dx).is_ok() {
            let relations: Vec<usize> = old.crossings.relations().collect();
            let mut g = vec![0.0; relations.len()];
            self.machine.crossing_values(&relations, &mut g);
            for (&i, &g) in relations.iter().zip(&g) {
                let r = &self.machine.relations[i];
                let sign = matches!(r.kind, RelationKind::Sign(_)) && r.time.is_none() && !self.machine.is_idle(r.var);
                let crossed = self.machine.fresh.contains(&r.var);
                let near = if crossed { NEAR * self.machine.tolerance } else { AT_ONCE };
                if sign && g.abs() <= near * r.size {
                    found.push((i, g));
                }
            }
        }
        let mut at_zero = Vec::new();
        for (relation, g) in found {
            self.know_rate(old, relation);
            let rate = Rhs::new(&mut self.machine, old).rate(relation, t, &x, &dx);
            let r = &self.machine.relations[relation];
            let before = self.machine.values[r.var as usize];
            let now = keep[r.var as usize];
            let crossed = self.machine.fresh.contains(&r.var) && now != before;
            let rate = match rate {
                Ok(rate) if crossed => {
                    if positive_side(&r.kind, now) {
                        rate.abs()
                    } else {
                        -rate.abs()
                    }
                }
                Ok(rate) => rate,
                Err(_) => continue,
            };
            at_zero.push(AtZero { relation, before: before != 0.0, g, rate });
        }
        self.machine.host.error = None;
        self.layout.extend(&mut self.machine.values);
        self.machine.values[..keep.len()].copy_from_slice(&keep);
        at_zero
    }

    /// Gives relations the values decided, and what follows from them.
    pub(crate) fn lock(&mut self, decision: &Decision) {
        for &(i, b) in &decision.relations {
            let slot = self.machine.relations[i].var;
            self.machine.values[slot as usize] = f64::from(b);
        }
        self.derive(&decision.followers);
    }

    /// Evaluates what follows from relations.
    pub(crate) fn derive(&mut self, followers: &[(VarId, Row)]) {
        for _ in 0..MOST_SWEEPS {
            let mut changed = false;
            for (v, row) in followers {
                let value = self.eval_row(row, self);
                let slot = self.layout.slot(Cell::new(*v, 0)) as usize;
                changed |= self.machine.values[slot] != value;
                self.machine.values[slot] = value;
            }
            if !changed {
                break;
            }
        }
    }

    /// What a mode's values say about relations that were decided ahead of them: functions at zero keep their bits, whatever is left of them
    /// by rounding.
    pub(crate) fn settle(&mut self, decided: &[(usize, bool)]) {
        let which: Vec<usize> = decided.iter().map(|d| d.0).collect();
        let mut g = vec![0.0; which.len()];
        self.machine.crossing_values(&which, &mut g);
        let large = g.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        for (&(i, b), g) in decided.iter().zip(g) {
            let r = &mut self.machine.relations[i];
            self.machine.values[r.var as usize] = f64::from(b);
            r.left = g;
            // What is zero but for rounding is so beside the others.
            r.size = r.size.max(large);
        }
    }

    /// The implicit step from the present values, on the islands that the event being handled is one of.
    fn step_ahead(&self, h: f64) -> Option<Ahead> {
        let left = self.snapshot();
        let truth = |v: VarId| match self.sys.resolve(Operand::var(v)) {
            Operand::Const(c) => c != 0.0,
            op => Cell::of(op).is_some_and(|c| left.get(c) != 0.0),
        };
        let mut highest: FxHashMap<VarId, u8> = FxHashMap::default();
        let mut rows: Vec<Row> = Vec::new();
        for eq in self.sys.equations.iter().filter(|e| chosen(&self.sys, e.guard, &truth)) {
            let row = self.sys.resolve_row(&eq.row);
            let unknowns: Vec<(VarId, u8)> = continuous_args(&self.sys, &row).collect();
            if unknowns.iter().any(|&(v, _)| self.is_idle(v)) {
                continue;
            }
            for (v, order) in unknowns {
                let highest = highest.entry(v).or_default();
                *highest = order.max(*highest);
            }
            rows.push(row);
        }
        if rows.len() != highest.len() || rows.len() > MOST_UNKNOWNS {
            return None;
        }
        let mut unknowns: Vec<(VarId, u8)> = highest.into_iter().collect();
        unknowns.sort_unstable();
        let column: FxHashMap<VarId, usize> = unknowns.iter().enumerate().map(|(j, u)| (u.0, j)).collect();
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); unknowns.len()];
        for (i, row) in rows.iter().enumerate() {
            for (v, _) in continuous_args(&self.sys, row) {
                let readers = &mut readers[column[&v]];
                if readers.last() != Some(&i) {
                    readers.push(i);
                }
            }
        }
        // What the equations read, through definitions.
        let mut read: FxHashSet<VarId> = FxHashSet::default();
        let discrete = |row: &Row| -> Vec<VarId> {
            let args = row.args.iter().filter_map(|&a| match self.sys.resolve(a) {
                Operand::Var { var, .. } => Some(var),
                _ => None,
            });
            args.filter(|&v| self.sys.role(v) == Role::Discrete).collect()
        };
        let mut open: Vec<VarId> = rows.iter().flat_map(discrete).collect();
        let kinds: FxHashMap<VarId, &DiscKind> = self.sys.discrete.iter().map(|d| (d.var, &d.kind)).collect();
        while let Some(v) = open.pop() {
            if read.insert(v)
                && let Some(DiscKind::Value(row)) = kinds.get(&v)
            {
                open.extend(discrete(row));
            }
        }
        let (mut relations, mut bits, mut functions, mut followers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for d in self.sys.discrete.iter().filter(|d| read.contains(&d.var)) {
            match &d.kind {
                DiscKind::Relation(i) => {
                    let r = &self.machine.relations[*i];
                    let g = self.sys.resolve_row(&self.sys.relations[*i].g);
                    let depends = continuous_args(&self.sys, &g).any(|(v, _)| column.contains_key(&v));
                    if depends && r.time.is_none() && !r.frozen && matches!(r.kind, RelationKind::Sign(_)) {
                        if continuous_args(&self.sys, &g)
                            .any(|(v, order)| column.get(&v).is_none_or(|&j| unknowns[j].1 < order))
                        {
                            return None;
                        }
                        relations.push(*i);
                        bits.push(d.var);
                        functions.push(g);
                    }
                }
                DiscKind::Value(row) => followers.push((d.var, self.sys.resolve_row(row))),
                DiscKind::When(..) => {}
            }
        }
        if relations.is_empty() || relations.len() > MOST_RELATIONS {
            return None;
        }
        // What depends on the bits.
        let mut moved: FxHashSet<VarId> = bits.iter().copied().collect();
        let depends = |row: &Row, moved: &FxHashSet<VarId>| {
            row.args.iter().any(|a| matches!(a, Operand::Var { var, .. } if moved.contains(var)))
        };
        loop {
            let before = moved.len();
            moved.extend(followers.iter().filter(|(_, row)| depends(row, &moved)).map(|f| f.0).collect::<Vec<_>>());
            if moved.len() == before {
                break;
            }
        }
        followers.retain(|f| moved.contains(&f.0));
        // Branches of unequal size have other equations.
        let structural = self.sys.groups.iter().filter(|g| g.structural);
        if structural
            .flat_map(|g| &g.conditions)
            .any(|&c| self.sys.resolve(Operand::var(c)).variable().is_some_and(|v| moved.contains(&v)))
        {
            return None;
        }
        let has_memory = |row: &Row| row.args.iter().any(|a| matches!(a, Operand::Pre { .. }));
        let remembers = bits
            .iter()
            .map(|&bit| {
                let moved = FxHashSet::from_iter([bit]);
                followers.iter().any(|(_, row)| has_memory(row) && depends(row, &moved))
            })
            .collect();
        let zeros = vec![0.0; relations.len()];
        let switching = (0..rows.len()).filter(|&i| depends(&rows[i], &moved)).collect();
        Some(Ahead {
            rows,
            unknowns,
            readers,
            relations,
            bits,
            functions,
            zeros,
            followers,
            held: Vec::new(),
            remembers,
            switching,
            left,
            h,
        })
    }

    /// The bits of the open relations, and what follows from them.
    fn lock_ahead(&self, ahead: &Ahead, point: &mut Snapshot, bits: &[bool]) {
        for (&v, &b) in ahead.bits.iter().zip(bits) {
            point.set(Cell::new(v, 0), f64::from(b));
        }
        for _ in 0..MOST_SWEEPS {
            let mut changed = false;
            for (v, row) in &ahead.followers {
                let held = ahead.held.iter().find(|h| h.0 == *v);
                let (cell, value) = (Cell::new(*v, 0), held.map_or_else(|| self.eval_row(row, point), |h| h.1));
                changed |= point.get(cell) != value;
                point.set(cell, value);
            }
            if !changed {
                break;
            }
        }
    }

    /// What flipping the conditions adds that memory holds whatever their relations are (a thyristor without a gate signal).
    fn held_ahead(&mut self, ahead: &mut Ahead, point: &mut Snapshot, bits: &[bool]) -> Form {
        let n = ahead.unknowns.len();
        let followers: Vec<VarId> = ahead.followers.iter().map(|f| f.0).collect();
        let values = |point: &Snapshot| -> Vec<f64> { followers.iter().map(|&v| point.get(Cell::new(v, 0))).collect() };
        self.lock_ahead(ahead, point, bits);
        let now = values(point);
        let mut held: Vec<bool> = now.iter().map(|v| *v == 0.0 || *v == 1.0).collect();
        let mut flipped = bits.to_vec();
        for k in 0..bits.len() {
            flipped[k] = !bits[k];
            self.lock_ahead(ahead, point, &flipped);
            held.iter_mut().zip(values(point).iter().zip(&now)).for_each(|(h, (a, b))| *h &= a == b);
            flipped[k] = bits[k];
        }
        let (mut residual, mut slope) = (vec![0.0; n], vec![0.0; n * n]);
        for f in (0..followers.len()).filter(|f| held[*f]) {
            for (sign, value) in [(1.0, 1.0 - now[f]), (-1.0, now[f])] {
                ahead.held = vec![(followers[f], value)];
                self.lock_ahead(ahead, point, bits);
                for &i in &ahead.switching {
                    residual[i] += sign * self.eval_row(&ahead.rows[i], point);
                }
                for (j, &z) in ahead.unknowns.iter().enumerate() {
                    for &i in ahead.readers[j].iter().filter(|i| ahead.switching.contains(i)) {
                        slope[i + j * n] += sign * self.slope_ahead(ahead, &ahead.rows[i], z, point).0;
                    }
                }
            }
        }
        ahead.held.clear();
        self.lock_ahead(ahead, point, bits);
        let (functions, gradients, added) = (Vec::new(), Vec::new(), Vec::new());
        Form { residual, slope, functions, gradients, added, residual_rate: vec![0.0; n], function_rate: Vec::new() }
    }

    /// ∂row/∂z for the highest derivative z of a variable, lower ones following from it; and whether it depends on the unknowns.
    fn slope_ahead(&mut self, ahead: &Ahead, row: &Row, (var, highest): (VarId, u8), point: &Snapshot) -> (f64, bool) {
        let (mut slope, mut moves) = (0.0, false);
        for order in 0..=highest {
            if !row.args.iter().any(|a| matches!(a, Operand::Var { var: v, order: o, .. } if *v == var && *o == order))
            {
                continue;
            }
            for (sign, part) in self.ops.partial_wrt(&mut self.sys.dae, row, var, order) {
                moves |= continuous_args(&self.sys, &part).next().is_some();
                slope += sign * self.eval_row(&part, point) * ahead.h.powi(i32::from(highest - order));
            }
        }
        (slope, moves)
    }

    /// The problem about a point, and whether it is the same about any other.
    fn form_ahead(&mut self, ahead: &Ahead, point: &mut Snapshot, bits: &[bool]) -> Option<(Form, bool)> {
        let (n, r) = (ahead.unknowns.len(), ahead.relations.len());
        self.lock_ahead(ahead, point, bits);
        let sign: Vec<f64> = ahead
            .relations
            .iter()
            .zip(bits)
            .map(|(&i, &b)| if positive_side(&self.machine.relations[i].kind, f64::from(b)) { 1.0 } else { -1.0 })
            .collect();
        let residual: Vec<f64> = ahead.rows.iter().map(|row| self.eval_row(row, point)).collect();
        let value = |((g, zero), sign): ((&Row, &f64), &f64)| sign * (self.eval_row(g, point) - zero);
        let functions: Vec<f64> = ahead.functions.iter().zip(&ahead.zeros).zip(&sign).map(value).collect();
        let (mut slope, mut gradients) = (vec![0.0; n * n], vec![0.0; n * r]);
        let mut affine = true;
        for (j, &z) in ahead.unknowns.iter().enumerate() {
            for &i in &ahead.readers[j] {
                let (value, moves) = self.slope_ahead(ahead, &ahead.rows[i], z, point);
                slope[i + j * n] = value;
                affine &= !moves;
            }
            for (k, g) in ahead.functions.iter().enumerate() {
                let (value, moves) = self.slope_ahead(ahead, g, z, point);
                gradients[k + j * r] = sign[k] * value;
                affine &= !moves;
            }
        }
        // Flipping bit k adds a multiple of what its function is beyond zero: the difference of the slopes tells which.
        let mut added = vec![0.0; n * r];
        let mut flipped = bits.to_vec();
        for k in 0..r {
            let largest = |a: &usize, b: &usize| gradients[k + a * r].abs().total_cmp(&gradients[k + b * r].abs());
            let j = (0..n).max_by(largest).filter(|j| gradients[k + j * r] != 0.0)?;
            flipped[k] = !bits[k];
            self.lock_ahead(ahead, point, &flipped);
            for &i in ahead.switching.iter().filter(|i| ahead.readers[j].contains(i)) {
                let (other, moves) = self.slope_ahead(ahead, &ahead.rows[i], ahead.unknowns[j], point);
                added[i + k * n] = (slope[i + j * n] - other) / gradients[k + j * r];
                affine &= !moves;
            }
            flipped[k] = bits[k];
        }
        self.lock_ahead(ahead, point, bits);
        let all = residual.iter().chain(&functions).chain(&slope).chain(&gradients).chain(&added);
        if all.into_iter().any(|v| !v.is_finite()) {
            return None;
        }
        let (residual_rate, function_rate) = (vec![0.0; n], vec![0.0; r]);
        Some((Form { residual, slope, functions, gradients, added, residual_rate, function_rate }, affine))
    }
}
