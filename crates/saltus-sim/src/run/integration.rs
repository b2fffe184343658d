//! What the integrator is and sees: its tolerances, the field it integrates, the longest step, the values of the model along a step.

use super::*;

impl Runner<'_> {
    /// The absolute tolerance of a state of this nominal value.
    pub(super) fn absolute(&self, nominal: f64) -> f64 {
        // Small states deserve digits too; quanta near zero would be tiny.
        let default = if self.choice.name() == "qss" { self.tolerance } else { SMALL_STATES * self.tolerance };
        self.options.absolute.unwrap_or(default) * nominal.clamp(1e-12, 1e3)
    }

    pub(super) fn integrator_options(&self, program: &ModeProgram) -> Options {
        let n = program.states.len();
        let mut o = Options::new(n, self.tolerance, self.absolute(1.0));
        for (a, m) in o.atol.iter_mut().zip(&program.nominal) {
            *a = self.absolute(*m) * self.finest;
        }
        o.h_init = self.options.initial_step;
        // A step that has nothing to go by must not pass over what begins and ends within it.
        o.h_max = self.options.max_step.unwrap_or(self.span() / LEAST_STEPS);
        o.h_min = self.options.min_step.unwrap_or(0.0).max(self.resolution());
        if n == 0 {
            o.h_max = o.h_max.min(self.span() / self.intervals.max(200) as f64);
        }
        if let Some(k) = self.options.max_order {
            o.max_order = k;
        }
        o.linear = self.options.linear;
        if self.options.keep_bounds {
            o.bounds = program.bounds.clone();
        }
        o
    }

    /// The step of a method whose steps are fixed.
    pub(super) fn fixed_step(&self) -> Option<f64> {
        (FIXED_STEP.contains(&self.choice.name()) && !self.options.doubling)
            .then(|| self.options.step.unwrap_or(self.span() / self.intervals as f64))
    }

    /// The integrator in force for this program.
    pub(super) fn integrator(&mut self, program: &ModeProgram) -> Result<Box<dyn Integrator>, Diagnostic> {
        let (mut o, name) = (self.integrator_options(program), self.choice.name());
        if self.options.doubling && ["ab2", "ab3", "ab4", "milne"].contains(&name) {
            let text = format!("{name} has no error estimate: it needs a step (--step H)");
            return Err(Diagnostic::error(Stage::Usage, Span::NONE, text));
        }
        if let Some(h) = self.fixed_step() {
            o.fixed_step = Some(h);
        } else if let Some(h) = self.options.step {
            o.h_max = o.h_max.min(h);
        }
        let n = program.states.len();
        if let Some(forward) = &self.forward {
            let bdf = Multistep::bdf(n, o).with_sensitivities(&forward.sizes());
            return Ok(Box::new(if self.options.sensitivity_error { bdf.testing_sensitivities() } else { bdf }));
        }
        make_integrator(name, n, o).ok_or_else(|| unknown_solver(name))
    }

    /// How stiff the model is at these states, for `--solver auto`.
    pub(super) fn spectrum(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Option<Spectrum> {
        let (o, values) = (self.integrator_options(program), model.machine.values.clone());
        let found = spectrum(&mut self.rhs(model, program), &o, t, x);
        model.machine.values = values;
        self.report.evaluations += 10;
        found
    }

    /// At a restart: another integrator, if the choice is free and another suits better.
    pub(super) fn reconsider(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
        x: &[f64],
    ) -> Result<Option<Box<dyn Integrator>>, Diagnostic> {
        let steps = self.report.steps + integrator.stats().steps;
        let mut choice = std::mem::replace(&mut self.choice, Choice::new("auto", t).expect("auto is a choice"));
        let changed = choice.restart(t, steps, x.len(), || self.spectrum(model, program, t, x));
        self.choice = choice;
        if !changed {
            return Ok(None);
        }
        self.fold(integrator);
        self.integrator(program).map(Some)
    }

    /// Whether steps or evaluations asked for are used up.
    pub(super) fn limits(&self, i: &dyn Integrator, t: f64) -> Result<(), Diagnostic> {
        let s = i.stats();
        let over = |limit: Option<usize>, used: usize| limit.is_some_and(|l| used > l);
        let (what, limit) = if over(self.options.max_steps, self.report.steps + s.steps) {
            ("steps", self.options.max_steps)
        } else if over(self.options.max_evaluations, self.report.evaluations + s.rhs_evals) {
            ("evaluations", self.options.max_evaluations)
        } else {
            return Ok(());
        };
        let text = format!("{} {what} were not enough: the run was given up at time {t:?}", limit.unwrap_or(0));
        Err(Diagnostic::error(Stage::Run, Span::NONE, text)
            .hint("raise the limit, loosen the tolerance, or look for a variable that moves faster than it should"))
    }

    /// Evaluates everything at a point of the last step.
    pub(super) fn evaluate_at(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
    ) -> Result<(), Trouble> {
        let mut x = std::mem::take(&mut self.point);
        x.resize(program.states.len(), 0.0);
        integrator.interpolate(t, &mut x);
        if let Some(forward) = &mut self.forward {
            forward.follow(integrator, t);
        }
        let done = self.evaluate_steps(model, program, &program.between, t, &x);
        self.point = x;
        done
    }

    pub(super) fn evaluate(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        x: &[f64],
    ) -> Result<(), Trouble> {
        self.evaluate_steps(model, program, &program.continuous, t, x)
    }

    /// Evaluates everything by these steps: all of them, or those that move between events.
    fn evaluate_steps(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        steps: &[Step],
        t: f64,
        x: &[f64],
    ) -> Result<(), Trouble> {
        if let Some(sliding) = &mut self.sliding {
            let mut dx = vec![0.0; x.len()];
            let mut values = Vec::new();
            model.know_rests(program);
            let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
            let done = sliding.field(&mut rhs, t, x, &mut dx, Some(&mut values));
            let trouble = rhs.trouble.take();
            return match (done, trouble) {
                (Ok(()), _) => {
                    model.machine.values = values;
                    Ok(())
                }
                (Err(_), Some(e)) => Err(e),
                (Err(_), None) => Err(Trouble::NotFinite(Vec::new())),
            };
        }
        place(&mut model.machine, program, t, x);
        match model.machine.run(steps) {
            Err(Trouble::Unsolved { .. }) if !model.machine.patient => {
                // The branch followed so far may have ended (a fold): look for another solution.
                model.machine.patient = true;
                place(&mut model.machine, program, t, x);
                let found = model.machine.run(steps);
                model.machine.patient = false;
                found
            }
            other => other,
        }
    }

    /// Goes on with other states of the same mode.
    pub(super) fn exchange(
        &mut self,
        model: &mut Model,
        program: &mut Rc<ModeProgram>,
        with: Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        restart: &mut Option<Restart>,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        self.location.forget(&with, None);
        if let Some(forward) = &mut self.forward {
            forward.reselect(model, program, &with)?;
        }
        let carried = |r: &Resting| r.carried(program, &with);
        model.resting = model.resting.iter().filter_map(carried).collect();
        self.arrange(model, &with, model.machine.values[model.machine.time as usize], observer)?;
        *program = with;
        self.fold(&**integrator);
        *integrator = self.integrator(program)?;
        *restart = Some(Restart::Cold);
        Ok(())
    }

    /// How long a step may be, so that what travels has been taken note of where it is read, and functions that are followed from
    /// end to end are known in between: error tests of stiff methods say nothing about what drives them there.
    pub(super) fn longest(&self, model: &Model) -> f64 {
        let most = if self.location.amplified() { self.location.longest } else { f64::INFINITY };
        let lines = model.machine.host.lines.list.iter();
        lines.map(|l| l.longest(&model.machine.values).max(1e-5 * self.span())).fold(most, f64::min)
    }

    pub(super) fn rhs<'b>(&'b mut self, model: &'b mut Model, program: &'b ModeProgram) -> Rhs<'b> {
        model.know_rests(program);
        Rhs {
            machine: &mut model.machine,
            program,
            sliding: self.sliding.as_mut(),
            resting: &model.resting,
            forward: self.forward.as_ref(),
            causal: self.causal,
            trouble: None,
        }
    }

    /// Adds an integrator's counts to the report.
    pub(super) fn fold(&mut self, i: &dyn Integrator) {
        let s = i.stats();
        self.report.steps += s.steps;
        self.report.evaluations += s.rhs_evals;
        self.report.searches = self.location.evaluations;
        self.report.enclosures = self.location.exclusion.count;
        self.report.looks = self.location.looks;
        self.report.jacobians += s.jac_evals;
        self.report.factorizations += s.lu_factorizations;
        self.report.krylov += s.krylov_iters;
        self.report.rejected += s.error_test_failures + s.conv_failures + s.eval_failures;
    }
}
