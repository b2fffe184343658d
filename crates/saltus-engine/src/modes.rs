//! All modes ahead of time: which are structurally singular.
//!
//! A condition that follows from time and parameters alone will come true by itself: a singular mode it leads into is
//! an error. Other singular modes are warnings; entering one stops the run.

use rustc_hash::FxHashMap;
use saltus_base::{Diagnostic, Severity};
use saltus_dae::{HybridDae, Operand, Row, VarId, Variability};
use saltus_expr::{NoCalls, affine_in};
use saltus_structure::{DiscKind, Generic, ModeKey, Modes, RelationKind, RowOps, System, plan_mode};

/// Modes looked at before giving up.
const LIMIT: usize = 512;

/// Plans every mode (up to a bound).
pub fn check_modes(sys: &mut System, ops: &mut RowOps, modes: &Modes, span: (f64, f64)) -> Vec<Diagnostic> {
    let n = modes.keyed.len();
    if n == 0 {
        return Vec::new();
    }
    let mut out = Vec::new();
    let certain = modes_by_time(sys, modes, span);
    for key in &certain {
        if let Err(d) = plan_mode(sys, ops, modes, key, &Generic) {
            return vec![d];
        }
    }
    let total = if n < 24 { 1usize << n } else { usize::MAX };
    let mut singular = 0;
    for k in 0..total.min(LIMIT) {
        let key: ModeKey = (0..n).map(|i| k >> i & 1 == 1).collect();
        if certain.contains(&key) || excluded(sys, modes, &key) {
            continue;
        }
        if let Err(mut d) = plan_mode(sys, ops, modes, &key, &Generic) {
            singular += 1;
            d.severity = Severity::Warning;
            if singular <= 3 {
                out.push(d);
            }
        }
    }
    if total > LIMIT && singular > 0 {
        out.push(Diagnostic::warning(
            saltus_base::Stage::Structure,
            saltus_base::Span::NONE,
            format!("not finished: {LIMIT} modes checked, {singular} of them singular"),
        ));
    }
    out
}

/// Conditions that exclude each other: two equalities of one variable with different constants.
fn excluded(sys: &System, modes: &Modes, key: &ModeKey) -> bool {
    let mut seen: FxHashMap<(VarId, bool), f64> = FxHashMap::default();
    for (&v, &b) in modes.keyed.iter().zip(key) {
        if !b {
            continue;
        }
        let Some(d) = sys.discrete.iter().find(|d| d.var == v) else { continue };
        let DiscKind::Value(row) = &d.kind else { continue };
        let saltus_expr::Node::Binary(saltus_expr::Binary::Eq, a, c) = *sys.dae.pool.node(row.template) else {
            continue;
        };
        let side = |e| match sys.dae.pool.node(e) {
            saltus_expr::Node::Hole(k) => Some(row.args[*k as usize]),
            saltus_expr::Node::Const(bits) => Some(Operand::Const(f64::from_bits(*bits))),
            _ => None,
        };
        if let (Some(x), Some(Operand::Const(c))) | (Some(Operand::Const(c)), Some(x)) = (side(a), side(c)) {
            let key = match x {
                Operand::Var { var, .. } => (var, false),
                Operand::Pre { var } => (var, true),
                Operand::Const(_) => continue,
            };
            if *seen.entry(key).or_insert(c) != c {
                return true;
            }
        }
    }
    false
}

/// Keys that occur because of time and parameters alone, if all keyed conditions depend on nothing else.
fn modes_by_time(sys: &mut System, modes: &Modes, span: (f64, f64)) -> Vec<ModeKey> {
    let parameters = parameter_values(sys);
    // Instants at which time relations switch.
    let mut instants = vec![span.0];
    for i in 0..sys.relations.len() {
        let g = sys.relations[i].g.clone();
        if g.args.iter().any(|a| {
            !matches!(a, Operand::Var { var, .. } if *var == HybridDae::TIME || parameters.contains_key(var))
                && !matches!(a, Operand::Const(_))
        }) {
            continue;
        }
        let Some(k) = g.args.iter().position(|a| matches!(a, Operand::Var { var, .. } if *var == HybridDae::TIME))
        else {
            continue;
        };
        if sys.relations[i].kind == RelationKind::Floor {
            continue;
        }
        if let Some(a) = affine_in(&mut sys.dae.pool, g.template, k as u32) {
            let value = |e| {
                saltus_expr::eval(&sys.dae.pool, e, &|h| operand(&parameters, g.args[h as usize], 0.0), &mut NoCalls)
            };
            let at = -value(a.rest) / value(a.slope);
            if at.is_finite() && at > span.0 && at <= span.1 {
                instants.push(at);
            }
        }
    }
    instants.sort_by(f64::total_cmp);
    let mut keys: Vec<ModeKey> = Vec::new();
    for w in 0..instants.len() {
        let end = instants.get(w + 1).copied().unwrap_or(if span.1.is_finite() {
            span.1.max(instants[w])
        } else {
            instants[w] + 1.0
        });
        let t = 0.5 * (instants[w] + end);
        let mut key = ModeKey::new();
        for &v in &modes.keyed {
            match truth(sys, &parameters, v, t, 0) {
                Some(b) => key.push(b != 0.0),
                None => break,
            }
        }
        if key.len() == modes.keyed.len() && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn operand(parameters: &FxHashMap<VarId, f64>, op: Operand, t: f64) -> f64 {
    match op {
        Operand::Const(v) => v,
        Operand::Var { var, neg, .. } => {
            let v = if var == HybridDae::TIME { t } else { parameters.get(&var).copied().unwrap_or(f64::NAN) };
            if neg { -v } else { v }
        }
        Operand::Pre { .. } => f64::NAN,
    }
}

/// The value of a discrete variable at time t, if time and parameters decide it.
fn truth(sys: &System, parameters: &FxHashMap<VarId, f64>, v: VarId, t: f64, depth: usize) -> Option<f64> {
    if depth > 50 {
        return None;
    }
    if let Some(&p) = parameters.get(&v) {
        return Some(p);
    }
    let d = sys.discrete.iter().find(|d| d.var == v)?;
    let value = |row: &Row| -> Option<f64> {
        let mut values = Vec::new();
        for &a in &row.args {
            values.push(match a {
                Operand::Const(c) => c,
                Operand::Var { var, order: 0, neg } => {
                    let x = if var == HybridDae::TIME { t } else { truth(sys, parameters, var, t, depth + 1)? };
                    if neg { -x } else { x }
                }
                _ => return None,
            });
        }
        Some(saltus_expr::eval(&sys.dae.pool, row.template, &|k| values[k as usize], &mut NoCalls))
            .filter(|v| v.is_finite())
    };
    match &d.kind {
        DiscKind::Value(row) => value(row),
        DiscKind::Relation(i) => {
            let r = &sys.relations[*i];
            value(&r.g).map(|g| saltus_sim::machine::plain(&r.kind, g))
        }
        DiscKind::When(..) => None,
    }
}

/// Values of parameters whose bindings are plain arithmetic.
pub fn parameter_values(sys: &System) -> FxHashMap<VarId, f64> {
    let mut out: FxHashMap<VarId, f64> = FxHashMap::default();
    for _ in 0..20 {
        let before = out.len();
        for (id, v) in sys.dae.vars.iter() {
            if v.variability > Variability::Parameter || out.contains_key(&id) {
                continue;
            }
            let Some(row) = v.binding.as_ref().or(v.start.as_ref()) else { continue };
            let x = saltus_expr::eval(
                &sys.dae.pool,
                row.template,
                &|k| operand(&out, row.args[k as usize], f64::NAN),
                &mut NoCalls,
            );
            if x.is_finite() {
                out.insert(id, x);
            }
        }
        if out.len() == before {
            break;
        }
    }
    out
}
