//! Initialization: modes and values together.

use crate::machine::Trouble;
use crate::model::{ModeProgram, Model};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Row};
use saltus_structure::{Cell, DiscKind, Item, ModeKey, cell_name, plan_initialization};
use std::rc::Rc;

impl Model {
    /// Finds consistent values and the mode at `start`.
    pub fn initialize(&mut self, start: f64) -> Result<Rc<ModeProgram>, Diagnostic> {
        self.parameters(start)?;
        self.machine.plain_relations = true;
        self.machine.patient = true;
        self.guess_discrete();
        let guess = self.machine.values.clone();
        let mut tried: Vec<ModeKey> = Vec::new();
        let mut failure: Option<Diagnostic> = None;
        let mut key = self.key();
        let bits = key.len();
        let limit = 1usize << bits.min(8);
        while tried.len() < limit.max(4) {
            if tried.contains(&key) {
                // Cycling: look at the modes not tried yet, nearest first.
                let Some(next) = nearest_untried(&key, &tried) else { break };
                key = next;
            }
            tried.push(key.clone());
            self.restore_guess(&guess);
            match self.try_mode(&key, start) {
                Ok((program, reached)) if reached == key => {
                    self.machine.plain_relations = false;
                    return self.begin(program);
                }
                Ok((_, reached)) => key = reached,
                Err(e) => {
                    failure.get_or_insert(e);
                    if bits == 0 {
                        break;
                    }
                }
            }
        }
        Err(failure.unwrap_or_else(|| {
            let keys: Vec<String> = tried.iter().filter_map(|k| self.key_text(k)).take(8).collect();
            Diagnostic::error(
                Stage::Initialization,
                Span::NONE,
                format!(
                    "no consistent mode at time {start:?}: every mode's own conditions contradict it; tried: {}",
                    keys.join(" | ")
                ),
            )
        }))
    }

    fn restore_guess(&mut self, guess: &[f64]) {
        self.layout.extend(&mut self.machine.values);
        self.machine.values[..guess.len()].copy_from_slice(guess);
    }

    /// Sweeps over the discrete definitions with start values, to guess the mode.
    fn guess_discrete(&mut self) {
        let discrete = self.sys.discrete.clone();
        for _ in 0..3 {
            for d in &discrete {
                match &d.kind {
                    DiscKind::Value(row) => {
                        let slot = self.layout.slot(Cell::new(d.var, 0));
                        let b = self.compile(|c| c.batch(slot, row));
                        self.machine.batch(&b);
                    }
                    DiscKind::Relation(i) => self.machine.relation(*i),
                    DiscKind::When(..) => {}
                }
            }
        }
        self.machine.host.error = None;
    }

    /// Solves the initialization problem of one mode; returns the mode its values call for.
    fn try_mode(&mut self, key: &ModeKey, start: f64) -> Result<(Rc<ModeProgram>, ModeKey), Diagnostic> {
        let program = self.mode(key)?;
        let plan = program.plan.clone();
        let init = plan_initialization(&mut self.sys, &mut self.ops, &self.modes, key, &plan)?;
        let steps = self.compile(|c| c.sequence(&init.sequence));
        let slot = self.layout.slot(Cell::new(HybridDae::INITIAL, 0));
        self.machine.values[slot as usize] = 1.0;
        self.machine
            .run(&steps)
            .map_err(|t| self.explain(&t, Stage::Initialization, start, "initialization failed"))?;
        // Delayed values begin with what they delay.
        for _ in 0..if self.delays.is_empty() { 0 } else { 8 } {
            let mut moved = false;
            for k in 0..self.delays.len() {
                let (batch, from, to) = (self.delays[k].value.clone(), self.delays[k].value_slot, self.delays[k].out);
                self.machine.batch(&batch);
                let v = self.machine.values[from as usize];
                moved |= v.is_finite() && self.machine.values[to as usize] != v;
                if v.is_finite() {
                    self.machine.values[to as usize] = v;
                }
            }
            if !moved {
                break;
            }
            self.machine
                .run(&steps)
                .map_err(|t| self.explain(&t, Stage::Initialization, start, "initialization failed"))?;
        }
        for item in &init.redundant {
            self.check_redundant(item, start)?;
        }
        if let Some(t) = self.not_finite(&program) {
            return Err(self.explain(&t, Stage::Initialization, start, "initialization failed"));
        }
        Ok((program, self.key()))
    }

    fn check_redundant(&mut self, item: &Item, start: f64) -> Result<(), Diagnostic> {
        let (row, eq): (Row, usize) = match item {
            Item::Residual { row, eq, .. } => (row.clone(), *eq),
            Item::Value { cell, row } => {
                let have = self.layout.slot(*cell);
                let s = self.layout.scratch(0.0);
                let b = self.compile(|c| c.batch(s, row));
                self.machine.batch(&b);
                let (x, y) = (self.machine.values[have as usize], self.machine.values[s as usize]);
                if (x - y).abs() > 1e-6 * (1.0 + x.abs()) {
                    let name = cell_name(&self.sys, *cell);
                    return Err(Diagnostic::error(
                        Stage::Initialization,
                        Span::NONE,
                        format!(
                            "initialization is over-determined and inconsistent: {name} is {x}, but its start value {y} is fixed"
                        ),
                    ));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        let s = self.layout.scratch(0.0);
        let b = self.compile(|c| c.batch(s, &row));
        self.machine.batch(&b);
        let r = self.machine.values[s as usize];
        // Judged against the size of what stands in the equation.
        let point = self.snapshot();
        let scale = row.args.iter().map(|&a| saltus_structure::Point::value(&point, a).abs()).fold(1.0, f64::max);
        if r.abs() <= 1e-6 * scale {
            return Ok(());
        }
        let (text, span, instance) = self.equation(eq, 0);
        Err(Diagnostic::error(
            Stage::Initialization,
            span,
            format!("initialization is over-determined and inconsistent at time {start:?}: {text} is off by {r:.6e}"),
        )
        .within(instance)
        .hint("one of the initial conditions must go: set fixed = false on a variable or remove an initial equation"))
    }

    /// Cells of the mode that are not numbers.
    pub fn not_finite(&self, program: &ModeProgram) -> Option<Trouble> {
        let bad: Vec<Cell> = program
            .plan
            .vars
            .iter()
            .map(|&v| Cell::new(v, 0))
            .filter(|&c| self.layout.find(c).is_some_and(|s| !self.machine.values[s as usize].is_finite()))
            .collect();
        (!bad.is_empty()).then_some(Trouble::NotFinite(bad))
    }

    /// From initial values to the first instant of the run.
    fn begin(&mut self, program: Rc<ModeProgram>) -> Result<Rc<ModeProgram>, Diagnostic> {
        let slot = self.layout.slot(Cell::new(HybridDae::INITIAL, 0));
        self.machine.values[slot as usize] = 0.0;
        self.remember();
        Ok(self.reselect(&program)?.unwrap_or(program))
    }

    /// Previous values become the present ones.
    pub fn remember(&mut self) {
        for &(s, p, _) in &self.discrete {
            self.machine.values[p as usize] = self.machine.values[s as usize];
        }
        for &(s, p) in &self.previous {
            self.machine.values[p as usize] = self.machine.values[s as usize];
        }
    }
}

fn nearest_untried(key: &ModeKey, tried: &[ModeKey]) -> Option<ModeKey> {
    let n = key.len();
    if n > 16 {
        return None;
    }
    let mut masks: Vec<u32> = (1..1u32 << n).collect();
    masks.sort_by_key(|m| m.count_ones());
    masks
        .into_iter()
        .map(|m| key.iter().enumerate().map(|(i, b)| b ^ (m >> i & 1 == 1)).collect::<ModeKey>())
        .find(|k| !tried.contains(k))
}
