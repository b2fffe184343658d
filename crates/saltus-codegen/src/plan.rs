//! From a template to steps: every node placed in the region where it is needed.
//!
//! ```text
//! if c then x*y + 1 else x*y - 1     ⇒     0: hole 0 (c)      4: if 0
//!                                          1: hole 1 (x)      5:   3 + 1.0
//!                                          2: hole 2 (y)      6: else 5
//!                                          3: 1 * 2           7:   3 - 1.0
//!                                                             8: end 7
//! ```
//!
//! A *region* is the body of the row, or the `then` or `else` part of one `if` placed in a region. A node needed in
//! both parts of an `if` is needed before it, so it is placed there (`x*y` above); a node needed in one part only
//! stays inside. What is needed in several parts but not on every path is placed several times, so nothing is
//! evaluated that the interpreter would not evaluate; only when that makes the plan several times larger than the
//! template is it evaluated ahead instead (see [`Placer::place`]).
//!
//! Invariants: an operand names an earlier step of the same or an enclosing region; `If`, `Else`, `End` nest; no
//! recursion here, since templates can be tens of thousands of nodes deep.

use rustc_hash::FxHashMap;
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool, Unary};

/// The number of a step; as an operand, its value.
pub(crate) type Step = u32;

/// One step. Its value is named by its number.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A constant; all constants come first, each once.
    Const(f64),
    Hole(u32),
    Unary(Unary, Step),
    Binary(Binary, Step, Step),
    /// `if c then a else b` with both values at hand.
    Select(Step, Step, Step),
    /// Goes on if the condition is not zero, else continues after the `Else` at `to_else`.
    If {
        cond: Step,
        to_else: Step,
    },
    /// End of the `then` part: the value of step `end` is `value`; continues after it.
    Else {
        value: Step,
        end: Step,
    },
    /// End of the `else` part, with its value. The step's own value is that of the whole `if`.
    End {
        value: Step,
    },
    /// Output of a function of `n` arguments, which are `args[at..at + n]` of the plan.
    Call {
        func: FuncId,
        at: u32,
        n: u32,
        out: u32,
    },
    /// Directional derivative: `n` arguments followed by `n` directions.
    CallDer {
        func: FuncId,
        at: u32,
        n: u32,
        out: u32,
    },
    /// In chains: the value of a slot.
    Load(u32),
    /// In chains: a slot gets a value.
    Store(u32, Step),
}

/// A template ready for a backend.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub ops: Vec<Op>,
    /// Operands of calls.
    pub args: Vec<Step>,
    /// The steps whose values are stored.
    pub results: Vec<Step>,
    /// Number of leading [`Op::Const`] steps.
    pub consts: usize,
    /// Holes of a row, as declared.
    pub holes: usize,
    /// Whether every hole that occurs is one of the declared.
    pub holes_declared: bool,
}

/// An `if` whose two parts together cost no more than this is a [`Op::Select`]: evaluating both is cheaper than a
/// branch. Division, functions and calls are above it.
const SELECT_COST: u32 = 8;

struct Region {
    parent: u32,
    depth: u32,
    /// Nodes placed here, parents first; for an `if`, the region of its `then` part (the `else` part is the next).
    members: Vec<(u32, u32)>,
}

struct Placer {
    regions: Vec<Region>,
    /// Placements so far and allowed: duplication above `soft` is for calls only, above `hard` for nothing.
    placed: usize,
    soft: usize,
    hard: usize,
}

impl Placer {
    /// The regions to place a node in, given where it is needed. Without speculation: drop regions inside another of
    /// the list, and replace the two parts of an `if` by the region around. Regions are numbered parents first, and
    /// the two parts of an `if` are (2k-1, 2k).
    fn place(&mut self, uses: &mut Vec<u32>, calls: bool) {
        uses.sort_unstable();
        uses.dedup();
        if uses.len() > 1 && uses[0] == 0 {
            uses.truncate(1);
        }
        if uses.len() > 1 {
            let mut heap: std::collections::BTreeSet<u32> = uses.iter().copied().collect();
            let mut kept = Vec::new();
            while let Some(r) = heap.pop_last() {
                if heap.is_empty() && kept.is_empty() {
                    kept.push(r);
                    break;
                }
                let sibling = if r % 2 == 0 { r.wrapping_sub(1) } else { r + 1 };
                if r != 0 && heap.remove(&sibling) {
                    heap.insert(self.regions[r as usize].parent);
                    continue;
                }
                // An enclosing region may still be produced by a merge, so the test for it comes after.
                kept.push(r);
            }
            if kept.len() > 1 {
                let set: rustc_hash::FxHashSet<u32> = kept.iter().copied().collect();
                kept.retain(|&r| {
                    let mut up = r;
                    while up != 0 {
                        up = self.regions[up as usize].parent;
                        if set.contains(&up) {
                            return false;
                        }
                    }
                    true
                });
            }
            if kept.len() > 1 && self.placed + kept.len() > if calls { self.hard } else { self.soft } {
                let common = kept.iter().copied().reduce(|a, b| self.common(a, b)).unwrap_or(0);
                kept = vec![common];
            }
            *uses = kept;
        }
        self.placed += uses.len();
    }

    /// The innermost region around both.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.regions[a as usize].depth >= self.regions[b as usize].depth {
                a = self.regions[a as usize].parent;
            } else {
                b = self.regions[b as usize].parent;
            }
        }
        a
    }

    fn region(&mut self, parent: u32) -> u32 {
        let depth = self.regions.get(parent as usize).map_or(0, |r| r.depth + 1);
        self.regions.push(Region { parent, depth, members: Vec::new() });
        self.regions.len() as u32 - 1
    }
}

/// What is known of a node from its children.
#[derive(Clone, Copy, Default)]
struct Info {
    /// Operations to evaluate it, as a tree; saturates.
    cost: u32,
    /// Registers to evaluate it (Sethi and Ullman 1970); decides which operand comes first.
    need: u32,
    /// Whether a function of the model is called below.
    calls: bool,
}

/// Nodes below and including `roots`, children before parents, children in the order `order` leaves them.
fn postorder(pool: &Pool, roots: &[ExprId], mut order: impl FnMut(ExprId, &mut Vec<ExprId>)) -> Vec<ExprId> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut out = Vec::new();
    let mut stack: Vec<(ExprId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
    let mut children = Vec::new();
    while let Some((e, expanded)) = stack.pop() {
        if expanded {
            out.push(e);
        } else if seen.insert(e) {
            stack.push((e, true));
            children.clear();
            pool.children(e, |c| children.push(c));
            order(e, &mut children);
            stack.extend(children.iter().rev().map(|&c| (c, false)));
        }
    }
    out
}

fn cost_of(node: &Node) -> u32 {
    match node {
        Node::Const(_) => 0,
        Node::Hole(_) => 1,
        Node::Unary(op, _) => match op {
            Unary::Neg | Unary::Not | Unary::Abs | Unary::Sign | Unary::Event => 1,
            Unary::Floor | Unary::Ceil | Unary::Trunc => 3,
            _ => 100,
        },
        Node::Binary(op, ..) => match op {
            Binary::Div => 20,
            Binary::Pow | Binary::Atan2 => 100,
            _ => 1,
        },
        Node::Relation(..) => 1,
        Node::EventFloor(_) => 3,
        Node::If(..) => 4,
        Node::Call { .. } | Node::CallDer { .. } => 1000,
    }
}

impl Plan {
    /// Whether functions of the model are called.
    pub fn calls(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Call { .. } | Op::CallDer { .. }))
    }

    /// Words of a row: its destinations, then its holes.
    pub fn stride(&self) -> usize {
        self.results.len() + self.holes
    }

    /// The steps of a template.
    pub fn new(pool: &Pool, template: ExprId, holes: usize) -> Plan {
        Self::joint(pool, &[template], holes)
    }

    /// The steps of several templates over the same holes; what they share is computed once.
    pub fn joint(pool: &Pool, templates: &[ExprId], holes: usize) -> Plan {
        // Costs, bottom-up; then the order of evaluation: the operand that needs more registers first, except where
        // calls are involved, which keep the interpreter's order.
        let mut info: FxHashMap<ExprId, Info> = FxHashMap::default();
        let mut holes_declared = true;
        for e in postorder(pool, templates, |_, _| {}) {
            let node = pool.node(e);
            let mut i =
                Info { cost: cost_of(node), need: 1, calls: matches!(node, Node::Call { .. } | Node::CallDer { .. }) };
            if let Node::Hole(k) = node {
                holes_declared &= (*k as usize) < holes;
            }
            let mut needs: Vec<u32> = Vec::new();
            pool.children(e, |c| {
                let c = info[&c];
                i.cost = i.cost.saturating_add(c.cost);
                i.calls |= c.calls;
                needs.push(c.need);
            });
            needs.sort_unstable_by(|a, b| b.cmp(a));
            i.need = needs.iter().zip(0u32..).map(|(n, k)| n + k).fold(1, u32::max);
            info.insert(e, i);
        }
        let order = postorder(pool, templates, |e, children| {
            if children.len() == 2 && !info[&e].calls && info[&children[1]].need > info[&children[0]].need {
                children.swap(0, 1);
            }
        });
        let local: FxHashMap<ExprId, u32> = order.iter().zip(0u32..).map(|(&e, i)| (e, i)).collect();

        // Placement, parents first.
        let n = order.len();
        let mut placer = Placer { regions: Vec::new(), placed: 0, soft: 4 * n + 1000, hard: 64 * n + 100_000 };
        placer.region(0);
        let mut uses: Vec<Vec<u32>> = vec![Vec::new(); n];
        templates.iter().for_each(|t| uses[local[t] as usize].push(0));
        for x in (0..n).rev() {
            let e = order[x];
            let mut regions = std::mem::take(&mut uses[x]);
            let node = pool.node(e);
            if matches!(node, Node::Const(_)) {
                continue;
            }
            placer.place(&mut regions, info[&e].calls);
            let mut need = |c: ExprId, r: u32| {
                let list = &mut uses[local[&c] as usize];
                if list.last() != Some(&r) {
                    list.push(r);
                }
            };
            for &r in &regions {
                match node {
                    Node::If(c, a, b) if info[a].cost.saturating_add(info[b].cost) > SELECT_COST => {
                        let then = placer.region(r);
                        let els = placer.region(r);
                        placer.regions[r as usize].members.push((x as u32, then));
                        need(*c, r);
                        need(*a, then);
                        need(*b, els);
                    }
                    _ => {
                        placer.regions[r as usize].members.push((x as u32, 0));
                        pool.children(e, |c| need(c, r));
                    }
                }
            }
        }
        let mut plan = Self::write(pool, &order, &local, &placer.regions, templates, holes);
        plan.holes_declared = holes_declared;
        plan
    }

    /// Writes the regions down, each at its `if`.
    fn write(
        pool: &Pool,
        order: &[ExprId],
        local: &FxHashMap<ExprId, u32>,
        regions: &[Region],
        templates: &[ExprId],
        holes: usize,
    ) -> Plan {
        let mut plan = Plan {
            ops: Vec::with_capacity(order.len()),
            args: Vec::new(),
            results: Vec::new(),
            consts: 0,
            holes,
            holes_declared: true,
        };
        // The step of each node where it was last placed: the placements of a node are in disjoint regions.
        let mut step: Vec<Step> = vec![Step::MAX; order.len()];
        for (x, &e) in order.iter().enumerate() {
            if let Node::Const(bits) = pool.node(e) {
                step[x] = plan.ops.len() as Step;
                plan.ops.push(Op::Const(f64::from_bits(*bits)));
            }
        }
        plan.consts = plan.ops.len();
        /// A region being written: how many members are left, and, for the parts of an `if`, its node and place.
        struct Open {
            region: u32,
            left: usize,
            branch: Option<(u32, usize)>,
            is_else: bool,
        }
        let mut open = vec![Open { region: 0, left: regions[0].members.len(), branch: None, is_else: false }];
        while let Some(top) = open.last_mut() {
            let at = |step: &[Step], e: &ExprId| step[local[e] as usize];
            if top.left == 0 {
                let Some(Open { region, branch: Some((x, start)), is_else, .. }) = open.pop() else { break };
                let Node::If(_, a, b) = pool.node(order[x as usize]) else { unreachable!("branch of an if") };
                let here = plan.ops.len();
                if is_else {
                    step[x as usize] = here as Step;
                    plan.ops.push(Op::End { value: at(&step, b) });
                    if let Op::Else { end, .. } = &mut plan.ops[start] {
                        *end = here as Step;
                    }
                } else {
                    plan.ops.push(Op::Else { value: at(&step, a), end: 0 });
                    if let Op::If { to_else, .. } = &mut plan.ops[start] {
                        *to_else = here as Step;
                    }
                    let els = region + 1;
                    let left = regions[els as usize].members.len();
                    open.push(Open { region: els, left, branch: Some((x, here)), is_else: true });
                }
                continue;
            }
            top.left -= 1;
            let (x, then) = regions[top.region as usize].members[top.left];
            let mut list = |step: &[Step], a: &[ExprId]| {
                let from = plan.args.len() as u32;
                plan.args.extend(a.iter().map(|e| at(step, e)));
                from
            };
            let op = match pool.node(order[x as usize]) {
                Node::Const(_) => unreachable!("constants are not placed"),
                Node::Hole(k) => Op::Hole(*k),
                Node::Unary(op, a) => Op::Unary(*op, at(&step, a)),
                Node::EventFloor(a) => Op::Unary(Unary::Floor, at(&step, a)),
                Node::Binary(op, a, b) => Op::Binary(*op, at(&step, a), at(&step, b)),
                Node::Relation(op, a, b) => Op::Binary(op.plain(), at(&step, a), at(&step, b)),
                Node::If(c, a, b) => {
                    let parts = [then, then + 1];
                    if then == 0 || parts.iter().all(|&p| regions[p as usize].members.is_empty()) {
                        Op::Select(at(&step, c), at(&step, a), at(&step, b))
                    } else {
                        let start = plan.ops.len();
                        plan.ops.push(Op::If { cond: at(&step, c), to_else: 0 });
                        let left = regions[then as usize].members.len();
                        open.push(Open { region: then, left, branch: Some((x, start)), is_else: false });
                        continue;
                    }
                }
                Node::Call { func, args, out } => {
                    Op::Call { func: *func, at: list(&step, args), n: args.len() as u32, out: *out }
                }
                Node::CallDer { func, args, dargs, out } => {
                    let from = list(&step, args);
                    list(&step, dargs);
                    Op::CallDer { func: *func, at: from, n: args.len() as u32, out: *out }
                }
            };
            step[x as usize] = plan.ops.len() as Step;
            plan.ops.push(op);
        }
        plan.results = templates.iter().map(|t| step[local[t] as usize]).collect();
        plan
    }
}
