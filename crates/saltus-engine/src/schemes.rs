//! Execution schemes: what one instant solves, mode by mode, in the form of the MODRIO document's figures 2.2 to 2.9.
//!
//! `x•` is the next value of x, `x•2` the one after it; an equation that had to be shifted is written with its shifts,
//! `e3•2`. With fewer shifts allowed than needed, the scheme shows where it fails.

use saltus_dae::{VarId, equation_text};
use saltus_graph::{Bipartite, DmParts, NONE, Signature, block_order, dulmage_mendelsohn, hopcroft_karp, sigma_method};
use saltus_structure::{ModeKey, Modes, Role, RowOps, System, active_rows, key_text};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Modes that are shown at most.
const SHOWN: usize = 16;

/// The schemes of all modes (up to a bound); `shifts` bounds how often an equation may be shifted.
///
/// `next`: the system speaks of next values, which the pipeline carries as derivatives.
pub fn schemes(sys: &mut System, ops: &mut RowOps, modes: &mut Modes, shifts: Option<u32>, next: bool) -> String {
    let mut keys: Vec<ModeKey> = Vec::new();
    let mut paths: Vec<ModeKey> = vec![Vec::new()];
    let mut possible = crate::modes::Possible::new(sys);
    while let Some(path) = paths.pop() {
        let next = modes.next(sys, ops, &path);
        if next.is_empty() {
            keys.push(path);
        } else if next.len() <= 10 {
            // true before false
            for k in 0..1usize << next.len() {
                let mut key = path.clone();
                key.extend((0..next.len()).map(|i| k >> (next.len() - 1 - i) & 1 == 1));
                if possible.allows(sys, modes, &key) {
                    paths.push(key);
                }
            }
        }
        if keys.len() > SHOWN {
            break;
        }
    }
    let more = keys.len() > SHOWN || !paths.is_empty();
    keys.truncate(SHOWN);
    let all: Vec<Mode> = keys.iter().map(|k| Mode::new(sys, ops, modes, k, shifts)).collect();
    // Equations by source, numbered in order; a row merged from branches has a number per branch.
    let mut names: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for m in &all {
        for (eq, text) in &m.rows {
            names.entry((*eq, text.clone())).or_insert(0);
        }
    }
    for (n, name) in names.values_mut().enumerate() {
        *name = n + 1;
    }
    let mut out = format!("execution scheme of {}\n", sys.dae.name);
    for ((eq, text), n) in &names {
        let text = if next { next_values(text) } else { text.clone() };
        let dummy = if sys.equations[*eq].origin.is_dummy() { "   (dummy)" } else { "" };
        let _ = writeln!(out, "  (e{n}) {text}{dummy}");
    }
    let mut assumed: Vec<String> = Vec::new();
    for name in all.iter().flat_map(|m| m.assumed(sys)) {
        if !assumed.contains(&name) {
            assumed.push(name);
        }
    }
    let what = if assumed.is_empty() { "nothing".into() } else { assumed.join(", ") };
    let _ = writeln!(out, "1. Assuming consistent values for {what}:");
    if let [only] = &all[..]
        && only.key.is_empty()
    {
        for (k, line) in only.steps(sys, &names).iter().enumerate() {
            let _ = writeln!(out, "{}. {line}", k + 2);
        }
        let _ = writeln!(out, "{}. Move to the next instant.", only.steps(sys, &names).len() + 2);
        return out;
    }
    let _ = writeln!(out, "2. Case:");
    for (k, m) in all.iter().enumerate() {
        let letter = char::from(b'a' + (k % 26) as u8);
        let _ = writeln!(out, "  ({letter}) {}:", key_text(sys, modes, &m.key));
        let dead: Vec<String> = names
            .iter()
            .filter(|((eq, text), _)| !m.rows.iter().any(|r| r.0 == *eq && r.1 == *text))
            .map(|(_, n)| format!("e{n}"))
            .collect();
        let mut lines = Vec::new();
        if !dead.is_empty() {
            lines.push(format!("regard ({}) as dead code;", dead.join(", ")));
        }
        lines.extend(m.steps(sys, &names));
        for (i, line) in lines.iter().enumerate() {
            let _ = writeln!(out, "    {}. {line}", roman(i + 1));
        }
    }
    if more {
        let _ = writeln!(out, "  not finished: {SHOWN} modes shown");
    }
    let _ = writeln!(out, "3. Move to the next instant.");
    out
}

/// One mode: its equations, their shifts and what they are solved for.
struct Mode {
    key: ModeKey,
    /// Equation number and text.
    rows: Vec<(usize, String)>,
    vars: Vec<VarId>,
    /// Shifts of each equation.
    c: Vec<i32>,
    /// Highest shift of each variable.
    d: Vec<i32>,
    /// Equation against the variables it has with their highest shift.
    graph: Bipartite,
}

impl Mode {
    fn new(sys: &mut System, ops: &mut RowOps, modes: &Modes, key: &ModeKey, shifts: Option<u32>) -> Mode {
        let rows = active_rows(sys, ops, modes, key);
        let mut vars: Vec<VarId> = Vec::new();
        let mut entries: Vec<Vec<(u32, i32)>> = Vec::new();
        for (_, row) in &rows {
            let mut list = Vec::new();
            for a in &row.args {
                if let saltus_dae::Operand::Var { var, order, .. } = *a
                    && sys.role(var) == Role::Continuous
                {
                    let j = vars.iter().position(|&v| v == var).unwrap_or_else(|| {
                        vars.push(var);
                        vars.len() - 1
                    });
                    list.push((j as u32, i32::from(order)));
                }
            }
            entries.push(list);
        }
        let signature = Signature::from_rows(vars.len(), &entries);
        let bound = shifts.map_or(i32::MAX, |s| s.min(1000) as i32);
        let c: Vec<i32> = match sigma_method(&signature) {
            Ok(o) => o.c.iter().map(|&c| c.min(bound)).collect(),
            Err(_) => vec![0; rows.len()],
        };
        let mut d = vec![0; vars.len()];
        for (list, c) in entries.iter().zip(&c) {
            for &(j, o) in list {
                d[j as usize] = d[j as usize].max(o + c);
            }
        }
        let lists: Vec<Vec<u32>> = entries
            .iter()
            .zip(&c)
            .map(|(list, c)| list.iter().filter(|e| e.1 + c == d[e.0 as usize]).map(|e| e.0).collect())
            .collect();
        let graph = Bipartite::from_rows(vars.len(), &lists);
        let rows = rows.iter().map(|(eq, row)| (*eq, equation_text(&sys.dae, row))).collect();
        Mode { key: key.clone(), rows, vars, c, d, graph }
    }

    fn variable(&self, sys: &System, j: usize) -> String {
        format!("{}{}", sys.condition_text(self.vars[j]), shifted(self.d[j]))
    }

    /// What an instant starts from: everything below the highest shift.
    fn assumed(&self, sys: &System) -> Vec<String> {
        let highest = self.d.iter().copied().max().unwrap_or(0);
        let mut out = Vec::new();
        for k in 0..highest {
            for (j, &v) in self.vars.iter().enumerate() {
                if k < self.d[j] {
                    out.push(format!("{}{}", sys.condition_text(v), shifted(k)));
                }
            }
        }
        out
    }

    /// Blocks in order; what cannot be solved is told as a failure.
    fn steps(&self, sys: &System, names: &BTreeMap<(usize, String), usize>) -> Vec<String> {
        let name = |i: usize| format!("e{}{}", names[&self.rows[i]], shifted(self.c[i]));
        let list = |rows: &[usize]| rows.iter().map(|&i| name(i)).collect::<Vec<_>>().join(", ");
        let unknowns = |cols: &[usize]| cols.iter().map(|&j| self.variable(sys, j)).collect::<Vec<_>>().join(", ");
        let matching = hopcroft_karp(&self.graph);
        let parts: DmParts = dulmage_mendelsohn(&self.graph, &matching);
        let mut out = Vec::new();
        let over: Vec<usize> = parts.over_rows.iter().map(|&i| i as usize).collect();
        if !over.is_empty() {
            let cols: Vec<usize> = parts.over_cols.iter().map(|&j| j as usize).collect();
            out.push(match (&over[..], &cols[..]) {
                ([i], []) => format!("failure to solve [{}]: nothing is left to solve it for;", name(*i)),
                _ => format!("failure to solve for {} the block of equations {{{}}};", unknowns(&cols), list(&over)),
            });
        }
        for block in block_order(&self.graph, &matching) {
            let mut rows: Vec<usize> = block
                .iter()
                .map(|&i| i as usize)
                .filter(|&i| {
                    matching.row_to_col[i] != NONE && !over.contains(&i) && !parts.under_rows.contains(&(i as u32))
                })
                .collect();
            rows.sort_by_key(|&i| names[&self.rows[i]]);
            let mut cols: Vec<usize> = rows.iter().map(|&i| matching.row_to_col[i] as usize).collect();
            cols.sort_unstable();
            match (&rows[..], &cols[..]) {
                ([], _) => {}
                ([i], [j]) => out.push(format!("solve [{}] for {};", name(*i), self.variable(sys, *j))),
                _ => out.push(format!("solve for {} the block of equations {{{}}};", unknowns(&cols), list(&rows))),
            }
        }
        let cols: Vec<usize> = parts.under_cols.iter().map(|&j| j as usize).collect();
        if !cols.is_empty() {
            let mut rows: Vec<usize> = parts.under_rows.iter().map(|&i| i as usize).collect();
            rows.sort_by_key(|&i| names[&self.rows[i]]);
            out.push(format!("failure to solve for {} the block of equations {{{}}};", unknowns(&cols), list(&rows)));
        }
        out
    }
}

/// `der(x)` as `x•`.
fn next_values(text: &str) -> String {
    let mut out = text.to_string();
    // The last one has none inside.
    while let Some(at) = out.rfind("der(") {
        let Some(end) = out[at..].find(')') else { break };
        out = format!("{}{}•{}", &out[..at], &out[at + 4..at + end], &out[at + end + 1..]);
    }
    out
}

fn shifted(k: i32) -> String {
    match k {
        0 => String::new(),
        1 => "•".into(),
        k => format!("•{k}"),
    }
}

fn roman(n: usize) -> String {
    let mut n = n;
    let mut out = String::new();
    for (value, digits) in [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")] {
        while n >= value {
            out.push_str(digits);
            n -= value;
        }
    }
    out
}
