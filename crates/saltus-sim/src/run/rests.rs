//! Bodies at rest after impacts that accumulate: what holds them, what lifts or kicks them, and what an event leaves of that.

use super::*;

/// By how much a function that is held at zero, where it is `g`, has to move to be gone.
pub(super) fn out_of_reach(model: &Model, relation: usize, g: f64) -> f64 {
    1e-6 * model.machine.relations[relation].size.max(1e-6) + 100.0 * g.abs()
}

impl Runner<'_> {
    /// The functions that are held at zero by sliding or rest.
    pub(super) fn levels(&self, model: &mut Model) -> Vec<(usize, f64)> {
        let sliding = self.sliding.iter().flat_map(|s| &s.surfaces).map(|s| s.relations[0].0);
        let held: Vec<usize> = sliding.chain(model.resting.iter().map(|r| r.relation)).collect();
        let mut g = vec![0.0; held.len()];
        model.machine.crossing_values(&held, &mut g);
        held.into_iter().zip(g).collect()
    }

    /// Into another mode: bodies go on resting where they can, surfaces of other islands are slid on, those that the event concerns
    /// are found anew.
    pub(super) fn carry_over(
        &mut self,
        model: &mut Model,
        (from, to): (&ModeProgram, &ModeProgram),
        islands: Option<&rustc_hash::FxHashSet<u32>>,
    ) {
        if let Some(sliding) = &mut self.sliding {
            let mut stays = |i: usize| to.crossings.by_relation.contains_key(&i) && !model.concerns(islands, i);
            sliding.surfaces.retain(|s| s.held().all(&mut stays));
        }
        self.sliding.take_if(|s| s.surfaces.is_empty());
        let zeno = &mut self.zeno;
        model.resting = std::mem::take(&mut model.resting)
            .into_iter()
            .filter_map(|r| {
                let carried = r.carried(from, to);
                if carried.is_none() {
                    zeno.forget(r.relation);
                }
                carried
            })
            .collect();
    }

    /// After an event: surfaces and supports that jumped out of reach are left, and those whose bodies were kicked. Whether
    /// there were any.
    pub(super) fn jumped_away(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        before: &[(usize, f64)],
        kicked: &[usize],
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let now = self.levels(model);
        let far = |i: usize| {
            let (Some(was), Some(is)) = (before.iter().find(|l| l.0 == i), now.iter().find(|l| l.0 == i)) else {
                return None;
            };
            ((is.1 - was.1).abs() > out_of_reach(model, i, was.1)).then_some(is.1)
        };
        let lost: Vec<(usize, f64)> = now.iter().filter_map(|l| far(l.0).map(|g| (l.0, g))).collect();
        if lost.is_empty() && kicked.is_empty() {
            return Ok(false);
        }
        let gone = |i: usize| lost.iter().find(|l| l.0 == i).map(|l| l.1);
        for r in model.resting.extract_if(.., |r| gone(r.relation).is_some() || kicked.contains(&r.relation)) {
            self.zeno.forget(r.relation);
            self.flips.remove(&r.relation);
            self.location.released.remove(&r.relation);
            model.machine.relations[r.relation].floor = 0.0;
        }
        let surfaces: Vec<Surface> = self
            .sliding
            .iter_mut()
            .flat_map(|s| s.surfaces.extract_if(.., |s| gone(s.relations[0].0).is_some()))
            .collect();
        if self.sliding.as_ref().is_some_and(|s| s.surfaces.is_empty()) {
            self.sliding = None;
        }
        let side = |s: Surface| {
            let (lead, first, _) = s.relations[0];
            let up = gone(lead).is_some_and(|g| g > 0.0);
            let second = up != positive_side(&model.machine.relations[lead].kind, first);
            (s, second)
        };
        let surfaces: Vec<(Surface, bool)> = surfaces.into_iter().map(side).collect();
        let held: Vec<usize> = surfaces.iter().flat_map(|s| s.0.held()).collect();
        self.release(model, program, surfaces, observer)?;
        // Not near zero any more.
        for i in held {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        Ok(true)
    }

    /// Ends the rests of bodies that nothing presses against their supports, one after the other (`due`: of one at least); returns
    /// their relations.
    pub(super) fn lift_off(&mut self, model: &mut Model, program: &ModeProgram, t: f64, due: bool) -> Vec<usize> {
        let x = model.states_now(program);
        let mut left = Vec::new();
        while !model.resting.is_empty() {
            let lifts = self.lifts(model, program, t, &x);
            let most = lifts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((k, _)) = most.filter(|l| *l.1 > 0.0 || due && left.is_empty()) else { break };
            left.push(model.resting.remove(k).relation);
            self.zeno.forget(left[left.len() - 1]);
        }
        left
    }

    /// How strongly each of the bodies at rest would have to be pulled to stay, beside what is slid on; positive: it leaves.
    pub(super) fn lifts(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Vec<f64> {
        let Some(mut sliding) = self.sliding.take() else { return model.lifts(program, t, x) };
        model.know_rests(program);
        let judged = sliding.arrange(model, program, t).and_then(|()| {
            model.aside(|model| {
                let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
                sliding.judge(&mut rhs, t, x).ok()
            })
        });
        let found = judged.map(|()| sliding.lifts().to_vec());
        self.sliding = Some(sliding);
        found.unwrap_or_else(|| vec![-1.0; model.resting.len()])
    }

    /// Impacts of a relation accumulate: what they turn rests from now on.
    pub(super) fn accumulate(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        (impact, previous): (&Impact, Option<&Impact>),
        at: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        if self.comes_to_rest(model, impact.relation, at, observer)? {
            let t = model.machine.values[model.machine.time as usize];
            let rest = model.rest(program, impact, previous, t, self.span());
            model.resting.retain(|r| r.relation != impact.relation);
            model.resting.extend(rest);
            self.bear(model, program, impact.relation, t);
        }
        Ok(())
    }

    /// Surfaces that a body which has come to rest holds the solution on (friction beside a wall): its support bears them.
    fn bear(&mut self, model: &mut Model, program: &ModeProgram, relation: usize, t: f64) {
        let known = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(Surface::held);
        let mut borne = model.at_zero(program, &[relation], known.collect(), t, self.near(&[]));
        borne.retain(|s| s.borne);
        for i in borne.iter().flat_map(Surface::held) {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        self.rejoin(borne);
    }

    /// Whether events of a relation that accumulate are to end in rest; told, or refused, as the user wishes.
    pub(super) fn comes_to_rest(
        &mut self,
        model: &Model,
        i: usize,
        at: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let span = model.sys.relations[i].origin.span.unwrap_or(Span::NONE);
        let text = &model.sys.relations[i].text;
        match self.options.zeno {
            Zeno::Error => Err(Diagnostic::error(
                Stage::Run,
                span,
                format!("infinitely many events accumulate at time {at:?}: {text}"),
            )),
            Zeno::Stop => {
                self.report.terminated = Some(format!("events of {text} accumulate at time {at:?}"));
                Ok(false)
            }
            Zeno::Rest if self.forward.is_some() => {
                let text =
                    format!("not supported yet: sensitivities beyond time {at:?}, where events of {text} accumulate");
                Err(Diagnostic::error(Stage::Run, span, text))
            }
            Zeno::Rest => {
                let text = format!("events of {text} accumulate at time {at:?}: at rest from there on");
                self.say(observer, &text, span, &format!("zeno {i}"));
                Ok(true)
            }
        }
    }
}
