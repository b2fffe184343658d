//! Symbolic operations on rows, done once per template and cached.

use rustc_hash::FxHashMap;
use saltus_base::Arena;
use saltus_dae::{HybridDae, Operand, Row, VarId, Variability, Variable};
use saltus_expr::{Coefficient, Differentiator, ExprId, Node, Pool, slope_in};

/// How a hole varies in time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Variation {
    /// Constant between events.
    Fixed,
    /// The independent variable itself.
    Time,
    /// A continuous variable or a derivative of one.
    Varying,
}

/// A template made from another, with the old hole behind each new one.
/// Holes from `n` on (n: holes of the old template) stand for derivatives of hole k - n.
#[derive(Clone, Debug)]
struct Derived {
    template: ExprId,
    holes: Vec<u32>,
}

/// Caches of template operations.
#[derive(Default, Debug)]
pub struct RowOps {
    time: FxHashMap<(ExprId, Vec<Variation>), Derived>,
    partials: FxHashMap<(ExprId, u32), Derived>,
    solved: FxHashMap<(ExprId, u32), Option<Derived>>,
    classes: FxHashMap<(ExprId, u32), (Coefficient, Vec<u32>)>,
    folded: FxHashMap<(ExprId, Vec<(u32, u64)>), Derived>,
    /// Whether equations may be replaced by combinations of them.
    pub(crate) combines: bool,
    /// What takes the place of rows of a part, by the part.
    pub(crate) combined: FxHashMap<Box<[u64]>, Vec<(usize, Row)>>,
}

/// Renumbers the holes of `e` densely, in order.
fn compress(pool: &mut Pool, e: ExprId) -> Derived {
    let holes = pool.holes(e);
    if holes.iter().enumerate().all(|(i, &h)| i as u32 == h) {
        return Derived { template: e, holes };
    }
    let template = pool.substitute(e, |pool, k| {
        let at = holes.binary_search(&k).unwrap_or(0);
        pool.hole(at as u32)
    });
    Derived { template, holes }
}

impl RowOps {
    /// d/dt of a row: x becomes ẋ, `time` becomes 1, what changes only at events has derivative 0.
    pub fn differentiate(&mut self, dae: &mut HybridDae, row: &Row) -> Row {
        let n = row.args.len();
        let mask: Vec<Variation> = row.args.iter().map(|&a| variation(&dae.vars, a)).collect();
        let key = (row.template, mask);
        let derived = match self.time.get(&key) {
            Some(d) => d.clone(),
            None => {
                let mask = &key.1;
                let mut dhole = |pool: &mut Pool, k: u32| match mask[k as usize] {
                    Variation::Fixed => None,
                    Variation::Time => Some(pool.num(1.0)),
                    Variation::Varying => Some(pool.hole(n as u32 + k)),
                };
                let e = Differentiator::new(&mut dae.pool, &mut dhole).derivative(row.template);
                let d = compress(&mut dae.pool, e);
                self.time.insert(key, d.clone());
                d
            }
        };
        let args = derived
            .holes
            .iter()
            .map(|&h| {
                let h = h as usize;
                if h < n {
                    return row.args[h];
                }
                match row.args[h - n] {
                    Operand::Var { var, order, neg } => Operand::Var { var, order: order + 1, neg },
                    other => other,
                }
            })
            .collect();
        Row { template: derived.template, args }
    }

    /// ∂row/∂(argument k).
    pub fn partial(&mut self, dae: &mut HybridDae, row: &Row, k: usize) -> Row {
        let key = (row.template, k as u32);
        let derived = match self.partials.get(&key) {
            Some(d) => d.clone(),
            None => {
                let e = Differentiator::partial(&mut dae.pool, row.template, k as u32);
                let d = compress(&mut dae.pool, e);
                self.partials.insert(key, d.clone());
                d
            }
        };
        Row { template: derived.template, args: derived.holes.iter().map(|&h| row.args[h as usize]).collect() }
    }

    /// ∂row/∂column: sums over all arguments that are this variable and order (signs included).
    pub fn partial_wrt(&mut self, dae: &mut HybridDae, row: &Row, var: VarId, order: u8) -> Vec<(f64, Row)> {
        let mut out = Vec::new();
        for k in 0..row.args.len() {
            if let Operand::Var { var: v, order: o, neg } = row.args[k]
                && v == var
                && o == order
            {
                let p = self.partial(dae, row, k);
                out.push((if neg { -1.0 } else { 1.0 }, p));
            }
        }
        out
    }

    /// The row solved for argument k, if it is affine in it or a function's inverse gives it.
    pub fn solve(&mut self, dae: &mut HybridDae, row: &Row, k: usize) -> Option<Row> {
        let key = (row.template, k as u32);
        let derived = match self.solved.get(&key) {
            Some(d) => d.clone(),
            None => {
                let pool = &mut dae.pool;
                let d = saltus_expr::solve_for(pool, row.template, k as u32).map(|e| compress(pool, e));
                self.solved.insert(key, d.clone());
                d
            }
        }?;
        Some(Row { template: derived.template, args: derived.holes.iter().map(|&h| row.args[h as usize]).collect() })
    }

    /// How well the row can be solved for argument k; a slope of parameters alone counts as [`Coefficient::Parameter`].
    pub fn classify(&mut self, dae: &mut HybridDae, row: &Row, k: usize) -> Coefficient {
        let key = (row.template, k as u32);
        let (class, holes) = match self.classes.get(&key) {
            Some(c) => c.clone(),
            None => {
                let pool = &mut dae.pool;
                let class = saltus_expr::classify(pool, row.template, k as u32, |_| true);
                let holes = match class {
                    Coefficient::Parameter => {
                        slope_in(pool, row.template, k as u32).map_or(Vec::new(), |slope| pool.holes(slope))
                    }
                    _ => Vec::new(),
                };
                self.classes.insert(key, (class, holes.clone()));
                (class, holes)
            }
        };
        if class == Coefficient::Parameter
            && holes.iter().any(|&h| match row.args[h as usize] {
                Operand::Var { var, .. } => dae.vars[var].variability > Variability::Parameter,
                Operand::Pre { .. } => true,
                Operand::Const(_) => false,
            })
        {
            return Coefficient::Varying;
        }
        class
    }

    /// Folds constant operands for which `pick` says so into the template.
    pub fn fold(&mut self, dae: &mut HybridDae, row: &Row, pick: impl Fn(f64) -> bool) -> Row {
        let consts: Vec<(u32, u64)> = row
            .args
            .iter()
            .enumerate()
            .filter_map(|(k, a)| match a {
                Operand::Const(v) if pick(*v) => Some((k as u32, v.to_bits())),
                _ => None,
            })
            .collect();
        if consts.is_empty() {
            return row.clone();
        }
        let key = (row.template, consts);
        let derived = match self.folded.get(&key) {
            Some(d) => d.clone(),
            None => {
                let consts = &key.1;
                let e = dae.pool.substitute(row.template, |pool, k| match consts.binary_search_by_key(&k, |c| c.0) {
                    Ok(at) => pool.num(f64::from_bits(consts[at].1)),
                    Err(_) => pool.hole(k),
                });
                let d = compress(&mut dae.pool, e);
                self.folded.insert(key, d.clone());
                d
            }
        };
        Row { template: derived.template, args: derived.holes.iter().map(|&h| row.args[h as usize]).collect() }
    }
}

fn variation(vars: &Arena<Variable>, a: Operand) -> Variation {
    match a {
        Operand::Var { var, .. } if var == HybridDae::TIME => Variation::Time,
        Operand::Var { var, .. } if vars[var].variability == Variability::Continuous => Variation::Varying,
        _ => Variation::Fixed,
    }
}

/// Operands in order of first use, each once.
#[derive(Default)]
pub(crate) struct Operands {
    list: Vec<Operand>,
    index: FxHashMap<(u64, i16), u32>,
}

impl Operands {
    /// Where an operand stands, now or from before.
    pub(crate) fn at(&mut self, a: Operand) -> u32 {
        let key = match a {
            Operand::Const(v) => (v.to_bits(), -2),
            Operand::Pre { var } => (var.index() as u64, -1),
            Operand::Var { var, order, neg } => (var.index() as u64, 2 * i16::from(order) + i16::from(neg)),
        };
        *self.index.entry(key).or_insert_with(|| {
            self.list.push(a);
            self.list.len() as u32 - 1
        })
    }

    /// All of them.
    pub(crate) fn list(self) -> Vec<Operand> {
        self.list
    }
}

/// A row with every variable that it reads both plainly and negated read plainly: `x + (-x)` is seen to be zero. `None` if
/// there is no such variable.
pub(crate) fn join_signs(dae: &mut HybridDae, row: &Row) -> Option<Row> {
    let mut out: Option<Row> = None;
    for k in 0..row.args.len() {
        if let Operand::Var { var, order, neg: true } = row.args[k]
            && let plain = (Operand::Var { var, order, neg: false })
            && row.args.contains(&plain)
        {
            let out = out.get_or_insert_with(|| row.clone());
            out.args[k] = plain;
            out.template = dae.pool.substitute(out.template, |pool, j| {
                let h = pool.hole(j);
                if j as usize == k { pool.neg(h) } else { h }
            });
        }
    }
    out
}

/// Drops holes that no longer occur and joins equal operands.
pub fn tidy(dae: &mut HybridDae, row: &Row) -> Row {
    let used = dae.pool.holes(row.template);
    let mut args = Operands::default();
    let mut map: FxHashMap<u32, u32> = FxHashMap::default();
    let mut changed = used.len() != row.args.len();
    for k in used {
        let at = args.at(row.args[k as usize]);
        changed |= at != k;
        map.insert(k, at);
    }
    if !changed {
        return row.clone();
    }
    let template = dae.pool.substitute(row.template, |pool, k| pool.hole(map[&k]));
    // Joining may have simplified further (x - x).
    let left = dae.pool.holes(template).len();
    let out = Row { template, args: args.list().into() };
    if left < out.args.len() { tidy(dae, &out) } else { out }
}

/// Whether a template holds an event-generating node.
pub fn has_events(pool: &Pool, e: ExprId) -> bool {
    let mut found = false;
    pool.visit(e, |_, n| found |= matches!(n, Node::Relation(..) | Node::EventFloor(_)));
    found
}
