//! Islands: variables that equations, definitions, relations, when-clauses and lines join, whatever the mode.
//!
//! ```text
//!   der(x) = y;  y = if x > 1 then 2 else 3;      der(u) = sin(time);  when u > 0.5 then n = pre(n) + 1; end when;
//! ```
//!
//! Islands share time and parameters and nothing else. What happens on one is no event of the others: their relations keep
//! their values, their loops their solutions, their memory what it remembers.

use crate::model::Model;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Action, Operand, Row, VarId};
use saltus_expr::{FuncId, Node};
use saltus_structure::{Cell, DiscKind, Role, System};

/// The island of each variable, as the number of one of its variables.
pub(crate) struct Islands {
    of: Vec<u32>,
    /// The same by slot.
    slots: Vec<u32>,
    /// How many there are.
    count: usize,
}

/// The island of what does not change.
const NONE: u32 = u32::MAX;

impl Islands {
    pub fn new(sys: &System) -> Islands {
        let mut joined = Islands { of: (0..sys.dae.vars.len() as u32).collect(), slots: Vec::new(), count: 0 };
        // What a line is written from is joined to what reads it.
        let mut lines: FxHashMap<FuncId, VarId> = FxHashMap::default();
        let delays = sys.dae.delays.iter().map(|d| (vec![d.func], vec![&d.value, &d.delay]));
        let profiles = sys.dae.distributions.iter().map(|d| (d.ends.to_vec(), d.inputs.iter().collect()));
        for (readers, written) in delays.chain(profiles) {
            let all: Vec<VarId> = written.iter().flat_map(|r| variables(sys, r)).collect();
            joined.join(&all);
            lines.extend(readers.into_iter().filter_map(|f| Some((f, *all.first()?))));
        }
        let mut called: FxHashMap<_, Vec<VarId>> = FxHashMap::default();
        let mut read = |row: &Row| -> Vec<VarId> {
            let mut all = variables(sys, row);
            if !lines.is_empty() {
                let calls = called.entry(row.template).or_insert_with(|| {
                    let mut found = Vec::new();
                    sys.dae.pool.visit(row.template, |_, n| {
                        if let Node::Call { func, .. } | Node::CallDer { func, .. } = n {
                            found.extend(lines.get(&func.of_tangent().unwrap_or(*func)));
                        }
                    });
                    found
                });
                all.extend(&*calls);
            }
            all
        };
        let named = |v: VarId| sys.resolve(Operand::var(v)).variable();
        // The conditions that a guard stands under.
        let guards = |mut guard: Option<(usize, u32)>| {
            let mut all = Vec::new();
            while let Some((group, _)) = guard {
                all.extend(sys.groups[group].conditions.iter().filter_map(|&c| named(c)));
                guard = sys.groups[group].parent;
            }
            all
        };
        for e in &sys.equations {
            let mut all = read(&e.row);
            all.extend(guards(e.guard));
            joined.join(&all);
        }
        for r in &sys.relations {
            let mut all = read(&r.g);
            all.extend(named(r.var));
            joined.join(&all);
        }
        let heads: Vec<Vec<VarId>> = sys
            .whens
            .iter()
            .map(|w| {
                let conditions = w.branches.iter().flat_map(|b| &b.0).filter_map(|&c| named(c));
                conditions.chain(guards(w.guard)).collect()
            })
            .collect();
        heads.iter().for_each(|h| joined.join(h));
        for d in &sys.discrete {
            let mut all = guards(d.guard);
            all.extend(named(d.var));
            match &d.kind {
                DiscKind::Value(row) => all.extend(read(row)),
                DiscKind::Relation(_) => {}
                DiscKind::When(w, values) => {
                    all.extend(&heads[*w]);
                    all.extend(values.iter().flatten().flat_map(&mut read));
                }
            }
            joined.join(&all);
        }
        for r in &sys.reactions {
            let mut all = heads[r.when].clone();
            match &r.action {
                Action::Reinit { var, value, condition } => {
                    all.extend(named(*var));
                    all.extend(std::iter::once(value).chain(condition).flat_map(&mut read));
                }
                Action::Assert { condition, .. } => all.extend(read(condition)),
                Action::Terminate { condition, .. } => all.extend(condition.iter().flat_map(&mut read)),
                Action::Call { args, .. } => all.extend(args.iter().flat_map(&mut read)),
                Action::Assign { .. } => {}
            }
            joined.join(&all);
        }
        joined.of = (0..joined.of.len() as u32).map(|v| joined.top(v)).collect();
        let moving = sys.dae.vars.iter().map(|(v, _)| v).filter(|&v| sys.role(v) != Role::Known && named(v) == Some(v));
        joined.count = moving.map(|v| joined.of(v)).collect::<FxHashSet<u32>>().len();
        joined
    }

    fn top(&mut self, mut v: u32) -> u32 {
        while self.of[v as usize] != v {
            self.of[v as usize] = self.of[self.of[v as usize] as usize];
            v = self.of[v as usize];
        }
        v
    }

    fn join(&mut self, all: &[VarId]) {
        for pair in all.windows(2) {
            let (a, b) = (self.top(pair[0].index() as u32), self.top(pair[1].index() as u32));
            self.of[b as usize] = a;
        }
    }

    fn of(&self, v: VarId) -> u32 {
        self.of[v.index()]
    }
}

/// Ticks of samplers change, too.
fn changes(sys: &System, v: VarId) -> bool {
    sys.role(v) != Role::Known || sys.external.contains(&v)
}

/// What a row reads that may change.
fn variables(sys: &System, row: &Row) -> Vec<VarId> {
    row.args.iter().filter_map(|&a| sys.resolve(a).variable()).filter(|&v| changes(sys, v)).collect()
}

impl Model {
    /// The islands that these slots belong to.
    pub(crate) fn islands_of(&mut self, slots: &[u32]) -> FxHashSet<u32> {
        if self.islands.slots.len() < self.layout.len() {
            self.islands.slots = vec![NONE; self.layout.len()];
            for (c, s) in self.layout.cells().filter(|(c, _)| changes(&self.sys, c.var)) {
                self.islands.slots[s as usize] = self.islands.of(c.var);
            }
        }
        slots.iter().map(|&s| self.islands.slots[s as usize]).filter(|&i| i != NONE).collect()
    }

    /// The island of a relation, if it reads anything that changes.
    pub(crate) fn island_of(&mut self, relation: usize) -> Option<u32> {
        let slot = self.machine.relations[relation].var;
        self.islands_of(&[slot]).into_iter().next()
    }

    /// Whether two relations are on one island.
    pub(crate) fn neighbours(&mut self, a: usize, b: usize) -> bool {
        let slots = [a, b].map(|i| self.machine.relations[i].var);
        self.islands_of(&slots).len() < 2
    }

    /// From now on the steps of all islands but these are left out; `None`: none are.
    pub(crate) fn attend(&mut self, islands: Option<&FxHashSet<u32>>) {
        self.machine.idle.clear();
        if let Some(islands) = islands.filter(|i| i.len() < self.islands.count) {
            let idle = |&island: &u32| island != NONE && !islands.contains(&island);
            self.machine.idle.extend(self.islands.slots.iter().map(idle));
        }
    }

    /// Whether an event of these islands (`None`: all) is one of a relation's own.
    pub(crate) fn concerns(&mut self, islands: Option<&FxHashSet<u32>>, relation: usize) -> bool {
        let slot = self.machine.relations[relation].var;
        islands.is_none_or(|i| !i.is_disjoint(&self.islands_of(&[slot])))
    }

    /// Whether the island of a variable is left out.
    pub(crate) fn is_idle(&self, v: VarId) -> bool {
        let slot = || Cell::of(self.sys.resolve(Operand::var(v))).and_then(|c| self.layout.find(c));
        !self.machine.idle.is_empty() && slot().is_some_and(|s| self.machine.is_idle(s))
    }
}
