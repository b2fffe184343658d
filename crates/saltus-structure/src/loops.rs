//! Algebraic loops: tearing, and explicit solution of small linear ones (mathematics, section 5).
//!
//! before: `u1 = R1*i; u2 = R2*i; u1 + u2 = U` for u1, u2, i
//! after:  torn by i; inner `u1 := R1*i; u2 := R2*i`; residual `u1 + u2 - U`; being linear and small,
//!         `i := U/(R1 + R2)` and then the inner assignments.

use crate::plan::Cell;
use crate::rows::{Operands, RowOps, join_signs, tidy};
use crate::system::System;
use rustc_hash::FxHashMap;
use saltus_dae::{HybridDae, Operand, Row, Variability};
use saltus_expr::{Coefficient, Node};
use saltus_graph::{Bipartite, TearHint, UNSOLVABLE, tear};

/// A torn loop; numbers are positions in the rows and unknowns it was made from.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// Unknowns to iterate on.
    pub tears: Vec<usize>,
    /// The others, each assigned from an equation, in order: (equation, unknown, solved row).
    pub inner: Vec<(usize, usize, Row)>,
    /// Equations left to determine the torn unknowns.
    pub residuals: Vec<usize>,
    /// No coefficient depends on an unknown of the loop.
    pub linear: bool,
}

/// The longest value of a torn unknown that is written out, in nodes.
const SHORT: usize = 60;

impl Loop {
    /// Loops up to this size are solved symbolically if they are linear with one torn unknown.
    pub const SMALL: usize = 6;

    /// Tears the equations `rows = 0` for `unknowns`. An equation counts as solvable for an unknown if its coefficient is a
    /// constant or made of parameters: it then cannot vanish during a run. Unknowns with a start value are preferred as
    /// tears of nonlinear loops, as long as that costs no further tear; what a scenario marks is preferred even then; what the
    /// modeller says (`__Saltus_tear`) holds in any case.
    pub fn new(sys: &mut System, ops: &mut RowOps, rows: &[Row], unknowns: &[Cell]) -> Loop {
        let column: FxHashMap<Cell, u32> = unknowns.iter().enumerate().map(|(j, &c)| (c, j as u32)).collect();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut costs: FxHashMap<(u32, u32), (u8, usize)> = FxHashMap::default();
        let mut linear = true;
        for (i, row) in rows.iter().enumerate() {
            for k in 0..row.args.len() {
                let Some(&j) = Cell::of(row.args[k]).and_then(|c| column.get(&c)) else { continue };
                let slope = ops.partial(&mut sys.dae, row, k);
                linear &= !slope.args.iter().any(|&a| Cell::of(a).is_some_and(|c| column.contains_key(&c)));
                let class = match ops.classify(&mut sys.dae, row, k) {
                    c if c <= Coefficient::Parameter => c as u8,
                    _ => UNSOLVABLE,
                };
                edges.push((i as u32, j));
                // Twice in one row: not solved for.
                costs.entry((i as u32, j)).and_modify(|c| c.0 = UNSOLVABLE).or_insert((class, k));
            }
        }
        let g = Bipartite::new(rows.len(), unknowns.len(), &edges);
        let cost = |i: u32, j: u32| costs.get(&(i, j)).map_or(UNSOLVABLE, |c| c.0);
        let mut torn = tear(&g, cost, &[]);
        let told = unknowns.iter().any(|c| sys.dae.vars[c.var].tear.is_some());
        if !linear || told {
            let hints: Vec<TearHint> = unknowns
                .iter()
                .map(|c| {
                    let v = &sys.dae.vars[c.var];
                    let guessed = c.order == 0 && (v.start.is_some() || v.marked);
                    match v.tear {
                        Some(true) => TearHint::Always,
                        Some(false) => TearHint::Never,
                        None if guessed && !linear => TearHint::Prefer,
                        None => TearHint::Default,
                    }
                })
                .collect();
            let guided = tear(&g, cost, &hints);
            // Where the user has marked what he can guess, unmarked unknowns are eliminated in favour of marked ones even if
            // that leaves more of them.
            let blind = |t: &[u32]| t.iter().filter(|&&j| hints[j as usize] < TearHint::Prefer).count();
            let marked = unknowns.iter().any(|c| sys.dae.vars[c.var].marked)
                && blind(&guided.tears) < blind(&torn.tears)
                && guided.tears.len() <= 2 * torn.tears.len() + 4;
            if told || marked || guided.tears.len() <= torn.tears.len() {
                torn = guided;
            }
        }
        let mut out = Loop {
            tears: torn.tears.iter().map(|&j| j as usize).collect(),
            inner: Vec::with_capacity(torn.order.len()),
            residuals: torn.residuals.iter().map(|&i| i as usize).collect(),
            linear,
        };
        for (i, j) in torn.order {
            let row = &rows[i as usize];
            match solved(sys, ops, row, costs[&(i, j)].1) {
                Some(value) => out.inner.push((i as usize, j as usize, value)),
                None => {
                    // Cannot happen for a solvable pair; the pair becomes a tear and a residual.
                    out.tears.push(j as usize);
                    out.residuals.push(i as usize);
                }
            }
        }
        out
    }

    /// The loop as assignments, if it is small, linear and has one tear whose coefficient cannot vanish.
    pub fn explicit(
        &self,
        sys: &mut System,
        ops: &mut RowOps,
        rows: &[Row],
        unknowns: &[Cell],
    ) -> Option<Vec<(Cell, Row)>> {
        let ([tear], [residual]) = (&self.tears[..], &self.residuals[..]) else { return None };
        if !self.linear || unknowns.len() > Loop::SMALL {
            return None;
        }
        let tear = unknowns[*tear];
        let mut values: FxHashMap<Cell, Row> = FxHashMap::default();
        for (_, j, row) in &self.inner {
            let row = compose(&mut sys.dae, row, &values);
            if size(&sys.dae, &row) > SHORT {
                return None;
            }
            values.insert(unknowns[*j], row);
        }
        let row = compose(&mut sys.dae, &rows[*residual], &values);
        let mut places = (0..row.args.len()).filter(|&k| Cell::of(row.args[k]) == Some(tear));
        let (Some(k), None) = (places.next(), places.next()) else { return None };
        let class = ops.classify(&mut sys.dae, &row, k);
        if class > Coefficient::Parameter {
            return None;
        }
        // Parameters may make it vanish all the same: then the equations agree or not, but do not determine the unknown.
        if class == Coefficient::Parameter {
            let slope = ops.partial(&mut sys.dae, &row, k);
            if parameter_value(&sys.dae, &slope, 0) == Some(0.0) {
                return None;
            }
        }
        let value = solved(sys, ops, &row, k)?;
        if size(&sys.dae, &value) > SHORT {
            return None;
        }
        let inner = self.inner.iter().map(|(_, j, row)| (unknowns[*j], row.clone()));
        Some(std::iter::once((tear, value)).chain(inner).collect())
    }
}

/// The value of a row over parameters, if their bindings tell it.
fn parameter_value(dae: &HybridDae, row: &Row, depth: usize) -> Option<f64> {
    let mut plain = depth < 8;
    dae.pool.visit(row.template, |_, n| plain &= !matches!(n, Node::Call { .. } | Node::CallDer { .. }));
    if !plain {
        return None;
    }
    let value = |a: &Operand| match *a {
        Operand::Const(v) => Some(v),
        Operand::Var { var, order: 0, neg } if dae.vars[var].variability <= Variability::Parameter => {
            let v = &dae.vars[var];
            let binding = v.binding.as_ref().filter(|_| v.fixed != Some(false))?;
            parameter_value(dae, binding, depth + 1).map(|v| if neg { -v } else { v })
        }
        _ => None,
    };
    let values: Option<Vec<f64>> = row.args.iter().map(value).collect();
    let values = values?;
    let value = saltus_expr::eval(&dae.pool, row.template, &|k| values[k as usize], &mut saltus_expr::NoCalls);
    value.is_finite().then_some(value)
}

/// A row solved for its k-th argument, sign included.
pub fn solved(sys: &mut System, ops: &mut RowOps, row: &Row, k: usize) -> Option<Row> {
    let mut value = ops.solve(&mut sys.dae, row, k)?;
    if let Operand::Var { neg: true, .. } = row.args[k] {
        value.template = sys.dae.pool.neg(value.template);
    }
    Some(value)
}

fn size(dae: &HybridDae, row: &Row) -> usize {
    let mut n = 0;
    dae.pool.visit(row.template, |_, _| n += 1);
    n
}

/// A row with some of its operands replaced by their values.
pub fn compose(dae: &mut HybridDae, row: &Row, values: &FxHashMap<Cell, Row>) -> Row {
    let mut args = Operands::default();
    let template = dae.pool.substitute(row.template, |pool, k| {
        let a = row.args[k as usize];
        match Cell::of(a).and_then(|c| values.get(&c)) {
            Some(value) => {
                let e = pool.substitute(value.template, |pool, k| {
                    let at = args.at(value.args[k as usize]);
                    pool.hole(at)
                });
                if matches!(a, Operand::Var { neg: true, .. }) { pool.neg(e) } else { e }
            }
            None => {
                let at = args.at(a);
                pool.hole(at)
            }
        }
    });
    let out = Row { template, args: args.list().into() };
    let joined = join_signs(dae, &out);
    tidy(dae, joined.as_ref().unwrap_or(&out))
}
