//! The structural report.

use crate::{Analysis, AnalyzeRequest};
use saltus_base::Diagnostic;
use saltus_dae::equation_text;
use saltus_program::Backend;
use saltus_structure::{Alias, Cell, Item, Modes, RowOps, Sequence, System, cell_name, key_text, plan_mode};
use std::fmt::Write as _;

/// Plans the first mode and describes it.
pub fn analyze(
    sys: System,
    ops: RowOps,
    modes: Modes,
    request: &AnalyzeRequest,
    backend: Box<dyn Backend>,
) -> Result<Analysis, Diagnostic> {
    let mut model = saltus_sim::Model::new(sys, ops, modes, backend)?;
    let start = model.sys.dae.experiment.start.unwrap_or(0.0);
    model.parameters(start)?;
    let key = model.key();
    let point = model.snapshot();
    let plan = plan_mode(&mut model.sys, &mut model.ops, &model.modes, &key, &point)?;
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
            model.modes.keyed.iter().map(|&v| sys.condition_text(v)).collect::<Vec<_>>().join(", ")
        );
        let _ = writeln!(text, "mode shown: {}", key_text(sys, &model.modes, &key));
    }
    let _ = writeln!(text, "structural index: {}", plan.index);
    let names = |cells: &[Cell]| cells.iter().map(|c| cell_name(sys, *c)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "states ({}): {}", plan.states.len(), names(&plan.states));
    for (i, &c) in plan.c.iter().enumerate() {
        if c > 0 {
            let _ = writeln!(text, "differentiated {c}x: {}", equation_text(&sys.dae, &plan.rows[i].1));
        }
    }
    let _ = writeln!(text, "blocks:");
    blocks(sys, &plan.continuous, &mut text);
    if let Some(name) = &request.explain {
        explain(sys, &plan.continuous, &plan.states, name, &mut text);
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

fn blocks(sys: &System, seq: &Sequence, out: &mut String) {
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
            for &i in &b.items {
                let _ = writeln!(out, "       {}", item_text(sys, &seq.items[i]));
            }
        }
    }
}

/// How one variable is computed, back to the source equations.
fn explain(sys: &System, seq: &Sequence, states: &[Cell], name: &str, out: &mut String) {
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
            for &i in &b.items {
                let _ = writeln!(out, "  {} from {}", cell_name(sys, cell), item_text(sys, &seq.items[i]));
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
