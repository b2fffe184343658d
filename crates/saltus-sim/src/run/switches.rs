//! Switches without resets that accumulate: followed to their end, and what follows them.

use super::*;

/// Switches accumulate, and nothing says what follows: which ones, what they change, and what can be done.
fn nowhere(model: &Model, relations: &[usize], slots: &[u32], at: f64, why: &str) -> Diagnostic {
    let mut places: Vec<(Span, &str)> = Vec::new();
    for r in relations.iter().map(|&i| &model.sys.relations[i]) {
        if !places.iter().any(|p| p.1 == r.text) {
            places.push((r.origin.span.unwrap_or(Span::NONE), &r.text));
        }
    }
    let (names, declared) = model.named_slots(slots);
    let what = match places.is_empty() {
        true => String::new(),
        false => format!(" of {}", places.iter().take(4).map(|p| p.1).collect::<Vec<_>>().join(", ")),
    };
    let who = if names.is_empty() { "modes switch".to_string() } else { format!("{} switches", names.join(", ")) };
    let text = format!("infinitely many events{what} accumulate at time {at:?}: {who} in turn, ever faster, {why}");
    let place = places.first().map_or(declared, |p| p.0);
    let mut d = Diagnostic::error(Stage::Run, place, text);
    for (span, text) in places.iter().skip(1).take(3).filter(|p| p.0 != place) {
        d = d.label(*span, format!("and {text}"));
    }
    d.hint(
        "the model lacks a mode for what holds from there on; --zeno stop ends the run there as if that were its end",
    )
}

impl Runner<'_> {
    /// Notes a switch of what is remembered: relations that fired, slots that the derivatives depend on, slots that time alone
    /// changed. Says if such switches are about to have followed each other infinitely often.
    pub(super) fn switches(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        (fired, slots, timed): (Vec<(usize, f64, f64)>, Vec<u32>, Vec<u32>),
        before: Vec<f64>,
        t: f64,
    ) -> Option<Accumulation> {
        let decisive = !slots.is_empty();
        let slots = if decisive { slots } else { timed };
        let key = (model.series_of(&slots)?, decisive);
        let value = |s: u32| if model.tells_modes(s) { model.machine.values[s as usize] } else { 0.0 };
        let mut changed: Vec<(u32, f64)> = slots.iter().map(|&s| (s, value(s))).collect();
        changed.sort_by_key(|c| c.0);
        let switch = Switch { t, fired, changed, program: program.number, before };
        let found = self.switching.note(key, switch, self.span());
        self.location.in_turn = self.switching.in_turn();
        found
    }

    /// What becomes of switches that accumulate. Whether the field is another one from now on.
    pub(super) fn switches_end(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        a: &Accumulation,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let t = model.machine.values[model.machine.time as usize];
        let what = self.switches_text(model, a);
        let Some(at) = a.at else {
            let End::Mixed(mut mix) = model.end_of(program, a, self.span()) else { return Ok(false) };
            if self.forward.is_some() || !self.within_reach(model, &mix[0], 0.1 * BAND) {
                return Ok(false);
            }
            if !model.sustained(program, &mut mix, t, 1e-2) {
                return Ok(false);
            }
            let cycle = a.dwells.iter().sum::<f64>();
            let text = match mix[0].held().count() {
                1 => format!("sliding along the boundary of {what} from time {t:?}"),
                _ => format!(
                    "{what} switch in turn faster than can be followed, every {cycle:.1e}: sliding between their boundaries from time {t:?}"
                ),
            };
            self.say(observer, &text, self.switches_place(model, a), &format!("chatter {}", mix[0].relations[0].0));
            self.slides_between(model, mix);
            self.switching.forget(a);
            return Ok(true);
        };
        match self.options.zeno {
            Zeno::Error => {
                return Err(Diagnostic::error(
                    Stage::Run,
                    self.switches_place(model, a),
                    format!("infinitely many events accumulate at time {at:?}: {what}"),
                ));
            }
            Zeno::Stop => {
                self.report.terminated = Some(format!("events of {what} accumulate at time {at:?}"));
                return Ok(false);
            }
            Zeno::Rest => {}
        }
        if self.forward.is_some() {
            let text =
                format!("not supported yet: sensitivities beyond time {at:?}, where events of {what} accumulate");
            return Err(Diagnostic::error(Stage::Run, self.switches_place(model, a), text));
        }
        match model.end_of(program, a, self.span()) {
            End::Mixed(mix) => {
                self.switching.forget(a);
                self.rejoin(mix);
                Ok(true)
            }
            End::Follows => {
                let text =
                    format!("events of {what} accumulate at time {at:?}: what they change goes on from its limit");
                self.say(observer, &text, self.switches_place(model, a), &format!("switches {what}"));
                self.switching.told(a);
                Ok(false)
            }
            End::Nothing => Err(self.switches_nowhere(model, a, "and nothing says what follows")),
        }
    }

    /// The instant is over at which switches accumulate: the solution goes on between their boundaries, or as the equations have it
    /// beyond them, or not at all.
    pub(super) fn beyond(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<After, Diagnostic> {
        let Some(mut sliding) = self.sliding.take() else {
            return Ok(After { program: program.clone(), restart: None, changed: Vec::new() });
        };
        sliding.settle(model);
        let due = |s: &mut Surface| s.memory.as_ref().and_then(|m| m.until).is_some_and(|until| until <= t);
        let mut ended: Vec<Surface> = sliding.surfaces.extract_if(.., due).collect();
        self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
        let mut fired = Vec::new();
        while let Some(mix) = ended.first().map(Surface::mix) {
            let mut mix: Vec<Surface> = ended.extract_if(.., |s| s.mix() == mix).collect();
            let relations: Vec<usize> = mix[0].held().collect();
            let texts: Vec<&str> = relations.iter().take(4).map(|&i| &*model.sys.relations[i].text).collect();
            let what = texts.join(", ");
            let place = model.sys.relations[relations[0]].origin.span.unwrap_or(Span::NONE);
            let at = mix[0].memory.as_ref().map_or(t, |m| m.at);
            if mix[0].memory.as_ref().is_some_and(|m| m.parting) {
                self.switching.part(&relations);
                self.location.in_turn = self.switching.in_turn();
                fired.extend(relations);
            } else if model.sustained(program, &mut mix, t, 1e-5) {
                mix.iter_mut().filter_map(|s| s.memory.as_mut()).for_each(|m| m.until = None);
                let text =
                    format!("events of {what} accumulate at time {at:?}: sliding along their boundaries from there on");
                self.say(observer, &text, place, &format!("switches {what}"));
                self.slides_between(model, mix);
            } else if model.parts(program, &mut mix, t) {
                let text =
                    format!("events of {what} accumulate at time {at:?} and part again, the modes go on in turn");
                self.say(observer, &text, place, &format!("switches {what}"));
                // Until the guards are clear of errors.
                for memory in mix.iter_mut().filter_map(|s| s.memory.as_mut()) {
                    (memory.parting, memory.until) = (true, Some(t + SCATTER * self.span()));
                }
                self.rejoin(mix);
            } else if model.goes_on(program, &mix) {
                let text = format!("events of {what} accumulate at time {at:?}: the equations say what follows");
                self.say(observer, &text, place, &format!("switches {what}"));
                fired.extend(relations);
            } else if mix[0].memory.as_ref().is_some_and(|m| m.scattered && t - m.at < MOST_SCATTER * self.span()) {
                for memory in mix.iter_mut().filter_map(|s| s.memory.as_mut()) {
                    memory.until = Some(memory.at + 10.0 * (t - memory.at).max(SCATTER * self.span()));
                }
                self.rejoin(mix);
            } else {
                self.write(model, program, t, sink)?;
                let slots: Vec<u32> = mix[0].bits.iter().map(|b| b.0).collect();
                return Err(nowhere(model, &relations, &slots, at, "and no mix of the modes keeps all of them there"));
            }
        }
        self.mask(model);
        self.location.forget(program, None);
        if !fired.is_empty() {
            let after = self.event(model, program, &fired, EventKind::State, t, sink, observer, true)?;
            // Of several mixes that end at once others may go on.
            self.arrange(model, &after.program, t, observer)?;
            return Ok(After { restart: Some(Restart::Cold), ..after });
        }
        self.arrange(model, program, t, observer)?;
        Ok(After { program: program.clone(), restart: Some(Restart::Cold), changed: Vec::new() })
    }

    /// From now on the solution slides between the boundaries of switches that follow each other too fast.
    fn slides_between(&mut self, model: &mut Model, mut mix: Vec<Surface>) {
        for memory in mix.iter_mut().filter_map(|s| s.memory.as_mut()) {
            let guards: Vec<usize> = memory.guards.iter().map(|g| g.0).collect();
            let mut g = vec![0.0; guards.len()];
            model.machine.crossing_values(&guards, &mut g);
            let reach = |(&i, g): (&usize, &f64)| {
                model.machine.relations[i].floor = 0.0;
                BAND * model.machine.relations[i].size.max(1e-6) + 4.0 * g.abs()
            };
            memory.reach = guards.iter().zip(&g).map(reach).collect();
            self.location.released.retain(|i, _| !guards.contains(i));
        }
        self.rejoin(mix);
    }

    /// Whether the functions of all guards are at zero up to this part of their sizes.
    fn within_reach(&self, model: &mut Model, surface: &Surface, part: f64) -> bool {
        let guards: Vec<usize> = surface.held().collect();
        let mut g = vec![0.0; guards.len()];
        model.machine.crossing_values(&guards, &mut g);
        guards.iter().zip(&g).all(|(&i, g)| g.abs() <= part * model.machine.relations[i].size)
    }

    /// Leaves what slides between switches where something else has set what they switch. Whether there was such a thing.
    pub(super) fn overruled(&mut self, model: &Model) -> bool {
        let Some(sliding) = &mut self.sliding else { return false };
        let changed = sliding.overruled(model);
        self.sliding.take_if(|s| s.surfaces.is_empty());
        changed
    }

    /// The relations of switches, or what they change if time alone makes them.
    fn switches_text(&self, model: &Model, a: &Accumulation) -> String {
        let mut texts: Vec<&str> = Vec::new();
        for &(i, _, _) in a.cycle.iter().flat_map(|s| &s.fired) {
            let text = &*model.sys.relations[i].text;
            if !texts.contains(&text) && texts.len() < 4 {
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            return texts.join(", ");
        }
        let slots = model.switched_slots(a);
        model.named_slots(&slots).0.join(", ")
    }

    fn switches_place(&self, model: &Model, a: &Accumulation) -> Span {
        let relation = a.cycle.iter().flat_map(|s| &s.fired).find_map(|f| model.sys.relations[f.0].origin.span);
        let slots = model.switched_slots(a);
        relation.unwrap_or_else(|| model.named_slots(&slots).1)
    }

    /// Switches accumulate, and the solution ends there.
    pub(super) fn switches_nowhere(&self, model: &Model, a: &Accumulation, why: &str) -> Diagnostic {
        let relations: Vec<usize> = a.cycle.iter().flat_map(|s| &s.fired).map(|f| f.0).collect();
        let slots = model.switched_slots(a);
        nowhere(model, &relations, &slots, a.at.unwrap_or(a.cycle[0].t), why)
    }
}
