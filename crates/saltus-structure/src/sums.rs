//! Sums inside of sums: equations with constant coefficients that the Σ-method takes for independent although they are not.
//!
//! before: `i1 + i2 + i3 = 0; 3*i0 = i1 + i2 + i3`
//! after:  `i1 + i2 + i3 = 0; 3*i0 = 0`
//!
//! The incidence of the first pair lets i0 be a state; the second shows that it is none. Such pairs come from star points
//! without a neutral wire, and from mass balances written down twice.
//!
//! A part of a circuit that hangs on inductors alone says the same by all of its nodes together ([`find_cut_sets`]):
//!
//! before: `i1 = a + b; i2 = c - a; i3 = -b - c` (i1, i2, i3 differentiated)
//! after:  `i1 = a + b; i2 = c - a; i1 + i2 + i3 = 0`

use crate::lower::operand_key;
use crate::rows::tidy;
use crate::system::{Role, SysEq, System};
use rustc_hash::FxHashMap;

use saltus_dae::{Operand, Row, VarId};
use saltus_expr::{Binary, ExprId, Node, Pool, Unary};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Variables in more sums than this are not looked at: they are potentials of large nodes.
const COMMON: usize = 16;

/// A variable or one of its derivatives.
type Key = (VarId, u8);

/// `Σ coefficient·key + constant = 0`, keys ascending.
#[derive(Clone)]
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
    gather(&mut terms);
    (terms.len() > 1 && constant.is_finite()).then_some(Sum { equation, terms, constant })
}

/// One term per key, ascending.
fn gather(terms: &mut Vec<(Key, f64)>) {
    terms.sort_by_key(|t| t.0);
    terms.dedup_by(|b, a| {
        a.0 == b.0 && {
            a.1 += b.1;
            true
        }
    });
    terms.retain(|t| t.1 != 0.0);
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

/// Sums of more terms are not combined.
const LONGEST: usize = 200;

/// Eliminations in one search.
const MOST_ELIMINATIONS: usize = 20_000;

/// What stands in a sum besides variables and cannot but cancel, such as `i*turns`: by template and operands.
type Products = FxHashMap<(ExprId, Vec<(u32, i32, u64)>), u32>;

/// The order that marks a product: its number stands for the variable.
const PRODUCT: u8 = u8::MAX;

/// The terms of an equation, products among them.
fn terms(sys: &mut System, e: ExprId, factor: f64, args: &[Operand], products: &mut Products, out: &mut Sum) {
    match *sys.dae.pool.node(e) {
        Node::Const(bits) => out.constant += factor * f64::from_bits(bits),
        Node::Hole(k) => match args[k as usize] {
            Operand::Var { var, order: 0, neg } if sys.role(var) != Role::Discrete => {
                out.terms.push(((var, 0), if neg { -factor } else { factor }));
            }
            Operand::Const(v) => out.constant += factor * v,
            _ => product(sys, e, factor, args, products, out),
        },
        Node::Unary(Unary::Neg, a) => terms(sys, a, -factor, args, products, out),
        Node::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
            terms(sys, a, factor, args, products, out);
            terms(sys, b, if op == Binary::Add { factor } else { -factor }, args, products, out);
        }
        Node::Binary(Binary::Mul, a, b) => match (sys.dae.pool.as_const(a), sys.dae.pool.as_const(b)) {
            (Some(c), _) => terms(sys, b, factor * c, args, products, out),
            (_, Some(c)) => terms(sys, a, factor * c, args, products, out),
            _ => product(sys, e, factor, args, products, out),
        },
        _ => product(sys, e, factor, args, products, out),
    }
}

fn product(sys: &mut System, e: ExprId, factor: f64, args: &[Operand], products: &mut Products, out: &mut Sum) {
    let holes = sys.dae.pool.holes(e);
    // Numbered from zero it is tidy already.
    let row = match holes.iter().enumerate().all(|(k, &h)| k == h as usize) {
        true => Row { template: e, args: args[..holes.len()].into() },
        false => tidy(&mut sys.dae, &Row { template: e, args: args.into() }),
    };
    let next = products.len() as u32;
    let key = (row.template, row.args.iter().map(operand_key).collect());
    let id = *products.entry(key).or_insert(next);
    out.terms.push(((VarId::new(id as usize), PRODUCT), factor));
}

/// What cancels in combinations: products, and unknowns that are not differentiated.
fn free(sys: &System, differentiated: &[bool], k: &Key) -> bool {
    k.1 == PRODUCT || (sys.role(k.0) == Role::Continuous && !differentiated[k.0.index()])
}

fn whole(t: &(Key, f64)) -> bool {
    t.1.fract() == 0.0 && t.1.abs() < 1e6
}

/// A row as a sum that may take part in a combination.
fn member(
    sys: &mut System,
    differentiated: &[bool],
    products: &mut Products,
    equation: usize,
    row: &Row,
) -> Option<Sum> {
    if row.args.iter().any(|a| matches!(a, Operand::Var { order, .. } if *order > 0)) {
        return None;
    }
    let mut s = Sum { equation, terms: Vec::new(), constant: 0.0 };
    terms(sys, row.template, 1.0, &row.args, products, &mut s);
    gather(&mut s.terms);
    let plain = s.terms.iter().any(|t| t.0.1 != PRODUCT);
    let fits = plain && s.terms.iter().all(whole) && s.terms.iter().any(|t| free(sys, differentiated, &t.0));
    fits.then_some(s)
}

/// Combinations of sums in which everything cancels but what is differentiated; each takes the place of one of its sums.
/// Whether there were any.
pub fn find_cut_sets(sys: &mut System, differentiated: &[bool]) -> bool {
    let mut products = Products::default();
    let mut sums: Vec<Sum> = Vec::new();
    for equation in 0..sys.equations.len() {
        let eq = &sys.equations[equation];
        if eq.guard.is_none() && !eq.origin.is_dummy() && eq.row.args.len() > 1 {
            let row = eq.row.clone();
            sums.extend(member(sys, differentiated, &mut products, equation, &row));
        }
    }
    let found = combinations(sums, |k| free(sys, differentiated, k), 2);
    for s in &found {
        let row = written(sys, s);
        let old = &sys.equations[s.equation];
        sys.equations[s.equation] = SysEq { row, guard: None, origin: old.origin.clone(), merged: old.merged.clone() };
    }
    !found.is_empty()
}

/// Combinations of sums in which everything cancels that is free, with so many terms at least.
fn combinations(mut sums: Vec<Sum>, free: impl Fn(&Key) -> bool, least: usize) -> Vec<Sum> {
    let mut found: Vec<Sum> = Vec::new();
    // A variable of one sum alone cancels in no combination: that sum takes part in none.
    let mut of: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
    for (k, s) in sums.iter().enumerate() {
        s.terms.iter().filter(|t| free(&t.0)).for_each(|t| of.entry(t.0).or_default().push(k as u32));
    }
    let mut single: Vec<Key> = of.iter().filter(|o| o.1.len() == 1).map(|o| *o.0).collect();
    // Variables by the number of their sums, as it was when they were noted.
    let mut order: BinaryHeap<Reverse<(usize, Key)>> = of.iter().map(|(k, l)| Reverse((l.len(), *k))).collect();
    let close = |k: usize, sums: &[Sum], of: &mut FxHashMap<Key, Vec<u32>>, single: &mut Vec<Key>| {
        for (key, _) in &sums[k].terms {
            if let Some(list) = of.get_mut(key) {
                list.retain(|&j| j as usize != k);
                if list.len() == 1 {
                    single.push(*key);
                }
            }
        }
    };
    let mut left = MOST_ELIMINATIONS;
    while left > 0 {
        while let Some(key) = single.pop() {
            let Some(&[k]) = of.get(&key).map(|l| &l[..]) else { continue };
            close(k as usize, &sums, &mut of, &mut single);
        }
        let Some(Reverse((count, key))) = order.pop() else { break };
        let list = of.get(&key).cloned().unwrap_or_default();
        if list.len() != count {
            order.extend((list.len() > 1).then_some(Reverse((list.len(), key))));
            continue;
        }
        if count < 2 {
            continue;
        }
        let Some(&pivot) = list.iter().min_by_key(|&&k| (sums[k as usize].terms.len(), k)) else { break };
        let pivot = pivot as usize;
        left -= 1;
        close(pivot, &sums, &mut of, &mut single);
        for j in list.into_iter().map(|j| j as usize).filter(|&j| j != pivot) {
            close(j, &sums, &mut of, &mut single);
            let combined = combined(&sums[j], &sums[pivot], key)
                .filter(|s| s.terms.len() <= LONGEST && s.terms.iter().all(whole) && s.constant.is_finite());
            let Some(s) = combined else { continue };
            sums[j] = s;
            let mut any = false;
            for (key, _) in sums[j].terms.iter().filter(|t| free(&t.0)) {
                any = true;
                let list = of.entry(*key).or_default();
                list.push(j as u32);
                order.push(Reverse((list.len(), *key)));
                if list.len() == 1 {
                    single.push(*key);
                }
            }
            if !any && sums[j].terms.len() >= least {
                found.push(sums[j].clone());
            }
        }
    }
    found
}

/// The sums among the equations of a mode, to find what a few of them say together with the others:
///
/// before: `u = v1 - v2; v1 = v2` (u differentiated, the second by a switch that is closed)
/// after:  `u = 0; v1 = v2`
pub struct ModeSums {
    differentiated: Vec<bool>,
    products: Products,
    sums: Vec<Sum>,
    of: FxHashMap<Key, Vec<u32>>,
}

/// Sums around those of a mode that are looked at.
const NEIGHBOURHOOD: usize = 300;

impl ModeSums {
    /// The sums among these rows, but for some.
    pub fn new(sys: &mut System, rows: &[(usize, Row)], without: impl Fn(usize) -> bool) -> ModeSums {
        let mut differentiated = vec![false; sys.dae.vars.len()];
        for a in rows.iter().flat_map(|r| r.1.args.iter()) {
            if let Operand::Var { var, order, .. } = *a {
                differentiated[var.index()] |= order > 0;
            }
        }
        let mut out =
            ModeSums { differentiated, products: Products::default(), sums: Vec::new(), of: FxHashMap::default() };
        if !out.differentiated.contains(&true) {
            return out;
        }
        for (k, (equation, row)) in rows.iter().enumerate() {
            if without(k) || sys.equations[*equation].origin.is_dummy() {
                continue;
            }
            if let Some(s) = member(sys, &out.differentiated, &mut out.products, k, row) {
                for t in s.terms.iter().filter(|t| free(sys, &out.differentiated, &t.0)) {
                    out.of.entry(t.0).or_default().push(out.sums.len() as u32);
                }
                out.sums.push(s);
            }
        }
        out
    }

    /// What these rows and the others say about differentiated variables alone: places of rows, with what takes their place.
    pub fn hidden<'a>(&mut self, sys: &mut System, rows: impl Iterator<Item = (usize, &'a Row)>) -> Vec<(usize, Row)> {
        let mut seeds: Vec<Sum> = Vec::new();
        if !self.sums.is_empty() {
            for (k, row) in rows {
                seeds.extend(member(sys, &self.differentiated, &mut self.products, k, row));
            }
        }
        let mut taken = vec![false; self.sums.len()];
        let mut near: Vec<Sum> = seeds;
        let mut at = 0;
        while at < near.len() && near.len() < NEIGHBOURHOOD {
            let keys: Vec<Key> = near[at].terms.iter().map(|t| t.0).collect();
            for k in keys.iter().filter_map(|k| self.of.get(k)).filter(|l| l.len() <= COMMON).flatten() {
                if !std::mem::replace(&mut taken[*k as usize], true) {
                    near.push(self.sums[*k as usize].clone());
                }
            }
            at += 1;
        }
        if near.len() < 2 {
            return Vec::new();
        }
        let found = combinations(near, |k| free(sys, &self.differentiated, k), 1);
        found.iter().map(|s| (s.equation, written(sys, s))).collect()
    }
}

/// `outer` without `key`, by a multiple of `inner`.
fn combined(outer: &Sum, inner: &Sum, key: Key) -> Option<Sum> {
    let coefficient = |s: &Sum| s.terms.iter().find(|t| t.0 == key).map(|t| t.1);
    let f = coefficient(outer)? / coefficient(inner)?;
    let mut terms: Vec<(Key, f64)> = outer.terms.clone();
    terms.extend(inner.terms.iter().map(|t| (t.0, -f * t.1)));
    gather(&mut terms);
    Some(Sum { equation: outer.equation, terms, constant: outer.constant - f * inner.constant })
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
