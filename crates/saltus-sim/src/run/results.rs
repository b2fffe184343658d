//! Rows: which columns there are, where their values come from, and when a row is due.

use super::*;

pub(super) fn io(e: std::io::Error) -> Diagnostic {
    Diagnostic::error(Stage::Run, Span::NONE, format!("results cannot be written: {e}"))
}

impl Runner<'_> {
    pub(super) fn columns(
        &mut self,
        model: &mut Model,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let mut columns: Vec<Column> = Vec::new();
        let mut moving = Vec::new();
        let fixed = model.fixed_values();
        for i in 0..model.sys.dae.vars.len() {
            let v = VarId::new(i);
            let var = &model.sys.dae.vars[v];
            // Of the parameters, those of the model itself: they are few, and their values may come from a computation. Others,
            // and constants, if they are asked for by name.
            let inner = var.variability <= Variability::Parameter
                && (var.variability == Variability::Constant || var.name.contains('.'))
                && !self.options.variables.contains(&var.name);
            if HybridDae::is_builtin(v) || inner || self.options.leaves_out(var) {
                continue;
            }
            let kind = match var.ty {
                VarType::Real => Kind::Real,
                VarType::Integer => Kind::Integer,
                VarType::Boolean => Kind::Boolean,
                VarType::Enumeration(_) => Kind::Enumeration,
                VarType::String | VarType::Object => continue,
            };
            if !chosen(&self.options.variables, &var.name) {
                continue;
            }
            if kind == Kind::Real && var.variability > Variability::Parameter {
                moving.push(columns.len());
            }
            columns.push(
                Column::new(var.name.clone(), kind).with_unit(var.unit.as_str()).with_description(&*var.description),
            );
            let fixed = fixed.get(&v).copied();
            let source = match fixed.map_or_else(|| model.locate(v), Err) {
                Ok((s, sign)) => {
                    let rep = match model.sys.alias[v] {
                        Some(saltus_structure::Alias::Var(to, _)) => to,
                        _ => v,
                    };
                    let continuous = model.sys.role(rep) == saltus_structure::Role::Continuous;
                    Source::Slot(s, sign, continuous.then_some(rep))
                }
                Err(c) => Source::Const(c),
            };
            if let (Source::Const(c), Some(column)) = (&source, columns.last_mut()) {
                column.constant = Some(*c);
            }
            if let (Source::Slot(_, _, None), Some(column)) = (&source, columns.last_mut()) {
                column.held = true;
            }
            self.sources.push(source);
        }
        model.layout.extend(&mut model.machine.values);
        // Derivatives of everything that moves, parameter by parameter.
        for name in self.forward.iter().flat_map(Forward::names) {
            for &k in &moving {
                let of = columns[k].name.clone();
                let text = format!("sensitivity of {of} to {name}");
                columns.push(Column::new(format!("der({of}, {name})"), Kind::Real).with_description(text));
                self.derived.push(k);
            }
        }
        found(&self.options.variables, &columns, observer)?;
        self.row = vec![0.0; columns.len()];
        self.active = vec![true; columns.len()];
        sink.begin(&columns).map_err(io)
    }

    pub(super) fn write(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        sink: &mut dyn Sink,
    ) -> Result<(), Diagnostic> {
        let mut all = true;
        for (k, s) in self.sources.iter().enumerate() {
            match *s {
                Source::Const(v) => self.row[k] = v,
                Source::Slot(slot, sign, rep) => {
                    self.row[k] = sign * model.machine.values[slot as usize] + 0.0; // no negative zero
                    self.active[k] = rep.is_none_or(|v| program.active.contains(&v));
                    all &= self.active[k];
                }
            }
        }
        if let Some(forward) = &self.forward {
            let (first, count) = (self.sources.len(), self.derived.len() / forward.names().count());
            let slot = |&k: &usize| match self.sources[k] {
                Source::Slot(s, sign, _) => Some((s, sign)),
                Source::Const(_) => None,
            };
            let slots: Vec<Option<(u32, f64)>> = self.derived[..count].iter().map(slot).collect();
            forward.row(model, program, &slots, &mut self.row[first..])?;
            for (k, &of) in self.derived.iter().enumerate() {
                self.active[first + k] = self.active[of];
            }
        }
        sink.row(t, &self.row, (!all).then_some(&self.active[..])).map_err(io)
    }

    /// Rows on the output grid up to `end` (a row at `end` itself is left to the event). If an assertion fails on the way, the
    /// time of the row at which it does; that row is not written.
    pub(super) fn outputs(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: &dyn Integrator,
        end: f64,
        event: bool,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>, Diagnostic> {
        let close = 1e-11 * self.span();
        self.tried(model, observer);
        while self.next_output <= self.intervals && self.report.terminated.is_none() {
            let t = self.output_time(self.next_output);
            if t > end || (event && t > end - close) {
                if event && t <= end + close {
                    self.next_output += 1; // the event's own rows stand for it
                }
                break;
            }
            self.pace(t, observer);
            self.evaluate_at(model, program, i, t).map_err(|e| model.explain(&e, Stage::Run, t, "the run failed"))?;
            if let Some(bad) = model.not_finite(program) {
                return Err(model.explain(&bad, Stage::Run, t, "the run failed"));
            }
            if let Some(d) = self.leaves_domain(model, program, i, t) {
                return Err(d);
            }
            model.machine.chain(&model.assertions);
            if failing(model).is_some() {
                let beside = self.assertions_beside(model, program, t, &[1.0]);
                if failing_but(model, |k| beside[k]).is_some() {
                    return Ok(Some(t));
                }
            }
            self.write(model, program, t, sink)?;
            self.warnings(model, observer);
            self.next_output += 1;
        }
        Ok(None)
    }

    /// When output k is due.
    pub(super) fn output_time(&self, k: usize) -> f64 {
        if k == self.intervals {
            return self.stop;
        }
        self.start + k as f64 * (self.stop - self.start) / self.intervals as f64
    }
}
