//! One event: what is handled, what it means for surfaces, rests and the integrator, and the rows on both sides of it.

use super::*;

/// What a crossing function may be wrong by if the states are wrong by `errors`.
fn noise(model: &mut Model, program: &ModeProgram, i: usize, t: f64, x: &[f64], errors: &[f64]) -> f64 {
    model.aside(|model| sway(model, program, i, t, x, errors).max(model.machine.band(i)))
}

/// Whether a function goes away from the side that its bit excludes, by the present derivatives of the states.
pub(super) fn recedes(model: &mut Model, program: &ModeProgram, relation: usize) -> bool {
    let Some(&k) = program.crossings.by_relation.get(&relation) else { return false };
    let Some(gradient) = program.crossings.functions[k].gradient.as_ref().filter(|g| g.affine) else { return false };
    let m = &mut model.machine;
    let (kind, bit) = (m.relations[relation].kind.clone(), m.values[m.relations[relation].var as usize]);
    let side = if positive_side(&kind, bit) { 1.0 } else { -1.0 };
    matches!(kind, RelationKind::Sign(_)) && side * gradient.rate(m, program) > 0.0
}

impl Runner<'_> {
    pub(super) fn event(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        kind: EventKind,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
        before_row: bool,
    ) -> Result<After, Diagnostic> {
        self.pace(t, observer);
        if before_row {
            self.write(model, program, t, sink)?;
        }
        let stays = self.stays(model);
        self.tried(model, observer);
        self.due = None;
        let arrived = model.arrive();
        self.causal = false;
        self.stands_still(model, fired, t)?;
        self.hurries(model, program, fired, t, observer)?;
        let before = model.discrete_now();
        let bits: Vec<f64> =
            fired.iter().map(|&i| model.machine.values[model.machine.relations[i].var as usize]).collect();
        if let Some(s) = &self.sliding {
            s.settle(model);
            s.freeze(model, true);
        }
        let levels = self.levels(model);
        let pulled = self.pulled_back(model, program, fired);
        model.whole_events = self.forward.is_some() || arrived;
        model.whole_islands = self.sliding.is_some();
        let mut near = self.location.near(program, t, 1e-10 * self.span().max(t.abs()));
        near.retain(|i| !self.location.in_turn.contains(i));
        if fired.is_empty() && kind == EventKind::State {
            near.clear();
        }
        let jump = self.forward.as_ref().map(|f| f.before(model, program, fired, kind)).transpose()?;
        let (begun, modes) = (std::time::Instant::now(), model.programs.made);
        // What touches zero has the value of zero, whatever the last digits say.
        let touching: Vec<usize> = self.location.touching.iter().copied().filter(|i| fired.contains(i)).collect();
        touching.iter().for_each(|&i| model.machine.relations[i].frozen = true);
        // What rests is at zero within its errors, and stays so unless its support jumps away.
        let resting: Vec<usize> = model.resting.iter().map(|r| r.relation).collect();
        let held = levels.iter().filter(|l| resting.contains(&l.0));
        let came: Vec<(u32, f64)> = program.states.iter().map(|s| (s.0, model.machine.values[s.0 as usize])).collect();
        let floors: Vec<(usize, f64)> = held.map(|&(i, g)| (i, out_of_reach(model, i, g))).collect();
        let exchange = |model: &mut Model, floors: Vec<(usize, f64)>| -> Vec<(usize, f64)> {
            let put = |(i, f): (usize, f64)| (i, std::mem::replace(&mut model.machine.relations[i].floor, f));
            floors.into_iter().map(put).collect()
        };
        let floors = exchange(model, floors);
        // What follows need not continue what was.
        let course = std::mem::take(&mut model.machine.course);
        let handled = model.handle_event(program, fired, &near, kind, observer);
        exchange(model, floors);
        touching.iter().for_each(|&i| model.machine.relations[i].frozen = false);
        // A lag that has jumped.
        let arrived = model.arrive() || arrived;
        if arrived {
            self.words.push("a jump that was delayed arrives".into());
        }
        let took = begun.elapsed().as_secs_f64();
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        let h = handled.map_err(|d| self.excluded(model, d))?;
        if let (Some(forward), Some(jump)) = (&mut self.forward, jump) {
            forward.after(model, &h.program, jump);
        }
        match h.record.kind {
            EventKind::Time => self.report.time_events += 1,
            EventKind::Mode => {
                self.report.mode_changes += 1;
                let new = model.programs.made > modes;
                if new { &mut self.report.first_entries } else { &mut self.report.returns }.push(took);
            }
            _ => self.report.state_events += 1,
        }
        self.terminated(&h.terminated);
        self.note(h.record);
        for &i in &h.accumulated {
            if self.comes_to_rest(model, i, t, observer)? {
                self.words.push(format!("{} comes to rest", brief(&model.sys.relations[i].text)));
            }
        }
        let program_after = h.program.clone();
        let same = Rc::ptr_eq(&program_after, program) && !h.switched;
        self.location.forget(program, same.then_some(&h.changed[..]));
        self.location.rouse(program, &model.roused(&h.changed));
        self.location.choose(model.chosen(&program_after));
        if same && h.changed.is_empty() {
            model.machine.course = course;
        }
        let fires: Vec<(usize, f64, f64)> = fired
            .iter()
            .zip(&bits)
            .map(|(&i, &b)| (i, b, model.machine.values[model.machine.relations[i].var as usize]))
            .filter(|f| f.1 != f.2)
            .collect();
        let memoryless =
            h.memoryless || same && h.by_definition && model.forgets(program, &fires, &model.changes(&before));
        let arrivals: Vec<(usize, f64, f64)> = self
            .arrived
            .drain(..)
            .map(|(i, bit)| (i, bit, model.machine.values[model.machine.relations[i].var as usize]))
            .filter(|s| s.1 != s.2 && memoryless)
            .collect();
        // The field holds surfaces and what rests: what their functions read moves it, too.
        let slides = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(|s| &s.relations).map(|r| r.0);
        let held: Vec<usize> = slides.chain(model.resting.iter().map(|r| r.relation)).collect();
        let holds = |s: &u32| {
            let functions = program.crossings.by_slot.get(s).into_iter().flatten();
            functions.map(|&k| program.crossings.functions[k].relation).any(|i| held.contains(&i))
        };
        let touches = |s: &u32| program.sensitivity.slots.contains(s) || holds(s);
        let mut critical = h.changed.iter().any(touches) || !arrivals.is_empty();
        if !critical && same && !h.changed.is_empty() {
            critical = self.sliding.as_ref().is_some_and(|s| s.stale(model, program));
        }
        let mut restart = if !same || !h.reinitialized.is_empty() {
            Some(Restart::Cold)
        } else if critical {
            Some(Restart::Warm)
        } else {
            None
        };
        if !same {
            self.carry_over(model, (program, &h.program), h.islands.as_ref());
        }
        if self.overruled(model) {
            restart = Some(Restart::Cold);
        }
        let (kicked, struck) = self.stirred(model, &program_after, t);
        if self.jumped_away(model, &program_after, &levels, &kicked, observer)? || arrived {
            restart = Some(Restart::Cold);
        }
        if critical && self.remembers_again(model, &program_after, observer)? {
            restart = Some(Restart::Cold);
        }
        let switched: Vec<(usize, f64, f64)> = fires
            .iter()
            .copied()
            .filter(|s| !touching.contains(&s.0) && memoryless && critical)
            .filter(|s| !model.machine.holds_ahead.contains(&s.0))
            .collect();
        if memoryless {
            switched.iter().for_each(|s| self.whirl.note(s.0, s.1, s.2, t));
        } else {
            self.whirl.forget(|i| model.concerns(h.islands.as_ref(), i));
            self.turns.retain(|&i, _| !model.concerns(h.islands.as_ref(), i));
        }
        let apart =
            if restart.is_some() { self.set_apart(|i| model.concerns(h.islands.as_ref(), i)) } else { Vec::new() };
        let (wound, abandoned) = match restart {
            Some(_) => self.wound(model, &program_after, t, observer)?,
            None => (Vec::new(), false),
        };
        let mut switched = switched;
        switched.extend(&arrivals);
        let mut winds = restart.is_some() && self.winds(model, &program_after, &mut switched, t, observer);
        if !winds && !h.reinitialized.is_empty() {
            winds = self.begins_wound(model, &program_after, t, observer);
        }
        switched.retain(|s| !arrivals.contains(s));
        let met = match restart {
            Some(_) if winds => Some(true),
            Some(_) => self.meet(model, &program_after, &switched, &wound, t, observer)?,
            None => None,
        };
        let reviewed = match met {
            Some(changed) => changed,
            None => restart.is_some() && self.review(model, &program_after, t, observer)?,
        };
        self.rejoin(wound);
        self.rejoin(apart);
        let reviewed = reviewed || abandoned;
        if reviewed {
            restart = Some(Restart::Cold);
        }
        if restart.is_some() {
            self.location
                .released
                .extend(pulled.into_iter().filter(|p| !self.location.in_turn.contains(&p.0)).collect::<Vec<_>>());
        }
        let turning: Vec<usize> = self.turning(fired);
        for &i in fired.iter().filter(|i| !turning.contains(i)) {
            self.flip(model, &program_after, i, t);
        }
        let slides = met.is_none() && self.slide(model, &program_after, switched, t, observer);
        let lifted = restart.is_some() && !self.lift_off(model, &program_after, t, false).is_empty();
        if slides || lifted {
            restart = Some(Restart::Cold);
        }
        if !memoryless && h.reinitialized.is_empty() && h.terminated.is_none() {
            let decisive = |s: &&u32| !same || program.sensitivity.slots.contains(s);
            let slots: Vec<u32> = h.changed.iter().filter(decisive).copied().collect();
            let timed = h.changed.iter().copied().filter(|_| kind == EventKind::Time).collect();
            let before = if self.switching.attentive() { before } else { Vec::new() };
            let found = self.switches(model, program, (fires, slots, timed), before, t);
            if let Some(a) = found
                && self.switches_end(model, &program_after, &a, observer)?
            {
                restart = Some(Restart::Cold);
            }
        }
        if self.forward.is_some() && self.sliding.is_some() {
            let text = format!("not supported yet: sensitivities of a solution that slides, from time {t:?}");
            return Err(Diagnostic::error(Stage::Run, Span::NONE, text));
        }
        if restart.is_some() {
            self.arrange(model, &program_after, t, observer)?;
        }
        if !h.reinitialized.is_empty() {
            let turned = model.states_now(&program_after);
            let reset: Vec<(u32, f64)> = came.into_iter().filter(|c| h.reinitialized.contains(&c.0)).collect();
            // All are judged before one of them comes to rest: what strikes in the same instant may have nothing to do with it.
            let mut impacts = Vec::new();
            for (&i, &bit) in fired.iter().zip(&bits) {
                let away = if positive_side(&model.machine.relations[i].kind, bit) { 1.0 } else { -1.0 };
                let Some(impact) = model.impact(&program_after, i, away, &reset, t) else { continue };
                let rebound = model.rebound(&program_after, &impact, t, self.span());
                impacts.push((i, away, impact, rebound));
            }
            for (i, away, impact, rebound) in impacts {
                let size = model.machine.relations[i].size.max(1e-6);
                let small = rebound.is_some_and(|(height, _)| height < 10.0 * self.tolerance * size);
                // What was never set back further than errors go tells nothing.
                if impact.first && small && !self.zeno.knows(i) {
                    continue;
                }
                let accumulates = self.zeno.record(i, t, self.span(), small);
                let sticks = rebound.and_then(|r| self.sticks(model, &program_after, i, r, t));
                let previous = self.zeno.impact(impact.clone());
                if !impact.first {
                    self.impacts.push((i, away, t));
                }
                // It has a new course, whatever was in doubt about the old one.
                self.location.released.remove(&i);
                model.machine.relations[i].floor = 0.0;
                if let Some(at) = accumulates.or(sticks) {
                    self.accumulate(model, &program_after, (&impact, previous.as_ref()), at, observer)?;
                    self.arrange(model, &program_after, t, observer)?;
                }
            }
            self.note_moved(model, &program_after, &turned);
        }
        self.note_stays(model, &stays);
        self.tell(observer);
        self.mask(model);
        model.write_lines(t, true)?;
        self.check_assertions(model, &program_after, t, &[1.0], observer)?;
        if let Some(bad) = self.outside(model, &program_after, t) {
            return Err(model.explain(&bad, Stage::Run, t, "the run failed"));
        }
        self.warnings(model, observer);
        self.write(model, &program_after, t, sink)?;
        if restart.is_none() {
            let still = |(&i, &b): (&usize, &f64)| {
                (model.machine.values[model.machine.relations[i].var as usize] == b).then_some(i)
            };
            self.location.hesitate(fired.iter().zip(&bits).filter_map(still), t, self.span());
        }
        if struck.is_empty() {
            return Ok(After { program: program_after, restart, changed: h.changed });
        }
        // What rested is pushed into its support: an impact like any other.
        for &(i, away) in &struck {
            let r = &model.machine.relations[i];
            let bit = plain(&r.kind, away);
            model.machine.values[r.var as usize] = bit;
            if let Some(&p) = model.machine.previous.get(&r.var) {
                model.machine.values[p as usize] = bit;
            }
        }
        let struck: Vec<usize> = struck.iter().map(|s| s.0).collect();
        let mut after = self.event(model, &program_after, &struck, EventKind::State, t, sink, observer, false)?;
        after.changed.extend(h.changed);
        Ok(After { restart: Some(Restart::Cold), ..after })
    }

    /// Bodies at rest that an event has set in motion: the relations of all of them; and of those that move into their supports, with
    /// the sign of their functions outside. So do bodies that other impacts of the same instant have turned once more.
    fn stirred(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> (Vec<usize>, Vec<(usize, f64)>) {
        let (mut kicked, mut struck) = (Vec::new(), Vec::new());
        self.impacts.retain(|i| i.2 == t);
        if model.resting.is_empty() && self.impacts.is_empty() {
            return (kicked, struck);
        }
        let x = model.states_now(program);
        let errors = self.errors(program, &x);
        let lifts = self.lifts(model, program, t, &x);
        let rests: Vec<(usize, f64)> = model.resting.iter().map(|r| (r.relation, r.away)).collect();
        let first: Vec<bool> = model.resting.iter().map(|r| r.first).collect();
        for ((&side, lift), _) in rests.iter().zip(lifts).zip(first).filter(|(_, first)| !first) {
            let Some((rate, wrong)) = model.parting(program, side, t, &errors) else { continue };
            let height = 0.5 * rate * rate / lift.abs().max(1e-30);
            if rate.abs() <= wrong || height <= 2.0 * noise(model, program, side.0, t, &x, &errors) {
                continue;
            }
            kicked.push(side.0);
            if rate < 0.0 {
                struck.push(side);
            }
        }
        for &(i, away, _) in self.impacts.iter().filter(|i| !rests.iter().any(|r| r.0 == i.0)) {
            if model.parting(program, (i, away), t, &errors).is_some_and(|(rate, wrong)| rate < -wrong) {
                struck.push((i, away));
            }
        }
        (kicked, struck)
    }

    /// What the states may be wrong by.
    pub(super) fn errors(&self, program: &ModeProgram, x: &[f64]) -> Vec<f64> {
        let o = self.integrator_options(program);
        x.iter().zip(&o.atol).map(|(v, a)| o.rtol * v.abs() + a).collect()
    }

    /// Those of some relations whose functions cross by turns that shrink: their values tell nothing of noise.
    pub(super) fn turning(&self, of: &[usize]) -> Vec<usize> {
        let shrinks = |i: &&usize| self.turns.values().any(|t| t.of(**i) && t.shrinking());
        of.iter().filter(shrinks).copied().collect()
    }

    /// Notes an event of a relation. Quick events of a function whose values between them are below the errors of the
    /// integration are noise: the function counts as zero until it leaves that band.
    pub(super) fn flip(&mut self, model: &mut Model, program: &ModeProgram, i: usize, t: f64) {
        let amplitude = self.location.take_amplitude(i);
        let mut f = self.flips.get(&i).copied().unwrap_or_default();
        f.count = if t - f.last < 1e-3 * self.span() { f.count + 1 } else { 0 };
        (f.last, f.far) = (t, f.far.max(amplitude.unwrap_or(0.0)));
        // A way there and a way back may differ much: the longest of some counts.
        if f.count.is_multiple_of(12) && !self.location.in_turn.contains(&i) {
            let a = std::mem::take(&mut f.far).max(model.machine.band(i));
            let size = model.machine.relations[i].size.max(1e-2);
            let error = if f.count > 0 { self.error_of(model, program, i, t) } else { 0.0 };
            if f.count > 0 && (a < 0.1 * self.tolerance * size || a < 0.01 * error) {
                self.location.released.insert(i, 10.0 * a);
            } else if f.count >= 24 && a < error {
                self.location.released.insert(i, 2.0 * a);
            }
        }
        self.flips.insert(i, f);
    }

    /// Relations whose functions have just crossed by dense output alone, and what their functions may be wrong by. Where the
    /// equations lead back at once, or states are off what they decay to in no time: within these errors it is no crossing when
    /// they do so after a restart.
    fn pulled_back(&self, model: &mut Model, program: &ModeProgram, fired: &[usize]) -> Vec<(usize, f64)> {
        if self.sliding.is_some() || program.states.is_empty() {
            return Vec::new();
        }
        let weight = |k: usize, x: f64| self.tolerance * x.abs() + self.absolute(program.nominal[k]);
        let mut pulled = Vec::new();
        for &i in fired {
            let (r, function) = (&model.machine.relations[i], program.crossings.by_relation.get(&i));
            let Some(&k) = function.filter(|_| matches!(r.kind, RelationKind::Sign(_))) else { continue };
            let side = if positive_side(&r.kind, model.machine.values[r.var as usize]) { 1.0 } else { -1.0 };
            let m = &mut model.machine;
            // Through equations that are solved, waiting could lead their branches beyond where they have solutions.
            let Some(gradient) = program.crossings.functions[k].gradient.as_ref().filter(|g| g.affine) else {
                continue;
            };
            let rate = gradient.rate(m, program);
            let value = |slot: u32| m.values[slot as usize];
            let error = |&(k, slot, _): &(usize, u32, f64)| value(slot).abs() * weight(k, value(program.states[k].0));
            let error = gradient.states.iter().map(error).sum();
            let mut g = [0.0];
            model.machine.crossing_values(&[i], &mut g);
            if (self.off || side * rate > 0.0) && g[0].abs() <= error {
                pulled.push((i, error));
            }
        }
        pulled
    }

    /// When a body comes back that has just been turned by an impact, if it does not go beyond the errors of the
    /// integration: the next impact could not be told from this one.
    fn sticks(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: usize,
        (height, duration): (f64, f64),
        t: f64,
    ) -> Option<f64> {
        let x = model.states_now(program);
        let noise = noise(model, program, i, t, &x, &self.errors(program, &x));
        let mut g = [0.0];
        model.machine.crossing_values(&[i], &mut g);
        (height < 2.0 * noise && g[0].abs() <= 2.0 * noise).then_some(t + duration)
    }

    /// How far a crossing function moves if the states move by what the integration may be wrong by.
    fn error_of(&self, model: &mut Model, program: &ModeProgram, i: usize, t: f64) -> f64 {
        let x = model.states_now(program);
        let errors: Vec<f64> = x.iter().map(|v| self.tolerance * v.abs()).collect();
        model.aside(|model| sway(model, program, i, t, &x, &errors))
    }

    /// Fails if events follow each other without time advancing.
    pub(super) fn stands_still(&mut self, model: &Model, fired: &[usize], t: f64) -> Result<(), Diagnostic> {
        let (span, rounding) = (self.span(), 8.0 * f64::EPSILON * t.abs());
        // Time may creep on as well, from event to event, without getting anywhere.
        let crowd = (1e-8 * span).max(MAX_STANDSTILL as f64 * rounding);
        self.crowd.1 += 1;
        if t - self.crowd.0 > crowd {
            self.crowd = (t, 0);
        }
        if t - self.standstill.0 > (1e-12 * span).max(rounding) && self.crowd.1 < MAX_STANDSTILL {
            self.standstill = (t, 0);
            return Ok(());
        }
        self.standstill.1 += 1;
        if self.standstill.1.max(self.crowd.1) < MAX_STANDSTILL {
            return Ok(());
        }
        if let Some(a) = self.switching.without_end(fired) {
            return Err(self.switches_nowhere(model, &a, "and come too close to each other to be told apart"));
        }
        let relations = fired.iter().map(|&i| (&*model.sys.relations[i].text, &model.sys.relations[i].origin));
        let ticks = model.tickers.iter().zip(&model.sys.dae.samplers);
        let ticks = ticks.filter(|(k, _)| (k.due() - t).abs() <= crowd).map(|(k, s)| (&*k.name, &s.origin));
        let causes: Vec<_> = relations.chain(ticks).take(4).collect();
        let text: Vec<&str> = causes.iter().map(|c| c.0).collect();
        let (what, hint) = match fired.is_empty() {
            true => {
                ("time events", "time has to go on between events: look at the intervals of sample() and of clocks")
            }
            false => ("events", "a condition that switches itself off again needs pre() or hysteresis"),
        };
        let of = if text.is_empty() { String::new() } else { format!(", of {}", text.join(", ")) };
        let origin = causes.first().map(|c| c.1.clone()).unwrap_or_default();
        Err(Diagnostic::error(
            Stage::Run,
            origin.span.unwrap_or(Span::NONE),
            format!("the run does not get past time {t:?}: {MAX_STANDSTILL} {what} in a row{of}"),
        )
        .within(&origin.instance)
        .hint(hint))
    }

    /// Relations of surfaces and of bodies at rest are not searched for.
    pub(super) fn mask(&mut self, model: &Model) {
        let sliding = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(Surface::held);
        self.location.masked = sliding.chain(model.resting.iter().map(|r| r.relation)).collect();
    }
}
