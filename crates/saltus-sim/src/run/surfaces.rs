//! Surfaces that the solution slides on: entered, wound into, met with others, held at events, left.

use super::*;

/// Relations that have switched, those of the same surface together.
fn surfaces_of(
    model: &mut Model,
    program: &ModeProgram,
    mut switched: Vec<(usize, f64, f64)>,
    t: f64,
) -> Vec<Vec<(usize, f64, f64)>> {
    switched.retain(|s| matches!(model.machine.relations[s.0].kind, RelationKind::Sign(_)));
    let mut groups = Vec::new();
    while let Some(&lead) = switched.first() {
        let alike = |s: &(usize, f64, f64)| s.0 == lead.0 || model.same_surface(program, lead.0, s.0, t);
        let (group, rest): (Vec<_>, Vec<_>) = switched.into_iter().partition(alike);
        groups.push(group);
        switched = rest;
    }
    groups
}

impl Runner<'_> {
    /// After a memoryless switch: if the fields of both sides point to the surface, the solution slides.
    pub(super) fn slide(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        switched: Vec<(usize, f64, f64)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut began = false;
        for group in surfaces_of(model, program, switched, t) {
            let lead = group[0].0;
            let count = self.flips.get(&lead).map_or(0, |f| f.count);
            match model.surface(program, group, t, count >= 8) {
                Meeting::Slides(surface) => self.slides_on(model, surface, t, observer),
                Meeting::Folds => {
                    self.folded = true;
                    continue;
                }
                Meeting::Passes => continue,
            }
            began = true;
        }
        began
    }

    /// One more surface that the solution slides on.
    fn slides_on(&mut self, model: &mut Model, surface: Surface, t: f64, observer: &mut dyn Observer) {
        let (span, lead) = (self.span(), surface.relations[0].0);
        let r = &model.sys.relations[lead];
        let text = format!("sliding along the boundary of {} from time {t:?}", r.text);
        self.say(observer, &text, r.origin.span.unwrap_or(Span::NONE), &format!("slide {lead}"));
        for i in surface.held() {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        self.sliding.get_or_insert_with(|| Sliding::new(span)).surfaces.push(surface);
    }

    /// The sides that sliding mixes, after they may have changed.
    pub(super) fn arrange(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let Some(mut sliding) = self.sliding.take() else { return Ok(()) };
        self.onto(model, program, &sliding.surfaces, t);
        let arranged = sliding.arrange(model, program, t);
        if arranged.is_some() && !sliding.whole() {
            let text = "what many of the surfaces do together is left out";
            self.tell_of(model, &sliding.surfaces, text, t, observer);
        }
        let sliding = self.sliding.insert(sliding);
        arranged.ok_or_else(|| {
            let text =
                format!("at time {t:?} the equations cannot be solved on all sides of what the solution slides on");
            let lead = sliding.surfaces.first().map(|s| s.relations[0].0);
            let place = lead.and_then(|i| model.sys.relations[i].origin.span).unwrap_or(Span::NONE);
            Diagnostic::error(Stage::Run, place, text)
        })
    }

    /// The relations that have switched in turn lately, so fast that the solution winds into where their functions are zero
    /// together.
    fn winding(&self, model: &mut Model, t: f64) -> Vec<(usize, f64, f64)> {
        let window = (0.1 * self.tolerance).clamp(1e-10, 1e-6) * self.span();
        let mut found = self.whirl.winding(t, window);
        let mut g = vec![0.0; found.len()];
        model.machine.crossing_values(&found.iter().map(|f| f.0).collect::<Vec<_>>(), &mut g);
        let near = |i: usize, g: f64| g.abs() <= 1e-4 * model.machine.relations[i].size.max(1e-2);
        let far: Vec<usize> = found.iter().zip(&g).filter(|(f, g)| !near(f.0, **g)).map(|(f, _)| f.0).collect();
        found.retain(|f| !far.contains(&f.0));
        found
    }

    /// Leaves surfaces whose sides come to depend on what is remembered of them. Whether there are any.
    pub(super) fn remembers_again(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let Some(sliding) = self.sliding.as_ref().filter(|s| s.remembers(model, program)) else { return Ok(false) };
        sliding.settle(model);
        let Some(sliding) = &mut self.sliding else { return Ok(false) };
        let plain = |s: &Surface| s.memory.is_none() && s.wound.is_none();
        let gone = sliding.surfaces.extract_if(.., |s| plain(s)).map(|s| (s.share() >= 0.5, s));
        let gone: Vec<(Surface, bool)> = gone.map(|(second, s)| (s, second)).collect();
        self.sliding.take_if(|s| s.surfaces.is_empty());
        self.release(model, program, gone, observer)?;
        Ok(true)
    }

    /// Takes out the surfaces that the solution has wound into, if they hold it after an event; else they are left. Whether they are.
    pub(super) fn wound(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Surface>, bool), Diagnostic> {
        let Some(sliding) = &mut self.sliding else { return Ok((Vec::new(), false)) };
        let surfaces: Vec<Surface> = sliding.surfaces.extract_if(.., |s| s.wound.is_some()).collect();
        self.sliding.take_if(|s| s.surfaces.is_empty());
        if surfaces.is_empty() {
            return Ok((surfaces, false));
        }
        let far = self.far(model, program);
        let mut held = Sliding::new(self.span());
        held.surfaces = surfaces;
        if held.arrange(model, program, t).is_some() && held.holds(model, program, t, &far).is_some() {
            return Ok((held.surfaces, false));
        }
        let left = held.abandoned(model, program, t, &far);
        self.part(model, program, left, t, observer)?;
        Ok((Vec::new(), true))
    }

    /// After switches of functions whose rates no side turns round, which are taken out: whether the turns around zero have come to
    /// their end, and the solution stays where functions and rates are zero.
    pub(super) fn winds(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        switched: &mut Vec<(usize, f64, f64)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        if !model.resting.is_empty() || self.forward.is_some() {
            return false;
        }
        let mut began = false;
        for group in surfaces_of(model, program, switched.clone(), t) {
            let Some((surface, rate)) = model.second_order(program, group, t) else { continue };
            let Some(key) = surface.held().min() else { continue };
            if surface.stands {
                let turns = self.turns.entry(key).or_insert_with(|| Turns::new(surface.held().collect()));
                turns.note(rate);
                let alive = turns.alive();
                began |= self.comes_to_stand(model, program, surface, t, alive, observer).is_some();
                continue;
            }
            // Sides of what is slid on may turn the rate that its own ones leave alone: both may be held together.
            let x = model.states_now(program);
            let slides: Vec<Surface> = self.sliding.iter().flat_map(|s| &s.surfaces).cloned().collect();
            let mut turns = |s: &Surface| {
                let rates = model.side_rates(program, surface.relations[0].0, &s.bits, t, &x);
                s.wound.is_none() && rates.is_some_and(|r| r[0][0] * r[1][1] < 0.0)
            };
            if !slides.iter().any(&mut turns) {
                switched.retain(|s| surface.held().all(|i| i != s.0));
            }
            let turns = self.turns.entry(key).or_insert_with(|| Turns::new(surface.held().collect()));
            turns.note(rate);
            if turns.shrunk() || program.states.len() <= FEW_STATES {
                began |= self.winds_into(model, program, surface, (key, rate), t, observer).is_some();
            }
        }
        began
    }

    /// At the start, and where states are reset: whether the solution is where functions and their rates are zero, and stays there.
    pub(super) fn begins_wound(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        if !model.resting.is_empty() || self.forward.is_some() || program.states.len() > FEW_STATES {
            return false;
        }
        let relations: Vec<usize> = program.crossings.relations().collect();
        let mut began = false;
        for i in relations {
            let mut g = [0.0];
            model.machine.crossing_values(&[i], &mut g);
            let held = self.sliding.iter().flat_map(|s| &s.surfaces).any(|s| s.held().any(|k| k == i));
            let sign = matches!(model.machine.relations[i].kind, RelationKind::Sign(_));
            if held || !sign || !(g[0].abs() <= 16.0 * model.machine.band(i)) {
                continue;
            }
            let bit = model.machine.values[model.machine.relations[i].var as usize];
            let both = vec![(i, bit, f64::from(bit == 0.0))];
            let Some((surface, rate)) = model.second_order(program, both, t) else { continue };
            let Some(key) = surface.held().min() else { continue };
            if surface.stands {
                began |= self.comes_to_stand(model, program, surface, t, false, observer).is_some();
                continue;
            }
            self.turns.entry(key).or_insert_with(|| Turns::new(surface.held().collect()));
            began |= self.winds_into(model, program, surface, (key, rate), t, observer).is_some();
        }
        began
    }

    /// Whether a surface of second order has been wound into; the solution then slides on it and on what is there with it.
    fn winds_into(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        surface: Surface,
        (key, rate): (usize, f64),
        t: f64,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        self.turns.get_mut(&key)?.fine = 1.0;
        let (lead, turns) = (surface.relations[0].0, self.turns.get(&key)?);
        let errors = self.errors_so_far(program);
        let mut sliding = Sliding::new(self.span());
        sliding.surfaces.push(surface);
        sliding.arrange(model, program, t)?;
        let (wrong, sides) = sliding.turning(model, program, t, &errors)?;
        let least: Vec<f64> = program.nominal.iter().map(|&n| self.absolute(n)).collect();
        let off = sliding.sway(&least)?;
        let beside = sliding.beside(model, program, t, off).unwrap_or_default();
        let swing = 0.5 * rate * rate / sides[0].abs().min(sides[1].abs());
        // No more to be told by the rate, or by the function itself.
        let small = rate.abs() <= turns.reach() * (wrong + beside[0].abs().max(beside[1].abs()));
        let tiny = swing <= 16.0 * model.machine.band(lead);
        // Beside the surface the fields lead back to it, so firmly that no turns are needed.
        let firm =
            |k: usize, back: f64| back * sides[k] > 0.0 && back * beside[k] > 0.5 * (off * sides[k].abs()).sqrt();
        let damped = firm(0, 1.0) && firm(1, -1.0);
        let (stuck, alive) = (turns.stuck(), turns.alive());
        if !(small || tiny || swing <= UNSEEN * off) {
            return None;
        }
        let shrunk = (small || tiny || swing <= off && stuck) && (turns.shrunk() || damped || stuck);
        let fresh = sliding.joined(model, program, t)?;
        sliding.surfaces.extend(fresh);
        sliding.arrange(model, program, t)?;
        // Where the fields tell what becomes of turns, nothing else needs to: errors may keep alive what should end, or damp what
        // should grow.
        let holds = match sliding.contraction(model, program, t) {
            Some(q) if q > 1.0 + 1e-6 => {
                let small = (SMALL_STATES * self.tolerance * swing / off).max(1e-12);
                self.turns.get_mut(&key)?.fine = 10f64.powf(small.log10().floor()).min(1.0);
                false
            }
            Some(q) => q < 1.0 - 1e-6 && (small || tiny || swing <= off && alive),
            None => shrunk,
        };
        if !holds {
            return None;
        }
        self.held_from(model, program, sliding, key, t, observer)
    }

    /// What states may be wrong by that have been as large as they have.
    fn errors_so_far(&self, program: &ModeProgram) -> Vec<f64> {
        let extent = |k: usize| self.extent.get(k).copied().unwrap_or(0.0);
        let error = |(k, n): (usize, &f64)| self.tolerance * extent(k) + self.absolute(*n);
        program.nominal.iter().enumerate().map(error).collect()
    }

    /// Whether the solution has come to stand where sides of a surface do not tell apart, or turns about that which errors keep alive; it
    /// then slides on it, and on what is there with it.
    fn comes_to_stand(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        surface: Surface,
        t: f64,
        alive: bool,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        let key = surface.held().min()?;
        let sliding = self.standing(model, program, surface, t, alive)?;
        self.held_from(model, program, sliding, key, t, observer)
    }

    /// The surface and what is there with it, if the solution stands on it within its errors.
    fn standing(
        &self,
        model: &mut Model,
        program: &ModeProgram,
        surface: Surface,
        t: f64,
        alive: bool,
    ) -> Option<Sliding> {
        // What errors of the function keep alive in its rate goes with their root.
        let size = |k: usize| self.extent.get(k).copied().unwrap_or(0.0).max(program.nominal[k].abs());
        let far = |(k, e): (usize, &f64)| STANDING * if alive { (e * size(k)).sqrt() } else { *e };
        let far: Vec<f64> = self.errors_so_far(program).iter().enumerate().map(far).collect();
        let mut sliding = Sliding::new(self.span());
        sliding.surfaces.push(surface);
        sliding.standing(model, program, t, &far)?;
        let fresh = sliding.joined(model, program, t)?;
        sliding.surfaces.extend(fresh);
        sliding.arrange(model, program, t)?;
        Some(sliding)
    }

    /// The surface that is slid on and on which the solution stands within its errors, if there is one.
    fn stood_on(&self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Surface> {
        if !model.resting.is_empty() || self.forward.is_some() {
            return None;
        }
        let faded = self.sliding.as_ref().map_or(Vec::new(), Sliding::faded);
        faded.into_iter().find_map(|relations| {
            let surface = model.second_order(program, relations, t)?.0;
            (surface.stands && self.standing(model, program, surface.clone(), t, false).is_some()).then_some(surface)
        })
    }

    /// From now on the solution is held by surfaces that it has wound into or come to stand on, and by those that it slides on already.
    fn held_from(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        mut sliding: Sliding,
        key: usize,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        sliding.surfaces.iter_mut().for_each(|s| s.wound = Some(key));
        let new: Vec<Surface> = sliding.surfaces.clone();
        let known = |s: &Surface| new.iter().any(|n| n.held().any(|i| s.held().any(|k| k == i)));
        let old = self.sliding.iter().flat_map(|s| &s.surfaces).filter(|s| !known(s)).cloned();
        sliding.surfaces.extend(old);
        sliding.arrange(model, program, t)?;
        let y = sliding.holds(model, program, t, &vec![f64::INFINITY; program.states.len()])?;
        program.states.iter().zip(&y).for_each(|(s, y)| model.machine.values[s.0 as usize] = *y);
        let old = sliding.surfaces.split_off(new.len());
        self.sliding = None;
        self.rejoin(old);
        for surface in sliding.surfaces {
            self.slides_on(model, surface, t, observer);
        }
        self.turns.remove(&key);
        self.whirl.clear();
        self.sliding.as_ref()?.settle(model);
        Some(())
    }

    /// Takes out the surfaces that an event does not concern, told by one of their relations, and those of what is remembered,
    /// which are not judged by their sides.
    pub(super) fn set_apart(&mut self, mut concerns: impl FnMut(usize) -> bool) -> Vec<Surface> {
        let surfaces = self.sliding.iter().flat_map(|s| &s.surfaces).map(|s| (s.relations[0].0, s.memory.is_some()));
        let far: Vec<usize> = surfaces.filter(|&(i, own)| own || !concerns(i)).map(|s| s.0).collect();
        let Some(sliding) = &mut self.sliding else { return Vec::new() };
        let apart = sliding.surfaces.extract_if(.., |s| far.contains(&s.relations[0].0)).collect();
        if sliding.surfaces.is_empty() {
            self.sliding = None;
        }
        apart
    }

    /// The solution slides on these, too, as it did.
    pub(super) fn rejoin(&mut self, apart: Vec<Surface>) {
        if !apart.is_empty() {
            let span = self.span();
            self.sliding.get_or_insert_with(|| Sliding::new(span)).surfaces.extend(apart);
        }
    }

    /// Where several surfaces meet (those that are slid on, those that have just switched, those that the solution winds
    /// around): what it does about each of them. Whether anything changed; `None` if there are not several, or nothing fits.
    pub(super) fn meet(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        switched: &[(usize, f64, f64)],
        wound: &[Surface],
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<Option<bool>, Diagnostic> {
        let mut fresh = switched.to_vec();
        if !fresh.is_empty() {
            let mut winding = self.winding(model, t);
            winding.retain(|w| !self.turns.values().any(|t| t.of(w.0)));
            fresh.extend(winding.into_iter().filter(|w| !switched.iter().any(|s| s.0 == w.0)));
        }
        let held = |i: usize| self.sliding.iter().flat_map(|s| &s.surfaces).any(|s| s.held().any(|k| k == i));
        fresh.retain(|s| !held(s.0));
        let old = self.sliding.as_ref().map_or(0, |s| s.surfaces.len());
        if old + fresh.len() == 0 {
            return Ok(None);
        }
        let groups = surfaces_of(model, program, fresh, t);
        let mut surfaces = self.sliding.as_mut().map_or(Vec::new(), |s| std::mem::take(&mut s.surfaces));
        let prospect = |g: Vec<_>| model.prospect_beside(program, &surfaces, &g, t);
        let fresh: Vec<Surface> = groups.into_iter().filter_map(prospect).collect();
        surfaces.extend(fresh);
        let known = surfaces.len();
        surfaces.extend(model.nearby(program, &surfaces, t, self.near(wound)));
        let courses = if surfaces.len() > 1 { model.meet(program, &surfaces, t) } else { None };
        let Some(courses) = courses else {
            if surfaces.len() > MOST_BLENDED {
                let text = "nothing was found that fits all of the surfaces, and they are judged one by one";
                self.tell_of(model, &surfaces, text, t, observer);
            }
            if let Some(sliding) = &mut self.sliding {
                surfaces.truncate(old);
                sliding.surfaces = surfaces;
            }
            return Ok(None);
        };
        self.onto(model, program, &surfaces, t);
        self.go_on(model, program, surfaces, &courses, (old, known), t, observer).map(Some)
    }

    /// Tells, once, what is not taken into account where many surfaces meet.
    fn tell_of(&mut self, model: &Model, surfaces: &[Surface], what: &str, t: f64, observer: &mut dyn Observer) {
        let Some(r) = surfaces.first().map(|s| &model.sys.relations[s.relations[0].0]) else { return };
        let text = format!("at time {t:?} {} boundaries meet, that of {} among them: {what}", surfaces.len(), r.text);
        self.say(observer, &text, r.origin.span.unwrap_or(Span::NONE), what);
    }

    /// How close to zero a function counts as there where surfaces meet; those of some surfaces are taken care of.
    pub(super) fn near(&self, but: &[Surface]) -> impl Fn(&Model, usize) -> f64 + use<> {
        let part = 0.1 * self.tolerance.min(1e-3);
        let held: Vec<usize> = but.iter().flat_map(Surface::held).collect();
        move |model, i| if held.contains(&i) { -1.0 } else { part * model.machine.relations[i].size }
    }

    /// How far states may be moved at most where they are put onto surfaces.
    fn far(&self, model: &Model, program: &ModeProgram) -> Vec<f64> {
        let state = |s: &(u32, u32)| model.machine.values[s.0 as usize];
        let error = |(s, &n)| MOST_ERRORS * (self.tolerance * f64::abs(state(s)) + self.absolute(n));
        program.states.iter().zip(&program.nominal).map(error).collect()
    }

    /// Moves the states onto surfaces that they are on within the errors of the integration.
    fn onto(&self, model: &mut Model, program: &ModeProgram, surfaces: &[Surface], t: f64) {
        let far = self.far(model, program);
        // Where rates are zero as well, fields lead nowhere but along.
        if surfaces.iter().any(|s| s.wound.is_some()) {
            let mut held = Sliding::new(self.span());
            held.surfaces = surfaces.to_vec();
            let place = held.arrange(model, program, t).and_then(|()| held.place(model, program, t, &far));
            let states = program.states.iter().zip(place.iter().flatten());
            states.for_each(|(s, y)| model.machine.values[s.0 as usize] = *y);
            return;
        }
        model.onto(program, surfaces, t, &far);
    }

    /// Follows what was found about surfaces that meet, of which the first `old` ones were slid on, and those after `known` have
    /// not crossed. Whether that is new.
    fn go_on(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        surfaces: Vec<Surface>,
        courses: &[Course],
        (old, known): (usize, usize),
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let mut left = Vec::new();
        let mut changed = false;
        for (k, (mut surface, course)) in surfaces.into_iter().zip(courses).enumerate() {
            match *course {
                Course::Slides(share) => {
                    surface.slides(share);
                    changed |= k >= old;
                    match &mut self.sliding {
                        Some(sliding) if k < old => sliding.surfaces.push(surface),
                        _ => self.slides_on(model, surface, t, observer),
                    }
                }
                Course::Side(second) => {
                    let (lead, _, other) = surface.relations[0];
                    let there = (model.machine.values[model.machine.relations[lead].var as usize] == other) == second;
                    if k < old || k >= known || !there {
                        left.push((surface, Parting { second, repelled: false }));
                    }
                }
            }
        }
        if self.sliding.as_ref().is_some_and(|s| s.surfaces.is_empty()) {
            self.sliding = None;
        }
        if let Some(s) = &self.sliding {
            // One surface may be slid on and left again in each turn around where several meet.
            if changed && s.surfaces.len() > 1 {
                self.whirl.clear();
            }
            s.settle(model);
            s.freeze(model, true);
        }
        changed |= !left.is_empty();
        self.part(model, program, left, t, observer)?;
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        Ok(changed)
    }

    /// After an event: surfaces on which the solution no longer slides.
    pub(super) fn review(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let mut changed = false;
        if let Some(mut sliding) = self.sliding.take() {
            let mut left = Vec::new();
            let mut k = 0;
            while k < sliding.surfaces.len() {
                match model.review(program, &mut sliding.surfaces[k], t) {
                    Fate::Slides => k += 1,
                    Fate::Leaves(parting) => left.push((sliding.surfaces.remove(k), parting)),
                }
            }
            changed |= !left.is_empty();
            self.part(model, program, left, t, observer)?;
            self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
        }
        Ok(changed)
    }

    /// Leaves surfaces, and tells where there was a choice of sides.
    fn part(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        left: Vec<(Surface, Parting)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        for (surface, parting) in left.iter().filter(|l| l.1.repelled) {
            let (lead, first, second) = surface.relations[0];
            let r = &model.sys.relations[lead];
            let side = if parting.second { second } else { first } != 0.0;
            let text = format!(
                "the boundary of {} repels from time {t:?} on, both sides lead away from it: taken is the one where it is {side}",
                r.text
            );
            let place = r.origin.span.unwrap_or(Span::NONE);
            self.say(observer, &text, place, &format!("repelled {lead}"));
        }
        self.release(model, program, left.into_iter().map(|(s, p)| (s, p.second)).collect(), observer)
    }

    /// Goes to one side (`true`: the second) of each of these surfaces, all at once; their functions are near zero still.
    pub(super) fn release(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        mut surfaces: Vec<(Surface, bool)>,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let mut relations: Vec<(usize, f64)> = Vec::new();
        // Of a mix of modes all but one surface are left to the first.
        surfaces.sort_by_key(|s| s.1);
        for (surface, second) in &surfaces {
            if surface.memory.is_some() {
                surface.set(&mut model.machine.values, *second);
                relations.extend(surface.guards(model, *second));
                continue;
            }
            let (lead, a, b) = surface.relations[0];
            let up = positive_side(&model.machine.relations[lead].kind, if *second { b } else { a });
            relations.extend(surface.relations.iter().map(|&(i, a, b)| (i, if *second { b } else { a })));
            let twin = |&(i, alike): &(usize, bool)| (i, side_value(&model.machine.relations[i].kind, up == alike));
            relations.extend(surface.twins.iter().map(twin));
        }
        if relations.is_empty() {
            return Ok(());
        }
        for &(i, value) in &relations {
            let slot = model.machine.relations[i].var as usize;
            model.machine.values[slot] = value;
            let mut g = [0.0];
            model.machine.crossing_values(&[i], &mut g);
            // On this side, whatever is left of the function, until it has gone clear of that.
            self.location.released.insert(i, 4.0 * g[0].abs());
            model.machine.relations[i].floor = 4.0 * g[0].abs();
            model.machine.relations[i].frozen = true;
            self.flips.remove(&i);
        }
        let sides: Vec<usize> = relations.iter().map(|r| r.0).collect();
        model.whole_islands = true;
        let handled = model.handle_event(program, &[], &sides, EventKind::State, observer);
        self.location.forget(program, None);
        for &(i, _) in &relations {
            model.machine.relations[i].frozen = false;
        }
        self.note(handled?.record);
        Ok(())
    }

    /// Where in (from, to] a surface or a rest is left.
    pub(super) fn leaves(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
    ) -> Option<f64> {
        if self.sliding.is_none() && model.resting.is_empty() {
            return None;
        }
        // While nothing moves steps are long: what ends that may be over within one.
        let looks = ((to - from) / (self.span().abs() / LOOKS)).ceil().clamp(2.0, 64.0) as usize;
        let mut first: Option<f64> = None;
        let mut x = vec![0.0; program.states.len()];
        model.know_rests(program);
        if let Some(mut sliding) = self.sliding.take() {
            let mut at = |s: &mut Sliding, t: f64| {
                integrator.interpolate(t, &mut x);
                let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
                s.judge(&mut rhs, t, &x).is_ok()
            };
            first = sliding.leaving(&mut at, (from, to, looks));
            self.sliding = Some(sliding);
            if first.is_none() && self.stands_at(model, program, integrator, to) {
                first = Some(to);
            }
        } else if !model.resting.is_empty() {
            let lift = |t: f64| {
                integrator.interpolate(t, &mut x);
                model.lifts(program, t, &x).into_iter().fold(-1.0, f64::max)
            };
            first = first_positive(lift, (from, to, looks));
        }
        first
    }

    /// Whether the solution stands on a surface that it slides on, at the end of a step.
    fn stands_at(&self, model: &mut Model, program: &ModeProgram, integrator: &dyn Integrator, t: f64) -> bool {
        if self.sliding.as_ref().is_none_or(|s| s.faded().is_empty()) {
            return false;
        }
        let mut x = vec![0.0; program.states.len()];
        integrator.interpolate(t, &mut x);
        model.aside(|model| {
            place(&mut model.machine, program, t, &x);
            self.stood_on(model, program, t).is_some()
        })
    }

    /// A surface or a rest is left at t, or the solution comes to stand on one.
    pub(super) fn leave(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<After, Diagnostic> {
        self.write(model, program, t, sink)?;
        self.due = None;
        let stays = self.stays(model);
        let mut left: Vec<(Surface, Parting)> = Vec::new();
        // The relations that this is an event of.
        let mut concerned: Vec<usize> = Vec::new();
        let stood = self.stood_on(model, program, t).and_then(|surface| {
            let held: Vec<usize> = surface.held().collect();
            self.comes_to_stand(model, program, surface, t, false, observer).map(|()| held)
        });
        concerned.extend(stood.iter().flatten());
        if self.sliding.iter().flat_map(|s| &s.surfaces).any(|s| s.wound.is_some()) {
            let surfaces = self.sliding.as_ref().map_or(Vec::new(), |s| s.surfaces.clone());
            self.onto(model, program, &surfaces, t);
        }
        if let Some(sliding) = self.sliding.as_mut().filter(|_| stood.is_none()) {
            sliding.settle(model);
            left = sliding.take_left();
            concerned.extend(left.iter().flat_map(|l| l.0.held()));
        }
        let lifted = self.lift_off(model, program, t, left.is_empty());
        concerned.extend(&lifted);
        if let Some(sliding) = &mut self.sliding {
            sliding.arrange(model, program, t);
            let apart = self.set_apart(|i| concerned.iter().any(|&c| model.neighbours(c, i)));
            let mut sliding = self.sliding.take().unwrap_or_else(|| Sliding::new(self.span()));
            let gone = left.len();
            let wound: Vec<Surface> = sliding.surfaces.extract_if(.., |s| s.wound.is_some()).collect();
            let alone = left.iter().any(|l| l.1.repelled || l.0.memory.is_some() || l.0.wound.is_some());
            // The others may not hold the solution without those that are left.
            if gone + lifted.len() > 0 && !alone {
                let sides: Vec<Parting> = left.iter().map(|l| l.1).collect();
                let mut surfaces: Vec<Surface> = left.drain(..).map(|l| l.0).collect();
                surfaces.append(&mut sliding.surfaces);
                let old = surfaces.len();
                surfaces.extend(model.nearby(program, &surfaces, t, self.near(&wound)));
                let courses = if surfaces.len() > 1 { model.meet(program, &surfaces, t) } else { None };
                let fits = |c: &Vec<Course>| gone == 0 || c[..gone].iter().any(|c| matches!(c, Course::Side(_)));
                self.sliding = Some(sliding);
                self.onto(model, program, &surfaces, t);
                if let Some(courses) = courses.filter(fits) {
                    self.go_on(model, program, surfaces, &courses, (old, old), t, observer)?;
                } else {
                    surfaces.truncate(old);
                    let kept = surfaces.split_off(gone);
                    left = surfaces.into_iter().zip(sides).collect();
                    match &mut self.sliding {
                        Some(s) if !kept.is_empty() => s.surfaces = kept,
                        other => *other = None,
                    }
                }
            } else {
                self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
            }
            self.rejoin(wound);
            self.rejoin(apart);
            if let Some(s) = &self.sliding {
                s.freeze(model, true);
            }
        }
        self.part(model, program, left, t, observer)?;
        model.whole_islands = true;
        let h = model.handle_event(program, &[], &concerned, EventKind::State, observer)?;
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        self.report.state_events += 1;
        self.terminated(&h.terminated);
        self.note(h.record);
        self.location.forget(program, None);
        if !Rc::ptr_eq(&h.program, program) {
            self.carry_over(model, (program, &h.program), h.islands.as_ref());
        }
        self.note_stays(model, &stays);
        self.tell(observer);
        self.mask(model);
        self.arrange(model, &h.program, t, observer)?;
        self.write(model, &h.program, t, sink)?;
        Ok(After { program: h.program, restart: Some(Restart::Cold), changed: h.changed })
    }
}
