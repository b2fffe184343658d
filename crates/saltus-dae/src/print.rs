//! Text form of a flat model: readable, Modelica-like, stable.

use crate::model::{Action, Equation, Guard, HybridDae, Operand, Row, VarType, Variability};
use std::fmt::Write as _;

fn operand_text(dae: &HybridDae, op: Operand) -> String {
    match op {
        Operand::Var { var, order, neg } => {
            let name = &dae.vars[var].name;
            let mut s = name.clone();
            for _ in 0..order {
                s = format!("der({s})");
            }
            if neg { format!("(-{s})") } else { s }
        }
        Operand::Pre { var } => format!("pre({})", dae.vars[var].name),
        Operand::Const(v) => {
            if v < 0.0 {
                format!("({v})")
            } else {
                format!("{v}")
            }
        }
    }
}

/// A row as an expression.
pub fn row_text(dae: &HybridDae, row: &Row) -> String {
    row_text_as(dae, row, false)
}

/// A row as a Boolean expression.
pub fn condition_text(dae: &HybridDae, row: &Row) -> String {
    row_text_as(dae, row, true)
}

fn row_text_as(dae: &HybridDae, row: &Row, boolean: bool) -> String {
    let names = saltus_expr::Names {
        hole: &|k, boolean| match row.args.get(k as usize) {
            Some(&Operand::Const(v)) if boolean => (v != 0.0).to_string(),
            Some(&a) => operand_text(dae, a),
            None => format!("?{k}"),
        },
        is_boolean: &|k| {
            let var = row.args.get(k as usize).and_then(|a| a.variable());
            var.is_some_and(|v| dae.vars[v].ty == VarType::Boolean)
        },
        func: &|f| dae.functions.get(f.0 as usize).map_or_else(|| format!("f{}", f.0), |f| f.name.clone()),
    };
    saltus_expr::display_as(&dae.pool, row.template, boolean, &names)
}

/// A value of a type as text: a constant as a literal of that type.
fn value_text(dae: &HybridDae, ty: &VarType, row: &Row) -> String {
    match (ty, dae.row_constant(row)) {
        (VarType::Boolean, Some(v)) => (v != 0.0).to_string(),
        (VarType::Enumeration(e), Some(v)) => {
            let e = &dae.enumerations[*e as usize];
            match e.literals.get((v as usize).wrapping_sub(1)) {
                Some(l) => format!("{}.{l}", e.name),
                None => v.to_string(),
            }
        }
        (VarType::String, Some(v)) => format!("{:?}", &*saltus_function::strings::text(v)),
        (VarType::Boolean, None) => condition_text(dae, row),
        _ => row_text(dae, row),
    }
}

/// An equation as text: residuals of the form a - b are shown as `a = b`.
pub fn equation_text(dae: &HybridDae, row: &Row) -> String {
    use saltus_expr::{Binary, Node};
    if let Node::Binary(Binary::Sub, a, b) = dae.pool.node(row.template) {
        let side = |e| Row { template: e, args: row.args.clone() };
        // A lone variable tells the type of the other side.
        let ty = |e| match dae.pool.node(e) {
            Node::Hole(k) => match row.args.get(*k as usize) {
                Some(Operand::Var { var, .. } | Operand::Pre { var }) => dae.vars[*var].ty.clone(),
                _ => VarType::Real,
            },
            _ => VarType::Real,
        };
        return format!("{} = {}", value_text(dae, &ty(*b), &side(*a)), value_text(dae, &ty(*a), &side(*b)));
    }
    format!("{} = 0", row_text(dae, row))
}

fn equation_line(dae: &HybridDae, eq: &Equation) -> String {
    let mut s = equation_text(dae, &eq.row);
    if let Some(g) = eq.guard {
        let _ = write!(s, "  when {}", guard_text(dae, g));
    }
    s
}

/// A guard as a Boolean expression.
pub fn guard_text(dae: &HybridDae, (group, branch): Guard) -> String {
    let g = &dae.ifs[group];
    let mut parts: Vec<String> = g.parent.iter().map(|&p| guard_text(dae, p)).collect();
    for (i, c) in g.conditions.iter().enumerate().take(branch as usize + 1) {
        let text = condition_text(dae, c);
        parts.push(if i == branch as usize { text } else { format!("not ({text})") });
    }
    parts.join(" and ")
}

/// The whole model as text.
pub fn print(dae: &HybridDae) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "model {}", dae.name);
    for (id, v) in dae.vars.iter() {
        if HybridDae::is_builtin(id) {
            continue;
        }
        let prefix = match v.variability {
            Variability::Constant => "constant ",
            Variability::Parameter => "parameter ",
            Variability::Discrete => "discrete ",
            Variability::Continuous => "",
        };
        let ty = match &v.ty {
            VarType::Real => "Real".to_string(),
            VarType::Integer => "Integer".to_string(),
            VarType::Boolean => "Boolean".to_string(),
            VarType::String => "String".to_string(),
            VarType::Object => "ExternalObject".to_string(),
            VarType::Enumeration(e) => dae.enumerations[*e as usize].name.clone(),
        };
        let mut attrs = Vec::new();
        for (name, row) in [("start", &v.start), ("min", &v.min), ("max", &v.max), ("nominal", &v.nominal)] {
            if let Some(r) = row {
                attrs.push(format!("{name} = {}", value_text(dae, &v.ty, r)));
            }
        }
        for (name, text) in [("unit", v.unit), ("displayUnit", v.display_unit)] {
            if !text.is_empty() {
                attrs.push(format!("{name} = {text:?}"));
            }
        }
        if let Some(f) = v.fixed {
            attrs.push(format!("fixed = {f}"));
        }
        let _ = write!(out, "  {prefix}{ty} {}", v.name);
        if !attrs.is_empty() {
            let _ = write!(out, "({})", attrs.join(", "));
        }
        if let Some(b) = &v.binding {
            let _ = write!(out, " = {}", value_text(dae, &v.ty, b));
        }
        out.push_str(";\n");
    }
    if !dae.initial_equations.is_empty() {
        out.push_str("initial equation\n");
        for eq in &dae.initial_equations {
            let _ = writeln!(out, "  {};", equation_line(dae, eq));
        }
    }
    out.push_str("equation\n");
    for (_, eq) in dae.equations.iter() {
        let _ = writeln!(out, "  {};", equation_line(dae, eq));
    }
    for c in dae.calls.iter().chain(&dae.initial_calls) {
        let args: Vec<String> = c.args.iter().map(|r| row_text(dae, r)).collect();
        let outs: Vec<&str> = c.outputs.iter().map(|&v| dae.vars[v].name.as_str()).collect();
        let _ =
            writeln!(out, "  ({}) = {}({});", outs.join(", "), dae.functions[c.func.0 as usize].name, args.join(", "));
    }
    for s in &dae.samplers {
        let _ = writeln!(
            out,
            "  {} = sample({}{}, {});",
            dae.vars[s.var].name,
            if s.from_start { "startTime + " } else { "" },
            row_text(dae, &s.start),
            row_text(dae, &s.interval)
        );
    }
    let reader = |f: saltus_expr::FuncId| dae.functions.get(f.0 as usize).map_or("?", |f| f.name.as_str());
    for d in &dae.delays {
        let (value, by) = (row_text(dae, &d.value), row_text(dae, &d.delay));
        let _ = writeln!(out, "  {} reads delay({value}, {by});", reader(d.func));
    }
    for d in &dae.distributions {
        let list = |rows: &[Row]| rows.iter().map(|r| row_text(dae, r)).collect::<Vec<_>>().join(", ");
        let (inputs, points, values) = (list(&d.inputs), list(&d.points), list(&d.values));
        let [a, b] = d.ends.map(reader);
        let _ = writeln!(out, "  {a}, {b} read spatialDistribution({inputs}, {{{points}}}, {{{values}}});");
    }
    for w in &dae.whens {
        for (i, b) in w.branches.iter().enumerate() {
            let mut conds: Vec<String> = b.conditions.iter().map(|&v| dae.vars[v].name.clone()).collect();
            if b.initial {
                conds.push("initial()".into());
            }
            let _ = writeln!(out, "  {} {{{}}} then", if i == 0 { "when" } else { "elsewhen" }, conds.join(", "));
            for a in &b.actions {
                let line = match a {
                    Action::Assign { var, value } => {
                        format!("{} = {}", dae.vars[*var].name, value_text(dae, &dae.vars[*var].ty, value))
                    }
                    Action::Reinit { var, value, .. } => {
                        format!("reinit({}, {})", dae.vars[*var].name, row_text(dae, value))
                    }
                    Action::Call { func, args, outputs } => {
                        let args: Vec<String> = args.iter().map(|r| row_text(dae, r)).collect();
                        let outs: Vec<&str> =
                            outputs.iter().map(|v| v.map_or("", |v| dae.vars[v].name.as_str())).collect();
                        format!("({}) = {}({})", outs.join(", "), dae.functions[func.0 as usize].name, args.join(", "))
                    }
                    Action::Assert { condition, .. } => format!("assert({})", condition_text(dae, condition)),
                    Action::Terminate { .. } => "terminate()".to_string(),
                };
                let _ = writeln!(out, "    {line};");
            }
        }
        out.push_str("  end when;\n");
    }
    for a in &dae.assertions {
        let guard = a.guard.map_or(String::new(), |g| format!("  when {}", guard_text(dae, g)));
        let _ = writeln!(out, "  assert({}){guard};", condition_text(dae, &a.condition));
    }
    let _ = writeln!(out, "end {};", dae.name);
    out
}
