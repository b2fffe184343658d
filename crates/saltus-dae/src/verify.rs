//! The verifier. Rules: every hole of a row's template has an operand; every operand names a variable of the model;
//! every guard names a branch that exists; call outputs match their function.

use crate::model::{Guard, HybridDae, Operand, Row};

/// Checks the rules; what it returns are bugs in Saltus, not in the model.
pub fn verify(dae: &HybridDae) -> Result<(), String> {
    let row = |r: &Row, what: &str| -> Result<(), String> {
        if let Some(&k) = dae.pool.holes(r.template).last()
            && k as usize >= r.args.len()
        {
            return Err(format!("bug in Saltus: {what}: hole {k} has no operand"));
        }
        for a in &r.args {
            if let Operand::Var { var, .. } | Operand::Pre { var } = a
                && dae.vars.get(*var).is_none()
            {
                return Err(format!("bug in Saltus: {what}: operand names no variable"));
            }
        }
        Ok(())
    };
    let guard = |g: Option<Guard>| -> Result<(), String> {
        match g {
            Some((id, b)) if dae.ifs.get(id).is_none_or(|g| b as usize > g.conditions.len()) => {
                Err("bug in Saltus: guard names no branch".into())
            }
            _ => Ok(()),
        }
    };
    for (_, v) in dae.vars.iter() {
        for r in [&v.binding, &v.start, &v.min, &v.max, &v.nominal].into_iter().flatten() {
            row(r, &v.name)?;
        }
    }
    for e in dae.equations.as_slice().iter().chain(&dae.initial_equations) {
        row(&e.row, "equation")?;
        guard(e.guard)?;
    }
    for c in dae.calls.iter().chain(&dae.initial_calls) {
        if c.func.0 as usize >= dae.functions.len() {
            return Err("bug in Saltus: call of an unknown function".into());
        }
        for r in &c.args {
            row(r, "call argument")?;
        }
    }
    for g in dae.ifs.as_slice() {
        for c in &g.conditions {
            row(c, "if condition")?;
        }
    }
    Ok(())
}
