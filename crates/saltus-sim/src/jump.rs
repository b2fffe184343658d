//! Restart after a mode change: the new mode's latent equations decide which states jump and which variables carry an
//! impulse. Stages s = K … 1, one n×n system each (see `docs/mathematics.md`, mode changes).

use crate::ahead::{Decision, MOMENTS};
use crate::events::brief;
use crate::machine::plain;
use crate::model::{ModeProgram, Model};
use crate::pivot::AT_ZERO;
use crate::rhs::Rhs;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Stage};
use saltus_dae::{Operand, Row, VarId};
use saltus_solver::linear::{LinearSolver, Pattern};
use saltus_structure::{
    Cell, DiscKind, ModeKey, Point, RelationKind, Role, StructuralPlan, jacobian_entry, null_support,
};
use std::rc::Rc;

/// What happened at a mode change.
#[derive(Clone, Debug, Default)]
pub struct Jump {
    /// Impulsive variables with ∫ over the instant, and of which order the impulse is: 1 is a Dirac impulse, 2 its
    /// derivative (a doublet, coefficient of ∂⁻²), and so on.
    pub impulses: Vec<(VarId, u8, f64)>,
    /// Relations whose impulses are the last of infinitely many, too small to be told apart: they count as none.
    pub accumulated: Vec<usize>,
}

/// A mode entered on trial.
struct Attempt {
    program: Rc<ModeProgram>,
    jump: Jump,
    /// What its guards ask for.
    reached: ModeKey,
    /// Relations that leave zero and are back before it can be told.
    unresolved: Vec<usize>,
}

/// Equations and variables of a mode that tight entries join: variables of order d_j - c_i in row i.
struct TightPart {
    /// Positions in the plan.
    rows: Vec<usize>,
    vars: Vec<VarId>,
    /// (row, variable, order), by positions in this part.
    entries: Vec<(usize, usize, u8)>,
}

/// The rows of a part that leave one unknown each when the ones before are known, in order: (row, unknown). Substituted one by one
/// they are solved to the last digit, where a factorization with pivots would move what an exact equation determines: time by a
/// rounding error, and with it a table across its jump.
struct Forward {
    order: Vec<(usize, usize)>,
    columns: Vec<Vec<usize>>,
}

impl Forward {
    fn new(part: &TightPart) -> Self {
        let n = part.vars.len();
        let (mut columns, mut readers) = (vec![Vec::new(); part.rows.len()], vec![Vec::new(); n]);
        for &(i, j, _) in &part.entries {
            if !columns[i].contains(&j) {
                columns[i].push(j);
                readers[j].push(i);
            }
        }
        let mut left: Vec<usize> = columns.iter().map(Vec::len).collect();
        let mut known = vec![false; n];
        let mut open: Vec<usize> = (0..left.len()).filter(|&i| left[i] == 1).collect();
        let mut order = Vec::new();
        while let Some(i) = open.pop() {
            let Some(&j) = columns[i].iter().find(|&&j| !known[j]) else { continue };
            known[j] = true;
            order.push((i, j));
            for &k in &readers[j] {
                left[k] -= 1;
                if left[k] == 1 {
                    open.push(k);
                }
            }
        }
        Forward { order, columns }
    }

    /// Replaces what these rows determine in the solution `x` of `A x = b`.
    fn solve(&self, b: &[f64], a: impl Fn(usize, usize) -> f64, x: &mut [f64]) {
        for &(i, j) in &self.order {
            let others = self.columns[i].iter().filter(|&&k| k != j);
            let value = others.fold(b[i], |sum, &k| sum - a(i, k) * x[k]) / a(i, j);
            if !value.is_finite() {
                return;
            }
            x[j] = value;
        }
    }
}

/// The parts of a plan that no tight entry joins.
fn tight_parts(plan: &StructuralPlan) -> Vec<TightPart> {
    let column: FxHashMap<VarId, usize> = plan.vars.iter().enumerate().map(|(j, &v)| (v, j)).collect();
    let mut tight: Vec<(usize, usize, u8)> = Vec::new();
    for (i, (_, row)) in plan.rows.iter().enumerate() {
        let from = tight.len();
        for &a in &row.args {
            if let Operand::Var { var, order, .. } = a
                && let Some(&j) = column.get(&var)
                && plan.d[&var] == order + plan.c[i]
                && !tight[from..].iter().any(|e| e.1 == j)
            {
                tight.push((i, j, order));
            }
        }
    }
    // Rows first, then variables.
    let n = plan.rows.len();
    let mut above: Vec<usize> = (0..n + plan.vars.len()).collect();
    let top = |above: &mut Vec<usize>, mut k: usize| {
        while above[k] != k {
            above[k] = above[above[k]];
            k = above[k];
        }
        k
    };
    for &(i, j, _) in &tight {
        let (a, b) = (top(&mut above, i), top(&mut above, n + j));
        above[b] = a;
    }
    let mut parts: Vec<TightPart> = Vec::new();
    let mut part_of: FxHashMap<usize, usize> = FxHashMap::default();
    let mut place = vec![(0, 0); above.len()];
    for k in 0..above.len() {
        let p = *part_of.entry(top(&mut above, k)).or_insert_with(|| {
            parts.push(TightPart { rows: Vec::new(), vars: Vec::new(), entries: Vec::new() });
            parts.len() - 1
        });
        let part = &mut parts[p];
        place[k] = (p, if k < n { part.rows.len() } else { part.vars.len() });
        if k < n { part.rows.push(k) } else { part.vars.push(plan.vars[k - n]) }
    }
    for (i, j, order) in tight {
        parts[place[i].0].entries.push((place[i].1, place[n + j].1, order));
    }
    // Without a latent equation nothing jumps.
    parts.retain(|p| p.rows.iter().any(|&i| plan.c[i] > 0));
    parts
}

/// Modes tried at one change before giving up.
const CANDIDATES: usize = 256;

/// What is shortly after, in parts of the run, and how often small losses may decide there.
const SHORTLY: f64 = 1e-9;
const MOST_SHORTLY: usize = 16;

impl Model {
    /// Enters the mode `key` from `old`, whose left limits are the present values.
    ///
    /// Guards without memory that depend on what they guard (a diode's `s < 0`) are part of the problem: the mode must
    /// agree with its own guards, which read impulses first, then values, then where these go. If the mode called for does
    /// not, the mode its guards ask for is tried from the same left limits, then those nearby.
    pub fn enter(
        &mut self,
        old: &ModeProgram,
        key: &ModeKey,
        t: f64,
        judged: &mut FxHashSet<(usize, ModeKey)>,
    ) -> Result<(Rc<ModeProgram>, Jump), Diagnostic> {
        if self.guarded(old, key).is_empty() {
            if self.remembers(old, key) {
                let base = self.machine.values.clone();
                if let Some(found) = self.enter_ahead(old, &base, t, judged) {
                    return Ok(found);
                }
                self.machine.values[..base.len()].copy_from_slice(&base);
            }
            let next = self.mode(key).map_err(|d| self.at_run_time(d))?;
            let jump = self.jump(&next, t)?;
            let program = self.reselect(&next)?.unwrap_or(next);
            self.leave_zero(&program, judged);
            return Ok((program, jump));
        }
        let base = self.machine.values.clone();
        let judged_before = judged.clone();
        let mut unresolved: Vec<usize> = Vec::new();
        let mut tried: Vec<ModeKey> = Vec::new();
        let mut todo: Vec<ModeKey> = vec![key.clone()];
        let mut failure: Option<Diagnostic> = None;
        let mut at = 0;
        if let Some(found) = self.enter_ahead(old, &base, t, judged) {
            return Ok(found);
        }
        while at < todo.len() && tried.len() < CANDIDATES {
            let candidate = todo[at].clone();
            at += 1;
            if tried.contains(&candidate) {
                continue;
            }
            tried.push(candidate.clone());
            match self.try_mode_change(&base, &candidate, t, judged, &[], &Decision::default()) {
                Ok(Attempt { program, jump, reached, .. }) if reached == candidate => return Ok((program, jump)),
                Ok(attempt) => {
                    todo.insert(at, attempt.reached);
                    unresolved.extend(attempt.unresolved);
                }
                Err(e) => {
                    failure.get_or_insert(e);
                }
            }
            // Neighbours: one more condition changed.
            self.machine.values[..base.len()].copy_from_slice(&base);
            for v in self.guarded(old, &candidate) {
                let mut other = self.modes.values(&candidate);
                other.entry(v).and_modify(|b| *b = !*b);
                todo.push(self.key_with(&other));
            }
        }
        // Impacts that part bodies for less than can be told have accumulated: the bodies stay together.
        unresolved.sort_unstable();
        unresolved.dedup();
        for candidate in tried.iter().filter(|_| !unresolved.is_empty()) {
            *judged = judged_before.clone();
            if let Ok(attempt) = self.try_mode_change(&base, candidate, t, judged, &unresolved, &Decision::default())
                && attempt.reached == *candidate
            {
                return Ok((attempt.program, Jump { accumulated: unresolved, ..attempt.jump }));
            }
        }
        self.machine.values[..base.len()].copy_from_slice(&base);
        Err(failure.unwrap_or_else(|| {
            let list: Vec<String> = tried.iter().take(6).filter_map(|k| self.key_text(k)).collect();
            let span = self.guarded(old, key).first().and_then(|&v| self.sys.dae.vars[v].origin.span);
            Diagnostic::error(
                Stage::Run,
                span.unwrap_or(saltus_base::Span::NONE),
                format!("at time {t:?} no mode agrees with its own guards; tried: {}", list.join(" | ")),
            )
            .hint("the guards depend on what they guard: check their signs, or break the circle with pre()")
        }))
    }

    /// Enters the mode that holds a moment after the left limits `base`, if it agrees with its own guards.
    fn enter_ahead(
        &mut self,
        old: &ModeProgram,
        base: &[f64],
        t: f64,
        judged: &mut FxHashSet<(usize, ModeKey)>,
    ) -> Option<(Rc<ModeProgram>, Jump)> {
        let judged_before = judged.clone();
        let mut tried: Vec<ModeKey> = Vec::new();
        let at_zero = self.ending_at_zero(old, t);
        // Rates as small as what losses make may lead back and forth.
        let (last, times) = self.machine.decided_by_losses;
        let times = if t - last <= SHORTLY * self.machine.instants.span() { times + 1 } else { 0 };
        for (moment, losses) in MOMENTS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
            self.machine.values[..base.len()].copy_from_slice(base);
            let h = moment * self.machine.instants.span();
            let Some(decision) = self.decide_ahead(h, &at_zero, Some(&old.plan.key), losses) else { continue };
            if losses && (times > MOST_SHORTLY || self.all_back(&decision)) {
                continue;
            }
            self.lock(&decision);
            let candidate = self.key();
            if tried.contains(&candidate) {
                continue;
            }
            tried.push(candidate.clone());
            let decided = self.machine.values.clone();
            *judged = judged_before.clone();
            let found = self.try_mode_change(&decided[..base.len()], &candidate, t, judged, &[], &decision);
            if let Ok(Attempt { program, jump, reached, .. }) = found
                && reached == candidate
            {
                let decided = decision.relations.iter().map(|d| d.0);
                self.machine.holds_ahead.extend(decided.clone());
                self.machine.decided.extend(decided);
                if losses {
                    self.machine.decided_by_losses = (t, times);
                }
                return Some((program, jump));
            }
            self.machine.host.error = None;
        }
        *judged = judged_before.clone();
        None
    }

    /// Whether a decision takes all back that has just crossed: it would cross again at once.
    fn all_back(&self, decision: &Decision) -> bool {
        let crossed =
            decision.relations.iter().filter(|d| self.machine.fresh.contains(&self.machine.relations[d.0].var));
        let mut kept =
            crossed.map(|&(i, b)| self.machine.values[self.machine.relations[i].var as usize] == f64::from(b));
        kept.clone().next().is_some() && !kept.any(|k| k)
    }

    /// The conditions of a mode without memory that may depend on what they guard.
    pub(crate) fn guarded(&self, old: &ModeProgram, key: &ModeKey) -> Vec<VarId> {
        self.circular(old, key).into_iter().filter(|&v| self.memoryless(v)).collect()
    }

    /// Whether conditions of a mode that depend on what they guard have a memory, as those of thyristors.
    fn remembers(&self, old: &ModeProgram, key: &ModeKey) -> bool {
        self.circular(old, key).into_iter().any(|v| !self.memoryless(v))
    }

    /// The conditions of a mode that may depend on what they guard.
    pub(crate) fn circular(&self, old: &ModeProgram, key: &ModeKey) -> Vec<VarId> {
        let conditions = self.modes.conditions(key);
        let kinds: FxHashMap<VarId, &DiscKind> = self.sys.discrete.iter().map(|d| (d.var, &d.kind)).collect();
        let early = |v: &VarId| old.early.contains(v) && !self.reads_inactive(old, &kinds, *v, 0);
        conditions.into_iter().filter(|v| !early(v) && !self.is_idle(*v)).collect()
    }

    /// Whether a condition reads what no equation of a mode determines.
    fn reads_inactive(
        &self,
        program: &ModeProgram,
        kinds: &FxHashMap<VarId, &DiscKind>,
        v: VarId,
        depth: usize,
    ) -> bool {
        let reads = |row: &Row| {
            row.args.iter().filter_map(|&a| self.sys.resolve(a).variable()).any(|v| match self.sys.role(v) {
                Role::Continuous => !program.active.contains(&v),
                Role::Discrete => depth < 8 && self.reads_inactive(program, kinds, v, depth + 1),
                Role::Known => false,
            })
        };
        match kinds.get(&v) {
            Some(DiscKind::Relation(i)) => reads(&self.sys.relations[*i].g),
            Some(DiscKind::Value(row)) => reads(row),
            _ => false,
        }
    }

    /// After a `reinit` in a mode whose constraints are guarded: the mode that the guards ask for if the constraints were to
    /// undo it, unless it is the present one. The values change only if there is one.
    pub(crate) fn release(
        &mut self,
        program: &ModeProgram,
        t: f64,
        judged: &mut FxHashSet<(usize, ModeKey)>,
    ) -> Option<(Rc<ModeProgram>, Jump)> {
        let key = &program.plan.key;
        if program.plan.c.iter().all(|&c| c == 0) || self.guarded(program, key).is_empty() {
            return None;
        }
        let before = self.machine.values.clone();
        let mut judging = judged.clone();
        match self.enter(program, key, t, &mut judging) {
            Ok((next, jump)) if next.plan.key != *key => {
                *judged = judging;
                Some((next, jump))
            }
            _ => {
                self.machine.host.error = None;
                self.machine.values[..before.len()].copy_from_slice(&before);
                None
            }
        }
    }

    /// Whether a condition is a function of present values alone.
    pub(crate) fn memoryless(&self, v: VarId) -> bool {
        self.sys.discrete.iter().find(|d| d.var == v).is_some_and(|d| match &d.kind {
            DiscKind::Relation(_) => true,
            DiscKind::Value(row) => !row.args.iter().any(|a| matches!(a, Operand::Pre { .. })),
            DiscKind::When(..) => false,
        })
    }

    /// Restarts in a mode from the given left limits and says which mode its guards then ask for. Impulses do not push the relations
    /// `unpushed`.
    fn try_mode_change(
        &mut self,
        base: &[f64],
        key: &ModeKey,
        t: f64,
        judged: &mut FxHashSet<(usize, ModeKey)>,
        unpushed: &[usize],
        decided: &Decision,
    ) -> Result<Attempt, Diagnostic> {
        let next = self.mode(key).map_err(|d| self.at_run_time(d))?;
        self.machine.values[..base.len()].copy_from_slice(base);
        for (v, b) in self.modes.values(key) {
            if let Ok((s, _)) = self.locate(v) {
                self.machine.values[s as usize] = f64::from(b);
            }
        }
        let jump = self.jump(&next, t)?;
        let program = self.reselect(&next)?.unwrap_or(next);
        let failed = |me: &Model, e| me.explain(&e, Stage::Run, t, "the restart failed");
        self.machine.run(&program.continuous).map_err(|e| failed(self, e))?;
        let unresolved = self.leave_zero(&program, judged);
        if !decided.relations.is_empty() {
            self.settle(&decided.relations);
        }
        let keep = self.machine.values.clone();
        for i in program.crossings.relations() {
            if self.machine.is_idle(self.machine.relations[i].var) {
                continue;
            }
            let push = if unpushed.contains(&i) { 0.0 } else { self.impulse_of(i, &jump.impulses) };
            if push != 0.0 {
                let r = &self.machine.relations[i];
                self.machine.values[r.var as usize] = plain(&r.kind, push);
            } else if decided.relations.iter().any(|d| d.0 == i) {
                // Either value is right at zero.
                self.machine.slack = AT_ZERO;
                self.machine.relation(i);
                self.machine.slack = 1.0;
            } else {
                self.machine.relation(i);
            }
        }
        self.machine.run(&program.definitions).map_err(|e| failed(self, e))?;
        // Those with a memory, too.
        self.derive(&decided.followers);
        let reached = self.key();
        if reached == *key {
            // Discrete values are settled by the event iteration, from what they were.
            self.machine.values.copy_from_slice(&keep);
        }
        Ok(Attempt { program, jump, reached, unresolved })
    }

    /// What impulses do to a crossing function.
    fn impulse_of(&mut self, relation: usize, impulses: &[(VarId, u8, f64)]) -> f64 {
        let row = self.sys.relations[relation].g.clone();
        let reads = |i: &(VarId, u8, f64)| row.args.iter().any(|a| a.variable() == Some(i.0));
        // Of the highest order alone: lexicographically.
        let order = impulses.iter().filter(|i| reads(i)).map(|i| i.1).max().unwrap_or(0);
        let mut sum = 0.0;
        for &(v, k, size) in impulses {
            if k == order && row.args.iter().any(|a| a.variable() == Some(v)) {
                let point = self.snapshot();
                sum += size * jacobian_entry(&mut self.sys, &mut self.ops, &row, v, 0, &point);
            }
        }
        sum
    }

    pub(crate) fn eval_row(&self, row: &Row, point: &dyn Point) -> f64 {
        let mut calls = point.calls();
        saltus_expr::eval(
            &self.sys.dae.pool,
            row.template,
            &|k| point.value(self.sys.resolve(row.args[k as usize])),
            &mut *calls,
        )
    }

    /// Right limits of the states of `program` from the present values (left limits, `reinit` included).
    pub fn jump(&mut self, program: &ModeProgram, t: f64) -> Result<Jump, Diagnostic> {
        let kmax = program.plan.c.iter().copied().max().unwrap_or(0);
        let mut out = Jump::default();
        let mut parts = if kmax > 0 { tight_parts(&program.plan) } else { Vec::new() };
        parts.retain(|p| !p.vars.iter().any(|&v| self.is_idle(v)));
        for s in (1..=kmax).rev() {
            // Parts without tight entries in common do not see each other: one may be singular without harm to the others.
            for part in &parts {
                self.stage(program, part, s, t, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Stage s of a restart, for one part of the tight entries.
    fn stage(
        &mut self,
        program: &ModeProgram,
        part: &TightPart,
        s: u8,
        t: f64,
        out: &mut Jump,
    ) -> Result<(), Diagnostic> {
        let plan = &program.plan;
        let n = part.vars.len();
        let left: Vec<f64> = part.vars.iter().map(|&v| self.stage_value(v, plan.d[&v], s)).collect();
        let mut u: Vec<f64> = part.vars.iter().zip(&left).map(|(v, l)| if plan.d[v] >= s { *l } else { 0.0 }).collect();
        let pattern = Pattern::from_entries(n, n, part.entries.iter().map(|e| (e.0, e.1)));
        let mut lu = LinearSolver::new(&pattern);
        let forward = Forward::new(part);
        let mut converged = false;
        let mut worst = 0;
        for iteration in 0..40 {
            let point = self.snapshot();
            let mut jac = vec![0.0; pattern.nnz()];
            let mut r = vec![0.0; n];
            let mut size = vec![0.0f64; n];
            for &(i, j, order) in &part.entries {
                let row = plan.rows[part.rows[i]].1.clone();
                let value = jacobian_entry(&mut self.sys, &mut self.ops, &row, part.vars[j], order, &point);
                if let Some(at) = pattern.find(i, j) {
                    jac[at] = value;
                }
                let delta = if plan.d[&part.vars[j]] >= s { u[j] - left[j] } else { u[j] };
                if plan.c[part.rows[i]] < s {
                    r[i] += value * delta;
                }
                size[i] = size[i].max((value * (u[j].abs() + 1e-3)).abs());
            }
            for (i, &row) in part.rows.iter().enumerate() {
                if plan.c[row] >= s {
                    r[i] = self.eval_row(&plan.levels[row][(plan.c[row] - s) as usize], &point);
                }
            }
            let bad = r.iter().zip(&size).map(|(r, z)| r.abs() / (z + 1e-30)).fold(0.0, f64::max);
            let level = |i: usize| r[i].abs() / (size[i] + 1e-30);
            worst = (0..n).fold(0, |w, i| if level(i) > level(w) { i } else { w });
            if bad <= 1e-13 || r.iter().all(|v| v.abs() < 1e-300) {
                converged = true;
                break;
            }
            if lu.factor(&jac).is_err() {
                // Nothing to project against: if the latent equations hold as well as the run is right, leave values alone.
                if bad < self.machine.tolerance.max(1e-8) {
                    converged = true;
                    break;
                }
                let entries = part.entries.iter().filter_map(|e| pattern.find(e.0, e.1).map(|at| (e.0, e.1, jac[at])));
                let entries: Vec<(usize, usize, f64)> = entries.collect();
                return Err(self.singular_restart(program, part, t, &entries));
            }
            let known = r.clone();
            lu.solve(&mut r);
            if r.iter().any(|v| !v.is_finite()) {
                return Err(self.no_restart(program, t, "a latent equation is outside its domain"));
            }
            forward.solve(&known, |i, j| pattern.find(i, j).map_or(0.0, |at| jac[at]), &mut r);
            let mut step = 0.0f64;
            for j in 0..n {
                u[j] -= r[j];
                step = step.max(r[j].abs() / (u[j].abs() + 1e-6));
                let v = part.vars[j];
                if plan.d[&v] >= s {
                    self.set_stage_value(v, plan.d[&v], s, u[j]);
                }
            }
            if step < 1e-14 || (iteration > 3 && step < 1e-11) {
                converged = true;
                break;
            }
        }
        if !converged {
            let (text, span, instance) = self.equation(plan.rows[part.rows[worst]].0, 0);
            let mut d = self.no_restart(program, t, "its latent equations could not be solved");
            d.span = span;
            return Err(d.within(instance).hint(format!("furthest from holding: {text}")));
        }
        // Jumps within the tolerance of the run project what it is wrong by: no impulse made them.
        let tolerance = self.machine.tolerance;
        let jumps =
            |j: usize, v: VarId| plan.d[&v] >= s && (u[j] - left[j]).abs() > tolerance * u[j].abs().max(left[j].abs());
        if !part.vars.iter().enumerate().any(|(j, &v)| jumps(j, v)) {
            return Ok(());
        }
        let large = |j: usize| {
            let change = if plan.d[&part.vars[j]] >= s { u[j] - left[j] } else { u[j] };
            change.abs() > 1e-9 * left[j].abs().max(1.0)
        };
        let impulsive = part.entries.iter().filter(|e| plan.c[part.rows[e.0]] < s && large(e.1));
        let impulsive: Vec<(usize, VarId, u8)> = impulsive.map(|e| (part.rows[e.0], part.vars[e.1], e.2)).collect();
        self.linear_in_impulses(program, t, &impulsive)?;
        for (j, &v) in part.vars.iter().enumerate() {
            if plan.d[&v] < s && u[j].abs() > 1e-9 {
                out.impulses.push((v, s - plan.d[&v], u[j]));
            }
        }
        Ok(())
    }

    /// Relations that are at zero as a mode begins are judged by where the new mode takes them (MODRIO 2.3, the
    /// lexicographic order of a function and its derivatives): a rope that has just gone slack is not taut again because
    /// its length is still exactly L. The first derivative that is not zero shows in a short look ahead. Returns those that
    /// the rate of the moment leads the other way: they are back within the look ahead.
    pub fn leave_zero(&mut self, program: &ModeProgram, judged: &mut FxHashSet<(usize, ModeKey)>) -> Vec<usize> {
        let mut back = Vec::new();
        let before = self.machine.values.clone();
        if self.machine.run(&program.continuous).is_err() {
            self.machine.host.error = None;
            self.machine.values = before;
            return back;
        }
        let mut crossings: Vec<usize> = program.crossings.relations().collect();
        crossings.retain(|&i| !self.machine.is_idle(self.machine.relations[i].var));
        let mut here = vec![0.0; crossings.len()];
        self.machine.crossing_values(&crossings, &mut here);
        let scale = |me: &Model, i: usize| {
            let g = &me.sys.relations[i].g;
            let read = |a: &Operand| Cell::of(me.sys.resolve(*a)).and_then(|c| me.layout.find(c));
            g.args.iter().filter_map(read).map(|s| me.machine.values[s as usize].abs()).fold(0.0f64, f64::max)
        };
        let mut near: Vec<(usize, f64, f64)> = Vec::new();
        for (&i, &g) in crossings.iter().zip(&here) {
            let size = scale(self, i).max(self.machine.relations[i].size).max(1e-2);
            if matches!(self.machine.relations[i].kind, RelationKind::Sign(_))
                && g.abs() <= 1e-10 * size
                && judged.insert((i, program.plan.key.clone()))
            {
                near.push((i, g, size));
            }
        }
        if !near.is_empty() {
            let x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
            let dx: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.1 as usize]).collect();
            let moving = (0..x.len()).filter(|&k| !self.machine.is_idle(program.states[k].0));
            let unit = moving.map(|k| (x[k].abs() + 1.0) / (dx[k].abs() + 1e-30)).fold(1.0f64, f64::min);
            let t = self.machine.values[self.machine.time as usize];
            let mut decided: Vec<(usize, f64, f64, f64)> = Vec::new();
            for h in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2] {
                let Some(ahead) = self.look_ahead(program, &crossings, t, &x, h * unit) else { break };
                near.retain(|&(i, g, size)| {
                    let at = crossings.iter().position(|&k| k == i).unwrap_or(0);
                    let change = ahead[at] - g;
                    let clear = change.abs() > 1e-12 * size;
                    if clear {
                        decided.push((i, g, change, size));
                    }
                    !clear
                });
            }
            for &(i, _, change, _) in &decided {
                self.know_rate(program, i);
                let rate = Rhs::new(&mut self.machine, program).rate(i, t, &x, &dx);
                if rate.is_ok_and(|r| r * change < 0.0) {
                    back.push(i);
                }
            }
            // Rates may have found places of their own behind these.
            self.machine.values[..before.len()].copy_from_slice(&before);
            for (i, g, change, size) in decided {
                let tolerance = self.machine.tolerance;
                let r = &mut self.machine.relations[i];
                self.machine.values[r.var as usize] = plain(&r.kind, change);
                r.left = g;
                r.floor = tolerance * size.max(1.0);
            }
        } else {
            self.machine.values = before;
        }
        self.machine.host.error = None;
        back
    }

    /// All crossing functions after one classical Runge–Kutta step of length h.
    fn look_ahead(
        &mut self,
        program: &ModeProgram,
        crossings: &[usize],
        t: f64,
        x: &[f64],
        h: f64,
    ) -> Option<Vec<f64>> {
        let slope = |me: &mut Model, t: f64, x: &[f64]| -> Option<Vec<f64>> {
            crate::rhs::place(&mut me.machine, program, t, x);
            me.machine.run(&program.continuous).ok()?;
            let rate = |s: &(u32, u32)| if me.machine.is_idle(s.0) { 0.0 } else { me.machine.values[s.1 as usize] };
            let dx: Vec<f64> = program.states.iter().map(rate).collect();
            dx.iter().all(|v| v.is_finite()).then_some(dx)
        };
        let along = |k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
        let k1 = slope(self, t, x)?;
        let k2 = slope(self, t + 0.5 * h, &along(&k1, 0.5 * h))?;
        let k3 = slope(self, t + 0.5 * h, &along(&k2, 0.5 * h))?;
        let k4 = slope(self, t + h, &along(&k3, h))?;
        let mean: Vec<f64> = (0..x.len()).map(|i| (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0).collect();
        slope(self, t + h, &along(&mean, h))?;
        let mut g = vec![0.0; crossings.len()];
        self.machine.crossing_values(crossings, &mut g);
        Some(g)
    }

    fn stage_value(&mut self, v: VarId, d: u8, s: u8) -> f64 {
        if d < s {
            return 0.0;
        }
        let slot = self.layout.slot(Cell::new(v, d - s));
        self.layout.extend(&mut self.machine.values);
        self.machine.values[slot as usize]
    }

    fn set_stage_value(&mut self, v: VarId, d: u8, s: u8, value: f64) {
        let slot = self.layout.slot(Cell::new(v, d - s));
        self.layout.extend(&mut self.machine.values);
        self.machine.values[slot as usize] = value;
    }

    /// An impulse has a meaning only where it stands linearly: `tau^3` of an impulse is no number.
    fn linear_in_impulses(
        &mut self,
        program: &ModeProgram,
        t: f64,
        impulsive: &[(usize, VarId, u8)],
    ) -> Result<(), Diagnostic> {
        for (k, &(i, ..)) in impulsive.iter().enumerate() {
            if k > 0 && impulsive[k - 1].0 == i {
                continue;
            }
            let (eq, row) = program.plan.rows[i].clone();
            let large = |a: &Operand| match *a {
                Operand::Var { var, order, .. } => impulsive.contains(&(i, var, order)),
                _ => false,
            };
            for at in (0..row.args.len()).filter(|&at| large(&row.args[at])) {
                let slope = self.ops.partial(&mut self.sys.dae, &row, at);
                if let Some(name) = slope.args.iter().find(|a| large(a)).and_then(|&a| Cell::of(a)) {
                    let name = saltus_structure::cell_name(&self.sys, name);
                    let (text, span, instance) = self.equation(eq, 0);
                    let mut d = self.no_restart(
                        program,
                        t,
                        &format!("an impulse of {name} has no meaning in {text}, where it does not stand linearly"),
                    );
                    (d.span, d.instance) = (span, instance);
                    return Err(d);
                }
            }
        }
        Ok(())
    }

    /// Names the equations that depend on each other at these values, and what they leave open.
    fn singular_restart(
        &self,
        program: &ModeProgram,
        part: &TightPart,
        t: f64,
        entries: &[(usize, usize, f64)],
    ) -> Diagnostic {
        let n = part.vars.len();
        let open = null_support(n, entries.iter().copied());
        let dependent = null_support(n, entries.iter().map(|&(i, j, v)| (j, i, v)));
        let list = |mut names: Vec<String>| {
            if names.len() > 8 {
                names.truncate(8);
                names.push("…".into());
            }
            names.join(", ")
        };
        let mut why = String::from("the Jacobian of its latent equations is singular here");
        if !open.is_empty() {
            let names = open.iter().map(|&j| self.sys.condition_text(part.vars[j])).collect();
            why.push_str(&format!("; not determined: {}", list(names)));
        }
        let mut d = self.no_restart(program, t, &why);
        let equations: Vec<_> =
            dependent.iter().map(|&i| self.equation(program.plan.rows[part.rows[i]].0, 0)).collect();
        if !equations.is_empty() {
            let texts = equations.iter().map(|e| brief(&e.0)).collect();
            d = d.hint(format!("at these values these equations depend on each other: {}", list(texts)));
        }
        for (k, (_, span, instance)) in equations.into_iter().take(6).enumerate() {
            if k == 0 {
                (d.span, d.instance) = (span, instance);
            } else if !span.is_none() {
                d = d.label(span, "and this equation");
            }
        }
        d
    }

    fn no_restart(&self, program: &ModeProgram, t: f64, why: &str) -> Diagnostic {
        let text = match self.key_text(&program.plan.key) {
            Some(mode) => format!("at time {t:?} the mode {mode} cannot be entered: {why}"),
            None => format!("at time {t:?} the run cannot go on after an event: {why}"),
        };
        Diagnostic::error(Stage::Run, saltus_base::Span::NONE, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exact equation stays exact beside one with a larger coefficient.
    #[test]
    fn forward_substitution_is_exact() {
        let vars = vec![VarId::new(0), VarId::new(1)];
        let part = TightPart { rows: vec![0, 1], vars, entries: vec![(0, 0, 0), (1, 0, 0), (1, 1, 0)] };
        let a = [[1.0, 0.0], [6.0, 1.0]];
        let mut x = [5.6e-17, 3.4];
        Forward::new(&part).solve(&[0.0, 3.4], |i, j| a[i][j], &mut x);
        assert_eq!(x, [0.0, 3.4]);
    }
}
