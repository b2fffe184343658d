//! Event iteration: simultaneous events are one set, iterated in dependency order to a fixed point, mode changes
//! included.

use crate::api::{EventKind, EventRecord, Observer};
use crate::crossings::Sensitivity;
use crate::machine::Trouble;
use crate::model::{ModeProgram, Model};
use rustc_hash::FxHashSet;
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{Action, Message, Piece, VarId};
use saltus_structure::{ModeKey, RelationKind};
use std::rc::Rc;

/// What an event led to.
pub struct Handled {
    /// The program of the mode after the event.
    pub program: Rc<ModeProgram>,
    /// The model ended the run.
    pub terminated: Option<String>,
    /// For the log.
    pub record: EventRecord,
    /// Slots of states set by `reinit`.
    pub reinitialized: Vec<u32>,
    /// Slots of discrete values that changed.
    pub changed: Vec<u32>,
    /// Only relations and definitions changed: no memory, no reinit, no mode change.
    pub memoryless: bool,
}

const MAX_ITERATIONS: usize = 200;

impl Model {
    /// Handles the event at the present time; `fired` are relations that have just crossed.
    pub fn handle_event(
        &mut self,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        mut kind: EventKind,
        observer: &mut dyn Observer,
    ) -> Result<Handled, Diagnostic> {
        let t = self.machine.values[self.machine.time as usize];
        let mut program = program.clone();
        self.machine.patient = true;
        self.machine.plain_relations = false;
        self.machine.held.clear();
        let before: Vec<f64> = self.discrete.iter().map(|d| self.machine.values[d.0 as usize]).collect();
        let conserved = self.conserved();
        let states_before: Vec<(u32, f64)> =
            program.states.iter().map(|s| (s.0, self.machine.values[s.0 as usize])).collect();
        self.remember();
        self.machine.note_left();
        let mut words: Vec<String> = Vec::new();
        for &i in fired {
            let r = &self.machine.relations[i];
            let (slot, kind) = (r.var as usize, r.kind.clone());
            let text = self.sys.relations[i].text.clone();
            match kind {
                RelationKind::Sign(_) => {
                    // It crosses here: what locating it leaves over is no distance to jump back from.
                    self.machine.relations[i].left = 0.0;
                    self.machine.values[slot] = 1.0 - self.machine.values[slot];
                    words.push(format!("{text} became {}", self.machine.values[slot] != 0.0));
                }
                RelationKind::Floor => {
                    let g = self.machine.values[self.machine.relations[i].g as usize];
                    let old = self.machine.values[slot];
                    // One further where g slides over an integer, more where it jumps.
                    let whole = (g + self.machine.band(i).max(1e-9)).floor();
                    self.machine.values[slot] = if g < old + 0.5 { whole.min(old - 1.0) } else { whole.max(old + 1.0) };
                    words.push(format!("{text} became {}", self.machine.values[slot]));
                }
            }
        }
        let close = 1e-13 * t.abs().max(1e-3);
        let mut ticked = Vec::new();
        for (k, s) in self.tickers.iter_mut().enumerate() {
            if s.due() <= t + close {
                s.next += 1;
                ticked.push(k);
                words.push(s.name.clone());
            }
        }
        for &k in &ticked {
            let (s, p) = (self.tickers[k].slot, self.tickers[k].pre);
            self.machine.values[s as usize] = 1.0;
            self.machine.values[p as usize] = 0.0;
        }
        let mut terminated = None;
        let mut impulses: Vec<(String, f64)> = Vec::new();
        let mut reinitialized: Vec<u32> = Vec::new();
        let mut mode_changes = 0;
        let mut micro = 0;
        // What a mode change starts from: the equations of the old mode no longer hold with the new conditions.
        let mut left = self.continuous_values(&program);
        let mut judged = FxHashSet::default();
        let mut keys = vec![program.plan.key.clone()];
        let mut when_fired = false;
        let mut alternating: Vec<VarId> = Vec::new();
        loop {
            micro += 1;
            if micro > MAX_ITERATIONS {
                return Err(self.no_fixed_point(t, &alternating));
            }
            // Guards first: if they end the mode, its equations are not solved again.
            let failed = |me: &mut Model, e| match me.structural_explanation(&program) {
                Some(d) if matches!(e, Trouble::Unsolved { .. }) => d,
                _ => me.explain(&e, Stage::Run, t, "event handling failed"),
            };
            let over = !program.plan.key.is_empty() && {
                let values: Vec<f64> = self.discrete.iter().map(|d| self.machine.values[d.0 as usize]).collect();
                self.machine.run(&program.guards).map_err(|e| failed(self, e))?;
                let over = self.key() != program.plan.key;
                if !over {
                    for (d, v) in self.discrete.iter().zip(values) {
                        self.machine.values[d.0 as usize] = v;
                    }
                }
                over
            };
            if !over {
                self.machine.run(&program.event).map_err(|e| failed(self, e))?;
            }
            // Reactions of when-branches with a rising edge.
            let mut restarts: Vec<(u32, f64)> = Vec::new();
            for k in 0..self.sys.reactions.len() {
                let (when, branch) = (self.sys.reactions[k].when, self.sys.reactions[k].branch);
                if self.machine.fired(when) != Some(branch) {
                    continue;
                }
                if let Some((b, s)) = &self.reactions[k].condition {
                    let (b, s) = (b.clone(), *s);
                    self.machine.batch(&b);
                    if self.machine.values[s as usize] == 0.0 {
                        continue;
                    }
                }
                when_fired = true;
                match self.sys.reactions[k].action.clone() {
                    Action::Reinit { .. } => {
                        if let Some((b, s)) = self.reactions[k].value.clone() {
                            self.machine.batch(&b);
                            restarts.push((self.reactions[k].target, self.machine.values[s as usize]));
                        }
                    }
                    Action::Assert { message, error, .. } => {
                        if let Some((b, s)) = self.reactions[k].value.clone() {
                            self.machine.batch(&b);
                            if self.machine.values[s as usize] == 0.0 {
                                let text = self.message(&message);
                                let span = self.sys.reactions[k].origin.span.unwrap_or(Span::NONE);
                                if error {
                                    return Err(Diagnostic::error(
                                        Stage::Run,
                                        span,
                                        format!("assertion failed at time {t:?}: {text}"),
                                    ));
                                }
                                observer.message(&format!("at time {t:?}: {text}"), span);
                            }
                        }
                    }
                    Action::Terminate { message, .. } => terminated = Some(self.message(&message)),
                    _ => {}
                }
            }
            let changed = self
                .discrete
                .iter()
                .any(|&(s, p, _)| self.machine.values[s as usize] != self.machine.values[p as usize]);
            if micro + 2 > MAX_ITERATIONS {
                alternating = self
                    .discrete
                    .iter()
                    .filter(|d| self.machine.values[d.0 as usize] != self.machine.values[d.1 as usize])
                    .map(|d| d.2)
                    .collect();
            }
            let key = self.key();
            let switched = key != program.plan.key;
            // A constraint that reads a discrete variable may move the states although the mode stays.
            let displaced = !switched
                && restarts.is_empty()
                && reinitialized.is_empty()
                && program
                    .latent
                    .iter()
                    .any(|&(s, p)| self.machine.values[s as usize] != self.machine.values[p as usize]);
            if switched || displaced {
                for (&s, &v) in program.cells.iter().zip(&left) {
                    if !reinitialized.contains(&s) {
                        self.machine.values[s as usize] = v;
                    }
                }
            }
            let mut moved = false;
            // New values of states come before previous values are taken.
            for (slot, v) in restarts {
                if !reinitialized.contains(&slot) {
                    reinitialized.push(slot);
                }
                moved |= self.machine.values[slot as usize] != v;
                self.machine.values[slot as usize] = v;
            }
            self.remember();
            if switched {
                mode_changes += 1;
                if mode_changes > 64 || (!changed && keys.contains(&key) && mode_changes > 8) {
                    return Err(self.no_end(t, &keys));
                }
                let (next, jump) = self.enter(&program, &key, t, &mut judged)?;
                keys.push(next.plan.key.clone());
                add_impulses(&mut impulses, self.named(jump.impulses));
                program = next;
                kind = EventKind::Mode;
            } else if displaced {
                let was: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
                let jump = self.jump(&program, t)?;
                let moved = |k: &usize| self.machine.values[program.states[*k].0 as usize] != was[*k];
                reinitialized.extend((0..was.len()).filter(moved).map(|k| program.states[k].0));
                add_impulses(&mut impulses, self.named(jump.impulses));
            }
            if switched || displaced {
                left = self.continuous_values(&program);
            }
            if !changed && !moved && !switched {
                break;
            }
        }
        if !ticked.is_empty() {
            for &k in &ticked {
                let (s, p) = (self.tickers[k].slot, self.tickers[k].pre);
                self.machine.values[s as usize] = 0.0;
                self.machine.values[p as usize] = 0.0;
            }
            self.machine.run(&program.event).map_err(|e| self.explain(&e, Stage::Run, t, "event handling failed"))?;
            self.remember();
        }
        if kind != EventKind::Initial
            && let Some(d) = self.singular_by_order(&program, fired)
        {
            return Err(self.at_run_time(d));
        }
        let mut changed: Vec<(String, f64, f64)> = Vec::new();
        let mut memory = false;
        let mut slots: Vec<u32> = Vec::new();
        for ((d, e), b) in self.discrete.iter().zip(&self.sys.discrete).zip(&before) {
            let now = self.machine.values[d.0 as usize];
            if now != *b {
                slots.push(d.0);
                // What reads previous values remembers: it cannot be undone by going back.
                memory |= match &e.kind {
                    saltus_structure::DiscKind::When(..) => true,
                    saltus_structure::DiscKind::Value(row) => {
                        row.args.iter().any(|a| matches!(a, saltus_dae::Operand::Pre { .. }))
                    }
                    saltus_structure::DiscKind::Relation(_) => false,
                };
                let name = &self.sys.dae.vars[d.2].name;
                if !name.starts_with('$') {
                    changed.push((name.clone(), *b, now));
                }
            }
        }
        for (s, b) in states_before {
            let now = self.machine.values[s as usize];
            if now != b
                && let Some(c) = program.plan.states.iter().find(|c| self.layout.find(**c) == Some(s))
            {
                changed.push((saltus_structure::cell_name(&self.sys, *c), b, now));
            }
        }
        self.machine.patient = false;
        if !self.modes.suspects(&program.plan.key).is_empty() {
            self.machine.held.clone_from(&self.machine.values);
        }
        let mode = self.key_text(&program.plan.key);
        let conserved =
            self.conserved().into_iter().zip(conserved).map(|((name, now), (_, was))| (name, was, now)).collect();
        let mut record = EventRecord {
            time: t,
            kind,
            fired: words,
            changed,
            micro_steps: micro,
            mode,
            impulses,
            conserved,
            residual: None,
            worst: None,
        };
        if observer.wants_residuals() {
            let (residual, worst) = self.residual(&program);
            record.residual = Some(residual);
            record.worst = worst.map(|(eq, level)| self.equation(eq, level).0);
        }
        let memoryless = !memory && reinitialized.is_empty() && mode_changes == 0 && ticked.is_empty() && !when_fired;
        Ok(Handled { program, terminated, record, reinitialized, changed: slots, memoryless })
    }

    /// Values of a mode's continuous cells.
    fn continuous_values(&self, program: &ModeProgram) -> Vec<f64> {
        program.cells.iter().map(|&s| self.machine.values[s as usize]).collect()
    }

    /// The quantities declared as conserved, as they are now.
    fn conserved(&mut self) -> Vec<(String, f64)> {
        let declared: Vec<VarId> = self.sys.dae.conserved.clone();
        declared
            .into_iter()
            .map(|v| {
                let value = match self.locate(v) {
                    Ok((s, sign)) => sign * self.machine.values.get(s as usize).copied().unwrap_or(0.0),
                    Err(c) => c,
                };
                (self.sys.dae.vars[v].name.clone(), value)
            })
            .collect()
    }

    fn named(&self, impulses: Vec<(VarId, f64)>) -> Vec<(String, f64)> {
        impulses.into_iter().map(|(v, size)| (self.sys.condition_text(v), size)).collect()
    }

    fn no_end(&self, t: f64, keys: &[ModeKey]) -> Diagnostic {
        let list: Vec<String> = keys.iter().rev().take(6).filter_map(|k| self.key_text(k)).collect();
        Diagnostic::error(
            Stage::Run,
            Span::NONE,
            format!("at time {t:?} the modes change without end; no consistent mode among: {}", list.join(" | ")),
        )
    }

    fn no_fixed_point(&self, t: f64, alternating: &[VarId]) -> Diagnostic {
        let mut names: Vec<String> = alternating.iter().map(|&v| self.sys.condition_text(v)).collect();
        names.sort_by_key(|n| n.contains(' '));
        names.truncate(8);
        let definition = |v: &VarId| self.sys.discrete.iter().find(|d| d.var == *v).and_then(|d| d.origin.span);
        let span = alternating.iter().find_map(definition).unwrap_or(Span::NONE);
        let who = if names.is_empty() { "states that are reset".to_string() } else { names.join(", ") };
        Diagnostic::error(
            Stage::Run,
            span,
            format!("event iteration at time {t:?} finds no consistent values: {who} keep alternating"),
        )
        .hint("a condition that switches itself off again needs pre() or hysteresis")
    }

    /// A message with its values filled in.
    pub fn message(&mut self, m: &Message) -> String {
        let mut out = String::new();
        for p in &m.pieces {
            match p {
                Piece::Text(t) => out.push_str(t),
                Piece::Value(r) | Piece::String(r) => {
                    let s = self.layout.scratch(0.0);
                    let row = self.sys.resolve_row(r);
                    let b = self.compile(|c| c.batch(s, &row));
                    self.machine.batch(&b);
                    let v = self.machine.values[s as usize];
                    match p {
                        Piece::String(_) => out.push_str(&saltus_function::strings::text(v)),
                        _ => out.push_str(&saltus_function::format::general(v, 6)),
                    }
                }
            }
        }
        out
    }

    /// The next instants known in advance, of samplers and relations on time: the first that steps must end at, and the
    /// first of those that touch nothing continuous.
    pub fn next_time_events(&mut self, sensitivity: &Sensitivity) -> (f64, f64) {
        let (mut hard, mut soft) = (f64::INFINITY, f64::INFINITY);
        for (k, s) in self.tickers.iter().enumerate() {
            let next = if sensitivity.tickers.contains(&k) { &mut hard } else { &mut soft };
            *next = next.min(s.due());
        }
        for i in 0..self.machine.relations.len() {
            if self.machine.relations[i].time.is_none() {
                continue;
            }
            if let Some((value, at)) = self.machine.time_switch(i) {
                let held = self.machine.values[self.machine.relations[i].var as usize];
                // If it should have its value already: now.
                let at = if held != value { self.machine.values[self.machine.time as usize] } else { at };
                let next = if sensitivity.relations.contains(&i) { &mut hard } else { &mut soft };
                *next = next.min(at);
            }
        }
        (hard, soft)
    }
}

/// Impulses of several changes at one instant add up.
fn add_impulses(sum: &mut Vec<(String, f64)>, more: Vec<(String, f64)>) {
    for (name, size) in more {
        match sum.iter_mut().find(|s| s.0 == name) {
            Some(s) => s.1 += size,
            None => sum.push((name, size)),
        }
    }
}
