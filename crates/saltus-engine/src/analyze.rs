//! The structural report.

use crate::{Analysis, AnalyzeRequest};
use saltus_base::{Diagnostic, Span};
use saltus_dae::{Row, equation_text};
use saltus_program::Backend;
use saltus_structure::{
    Alias, Cell, Choice, Item, Loop, Modes, Reason, RowOps, Sequence, System, cell_name, key_text, plan_mode,
};
use std::fmt::Write as _;

/// Plans the first mode and describes it.
pub fn analyze(
    sys: System,
    ops: RowOps,
    modes: Modes,
    request: &AnalyzeRequest,
    place: &dyn Fn(Span) -> String,
    backend: Box<dyn Backend>,
) -> Result<Analysis, Diagnostic> {
    let mut model = saltus_sim::Model::new(sys, ops, modes, backend)?;
    let start = model.sys.dae.experiment.start.unwrap_or(0.0);
    model.parameters(start)?;
    model.guess_discrete();
    let key = model.key();
    let point = model.snapshot();
    let plan = plan_mode(&mut model.sys, &mut model.ops, &model.modes, &key, &point)?;
    let loops = describe_loops(&mut model.sys, &mut model.ops, &plan.continuous);
    let sys = &model.sys;
    let mut text = String::new();
    let (vars, eqs) = sys.original;
    let _ = writeln!(text, "model {}", sys.dae.name);
    let _ = writeln!(text, "before simplification: {eqs} equations, {vars} continuous variables");
    let _ = writeln!(text, "after: {} equations, {} variables", plan.rows.len(), plan.vars.len());
    let _ = writeln!(
        text,
        "discrete variables: {}, relations: {}, when-equations: {}",
        sys.discrete.len(),
        sys.relations.len(),
        sys.whens.len()
    );
    if !key.is_empty() {
        let _ = writeln!(
            text,
            "structural conditions: {}",
            model.modes.conditions(&key).iter().map(|&v| sys.condition_text(v)).collect::<Vec<_>>().join(", ")
        );
        let _ = writeln!(text, "mode shown: {}", key_text(sys, &model.modes, &key));
    }
    let _ = writeln!(text, "structural index: {}", plan.index);
    let names = |cells: &[Cell]| cells.iter().map(|c| cell_name(sys, *c)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "states ({}): {}", plan.states.len(), names(&plan.states));
    for (reason, cells) in by_reason(&plan.choice) {
        let _ = writeln!(text, "  {}: {reason}", names(&cells));
    }
    let dummies = plan.dummies();
    if !dummies.is_empty() {
        let _ = writeln!(text, "dummy derivatives ({}): {}", dummies.len(), names(&dummies));
    }
    for (i, &c) in plan.c.iter().enumerate() {
        if c > 0 {
            let _ = writeln!(text, "differentiated {c}x: {}", equation_text(&sys.dae, &plan.rows[i].1));
        }
    }
    let _ = writeln!(text, "blocks:");
    blocks(sys, &plan.continuous, &loops, &mut text);
    if let Some(name) = &request.explain {
        explain(sys, &plan.continuous, &plan.states, name, place, &mut text);
    }
    let incidence = request.incidence.then(|| incidence(sys, &plan.continuous));
    let picture = request.picture.then(|| picture(sys, &plan.continuous));
    Ok(Analysis { text, picture, incidence })
}

fn item_text(sys: &System, item: &Item) -> String {
    match item {
        Item::Residual { row, .. } => equation_text(&sys.dae, row),
        Item::Value { cell, row } => format!("{} := {}", cell_name(sys, *cell), saltus_dae::row_text(&sys.dae, row)),
        Item::Relation { cell, .. } => cell_name(sys, *cell),
        Item::When { cell, .. } => format!("when: {}", cell_name(sys, *cell)),
    }
}

/// Constrained states by the reason of their choice.
fn by_reason(choice: &Choice) -> Vec<(String, Vec<Cell>)> {
    let mut out: Vec<(String, Vec<Cell>)> = Vec::new();
    for (&cell, reason) in choice.states.iter().zip(&choice.reasons) {
        let text = match reason {
            Reason::Free => continue,
            Reason::Asked(s) => format!("chosen by stateSelect = {}", format!("{s:?}").to_lowercase()),
            Reason::Fixed => "chosen for its fixed start value".into(),
            Reason::OthersUnwanted => "chosen because stateSelect excludes the others".into(),
            Reason::Conditioning => "chosen because the constraints determine the others best".into(),
        };
        match out.iter_mut().find(|(t, _)| *t == text) {
            Some((_, cells)) => cells.push(cell),
            None => out.push((text, vec![cell])),
        }
    }
    out
}

/// For every block with several unknowns: how it is solved.
fn describe_loops(sys: &mut System, ops: &mut RowOps, seq: &Sequence) -> Vec<Option<String>> {
    let mut out = Vec::new();
    for b in &seq.blocks {
        let rows: Option<Vec<Row>> = b
            .items
            .iter()
            .map(|&i| match &seq.items[i] {
                Item::Residual { row, .. } => Some(row.clone()),
                _ => None,
            })
            .collect();
        let text = rows.filter(|r| r.len() > 1).map(|rows| {
            let l = Loop::new(sys, ops, &rows, &b.unknowns);
            let tears: Vec<String> = l.tears.iter().map(|&j| cell_name(sys, b.unknowns[j])).collect();
            let how = if l.explicit(sys, ops, &rows, &b.unknowns).is_some() {
                "linear, solved symbolically"
            } else if l.linear {
                "linear"
            } else {
                "nonlinear"
            };
            format!("{how}; torn: {}", tears.join(", "))
        });
        out.push(text);
    }
    out
}

fn blocks(sys: &System, seq: &Sequence, loops: &[Option<String>], out: &mut String) {
    for (k, b) in seq.blocks.iter().enumerate() {
        if let ([i], [u]) = (&b.items[..], &b.unknowns[..]) {
            let _ = writeln!(out, "  {}: {} from {}", k + 1, cell_name(sys, *u), item_text(sys, &seq.items[*i]));
        } else {
            let _ = writeln!(
                out,
                "  {}: {} simultaneous equations for {}",
                k + 1,
                b.items.len(),
                b.unknowns.iter().map(|u| cell_name(sys, *u)).collect::<Vec<_>>().join(", ")
            );
            if let Some(text) = &loops[k] {
                let _ = writeln!(out, "     {text}");
            }
            for &i in &b.items {
                let _ = writeln!(out, "       {}", item_text(sys, &seq.items[i]));
            }
        }
    }
}

/// How one variable is computed, back to the source equations.
fn explain(
    sys: &System,
    seq: &Sequence,
    states: &[Cell],
    name: &str,
    place: &dyn Fn(Span) -> String,
    out: &mut String,
) {
    // The equation as written, if it was differentiated, and where it stands.
    let source = |item: &Item| -> String {
        let Item::Residual { eq, level, .. } = item else { return String::new() };
        let Some(e) = sys.equations.get(*eq) else { return String::new() };
        let written = match level {
            0 => String::new(),
            1 => format!(", the derivative of {}", equation_text(&sys.dae, &e.row)),
            k => format!(", derivative {k} of {}", equation_text(&sys.dae, &e.row)),
        };
        let at = e.origin.span.map(place).filter(|p| !p.is_empty()).map_or(String::new(), |p| format!(" ({p})"));
        format!("{written}{at}")
    };
    let Some((id, _)) = sys.dae.vars.iter().find(|(_, v)| v.name == name) else {
        let _ = writeln!(out, "no variable {name}");
        return;
    };
    let _ = writeln!(out, "how {name} is computed:");
    let id = match sys.alias[id] {
        Some(Alias::Const(c)) => {
            let _ = writeln!(out, "  {name} = {c}, a constant");
            return;
        }
        Some(Alias::Var(to, neg)) => {
            let _ = writeln!(out, "  {name} = {}{}", if neg { "-" } else { "" }, sys.dae.vars[to].name);
            to
        }
        None => id,
    };
    let mut todo = vec![Cell::new(id, 0)];
    let mut seen = Vec::new();
    while let Some(cell) = todo.pop() {
        if seen.contains(&cell) {
            continue;
        }
        seen.push(cell);
        if states.contains(&cell) {
            let _ = writeln!(out, "  {} is a state", cell_name(sys, cell));
            continue;
        }
        if let Some(b) = seq.blocks.iter().find(|b| b.unknowns.contains(&cell)) {
            if b.items.len() > 1 {
                let others = b.unknowns.iter().map(|u| cell_name(sys, *u)).collect::<Vec<_>>().join(", ");
                let _ = writeln!(
                    out,
                    "  {} is solved for together with the unknowns of a loop: {others}",
                    cell_name(sys, cell)
                );
                seen.extend(b.unknowns.iter().copied());
            }
            for &i in &b.items {
                let item = &seq.items[i];
                let lead =
                    if b.items.len() > 1 { "    by".to_string() } else { format!("  {} from", cell_name(sys, cell)) };
                let _ = writeln!(out, "{lead} {}{}", item_text(sys, item), source(item));
                todo.extend(seq.items[i].reads(sys).into_iter().filter(|c| !b.unknowns.contains(c)));
            }
        }
    }
}

fn order(seq: &Sequence) -> (Vec<usize>, Vec<Cell>) {
    (
        seq.blocks.iter().flat_map(|b| b.items.iter().copied()).collect(),
        seq.blocks.iter().flat_map(|b| b.unknowns.iter().copied()).collect(),
    )
}

/// One line per equation: its text and the unknowns in it.
fn incidence(sys: &System, seq: &Sequence) -> String {
    let (rows, cols) = order(seq);
    let mut out = String::new();
    for i in rows {
        let mut reads = seq.items[i].reads(sys);
        reads.retain(|c| cols.contains(c));
        let _ = writeln!(
            out,
            "{}\t{}",
            item_text(sys, &seq.items[i]),
            reads.iter().map(|c| cell_name(sys, *c)).collect::<Vec<_>>().join(", ")
        );
    }
    out
}

/// The incidence matrix in block order as SVG.
fn picture(sys: &System, seq: &Sequence) -> String {
    let (rows, cols) = order(seq);
    let n = rows.len().max(1);
    let size = (800.0 / n as f64).clamp(0.5, 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{0:.0}\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        size * n as f64
    );
    let column: std::collections::HashMap<Cell, usize> = cols.iter().enumerate().map(|(j, &c)| (c, j)).collect();
    let mut at = 0.0;
    for b in &seq.blocks {
        let w = size * b.items.len() as f64;
        let _ = write!(out, "<rect x=\"{at:.1}\" y=\"{at:.1}\" width=\"{w:.1}\" height=\"{w:.1}\" fill=\"#dde7f5\"/>");
        at += w;
    }
    for (i, &r) in rows.iter().enumerate() {
        for c in seq.items[r].reads(sys) {
            if let Some(&j) = column.get(&c) {
                let _ = write!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{size:.1}\" height=\"{size:.1}\" fill=\"#1f3b6f\"/>",
                    j as f64 * size,
                    i as f64 * size
                );
            }
        }
    }
    out.push_str("</svg>\n");
    out
}
