//! Sums inside of sums: equations with constant coefficients that the Σ-method takes for independent although they are not.
//!
//! before: `i1 + i2 + i3 = 0; 3*i0 = i1 + i2 + i3`
//! after:  `i1 + i2 + i3 = 0; 3*i0 = 0`
//!
//! The incidence of the first pair lets i0 be a state; the second shows that it is none. Such pairs come from star points
//! without a neutral wire, and from mass balances written down twice.

use crate::system::{Role, SysEq, System};
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row, VarId};
use saltus_expr::{Binary, ExprId, Node, Pool, Unary};

/// Variables in more sums than this are not looked at: they are potentials of large nodes.
const COMMON: usize = 16;

/// A variable or one of its derivatives.
type Key = (VarId, u8);

/// `Σ coefficient·key + constant = 0`, keys ascending.
struct Sum {
    equation: usize,
    terms: Vec<(Key, f64)>,
    constant: f64,
}

/// A template as `Σ coefficient·hole + constant`.
type Form = (Vec<(u32, f64)>, f64);

fn form(pool: &Pool, e: ExprId, factor: f64, out: &mut Form) -> bool {
    match *pool.node(e) {
        Node::Const(bits) => out.1 += factor * f64::from_bits(bits),
        Node::Hole(k) => out.0.push((k, factor)),
        Node::Unary(Unary::Neg, a) => return form(pool, a, -factor, out),
        Node::Binary(Binary::Add, a, b) => return form(pool, a, factor, out) && form(pool, b, factor, out),
        Node::Binary(Binary::Sub, a, b) => return form(pool, a, factor, out) && form(pool, b, -factor, out),
        Node::Binary(Binary::Mul, a, b) => match (pool.as_const(a), pool.as_const(b)) {
            (Some(c), _) => return form(pool, b, factor * c, out),
            (_, Some(c)) => return form(pool, a, factor * c, out),
            _ => return false,
        },
        _ => return false,
    }
    true
}

fn sum(sys: &System, equation: usize, forms: &mut FxHashMap<ExprId, Option<Form>>) -> Option<Sum> {
    let row = &sys.equations[equation].row;
    let pool = &sys.dae.pool;
    let form = forms.entry(row.template).or_insert_with(|| {
        let mut f = (Vec::new(), 0.0);
        form(pool, row.template, 1.0, &mut f).then_some(f)
    });
    let (holes, constant) = form.as_ref()?;
    let (mut terms, mut constant): (Vec<(Key, f64)>, f64) = (Vec::with_capacity(holes.len()), *constant);
    for &(k, c) in holes {
        match row.args[k as usize] {
            Operand::Var { var, order, neg } if sys.role(var) != Role::Discrete => {
                terms.push(((var, order), if neg { -c } else { c }));
            }
            Operand::Const(v) => constant += c * v,
            _ => return None,
        }
    }
    terms.sort_by_key(|t| t.0);
    terms.dedup_by(|b, a| {
        a.0 == b.0 && {
            a.1 += b.1;
            true
        }
    });
    terms.retain(|t| t.1 != 0.0);
    (terms.len() > 1 && constant.is_finite()).then_some(Sum { equation, terms, constant })
}

/// The factor k for which `outer` has k·`inner` among its terms, and others besides.
fn factor(outer: &Sum, inner: &Sum) -> Option<f64> {
    if outer.terms.len() <= inner.terms.len() {
        return None;
    }
    let mut rest = outer.terms.iter();
    let mut factor = None;
    for (key, c) in &inner.terms {
        let (_, d) = rest.find(|t| t.0 == *key)?;
        let k = d / c;
        if *factor.get_or_insert(k) != k || k * c != *d {
            return None;
        }
    }
    factor
}

/// Takes sums out of the sums that hold them. Whether there were any.
pub fn subtract_sums(sys: &mut System) -> bool {
    let mut forms = FxHashMap::default();
    let mut sums: Vec<Sum> = Vec::new();
    for k in 0..sys.equations.len() {
        if sys.equations[k].guard.is_none()
            && sys.equations[k].row.args.len() > 1
            && let Some(s) = sum(sys, k, &mut forms)
        {
            sums.push(s);
        }
    }
    let mut of: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
    for (k, s) in sums.iter().enumerate() {
        s.terms.iter().for_each(|t| of.entry(t.0).or_default().push(k as u32));
    }
    let mut changed = false;
    for k in 0..sums.len() {
        let Some(near) = sums[k].terms.iter().map(|t| &of[&t.0]).min_by_key(|l| l.len()) else { continue };
        if near.len() < 2 || near.len() > COMMON {
            continue;
        }
        for &j in near {
            let j = j as usize;
            if j == k {
                continue;
            }
            let Some(f) = factor(&sums[j], &sums[k]) else { continue };
            let (inner, constant) = (sums[k].terms.clone(), sums[k].constant);
            let outer = &mut sums[j];
            outer.terms.retain(|t| inner.binary_search_by_key(&t.0, |i| i.0).is_err());
            outer.constant -= f * constant;
            let row = written(sys, outer);
            let old = &sys.equations[outer.equation];
            sys.equations[outer.equation] =
                SysEq { row, guard: None, origin: old.origin.clone(), merged: old.merged.clone() };
            changed = true;
        }
    }
    changed
}

/// The sum as a row.
fn written(sys: &mut System, s: &Sum) -> Row {
    let pool = &mut sys.dae.pool;
    let mut e = pool.num(s.constant);
    for (k, (_, c)) in s.terms.iter().enumerate() {
        let (hole, c) = (pool.hole(k as u32), pool.num(*c));
        let term = pool.mul(c, hole);
        e = pool.add(e, term);
    }
    let args = s.terms.iter().map(|&((var, order), _)| Operand::Var { var, order, neg: false }).collect();
    Row { template: e, args }
}
