//! Where a step cannot be trusted or no step leads on: crossings that need a step of their own, branches of solutions that end, other
//! modes and other states a moment ahead.

use super::*;

/// An unknown of a block that lies on another branch than where the last step ended, with its value there.
fn hopped(trail: &Trail, values: &[f64], program: &ModeProgram) -> Option<(u32, f64)> {
    trail.hopped(values, |slot| typical(program, slot))
}

/// The typical size of an unknown.
fn typical(program: &ModeProgram, slot: u32) -> f64 {
    let blocks = program.continuous.iter().filter_map(|s| if let Step::Solve(b) = s { Some(b) } else { None });
    let place = |b: &Rc<SolveBlock>| Some(b.nominal[b.unknowns.iter().position(|u| *u == slot)?]);
    blocks.filter_map(place).next().unwrap_or(1.0).abs()
}

/// Whether no evaluation has vouched for a step yet: there are no states, or loops that their derivatives do not read may be
/// singular.
pub(super) fn unvouched(model: &Model, program: &ModeProgram) -> bool {
    let loops = |steps: &[Step]| steps.iter().filter(|s| matches!(s, Step::Solve(_) | Step::Mixed(_))).count();
    let apart = || loops(&program.derivatives) < loops(&program.between);
    program.states.is_empty() || (!model.modes.suspects(&program.plan.key).is_empty() && apart())
}

impl Runner<'_> {
    /// Where the equations cannot be solved at a place `at` of an accepted step, what the states determine may have become
    /// singular on the way: back to the last row since `from`, and on with other states. That time, if there are others.
    pub(super) fn step_back(
        &mut self,
        model: &mut Model,
        program: &mut Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        (from, at): (f64, f64),
        restart: &mut Option<Restart>,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>, Diagnostic> {
        let unsolved = matches!(self.evaluate_at(model, program, &**integrator, at), Err(Trouble::Unsolved { .. }));
        if !unsolved || self.sliding.is_some() || !model.machine.host.lines.list.is_empty() {
            return Ok(None);
        }
        let back = from.max(self.output_time(self.next_output - 1));
        if self.evaluate_at(model, program, &**integrator, back).is_err() {
            return Ok(None);
        }
        let Some(other) = model.other_states(program, true)? else { return Ok(None) };
        self.exchange(model, program, other, integrator, restart, observer)?;
        Ok(Some(back))
    }

    /// Whether the dense output at a crossing is far from a solution: its slope is not what the states there demand. Stiff
    /// components swing between the ends of a step; what follows an event in their midst would swing back at once. Or, of what
    /// is smaller than the errors (a ball that hardly rebounds), the function goes away from zero there by the equations.
    pub(super) fn strays(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
        fired: &[usize],
    ) -> bool {
        let (begin, end, n) = (integrator.t_prev(), integrator.t(), program.states.len());
        if !(begin < t && t < end) || n == 0 || !integrator.retakes() || self.forward.is_some() {
            return false;
        }
        // What amplifies errors is known at the ends of steps alone, and goes on from there.
        if self.location.amplified() {
            return true;
        }
        let (mut x, mut f) = (vec![0.0; n], vec![0.0; n]);
        integrator.interpolate(t, &mut x);
        if self.rhs(model, program).rhs(t, &x, &mut f).is_err() {
            return false;
        }
        self.report.evaluations += 1;
        (self.vain < MOST_VAIN && off_course(integrator, t, &x, &f, 0..n))
            || fired.iter().any(|&i| recedes(model, program, i))
    }

    /// What a step failed by; if it does not tell, what the one before failed by near here. Equations without a solution are to
    /// blame for what is then no number.
    pub(super) fn blame(&mut self, trouble: Option<Trouble>, t: f64) -> Option<Trouble> {
        let unsolved = matches!(self.blamed, Some((_, Trouble::Unsolved { .. })));
        match trouble.filter(|e| !(unsolved && matches!(e, Trouble::NotFinite(_)))) {
            Some(e) => self.blamed = Some((t, e)),
            None => self.blamed.take_if(|b| t - b.0 > 1e-6 * self.stop.max(-self.start)).map_or((), drop),
        }
        self.blamed.as_ref().map(|b| b.1.clone())
    }

    /// Whether steps have failed so often near here that nothing is gained by trying once more.
    pub(super) fn crawls(&mut self, t: f64) -> bool {
        let (from, count) = self.failing;
        self.failing = if t - from < 1e-9 * self.span() { (from, count + 1) } else { (t, 0) };
        self.failing.1 > 100
    }

    /// No step leads on from here. If a function is at zero within the errors of the integration and on its way, its event
    /// has been reached: a tank that runs empty by √h never gets below zero.
    pub(super) fn rescue(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        integrator: &dyn Integrator,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<After>, Diagnostic> {
        let (t, x) = (integrator.t(), integrator.x().to_vec());
        if self.rescued.is_some_and(|last| t <= last) || self.evaluate(model, program, t, &x).is_err() {
            return Ok(None);
        }
        self.rescued = Some(t);
        let fired = self.location.arriving(model, program, integrator);
        if fired.is_empty() {
            return Ok(None);
        }
        // They have their new values, whatever the last digits say.
        for &(i, g) in &fired {
            let r = &mut model.machine.relations[i];
            let slot = r.var as usize;
            self.arrived.push((i, model.machine.values[slot]));
            (r.frozen, model.machine.values[slot]) = (true, 1.0 - model.machine.values[slot]);
            self.words.push(became(&model.sys.relations[i].text, &r.kind, model.machine.values[slot]));
            self.location.released.insert(i, 4.0 * g.abs());
        }
        let after = self.event(model, program, &[], EventKind::State, t, sink, observer, true);
        for &(i, _) in &fired {
            model.machine.relations[i].frozen = false;
        }
        after.map(|a| Some(After { restart: Some(Restart::Cold), ..a }))
    }

    /// Whether steps get shorter and shorter because the equations cannot be evaluated, or solved, beyond: a function that counts as zero
    /// within its errors has to cross before that.
    pub(super) fn at_an_edge(&mut self, integrator: &dyn Integrator) -> bool {
        let stats = integrator.stats();
        let failures = stats.eval_failures + stats.conv_failures;
        let nowhere = integrator.t() - integrator.t_prev() < NOWHERE * self.span();
        let count = if nowhere { self.edges.0 + usize::from(failures > self.edges.1) } else { 0 };
        self.edges = (count, failures);
        count >= MOST_AT_EDGE
    }

    /// Steps in a row have led nowhere, and no function has to cross here.
    pub(super) fn no_step_leads_on(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.edges.0 < MOST_NOWHERE {
            return Ok(());
        }
        let text = format!(
            "the run does not get past time {t:?}: {MOST_NOWHERE} steps in a row come to less than {NOWHERE:.0e} of the run each, since the equations cannot be solved beyond"
        );
        Err(Diagnostic::error(Stage::Run, Span::NONE, text)
            .hint("a root or logarithm may come to the end of its domain, or a slope be infinite"))
    }

    /// Values at an event or at the end of a step; what must hold there is checked.
    pub(super) fn at_event(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        t: f64,
        evaluated: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        self.pace(t, observer);
        self.tried(model, observer);
        if !evaluated && let Err(e) = self.evaluate_at(model, program, integrator, t) {
            return Err(model
                .structural_explanation(program)
                .unwrap_or_else(|| model.explain(&e, Stage::Run, t, "the run failed")));
        }
        if let Some(d) = self.leaves_domain(model, program, integrator, t) {
            return Err(d);
        }
        model.write_lines(t, false)?;
        if self.doubted(model, program, integrator, from, t, observer) {
            let _ = self.evaluate_at(model, program, integrator, t);
        }
        // Computed anew at the end of a step, unknowns lie on another branch only if theirs ends there.
        if model.machine.course.ends_at(t)
            && let Some(hop) = hopped(&model.machine.course, &model.machine.values, program)
            && self.folds_before(model, program, integrator, t)
        {
            let d = self.solution_ends(model, program, t, hop);
            self.stops(d, observer)?;
        }
        let m = &mut model.machine;
        m.course.end(t, &m.values);
        // Between two events of one instant some of what changes has done so.
        let within = t - from <= model.machine.instants.close(t);
        self.check_assertions(model, program, t, if within { &[-1.0, 1.0] } else { &[-1.0] }, observer)?;
        self.warnings(model, observer);
        Ok(())
    }

    /// Warns of assertions of level warning that do not hold at `to` for the first time, as of when they ceased to after
    /// `from`. Whether there were any; the values are then others.
    fn doubted(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        model.machine.chain(&model.assertions);
        let new = |k: &usize| {
            model.machine.values[model.assertion_slots[*k] as usize] == 0.0
                && !model.sys.dae.assertions[model.sys.assertions[*k].1].error
                && !self.warned.contains(&format!("assert {k}"))
        };
        let mut doubted: Vec<usize> = (0..model.assertion_slots.len()).filter(new).collect();
        if !doubted.is_empty() {
            let beside = self.assertions_beside(model, program, to, &[-1.0]);
            doubted.retain(|&k| !beside[k]);
        }
        for &k in &doubted {
            let holds = |model: &Model| model.machine.values[model.assertion_slots[k] as usize] != 0.0;
            let at = self.ceases(model, program, integrator, (from, to), holds).unwrap_or(to);
            if self.evaluate_at(model, program, integrator, at).is_ok() {
                self.warn_of(model, k, at, observer);
            }
        }
        !doubted.is_empty()
    }

    /// Where in (from, to] something that does not hold at its end ceases to, by the values of assertions; `None` if it does not
    /// hold at the beginning either.
    fn ceases(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        (from, to): (f64, f64),
        holds: impl Fn(&Model) -> bool,
    ) -> Option<f64> {
        let mut holds = |t: f64| {
            let known = self.evaluate_at(model, program, integrator, t).is_ok();
            model.machine.chain(&model.assertions);
            if known && holds(model) { 1.0 } else { -1.0 }
        };
        (holds(from) > 0.0).then(|| sign_change(&mut holds, from, 1.0, to, -1.0, 0.0).1)
    }

    /// An assertion fails at `to`: the same failure where it first happens after `from`.
    pub(super) fn sooner(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> Option<Diagnostic> {
        let t = self.ceases(model, program, integrator, (from, to), |model| failing(model).is_none())?;
        self.pace(t, observer);
        self.evaluate_at(model, program, integrator, t).ok()?;
        if self.doubted(model, program, integrator, from, t, observer) {
            self.evaluate_at(model, program, integrator, t).ok()?;
        }
        self.check_assertions(model, program, t, &[], observer).err()
    }

    /// Where in a step the branch of solutions ends that it began on, and of which unknown that was seen.
    pub(super) fn branch_ends(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> Option<(f64, u32, f64)> {
        if self.sliding.is_some() || program.iterated.is_empty() {
            return None;
        }
        // The implicit form is solved as far as its errors are small, which may be beyond the end of a branch.
        if program.implicit.is_some() || !model.machine.course.ends_at(t1) {
            match self.evaluate_at(model, program, integrator, t1) {
                Ok(()) => {}
                Err(Trouble::Unsolved { .. }) => return self.fold_within(model, program, integrator, t0, t1),
                Err(_) => return None,
            }
            let m = &mut model.machine;
            m.course.end(t1, &m.values);
        }
        if !model.machine.course.leaps(t1, |slot| typical(program, slot)) {
            return None;
        }
        self.fold_within(model, program, integrator, t0, t1)
    }

    /// Whether unknowns that are others than where a step was said to end, at `t`, have left a branch of solutions that ends. They may also
    /// have been left with what the integrator had not solved for: a kink within the step, what small differences of states move far.
    fn folds_before(&mut self, model: &mut Model, program: &ModeProgram, integrator: &dyn Integrator, t: f64) -> bool {
        let t0 = integrator.t_prev();
        // A step of no length has nothing on its way, and steps end there.
        if self.sliding.is_some() || !(t - t0 > 16.0 * f64::EPSILON * t.abs()) {
            return true;
        }
        let course = model.machine.course.clone();
        model.machine.course.cut(t0);
        let found = self.fold_within(model, program, integrator, t0, t).is_some();
        model.machine.course = course;
        found
    }

    /// Where in (t0, t1] the branch of solutions ends that the unknowns are on at t0, and of which of them that was seen.
    fn fold_within(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> Option<(f64, u32, f64)> {
        // Whatever solutions the search comes upon, the run stays on its own.
        let kept = (model.machine.values.clone(), model.machine.course.clone());
        model.machine.course.cut(t0);
        let mut at = |t: f64, keep: bool| {
            let course = (!keep).then(|| model.machine.course.clone());
            let m = &mut model.machine;
            m.course.take_back(&mut m.values);
            let found = self.evaluate_at(model, program, integrator, t);
            let m = &mut model.machine;
            match course {
                Some(course) => m.course = course,
                None => m.course.end(t, &m.values),
            }
            found.ok().map(|()| program.iterated.iter().map(|&s| m.values[s as usize]).collect())
        };
        let first = kept.1.at(t0).map(<[f64]>::to_vec).or_else(|| at(t0, true));
        let found = first.and_then(|first| fold::find(&mut at, &first, t0, t1));
        let found = found.map(|(t, k, value)| (t, program.iterated[k], value));
        (model.machine.values, model.machine.course) = kept;
        model.machine.host.error = None;
        found
    }

    /// No step leads on from `t`: whether that is because the branch of solutions ends, and what solves the equations robustly is
    /// elsewhere. An unknown of which that was seen, with its value at the end.
    pub(super) fn hops(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        trail: &Trail,
        t: f64,
        x: &[f64],
    ) -> Option<(u32, f64)> {
        if self.sliding.is_some() || !trail.ends_at(t) {
            return None;
        }
        let kept = model.machine.values.clone();
        trail.take_back(&mut model.machine.values);
        model.machine.course = trail.clone();
        let patient = std::mem::replace(&mut model.machine.patient, true);
        let found = self.evaluate(model, program, t, x);
        model.machine.patient = patient;
        let hop = found.ok().and_then(|()| hopped(trail, &model.machine.values, program));
        model.restore(&kept);
        model.machine.host.error = None;
        hop
    }

    /// Why a run cannot go on from `t`: the branch of solutions has come to its end.
    pub(super) fn solution_ends(
        &self,
        model: &Model,
        program: &ModeProgram,
        t: f64,
        (slot, value): (u32, f64),
    ) -> Diagnostic {
        let blocks = program.continuous.iter().filter_map(|s| match s {
            Step::Solve(b) => Some(b),
            _ => None,
        });
        let block = blocks.into_iter().find(|b| b.unknowns.contains(&slot));
        let Some((b, k)) = block.and_then(|b| Some((b, b.unknowns.iter().position(|u| *u == slot)?))) else {
            return Diagnostic::error(Stage::Run, Span::NONE, format!("the solution ends at time {t:?}"));
        };
        let name = saltus_structure::cell_name(&model.sys, b.cells[k]);
        let (text, place, instance) = model.equation(b.sources[k].0, b.sources[k].1);
        let words = format!("the solution ends at time {t:?}: beyond, nothing near {name} = {value:.6} solves {text}");
        let mut d = Diagnostic::error(Stage::Run, place, words).within(instance);
        for &(equation, level) in b.sources.iter().filter(|s| **s != b.sources[k]).take(4) {
            d = d.hint(format!("together with {}", model.equation(equation, level).0));
        }
        d.hint("two branches of solutions meet here and end")
    }

    /// At the end of a branch of solutions: tells it, and goes on with another solution, unless the run shall stop there.
    pub(super) fn stops(&mut self, d: Diagnostic, observer: &mut dyn Observer) -> Result<(), Diagnostic> {
        if self.options.stop_at_folds {
            return Err(d);
        }
        let text = format!("{}; the run goes on with another solution (--fold error ends it)", d.message);
        self.say(observer, &text, d.span, &format!("fold {:?}", d.span));
        Ok(())
    }

    /// The last moment of a step at which the locked mode has a solution.
    pub(super) fn solvable_until(
        &self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> f64 {
        let kept = model.machine.values.clone();
        let mut x = vec![0.0; program.states.len()];
        let mut solvable = |t: f64| {
            integrator.interpolate(t, &mut x);
            place(&mut model.machine, program, t, &x);
            model.machine.run(&program.continuous).is_ok()
        };
        let (mut good, mut bad) = if solvable(t1) { (t1, t1) } else { (t0, t1) };
        while bad - good > 1e-12 * (t1 - t0) && good < 0.5 * (good + bad) && 0.5 * (good + bad) < bad {
            let t = 0.5 * (good + bad);
            *(if solvable(t) { &mut good } else { &mut bad }) = t;
        }
        model.machine.values = kept;
        good
    }

    /// The locked mode cannot go on: a block has no solution just ahead, or a function meets the edge of its domain. If
    /// another mode can, the event that leads there, a moment from now.
    pub(super) fn elsewhere(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        integrator: &dyn Integrator,
        now: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<(f64, After)>, Diagnostic> {
        if now > self.leaps.0 + 1e-6 * self.span() {
            self.leaps = (now, 0);
            self.patience = Some((crate::events::PATIENCE, None));
        }
        self.leaps.1 += 1;
        if self.sliding.is_some() || self.leaps.1 > 50 {
            return Ok(None);
        }
        let mut x = vec![0.0; program.states.len()];
        integrator.interpolate(now, &mut x);
        let outer = std::mem::replace(&mut model.machine.patience, self.patience.take());
        // Near enough, the equations of the mode may hold within the tolerance of their solution still.
        for part in [1e-10, 1e-8, 1e-6] {
            let ahead = now + (part * self.span()).max(1e-12 * now.abs());
            if ahead >= self.stop {
                break;
            }
            place(&mut model.machine, program, ahead, &x);
            let here = model.machine.values.clone();
            model.machine.stranded = true;
            let found = model.handle_event(program, &[], &[], EventKind::State, observer);
            model.restore(&here);
            let found = found.is_ok_and(|h| !h.changed.is_empty() || !Rc::ptr_eq(&h.program, program));
            if found {
                let bit = |i: usize| (i, model.machine.values[model.machine.relations[i].var as usize]);
                self.arrived = program.crossings.relations().map(bit).collect();
            }
            let after = found
                .then(|| self.event(model, program, &[], EventKind::State, ahead, sink, observer, true))
                .transpose();
            model.machine.stranded = false;
            if let Some(after) = after? {
                self.patience = std::mem::replace(&mut model.machine.patience, outer);
                return Ok(Some((ahead, after)));
            }
        }
        self.patience = std::mem::replace(&mut model.machine.patience, outer);
        Ok(None)
    }
}
