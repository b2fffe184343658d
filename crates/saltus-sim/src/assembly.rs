//! The parts that modes are put together from, for programs that change modes without a compiler at hand and have too many of
//! them to list (export): of nineteen clutches in a row there are half a million modes, and 210 rows of shafts.
//!
//! A part ([`saltus_structure::ModePart`]) stands in all modes in which certain conditions have certain values. These are learnt by
//! asking the planner: from a mode that has the part, each condition is changed alone, and what takes the part away belongs to
//! it. Modes with parts not seen before are asked next, then modes by chance; what was learnt is held against every mode that was
//! looked at. A program need not trust it: it enters a mode only if the parts that stand in it make use of every equation
//! once, and of no variable twice.

use crate::compile::Step;
use crate::model::Model;
use crate::restart::Order;
use crate::touched::{step_reads, step_writes};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Action, Operand, Row, VarId};
use saltus_program::Chain;
use saltus_structure::{Block, Cell, DiscKind, Item, ModeKey, ModePart, RelationKind, Role, Sequence, mode_parts};

/// Modes that are looked at, parts that are kept.
const MOST_LOOKS: usize = 30_000;
const MOST_PARTS: usize = 4_000;

/// Modes looked at by chance after all others.
const CHANCES: usize = 100;

/// What a model's modes are put together from.
pub struct Assembly {
    /// The conditions that decide about parts.
    pub conditions: Vec<Condition>,
    /// Continuous variables: the slots of their derivatives, from order 0.
    pub vars: Vec<Vec<u32>>,
    /// Slots of all continuous variables and derivatives.
    pub cells: Vec<u32>,
    /// Per equation of the model the conditions under which it holds; `None`: wherever the others leave something open.
    pub equations: Vec<Option<Vec<(usize, bool)>>>,
    /// The parts.
    pub parts: Vec<PartForm>,
    /// What defines discrete variables, in the order of these.
    pub discrete: Vec<DiscreteUnit>,
    /// Per relation the variables that its function reads.
    pub relations: Vec<Vec<usize>>,
    /// (relation, variable, slot, sign): how crossing functions follow variables that may carry impulses; what computes the slots.
    pub pushes: Vec<(usize, usize, u32, f64)>,
    /// See `pushes`.
    pub pushing: Chain,
    /// Per reaction the variable that it resets.
    pub resets: Vec<Option<usize>>,
    /// Modes looked at.
    pub looks: usize,
}

/// A condition.
pub struct Condition {
    /// Where it is found.
    pub slot: u32,
    /// Whether it is a function of present values alone.
    pub memoryless: bool,
    /// Continuous variables that it reads, through discrete ones as well.
    pub reads: Vec<usize>,
}

/// Steps that are run together, the slots they read and write.
pub struct Unit {
    /// In order.
    pub steps: Vec<Step>,
    /// Read, those of no variable included.
    pub reads: Vec<u32>,
    /// Unknowns.
    pub writes: Vec<u32>,
    /// Whether other modes write one of its equations differently.
    pub varies: bool,
}

/// What defines one discrete variable.
pub struct DiscreteUnit {
    /// How.
    pub unit: Unit,
    /// Present values alone.
    pub definition: bool,
    /// A when-equation.
    pub when: bool,
    /// Its slot, if it is the truth value of a relation that is searched for.
    pub bit: Option<u32>,
}

/// One part.
pub struct PartForm {
    /// It stands in every mode in which the conditions (by number) of one of these lists have their values.
    pub cubes: Vec<Vec<(usize, bool)>>,
    /// Numbers of its equations.
    pub equations: Vec<usize>,
    /// What it determines: variable and highest derivative, in the order of `blocks`.
    pub vars: Vec<(usize, u8)>,
    /// Variables of other parts that it reads.
    pub reads: Vec<usize>,
    /// Its evaluation.
    pub units: Vec<Unit>,
    /// State: slot, slot of its derivative, nominal value, how many derivatives it has above it.
    pub states: Vec<(u32, u32, f64, u8)>,
    /// Slots of its continuous values.
    pub cells: Vec<u32>,
    /// Discrete variables that latent equations read (slot, previous value).
    pub latent: Vec<(u32, u32)>,
    /// How often each equation is differentiated, in the order of `blocks`.
    pub c: Vec<u8>,
    /// Where the diagonal blocks of its restart equations begin, and the end.
    pub blocks: Vec<usize>,
    /// (equation, variable, order, slot, sign): it is part of the restart where the order is the highest of the variable less
    /// the equation's c.
    pub entries: Vec<(usize, usize, u8, u32, f64)>,
    /// Slots of the levels below the highest, equation by equation.
    pub levels: Vec<Vec<u32>>,
    /// (equation, variable, order, variable, order): products in an equation.
    pub products: Vec<(usize, usize, u8, usize, u8)>,
    /// Computes entries and levels.
    pub evaluation: Chain,
}

/// Where a part was found, and the conditions it is taken to need.
struct Cube {
    home: FxHashMap<VarId, bool>,
    literals: Vec<(VarId, bool)>,
}

impl Cube {
    fn holds(&self, values: &FxHashMap<VarId, bool>) -> bool {
        // A condition that does not matter in a mode may have any value there.
        self.literals.iter().all(|(v, b)| values.get(v).is_none_or(|x| x == b))
    }
}

/// A mode that was looked at.
struct Look {
    values: FxHashMap<VarId, bool>,
    /// Its parts; `None` if it cannot be planned in parts.
    parts: Option<Vec<usize>>,
}

#[derive(Default)]
struct Exploration {
    looks: Vec<Look>,
    known: FxHashMap<ModeKey, usize>,
    parts: Vec<ModePart>,
    by_sequence: FxHashMap<*const Sequence, usize>,
    cubes: Vec<Vec<Cube>>,
}

impl Exploration {
    /// The mode in which conditions have these values, those not named false.
    fn look(&mut self, m: &mut Model, point: &crate::model::Snapshot, values: &FxHashMap<VarId, bool>) -> usize {
        let key = m.key_where(&|v| values.get(&v).copied().unwrap_or(false));
        if let Some(&k) = self.known.get(&key) {
            return k;
        }
        let parts = mode_parts(&mut m.sys, &mut m.ops, &m.modes, &key, point).map(|list| {
            let mut numbers: Vec<usize> = list
                .into_iter()
                .map(|p| {
                    let next = self.parts.len();
                    let number = *self.by_sequence.entry(std::rc::Rc::as_ptr(&p.sequence)).or_insert(next);
                    if number == next {
                        self.parts.push(p);
                        self.cubes.push(Vec::new());
                    }
                    number
                })
                .collect();
            numbers.sort_unstable();
            numbers
        });
        self.looks.push(Look { values: m.modes.values(&key), parts });
        self.known.insert(key, self.looks.len() - 1);
        self.looks.len() - 1
    }

    /// Parts of a mode that no list of conditions explains.
    fn unexplained(&self, look: usize) -> Vec<usize> {
        let l = &self.looks[look];
        let open = |p: &&usize| !self.cubes[**p].iter().any(|c| c.holds(&l.values));
        l.parts.iter().flatten().filter(open).copied().collect()
    }

    /// A mode's neighbours, one condition changed.
    fn neighbours(&mut self, m: &mut Model, point: &crate::model::Snapshot, look: usize) -> Vec<(VarId, usize)> {
        let mut conditions: Vec<VarId> = self.looks[look].values.keys().copied().collect();
        conditions.sort_unstable();
        let mut out = Vec::new();
        for c in conditions {
            let mut values = self.looks[look].values.clone();
            values.entry(c).and_modify(|b| *b = !*b);
            out.push((c, self.look(m, point, &values)));
        }
        out
    }

    /// Learns what the parts of a mode need; gives modes nearby that have something new.
    fn learn(&mut self, m: &mut Model, point: &crate::model::Snapshot, look: usize) -> Vec<usize> {
        let near = self.neighbours(m, point, look);
        for p in self.unexplained(look) {
            let home = self.looks[look].values.clone();
            let gone = |l: usize| self.looks[l].parts.as_ref().is_some_and(|list| list.binary_search(&p).is_err());
            let mut names = self.parts[p].conditions.clone();
            names.extend(near.iter().filter(|(_, l)| gone(*l)).map(|n| n.0));
            names.sort_unstable();
            names.dedup();
            let literals = names.into_iter().filter_map(|v| Some((v, *home.get(&v)?))).collect();
            self.cubes[p].push(Cube { home, literals });
        }
        let mut next: Vec<usize> = near.iter().map(|n| n.1).collect();
        for (_, l) in near {
            // What has no solution is passed through.
            if self.looks[l].parts.is_none() && self.looks.len() < MOST_LOOKS {
                next.extend(self.neighbours(m, point, l).into_iter().map(|n| n.1));
            }
        }
        next.retain(|&l| !self.unexplained(l).is_empty());
        next
    }

    /// Takes back what was learnt too generously: parts that are said to stand in a mode and do not. Whether there were any.
    fn correct(&mut self) -> bool {
        let mut any = false;
        for l in &self.looks {
            let Some(parts) = &l.parts else { continue };
            for p in 0..self.parts.len() {
                if parts.binary_search(&p).is_ok() {
                    continue;
                }
                let own: FxHashSet<VarId> = self.parts[p].vars.iter().map(|v| v.0).collect();
                for k in 0..self.cubes[p].len() {
                    let cube = &self.cubes[p][k];
                    if !cube.holds(&l.values) {
                        continue;
                    }
                    // What stands there instead needs a condition that is different where this part was found.
                    let rival = parts.iter().filter(|q| self.parts[**q].vars.iter().any(|v| own.contains(&v.0)));
                    let needs = rival.flat_map(|q| &self.cubes[*q]).filter(|c| c.holds(&l.values));
                    let mut names: Vec<VarId> = needs.flat_map(|c| c.literals.iter().map(|x| x.0)).collect();
                    names.extend({
                        let mut all: Vec<VarId> = l.values.keys().copied().collect();
                        all.sort_unstable();
                        all
                    });
                    let differs = |v: &&VarId| match (cube.home.get(*v), l.values.get(*v)) {
                        (Some(a), Some(b)) => a != b,
                        _ => false,
                    };
                    if let Some(&v) = names.iter().find(differs) {
                        let value = cube.home[&v];
                        self.cubes[p][k].literals.push((v, value));
                        any = true;
                    }
                }
            }
        }
        any
    }

    /// All parts; `None` if there are too many.
    fn run(&mut self, m: &mut Model) -> Option<()> {
        let point = m.snapshot();
        let start = m.key();
        let values = m.modes.values(&start);
        let mut todo = vec![self.look(m, &point, &values)];
        let mut chances = CHANCES;
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0.. {
            while let Some(l) = todo.pop() {
                if self.looks.len() > MOST_LOOKS || self.parts.len() > MOST_PARTS || round > 10_000 {
                    return None;
                }
                if !self.unexplained(l).is_empty() {
                    todo.extend(self.learn(m, &point, l));
                }
            }
            if self.correct() {
                todo.extend((0..self.looks.len()).filter(|&l| !self.unexplained(l).is_empty()));
                continue;
            }
            if chances == 0 {
                break;
            }
            chances -= 1;
            let mut all: Vec<VarId> = self.looks.iter().flat_map(|l| l.values.keys().copied()).collect();
            all.sort_unstable();
            all.dedup();
            let mut values = FxHashMap::default();
            for v in all {
                seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                values.insert(v, seed >> 40 & 1 == 1);
            }
            let l = self.look(m, &point, &values);
            if !self.unexplained(l).is_empty() {
                todo.push(l);
            }
        }
        Some(())
    }
}

/// The continuous variables of an assembly, numbered as they are met.
#[derive(Default)]
struct Numbers {
    of: FxHashMap<VarId, usize>,
    list: Vec<VarId>,
}

impl Numbers {
    fn of(&mut self, v: VarId) -> usize {
        let next = self.list.len();
        let k = *self.of.entry(v).or_insert(next);
        if k == next {
            self.list.push(v);
        }
        k
    }
}

impl Model {
    /// The key where conditions have these values.
    fn key_where(&mut self, truth: &dyn Fn(VarId) -> bool) -> ModeKey {
        self.modes.key(&mut self.sys, &mut self.ops, &|_, v| Some(truth(v))).unwrap_or_default()
    }

    /// The parts that modes are put together from; why not, if that is not possible.
    pub fn assembly(&mut self) -> Result<Assembly, &'static str> {
        let mut found = Exploration::default();
        found.run(self).ok_or("too many parts that modes are put together from")?;
        if found.looks[0].parts.is_none() {
            return Err("modes that cannot be planned part by part");
        }
        if found.parts.iter().any(|p| p.watched) {
            return Err("states that depend on values in so many modes");
        }
        let looks: Vec<ModeKey> = found.known.keys().cloned().collect();
        if looks.iter().any(|k| !self.modes.suspects(k).is_empty()) {
            return Err("equations that may depend on each other in so many modes");
        }
        let mut numbers = Numbers::default();
        found.parts.iter().flat_map(|p| &p.vars).for_each(|v| {
            numbers.of(v.0);
        });
        let mut conditions: Vec<VarId> = found.looks.iter().flat_map(|l| l.values.keys().copied()).collect();
        conditions.sort_unstable();
        conditions.dedup();
        let place: FxHashMap<VarId, usize> = conditions.iter().enumerate().map(|(k, &v)| (v, k)).collect();
        let mut highest: FxHashMap<VarId, u8> = FxHashMap::default();
        for (v, d) in found.parts.iter().flat_map(|p| &p.vars) {
            let h = highest.entry(*v).or_insert(0);
            *h = (*h).max(*d);
        }
        // States and derivatives next to each other, as in a mode of its own.
        for p in &found.parts {
            for s in &p.states {
                self.layout.slot(*s);
                self.layout.slot(Cell { var: s.var, order: s.order + 1 });
            }
        }
        let mut parts = Vec::new();
        for (p, cubes) in found.parts.iter().zip(&found.cubes) {
            let mut form = self.part_form(p, &mut numbers);
            let literal = |&(v, b): &(VarId, bool)| Some((*place.get(&v)?, b));
            form.cubes = cubes.iter().map(|c| c.literals.iter().filter_map(literal).collect()).collect();
            parts.push(form);
        }
        let discrete = self.discrete_units();
        let (pushes, pushing) = self.all_pushes(&mut numbers);
        let listed = conditions.iter().map(|&v| Condition {
            slot: self.locate(v).map_or(0, |s| s.0),
            memoryless: self.memoryless(v),
            reads: {
                let mut list = Vec::new();
                self.continuous_reads(v, 0, &mut list);
                list.into_iter().map(|v| numbers.of(v)).collect()
            },
        });
        let listed = listed.collect();
        let relations = (0..self.sys.relations.len())
            .map(|i| {
                let continuous = |a: &Operand| match self.sys.resolve(*a) {
                    Operand::Var { var, .. } if self.sys.role(var) == Role::Continuous => Some(var),
                    _ => None,
                };
                let list = self.sys.relations[i].g.args.iter().filter_map(continuous);
                list.map(|v| numbers.of(v)).collect()
            })
            .collect();
        let resets = self.sys.reactions.iter().map(|r| match &r.action {
            Action::Reinit { var, .. } => Some(numbers.of(*var)),
            _ => None,
        });
        let resets = resets.collect();
        let equations = (0..self.sys.equations.len()).map(|i| self.holds_where(i, &place)).collect();
        let vars: Vec<Vec<u32>> = numbers
            .list
            .iter()
            .map(|v| {
                let d = highest.get(v).copied().unwrap_or(0);
                (0..=d).map(|k| self.layout.slot(Cell::new(*v, k))).collect()
            })
            .collect();
        self.layout.extend(&mut self.machine.values);
        self.find_previous();
        let cells = self.layout.cells().filter(|(c, _)| c.order >= 0 && self.sys.role(c.var) == Role::Continuous);
        let mut cells: Vec<u32> = cells.map(|c| c.1).collect();
        cells.sort_unstable();
        let looks = found.looks.len();
        Ok(Assembly {
            conditions: listed,
            vars,
            cells,
            equations,
            parts,
            discrete,
            relations,
            pushes,
            pushing,
            resets,
            looks,
        })
    }

    /// The conditions under which an equation holds; `None` for one that fills in where others leave something open.
    fn holds_where(&self, equation: usize, place: &FxHashMap<VarId, usize>) -> Option<Vec<(usize, bool)>> {
        let e = &self.sys.equations[equation];
        if e.origin.is_dummy() {
            return None;
        }
        let (mut out, mut guard) = (Vec::new(), e.guard);
        while let Some((g, branch)) = guard {
            let group = &self.sys.groups[g];
            for (k, v) in group.conditions.iter().enumerate().take(branch as usize + 1) {
                out.push((*place.get(v)?, k == branch as usize));
            }
            guard = group.parent;
        }
        Some(out)
    }

    /// Continuous variables that a discrete one reads, through others as well.
    fn continuous_reads(&self, v: VarId, depth: usize, out: &mut Vec<VarId>) {
        let Some(d) = self.sys.discrete.iter().find(|d| d.var == v) else { return };
        let row = match &d.kind {
            DiscKind::Relation(i) => &self.sys.relations[*i].g,
            DiscKind::Value(row) => row,
            DiscKind::When(..) => return,
        };
        for v in row.args.iter().filter_map(|&a| self.sys.resolve(a).variable()) {
            match self.sys.role(v) {
                Role::Continuous if !out.contains(&v) => out.push(v),
                Role::Discrete if depth < 8 => self.continuous_reads(v, depth + 1, out),
                _ => {}
            }
        }
    }

    fn unit(&self, steps: Vec<Step>, varies: bool) -> Unit {
        let mut reads = Vec::new();
        steps.iter().for_each(|s| step_reads(&self.machine, s, &mut reads));
        let mut writes: Vec<u32> = steps.iter().flat_map(|s| step_writes(&self.machine, s)).collect();
        for list in [&mut reads, &mut writes] {
            list.sort_unstable();
            list.dedup();
        }
        Unit { steps, reads, writes, varies }
    }

    fn discrete_units(&mut self) -> Vec<DiscreteUnit> {
        let mut out = Vec::new();
        for d in self.sys.discrete.clone() {
            let cell = Cell::new(d.var, 0);
            let item = match &d.kind {
                DiscKind::Value(row) => Item::Value { cell, row: row.clone() },
                DiscKind::Relation(index) => Item::Relation { cell, index: *index },
                DiscKind::When(when, values) => Item::When { cell, when: *when, values: values.clone() },
            };
            let steps = self.compile(|c| {
                let mut steps = Vec::new();
                c.single(&item, cell, &mut steps);
                steps
            });
            let definition =
                matches!(&item, Item::Value { row, .. } if !row.args.iter().any(|a| matches!(a, Operand::Pre { .. })));
            let bit = match &item {
                Item::Relation { index, .. } => {
                    let r = &self.machine.relations[*index];
                    (matches!(r.kind, RelationKind::Sign(_)) && r.time.is_none() && !r.frozen).then_some(r.var)
                }
                _ => None,
            };
            let when = matches!(item, Item::When { .. });
            out.push(DiscreteUnit { unit: self.unit(steps, false), definition, when, bit });
        }
        out
    }

    /// How crossing functions follow all variables they read.
    fn all_pushes(&mut self, numbers: &mut Numbers) -> (Vec<(usize, usize, u32, f64)>, Chain) {
        let (mut pushes, mut rows): (Vec<_>, Vec<(u32, Row)>) = (Vec::new(), Vec::new());
        for i in 0..self.sys.relations.len() {
            if self.machine.relations[i].time.is_some() {
                continue;
            }
            let row = self.sys.resolve_row(&self.sys.relations[i].g);
            let mut vars: Vec<VarId> = row.args.iter().filter_map(|a| a.variable()).collect();
            vars.sort_unstable();
            vars.dedup();
            for v in vars.into_iter().filter(|v| self.sys.role(*v) == Role::Continuous).collect::<Vec<_>>() {
                for (sign, part) in self.ops.partial_wrt(&mut self.sys.dae, &row, v, 0) {
                    let slot = self.layout.scratch();
                    pushes.push((i, numbers.of(v), slot, sign));
                    rows.push((slot, part));
                }
            }
        }
        let chain = self.compile(|c| rows.iter().map(|(slot, row)| c.batch(*slot, row)).collect());
        (pushes, chain)
    }

    fn part_form(&mut self, p: &ModePart, numbers: &mut Numbers) -> PartForm {
        let own: FxHashMap<VarId, usize> = p.vars.iter().enumerate().map(|(j, v)| (v.0, j)).collect();
        let continuous = |me: &Model, a: Operand| match a {
            Operand::Var { var, order, .. } if me.sys.role(var) == Role::Continuous => Some((var, order)),
            _ => None,
        };
        // Restart equations: entries by variables of others are there if these have the derivatives.
        let latent_part = p.c.iter().any(|c| *c > 0);
        let (mut entries, mut products): (Vec<(usize, VarId, u8, u32, f64)>, Vec<_>) = (Vec::new(), Vec::new());
        let mut rows: Vec<(u32, Row)> = Vec::new();
        for (i, (_, row)) in p.rows.iter().enumerate() {
            let tight = |(v, o): (VarId, u8)| own.get(&v).is_none_or(|&j| p.vars[j].1 == o + p.c[i]);
            let mut seen: Vec<(VarId, u8)> = Vec::new();
            for &a in &row.args {
                let Some(cell) = continuous(self, a).filter(|c| tight(*c)) else { continue };
                if seen.contains(&cell) {
                    continue;
                }
                seen.push(cell);
                for (sign, part) in self.ops.partial_wrt(&mut self.sys.dae, row, cell.0, cell.1) {
                    let slot = self.layout.scratch();
                    let others = part.args.iter().filter_map(|&a| continuous(self, a)).filter(|c| tight(*c));
                    products.extend(others.map(|o| (i, cell, o)));
                    entries.push((i, cell.0, cell.1, slot, sign));
                    rows.push((slot, part));
                }
            }
        }
        products.sort_unstable();
        products.dedup();
        let inner: Vec<(usize, usize, u32, f64)> =
            entries.iter().filter_map(|e| Some((e.0, *own.get(&e.1)?, e.3, e.4))).collect();
        let order = Order::new(p.vars.len(), &inner);
        let (place, _) = order.places();
        let mut levels = Vec::new();
        for &i in &order.rows {
            let mut list = Vec::new();
            for k in 0..p.c[i] {
                let slot = self.layout.scratch();
                rows.push((slot, p.levels[i][k as usize].clone()));
                list.push(slot);
            }
            levels.push(list);
        }
        let evaluation = self.compile(|c| rows.iter().map(|(slot, row)| c.batch(*slot, row)).collect());
        let mut entries: Vec<(usize, usize, u8, u32, f64)> =
            entries.iter().map(|e| (place[e.0], numbers.of(e.1), e.2, e.3, e.4)).collect();
        entries.sort_by_key(|e| (e.0, e.1));
        let products =
            products.iter().map(|(i, a, b)| (place[*i], numbers.of(a.0), a.1, numbers.of(b.0), b.1)).collect();
        let mut reads: Vec<VarId> =
            p.rows.iter().flat_map(|r| r.1.args.iter().filter_map(|&a| continuous(self, a))).map(|c| c.0).collect();
        reads.retain(|v| !own.contains_key(v));
        reads.sort_unstable();
        reads.dedup();
        let mut latent = Vec::new();
        for ((_, row), _) in p.rows.iter().zip(&p.c).filter(|(_, c)| latent_part && **c > 0) {
            for a in &row.args {
                if let Operand::Var { var, order: 0, .. } = *a
                    && self.sys.role(var) == Role::Discrete
                {
                    latent.push((self.layout.slot(Cell::new(var, 0)), self.layout.slot(Cell::pre(var))));
                }
            }
        }
        let nominal = |me: &Model, s: &Cell| {
            let row = me.sys.dae.vars[s.var].nominal.as_ref().and_then(|r| me.sys.dae.row_constant(r)).map(f64::abs);
            row.filter(|x| *x > 0.0 && x.is_finite()).unwrap_or(1.0)
        };
        let states = p.states.iter().map(|s| {
            let d = p.vars[own[&s.var]].1;
            let slots = (self.layout.slot(*s), self.layout.slot(Cell { var: s.var, order: s.order + 1 }));
            (slots.0, slots.1, nominal(self, s), d - s.order as u8)
        });
        let states = states.collect();
        let mut cells = Vec::new();
        for (v, d) in &p.vars {
            cells.extend((0..=*d).map(|k| self.layout.slot(Cell::new(*v, k))));
        }
        PartForm {
            cubes: Vec::new(),
            equations: p.rows.iter().map(|r| r.0).collect(),
            vars: order.cols.iter().map(|&j| (numbers.of(p.vars[j].0), p.vars[j].1)).collect(),
            reads: reads.into_iter().map(|v| numbers.of(v)).collect(),
            units: self.part_units(&p.sequence),
            states,
            cells,
            latent,
            c: order.rows.iter().map(|&i| p.c[i]).collect(),
            blocks: order.blocks,
            entries,
            levels,
            products,
            evaluation,
        }
    }

    /// Blocks of a part: all in one, unless a discrete variable may stand between them.
    fn part_units(&mut self, sequence: &Sequence) -> Vec<Unit> {
        let discrete = |me: &Model, row: &Row| {
            let read = |a: &Operand| me.sys.resolve(*a).variable();
            row.args.iter().filter_map(read).any(|v| me.sys.role(v) == Role::Discrete)
        };
        let between = sequence.items.iter().any(|i| matches!(i, Item::Residual { row, .. } if discrete(self, row)));
        let groups: Vec<&[Block]> =
            if between { sequence.blocks.chunks(1).collect() } else { vec![&sequence.blocks[..]] };
        let mut out = Vec::new();
        for blocks in groups.into_iter().filter(|b| !b.is_empty()) {
            let steps = self.compile(|c| c.blocks(&sequence.items, blocks));
            let varies = blocks.iter().flat_map(|b| &b.items).any(|&i| match &sequence.items[i] {
                Item::Residual { eq, .. } => self.sys.equations.get(*eq).is_some_and(|e| {
                    let read = |a: &Operand| a.variable().is_some_and(|v| self.sys.role(v) == Role::Discrete);
                    e.guard.is_some() || e.row.args.iter().any(read)
                }),
                _ => false,
            });
            out.push(self.unit(steps, varies));
        }
        out
    }
}
