//! Coefficients that vanish for the given parameters: they decide structure, because an equation without its derivative
//! determines something else.
//!
//! before: `i = C*(1 - x)*der(v)` with x = 1
//! after:  `i = 0`

use crate::rows::{RowOps, tidy};
use crate::system::{Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType};
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool};

/// How many expression nodes may be made to see that a function's result vanishes.
const CALL_BUDGET: usize = 40_000;

/// Parameters whose value is exactly zero count as constants in equations: `C*der(v) = i` with C = 0 holds no derivative.
/// So do factors made of parameters alone: `C*(1 - x)*der(v) = i` with x = 1.
pub fn fold_zero_parameters(sys: &mut System, ops: &mut RowOps, value: &dyn Fn(VarId) -> Option<f64>) {
    let zero = |v: VarId| value(v) == Some(0.0);
    let undefined = undefined(sys, value);
    for k in 0..sys.equations.len() {
        // `x - n*p` with n = floor(x/p) and p = 0 has no value, and this must be seen.
        if sys.equations[k].row.args.iter().any(|a| a.variable().is_some_and(|v| undefined.contains(&v))) {
            continue;
        }
        fold_zero_factors(sys, k, value);
        let row = &sys.equations[k].row;
        let args: Box<[Operand]> = row
            .args
            .iter()
            .map(|&a| match a {
                Operand::Var { var, order: 0, .. } if sys.dae.vars[var].ty == VarType::Real && zero(var) => {
                    Operand::Const(0.0)
                }
                _ => a,
            })
            .collect();
        if args != row.args {
            let row = Row { template: row.template, args };
            let folded = ops.fold(&mut sys.dae, &row, |v| v == 0.0);
            let row = tidy(&mut sys.dae, &folded);
            // An equation that would lose its last variable is left for the messages to show as written.
            if row.args.iter().any(|a| matches!(a, Operand::Var { var, .. } if sys.role(*var) == Role::Continuous)) {
                sys.equations[k].row = row;
            }
        }
    }
}

/// Whether an expression of known operands alone is zero.
fn vanishes(pool: &Pool, e: ExprId, known: &[Option<f64>]) -> bool {
    let mut parameters = true;
    pool.visit(e, |_, n| match n {
        Node::Hole(h) => parameters &= known[*h as usize].is_some(),
        Node::Call { .. } | Node::CallDer { .. } => parameters = false,
        _ => {}
    });
    let at = |h: u32| known[h as usize].unwrap_or(f64::NAN);
    parameters && saltus_expr::eval(pool, e, &at, &mut saltus_expr::NoCalls) == 0.0
}

/// Relations whose functions are divided by parameters that are zero.
fn undefined(sys: &System, value: &dyn Fn(VarId) -> Option<f64>) -> FxHashSet<VarId> {
    let pool = &sys.dae.pool;
    let divides = |row: &Row| {
        let known = known(row, value);
        let mut found = false;
        pool.visit(row.template, |_, n| {
            if let Node::Binary(Binary::Div, _, b) = *n {
                found |= vanishes(pool, b, &known);
            }
        });
        found
    };
    sys.relations.iter().filter(|r| divides(&r.g)).map(|r| r.var).collect()
}

/// Products and quotients of equation `k` with a factor of parameters alone that is zero become zero.
fn fold_zero_factors(sys: &mut System, k: usize, value: &dyn Fn(VarId) -> Option<f64>) {
    let row = sys.equations[k].row.clone();
    let known = known(&row, value);
    if known.iter().all(Option::is_none) || known.iter().all(Option::is_some) {
        return;
    }
    let mut found = false;
    let template = sys.dae.pool.rewrite(row.template, &mut |pool, e| {
        let vanishes = |f: ExprId| !matches!(pool.node(f), Node::Hole(_) | Node::Const(_)) && vanishes(pool, f, &known);
        let zero = match *pool.node(e) {
            Node::Binary(Binary::Mul, a, b) => vanishes(a) || vanishes(b),
            Node::Binary(Binary::Div, a, _) => vanishes(a),
            _ => false,
        };
        found |= zero;
        zero.then(|| pool.num(0.0))
    });
    if found {
        let row = tidy(&mut sys.dae, &Row { template, args: row.args });
        if row.args.iter().any(|a| matches!(a, Operand::Var { var, .. } if sys.role(*var) == Role::Continuous)) {
            sys.equations[k].row = row;
        }
    }
}

/// Functions whose result stands before a derivative and is zero whatever the variables are (a junction capacitance of a
/// transistor without one) are replaced by zero. Says whether there were any.
pub fn fold_vanishing_calls(sys: &mut System, value: &dyn Fn(VarId) -> Option<f64>) -> bool {
    let mass = coefficients_of_derivatives(sys);
    let mut results: FxHashMap<(FuncId, Box<[ExprId]>), Option<Vec<ExprId>>> = FxHashMap::default();
    let mut found = false;
    for k in 0..sys.equations.len() {
        let row = sys.equations[k].row.clone();
        let Node::Binary(Binary::Sub, a, b) = *sys.dae.pool.node(row.template) else { continue };
        let (&Node::Hole(h), Node::Call { func, args, out }) = (sys.dae.pool.node(a), sys.dae.pool.node(b).clone())
        else {
            continue;
        };
        let target = row.args[h as usize];
        if !matches!(target, Operand::Var { var, order: 0, .. } if mass.contains(&var)) {
            continue;
        }
        let known = known(&row, value);
        let pool = &mut sys.dae.pool;
        // Holes of different rows are different things; in the results they only say "unknown".
        let args: Box<[ExprId]> = args
            .iter()
            .map(|&e| {
                pool.substitute(e, |pool, k| match known[k as usize] {
                    Some(v) => pool.num(v),
                    None => pool.hole(k),
                })
            })
            .collect();
        let HybridDae { functions, pool, .. } = &mut sys.dae;
        let list = results
            .entry((func, args.clone()))
            .or_insert_with(|| saltus_function::call_symbolic(functions, func, &args, pool, CALL_BUDGET).ok());
        if list.as_ref().and_then(|l| l.get(out as usize)).is_some_and(|&e| pool.is_num(e, 0.0)) {
            let template = pool.hole(0);
            sys.equations[k].row = Row { template, args: Box::new([target]) };
            found = true;
        }
    }
    found
}

/// Variables that multiply a derivative somewhere.
fn coefficients_of_derivatives(sys: &System) -> FxHashSet<VarId> {
    let pool = &sys.dae.pool;
    let mut out = FxHashSet::default();
    for eq in &sys.equations {
        let moves = |e: ExprId| {
            pool.holes(e).iter().any(|&h| matches!(eq.row.args[h as usize], Operand::Var { order: 1.., .. }))
        };
        if !eq.row.args.iter().any(|a| matches!(a, Operand::Var { order: 1.., .. })) {
            continue;
        }
        pool.visit(eq.row.template, |_, n| {
            if let Node::Binary(Binary::Mul, a, b) = *n {
                for (factor, rest) in [(a, b), (b, a)] {
                    if moves(rest) {
                        out.extend(pool.holes(factor).iter().filter_map(|&h| match eq.row.args[h as usize] {
                            Operand::Var { var, order: 0, .. } => Some(var),
                            _ => None,
                        }));
                    }
                }
            }
        });
    }
    out
}

/// What is known of a row's operands.
fn known(row: &Row, value: &dyn Fn(VarId) -> Option<f64>) -> Vec<Option<f64>> {
    row.args
        .iter()
        .map(|&a| match a {
            Operand::Var { var, order: 0, neg } => value(var).map(|v| if neg { -v } else { v }),
            Operand::Const(v) => Some(v),
            _ => None,
        })
        .collect()
}
