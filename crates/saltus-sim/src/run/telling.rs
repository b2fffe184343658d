//! What the user is told: the log of events, warnings, assertions, and why a run cannot go on.

use super::*;

/// How far beside an instant assertions are asked for once more, in lengths of the run.
const BESIDE: f64 = 1e-10;

/// Fails if one of these relations compares what is not a number, and its value matters.
pub(super) fn defined(model: &mut Model, relations: &[usize], t: f64, stage: Stage) -> Result<(), Diagnostic> {
    for &i in relations {
        model.machine.crossing_values(&[i], &mut [0.0]);
        if !valued(&model.machine, i) && model.matters(i) {
            let r = &model.sys.relations[i];
            let text = format!("at time {t:?}: {} has no value, what it reads is not a number", brief(&r.text));
            return Err(Diagnostic::error(stage, r.origin.span.unwrap_or(Span::NONE), text)
                .within(r.origin.instance.clone())
                .hint("look for a division by zero, a square root or logarithm of a negative number"));
        }
    }
    model.machine.host.error = None;
    Ok(())
}

pub(super) fn unknown_solver(name: &str) -> Diagnostic {
    Diagnostic::error(Stage::Usage, Span::NONE, format!("unknown solver {name}"))
        .hint(format!("known: {}", SOLVERS.join(", ")))
}

/// The first assertion of level error that does not hold, by their present values.
pub(super) fn failing(model: &Model) -> Option<usize> {
    failing_but(model, |_| false)
}

/// The same but for some.
pub(super) fn failing_but(model: &Model, but: impl Fn(usize) -> bool) -> Option<usize> {
    (0..model.assertion_slots.len()).find(|&k| {
        let error = model.sys.dae.assertions[model.sys.assertions[k].1].error;
        model.machine.values[model.assertion_slots[k] as usize] == 0.0 && error && !but(k)
    })
}

impl Runner<'_> {
    /// Tells once that an assertion of level warning does not hold now.
    pub(super) fn warn_of(&mut self, model: &mut Model, k: usize, t: f64, observer: &mut dyn Observer) {
        let a = model.sys.dae.assertions[model.sys.assertions[k].1].clone();
        let text = format!("at time {t:?}: {}", model.message(&a.message));
        self.say(observer, &text, a.origin.span.unwrap_or(Span::NONE), &format!("assert {k}"));
    }

    /// Says which states have stayed below what the absolute tolerance lets them be wrong by, and have no nominal value.
    pub(super) fn tiny(&mut self, model: &Model, program: &ModeProgram, observer: &mut dyn Observer) {
        let o = self.integrator_options(program);
        for (k, far) in self.extent.clone().into_iter().enumerate().take(program.states.len()) {
            let far = self.extents.get(&program.plan.states[k]).map_or(far, |most| far.max(*most));
            let v = program.plan.states[k].var;
            let var = &model.sys.dae.vars[v];
            if far > 1e-12 && far < 10.0 * o.atol[k] && var.nominal.is_none() && program.plan.states[k].order == 0 {
                let text = format!(
                    "{} stays below {far:.1e}, the absolute tolerance is {:.1e}: give it a nominal value of its size, or \
                     --absolute",
                    var.name, o.atol[k]
                );
                self.say(observer, &text, var.origin.span.unwrap_or(Span::NONE), &text);
            }
        }
    }

    /// Tells once if state events follow each other sooner than the fixed step: what switches is faster than it. Where they outrun
    /// the step of an explicit method, the run ends, unless all states move evenly: then no step is too long.
    pub(super) fn hurries(
        &mut self,
        model: &Model,
        program: &ModeProgram,
        fired: &[usize],
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let (Some(h), Some(&first)) = (self.fixed_step(), fired.first()) else { return Ok(()) };
        let (last, count) = self.hurried;
        self.hurried = (t, if t - last < h { count + 1 } else { 0 });
        let (begun, count) = self.outrun;
        self.outrun = if t - begun < h { (begun, count + 1) } else { (t, 0) };
        let explicit = !["backward-euler", "trapezoid"].contains(&self.choice.name());
        let outrun = explicit && self.outrun.1 >= MANY_IN_A_STEP && !program.uniform.iter().all(|u| *u);
        if !outrun && self.hurried.1 != MANY_IN_A_STEP {
            return Ok(());
        }
        let (r, name) = (&model.sys.relations[first], self.choice.name());
        let close = if outrun { "within one step" } else { "less than a step apart" };
        let text = format!(
            "the fixed step {h:?} is too large for {name}: at time {t:?}, {MANY_IN_A_STEP} events in a row, of {} the last, have come {close}; \
             take a shorter one (--step), or a method for stiff models (--solver)",
            r.text
        );
        let span = r.origin.span.unwrap_or(Span::NONE);
        if outrun {
            return Err(Diagnostic::error(Stage::Run, span, text).within(&r.origin.instance));
        }
        self.say(observer, &text, span, "hurried");
        Ok(())
    }

    /// Takes note of what has happened at this instant.
    pub(super) fn note(&mut self, record: EventRecord) {
        match &mut self.record {
            Some(event) => event.join(record),
            None => self.record = Some(record),
        }
    }

    /// Tells the event that has been handled, if it has not been told.
    pub(super) fn tell(&mut self, observer: &mut dyn Observer) {
        let words = std::mem::take(&mut self.words);
        if let Some(mut event) = self.record.take() {
            event.fired.extend(words);
            observer.event(&event);
        }
    }

    /// The relations of bodies at rest, and those of surfaces that are slid on.
    pub(super) fn stays(&self, model: &Model) -> [Vec<usize>; 2] {
        let surfaces = self.sliding.iter().flat_map(|s| &s.surfaces);
        [model.resting.iter().map(|r| r.relation).collect(), surfaces.map(|s| s.relations[0].0).collect()]
    }

    /// Says what has come to rest or to slide since, and what no longer does.
    pub(super) fn note_stays(&mut self, model: &Model, before: &[Vec<usize>; 2]) {
        let words = [["comes to rest", "leaves rest"], ["enters the surface", "leaves the surface"]];
        for ((before, after), [enters, leaves]) in before.iter().zip(self.stays(model)).zip(words) {
            let word = |i: &usize, what: &str| format!("{} {what}", brief(&model.sys.relations[*i].text));
            self.words.extend(after.iter().filter(|i| !before.contains(i)).map(|i| word(i, enters)));
            self.words.extend(before.iter().filter(|i| !after.contains(i)).map(|i| word(i, leaves)));
        }
    }

    /// Takes note of states that have moved since they had these values.
    pub(super) fn note_moved(&mut self, model: &Model, program: &ModeProgram, before: &[f64]) {
        let Some(record) = &mut self.record else { return };
        for (&(slot, _), &was) in program.states.iter().zip(before) {
            let now = model.machine.values[slot as usize];
            if now != was {
                record.change(model.slot_name(program, slot), was, now);
            }
        }
    }

    pub(super) fn terminated(&mut self, message: &Option<String>) {
        if let Some(m) = message {
            self.report.terminated = Some(m.clone());
        }
    }

    /// Tells something once; of the same kind (the first word of the key) and line three times, where the line stands for many.
    pub(super) fn say(&mut self, observer: &mut dyn Observer, text: &str, span: Span, key: &str) {
        const MOST: usize = 3;
        if !self.warned.insert(key.to_string()) {
            return;
        }
        let kind = key.split(' ').next().unwrap_or_default().to_string();
        let told = self.told.entry((kind, span)).or_insert(0);
        *told += 1;
        if span == Span::NONE || *told <= MOST {
            observer.message(text, span);
        } else if *told == MOST + 1 {
            observer.message("the same of others on this line: told no more, `--trace events` lists all", span);
        }
    }

    /// Tells what functions had to say since the last time; what they said while steps were tried does not end the run.
    pub(super) fn tried(&mut self, model: &mut Model, observer: &mut dyn Observer) {
        for w in model.machine.host.warnings().into_iter().filter(|w| !w.ends) {
            self.say(observer, &w.message, w.span, &w.message);
        }
    }

    pub(super) fn warnings(&mut self, model: &mut Model, observer: &mut dyn Observer) {
        for w in model.machine.host.warnings() {
            match w.ends {
                true => self.terminated(&Some(w.message)),
                false => self.say(observer, &w.message, w.span, &w.message),
            }
        }
        for (cells, taken, other) in std::mem::take(&mut model.machine.ambiguous) {
            self.several(model, &cells, &taken, &other, observer);
        }
        for (span, text) in model.outside_bounds() {
            self.say(observer, &text, span, &text);
        }
    }

    /// Says that the equations of a loop hold in more than one mode.
    fn several(&mut self, model: &Model, cells: &[Cell], taken: &[f64], other: &[f64], observer: &mut dyn Observer) {
        let differ = (0..cells.len()).filter(|&k| taken[k] != other[k]);
        let relation = |k: usize| model.sys.relations.iter().find(|r| r.var == cells[k].var);
        let words: Vec<String> = differ
            .clone()
            .filter(|&k| relation(k).is_some())
            .take(6)
            .map(|k| format!("{} is {}", brief(&model.sys.condition_text(cells[k].var)), taken[k] != 0.0))
            .collect();
        let place = differ.filter_map(relation).find_map(|r| r.origin.span).unwrap_or(Span::NONE);
        let t = model.machine.values[model.machine.time as usize];
        let text = format!(
            "at time {t:?} the equations have several solutions: the one taken, where {}, and one where the contrary holds",
            words.join(", ")
        );
        self.say(observer, &text, place, &format!("several {:?}", cells.first()));
    }

    /// Says which parameters lie outside their own bounds, and which ones nothing has determined.
    pub(super) fn about_parameters(&mut self, model: &Model, observer: &mut dyn Observer) {
        for (span, text) in model.undetermined_parameters() {
            self.say(observer, &text, span, &text);
        }
        let dae = &model.sys.dae;
        for (id, v) in dae.vars.iter().filter(|(_, v)| v.variability == Variability::Parameter) {
            let Some((x, outside)) = model.beyond_bounds(id) else { continue };
            let text = format!("parameter {} = {x:?} lies {outside}", v.name);
            self.say(observer, &text, v.origin.span.unwrap_or(Span::NONE), &text);
        }
    }

    /// An assertion that says that what was just met cannot be.
    pub(super) fn excluded(&self, model: &mut Model, d: Diagnostic) -> Diagnostic {
        model.machine.chain(&model.assertions);
        model.machine.host.error = None;
        let Some(k) = failing(model) else { return d };
        let a = model.sys.dae.assertions[model.sys.assertions[k].1].clone();
        let text = model.message(&a.message);
        let d = d.hint(format!("an assertion excludes this, and does not hold here: {text}"));
        match a.origin.span {
            Some(span) => d.label(span, "this assertion"),
            None => d,
        }
    }

    /// Ends the run if an assertion fails that fails on these sides of `t`, too ([`Runner::assertions_beside`]).
    pub(super) fn check_assertions(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        sides: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        model.machine.chain(&model.assertions);
        let mut beside: Option<Vec<bool>> = None;
        for k in 0..model.assertion_slots.len() {
            let index = model.sys.assertions[k].1;
            let error = model.sys.dae.assertions[index].error;
            let known = !error && self.warned.contains(&format!("assert {k}"));
            if model.machine.values[model.assertion_slots[k] as usize] != 0.0 || known {
                continue;
            }
            if beside.get_or_insert_with(|| self.assertions_beside(model, program, t, sides))[k] {
                continue;
            }
            if !error {
                self.warn_of(model, k, t, observer);
                continue;
            }
            let a = model.sys.dae.assertions[index].clone();
            let text = model.message(&a.message);
            let span = a.origin.span.unwrap_or(Span::NONE);
            return Err(Diagnostic::error(Stage::Run, span, format!("assertion failed at time {t:?}: {text}"))
                .within(a.origin.instance));
        }
        model.machine.host.error = None;
        Ok(())
    }

    /// Which assertions hold a moment before (-1) or after (1) `t`, as things move there. What fails at the instant of an event alone
    /// does so by rounding: at the event of mod(x, p) its value may be -1e-17.
    pub(super) fn assertions_beside(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        sides: &[f64],
    ) -> Vec<bool> {
        let mut holds = vec![false; model.assertion_slots.len()];
        if sides.is_empty() || self.sliding.is_some() {
            return holds;
        }
        let kept = (model.machine.values.clone(), model.machine.course.clone());
        let instants = model.machine.instants;
        for moment in [instants.close(t), BESIDE * instants.span()] {
            for side in sides {
                let there = |&(x, dx): &(u32, u32)| kept.0[x as usize] + side * moment * kept.0[dx as usize];
                let x: Vec<f64> = program.states.iter().map(there).collect();
                if x.iter().all(|x| x.is_finite()) && self.evaluate(model, program, t + side * moment, &x).is_ok() {
                    model.machine.chain(&model.assertions);
                    let now = |&s: &u32| model.machine.values[s as usize] == 1.0;
                    holds.iter_mut().zip(&model.assertion_slots).for_each(|(h, s)| *h |= now(s));
                }
                (model.machine.values, model.machine.course) = kept.clone();
            }
        }
        model.machine.host.error = None;
        holds
    }

    /// States whose derivatives have no value where the run begins.
    pub(super) fn without_rate(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Trouble> {
        let none = |model: &Model| program.states.iter().any(|s| !model.machine.values[s.1 as usize].is_finite());
        if !none(model) {
            return None;
        }
        let x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        if let Err(e) = self.evaluate(model, program, t, &x) {
            return Some(e);
        }
        let states = program.plan.states.iter().zip(&program.states);
        let bad = states.filter(|(_, s)| !model.machine.values[s.1 as usize].is_finite());
        let bad: Vec<Cell> = bad.map(|(c, _)| Cell { var: c.var, order: c.order + 1 }).collect();
        (!bad.is_empty()).then_some(Trouble::NotFinite(bad))
    }

    pub(super) fn step_failed(
        &self,
        model: &Model,
        program: &ModeProgram,
        e: StepError,
        trouble: Option<Trouble>,
    ) -> Diagnostic {
        let of = |k: usize| {
            let unknown = program.implicit.as_ref().and_then(|f| f.unknowns.get(k.checked_sub(program.states.len())?));
            program.plan.states.get(k).copied().or(unknown.map(|u| u.1))
        };
        let worst = e.component().and_then(of);
        let state = worst.map(|c| saltus_structure::cell_name(&model.sys, c));
        let t = match e {
            StepError::TooSmall { t, .. } => t,
            _ => model.machine.values[model.machine.time as usize],
        };
        if let Some(trouble) = trouble {
            let mut d = model.explain(&trouble, Stage::Run, t, "the run failed");
            d = d.hint(e.to_string());
            return d;
        }
        if let StepError::Unstable { t, h, limit, .. } = e {
            let who = state.unwrap_or_default();
            let text = format!(
                "the fixed step {h:?} is too large for {}: at time {t:?} {who} grows from step to step although the model damps it",
                self.choice.name()
            );
            return Diagnostic::error(Stage::Run, Span::NONE, text).hint(format!(
                "steps below {limit:.1e} are stable (--step), or take a method for stiff models (--solver)"
            ));
        }
        let who = state.map_or(String::new(), |s| format!(", worst at {s}"));
        let place = worst.and_then(|c| model.sys.dae.vars[c.var].origin.span).unwrap_or(Span::NONE);
        Diagnostic::error(Stage::Run, place, format!("the integrator cannot go on at time {t:?}{who}: {e}")).hint(
            "a singularity of the solution, a discontinuity hidden in a function, or a tolerance that is too tight",
        )
    }
}
