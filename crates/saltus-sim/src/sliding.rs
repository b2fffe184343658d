//! Sliding along switching surfaces: Filippov's field, by equivalent control.
//!
//! On the surface g = 0 the fields f₀ and f₁ of the two sides both point towards it (or along it). The solution follows
//! f₀ + λ (f₁ − f₀) with d/dt g = 0; it leaves where λ leaves [0, 1], and where the fields come to point away from the surface:
//! staying is a solution there, too, but one that nothing holds. Several surfaces have a share λ each, found together
//! (mathematics 23, `junction`).

use crate::crossings::{positive_side, side_value};
use crate::junction::{BLENDED, Corners, Course, Junction, MOST_BLENDED, apart_from, base, made_of};
use crate::machine::Machine;
use crate::model::{ModeProgram, Model};
use crate::resting::{Resting, hold};
use crate::rhs::Rhs;
use crate::switching::Memory;
use crate::winding::{Held, Manifold, slopes};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::VarId;
use saltus_solver::ode::EvalError;
use saltus_solver::roots::bracket::sign_change;
use saltus_structure::RelationKind;

/// A surface is repelling if its fields part faster than this part of its firmest hold.
const REPELLING: f64 = 1e-9;

/// Fields that differ by no more than this part of them are one: equations that are solved for them leave it over.
const ALIKE: f64 = 1e-8;

/// Corners that are mixed at most where more surfaces meet than all of whose corners are.
const MOST_CORNERS: usize = 1100;
/// Corners looked at to see whether their fields follow from those of others.
const OTHERS: usize = 4;
/// How far a share may leave [0, 1] within a step.
const BEYOND: f64 = 1.0;
/// The solution may come to stand where sides turn a function's rate by less than this part of what they do elsewhere.
const FADED: f64 = 1e-2;
/// So far beside the place where it stands, in units of nominal values, it is seen whether the sides lead back.
const BESIDE: f64 = 1e-4;
/// How often shares and the place where they hold it are found from each other.
const MOST_STANDS: usize = 4;
/// A function is held by what rests if sides move it by less than this part of what they would do without.
const HELD: f64 = 1e-6;
/// Steps of Newton's method onto surfaces.
const MOST_PROJECTIONS: usize = 4;

/// One switching surface.
#[derive(Clone)]
pub(crate) struct Surface {
    /// The relations that switch there: index, value on the first side, value on the second. The first one leads.
    pub relations: Vec<(usize, f64, f64)>,
    /// Other relations of the same function (or of a multiple, and whether that has the same sign): noise about zero must not
    /// switch them.
    pub twins: Vec<(usize, bool)>,
    /// All discrete values that differ between the sides: slot, first, second.
    pub bits: Vec<(u32, f64, f64)>,
    /// λ: share of the second side, as last computed (not yet cut to [0, 1]).
    share: f64,
    /// How far the share may leave [0, 1]: more where one of the fields runs along the surface.
    margin: f64,
    /// How fast the sides part in the direction that leads back to the surface, as last computed: below zero the fields lead
    /// away from it.
    hold: f64,
    /// The firmest hold so far.
    firmest: f64,
    /// What the sides do is borne by supports of bodies at rest, which hold the function still: the share is what keeps the
    /// bodies there.
    pub borne: bool,
    /// The sides are what is remembered while switches accumulate: they do not follow from relations.
    pub memory: Option<Memory>,
    /// The solution has wound into where this surface meets others, or the rate of its own function is zero: they are held
    /// together, and left together. Told by a relation of one of them.
    pub wound: Option<usize>,
    /// The rate of its function does not depend on sides and is held at zero, too.
    second: bool,
    /// It does depend on them, except where it is zero: the solution stands there.
    pub stands: bool,
}

/// The surfaces the solution slides on.
pub(crate) struct Sliding {
    pub surfaces: Vec<Surface>,
    /// Of these, some that hold all of them: the functions of the others are zero where theirs are.
    base: Vec<usize>,
    corners: Corners,
    /// At each corner, the discrete values that differ between corners: slot, value.
    values: Vec<Vec<(u32, f64)>>,
    /// Where rates of functions are held at zero, too.
    manifold: Option<Manifold>,
    span: f64,
    /// Rate at which what is left of g is drawn to zero.
    pull: f64,
    /// How strongly bodies that rest would have to be pulled to stay, as last computed.
    lifts: Vec<f64>,
}

/// What the fields of both sides make of a surface.
pub(crate) enum Meeting {
    /// Both point to it: the solution slides.
    Slides(Surface),
    /// Each side's own function leads back, yet not by the motion of the states, which is the same on both sides: a branch
    /// of solutions ends here (a fold), and the model must jump to another.
    Folds,
    /// The solution passes.
    Passes,
}

/// What became of a surface.
pub(crate) enum Fate {
    /// Sliding goes on.
    Slides,
    /// The solution goes to one side.
    Leaves(Parting),
}

/// How a surface is left.
#[derive(Clone, Copy)]
pub(crate) struct Parting {
    /// To the second side.
    pub second: bool,
    /// Both sides lead away: the other one would have been a solution as well, and so would be to stay.
    pub repelled: bool,
}

impl Surface {
    /// The surface of these relations, with as much on either side, held so firmly.
    pub fn new(
        relations: Vec<(usize, f64, f64)>,
        twins: Vec<(usize, bool)>,
        bits: Vec<(u32, f64, f64)>,
        margin: f64,
        hold: f64,
    ) -> Surface {
        Surface {
            relations,
            twins,
            bits,
            share: 0.5,
            margin,
            hold,
            firmest: hold,
            borne: false,
            memory: None,
            wound: None,
            second: false,
            stands: false,
        }
    }

    /// Where two modes switch in turn faster than can be told: `lead` leads from the first to the second.
    pub fn remembering(lead: (usize, f64, f64), bits: Vec<(u32, f64, f64)>, share: f64, memory: Memory) -> Surface {
        let twins = memory.guards.iter().filter(|g| g.0 != lead.0).map(|g| (g.0, true)).collect();
        let memory = Some(memory);
        Surface { share, memory, ..Surface::new(vec![lead], twins, bits, 1e-6, 0.0) }
    }

    /// Another of its guards leads.
    pub fn led_by(&mut self, lead: (usize, f64, f64)) {
        let guards = self.memory.iter().flat_map(|m| &m.guards);
        self.twins = guards.filter(|g| g.0 != lead.0).map(|g| (g.0, true)).collect();
        self.relations = vec![lead];
    }

    /// The mix of modes that it belongs to.
    pub fn mix(&self) -> Option<usize> {
        self.memory.as_ref().map(|m| m.mix)
    }

    /// The share of a series of switches that has not ended yet.
    fn averaged(&self) -> bool {
        self.memory.as_ref().is_some_and(|m| m.until.is_some())
    }

    /// Gives the model the values of a side.
    fn settle(&self, model: &mut Model, second: bool) {
        let values = &mut model.machine.values;
        match &self.memory {
            // Unless they differ between the sides.
            Some(m) => m.guards.iter().for_each(|&(i, v)| values[model.machine.relations[i].var as usize] = v),
            None => self.relations.iter().for_each(|&(i, first, other)| {
                values[model.machine.relations[i].var as usize] = if second { other } else { first };
            }),
        }
        self.set(values, second);
    }

    /// λ.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The values of all relations on one side, where switches accumulate.
    pub fn guards(&self, model: &Model, second: bool) -> Vec<(usize, f64)> {
        let own = |i: usize| self.bits.iter().find(|b| b.0 == model.machine.relations[i].var);
        let value = |&(i, held): &(usize, f64)| (i, own(i).map_or(held, |b| if second { b.2 } else { b.1 }));
        self.memory.iter().flat_map(|m| &m.guards).map(value).collect()
    }

    /// Whether something else than switches has changed what told the sides apart.
    fn overruled(&self, model: &Model, second: bool) -> bool {
        let other = |b: &(u32, f64, f64)| model.machine.values[b.0 as usize] != if second { b.2 } else { b.1 };
        self.bits.chunks_exact(2).any(|b| other(&b[0]))
    }

    pub fn set(&self, values: &mut [f64], second: bool) {
        for &(slot, first, other) in &self.bits {
            values[slot as usize] = if second { other } else { first };
        }
    }

    /// Which way the second side is: the sign of g there.
    fn toward(&self, machine: &Machine) -> f64 {
        let (lead, first, _) = self.relations[0];
        if positive_side(&machine.relations[lead].kind, first) { -1.0 } else { 1.0 }
    }

    /// Slides, or does so again, with this share.
    pub fn slides(&mut self, share: f64) {
        self.share = share;
    }

    /// All relations whose function is kept at zero.
    pub fn held(&self) -> impl Iterator<Item = usize> + '_ {
        self.relations.iter().map(|r| r.0).chain(self.twins.iter().map(|t| t.0))
    }

    /// How far the share is outside of what is allowed; positive: it has left.
    fn excess(&self) -> f64 {
        let total = self.memory.as_ref().map_or(self.share, |m| m.total);
        (-self.share).max(total - 1.0) - self.margin
    }

    /// How far the surface is from holding the solution; positive: both fields lead away from it.
    fn repulsion(&self) -> f64 {
        // Several modes that have led to where they meet do so again.
        if self.memory.as_ref().is_some_and(|m| m.modes > 2) {
            return f64::NEG_INFINITY;
        }
        -self.hold / self.firmest.max(f64::MIN_POSITIVE) - REPELLING
    }

    /// Whether its sides hardly turn its function any more, as last judged.
    fn has_faded(&self) -> bool {
        self.hold <= FADED * self.firmest
    }

    /// Positive once the surface must be left, for either reason. What is borne ends with the rest.
    fn looseness(&self) -> f64 {
        if self.borne {
            return f64::NEG_INFINITY;
        }
        let spread = self.memory.as_ref().map_or(f64::NEG_INFINITY, |m| m.spread - 1.0);
        self.excess().max(self.repulsion()).max(spread)
    }
}

impl Sliding {
    /// On no surface yet, for a run over `span` of time.
    pub fn new(span: f64) -> Sliding {
        let corners = Corners::sums(0, &[]);
        let (surfaces, values) = (Vec::new(), vec![Vec::new()]);
        Sliding {
            surfaces,
            base: Vec::new(),
            corners,
            values,
            manifold: None,
            span,
            pull: 100.0 / span,
            lifts: Vec::new(),
        }
    }

    /// After other surfaces, or other discrete values: which sides are mixed, and what they are.
    pub fn arrange(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<()> {
        (self.corners, self.values) = model.corners(program, &self.surfaces.iter().collect::<Vec<_>>(), t)?;
        let leads: Vec<usize> = self.surfaces.iter().map(|s| s.relations[0].0).collect();
        self.manifold = None;
        if self.surfaces.iter().any(|s| s.second) {
            let manifold = self.find_manifold(model, program, t)?;
            self.base = base(&manifold.conditions());
            self.manifold = Some(manifold);
        } else {
            let ways = model.ways_beside_rests(program, &leads, t)?;
            for (s, way) in self.surfaces.iter_mut().zip(&ways) {
                s.borne = !model.resting.is_empty() && is_none(way);
            }
            self.base = free_base(&self.surfaces, &ways);
        }
        Some(())
    }

    /// Whether something has changed what the sides are, be it hidden by the sides that have the larger shares.
    pub fn stale(&self, model: &mut Model, program: &ModeProgram) -> bool {
        let surfaces: Vec<&Surface> = self.surfaces.iter().collect();
        model.values_at(program, &surfaces, &self.corners.list, &[]).is_some_and(|now| now != self.values)
    }

    /// Whether what the sides are depends on what is remembered of them.
    pub fn remembers(&self, model: &mut Model, program: &ModeProgram) -> bool {
        let surfaces: Vec<&Surface> = self.surfaces.iter().collect();
        let bits = surfaces.iter().filter(|s| s.memory.is_none()).flat_map(|s| &s.bits);
        let among = |slot: u32| model.discrete.iter().filter(move |d| d.0 == slot);
        let bits: Vec<_> = bits.filter(|b| !among(b.0).all(|d| model.memoryless(d.2))).collect();
        if bits.is_empty() {
            return false;
        }
        let previous = |s: u32| model.machine.previous.get(&s).copied();
        let all = [false, true].map(|second| {
            let value = |b: &&(u32, f64, f64)| Some((previous(b.0)?, if second { b.2 } else { b.1 }));
            bits.iter().filter_map(value).collect::<Vec<_>>()
        });
        let [a, b] = all.map(|previous| model.values_at(program, &surfaces, &self.corners.list, &previous));
        a != b
    }

    /// Where the functions of all surfaces are zero, and the rates of those of second order.
    fn find_manifold(&self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Manifold> {
        let held: Vec<Held> =
            self.surfaces.iter().map(|s| Held { relation: s.relations[0].0, second: s.second }).collect();
        held.iter().for_each(|h| model.know_rate(program, h.relation));
        let x = model.states_now(program);
        let corners = if self.surfaces.iter().any(|s| s.stands) {
            let shares: Vec<f64> = self.surfaces.iter().map(|s| s.share.clamp(0.0, 1.0)).collect();
            self.corners.weights(&shares, None).into_iter().zip(self.values.iter().cloned()).collect()
        } else {
            vec![(1.0, self.values[0].clone())]
        };
        let found = |model: &mut Model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            Manifold::new(&mut rhs, held, corners, t, &x, self.span).ok()
        };
        model.aside(found)
    }

    /// The sides at a point and, where rates of functions are held as well, the point nearby from which they were looked at.
    fn look(
        &self,
        rhs: &mut Rhs<'_>,
        t: f64,
        x: &[f64],
        seen: &mut dyn FnMut(&Rhs<'_>),
    ) -> Result<(Sides, Option<Vec<f64>>), EvalError> {
        let Some(manifold) = &self.manifold else {
            return Ok((sides(rhs, &self.surfaces.iter().collect::<Vec<_>>(), &self.values, t, x, seen)?, None));
        };
        let y = manifold.nearest(rhs, t, x)?;
        let (mut fields, mut lifts) = (vec![vec![0.0; x.len()]; self.values.len()], Vec::new());
        for (set, field) in self.values.iter().zip(&mut fields) {
            set.iter().for_each(|&(slot, value)| rhs.machine.values[slot as usize] = value);
            rhs.field(t, &y, field)?;
            seen(rhs);
            lifts.push(hold(rhs, t, &y, field)?);
        }
        let toward: Vec<f64> = self.surfaces.iter().map(|s| s.toward(rhs.machine)).collect();
        let mut rates = Vec::with_capacity(fields.len());
        for field in &fields {
            let moves = manifold.moves(rhs, t, &y, field)?;
            rates.push(moves.iter().zip(&toward).map(|(m, toward)| m * toward).collect());
        }
        Ok((Sides { fields, rates, distances: vec![0.0; self.surfaces.len()], lifts }, Some(y)))
    }

    /// The sides at a point, and the shares that hold the functions still, which decide about leaving.
    fn shares(
        &mut self,
        rhs: &mut Rhs<'_>,
        t: f64,
        x: &[f64],
        seen: &mut dyn FnMut(&Rhs<'_>),
    ) -> Result<(Junction, Sides, Option<Vec<f64>>), EvalError> {
        let m = self.surfaces.len();
        let (mut sides, place) = self.look(rhs, t, x, seen)?;
        let (rates, lifts) = (std::mem::take(&mut sides.rates), std::mem::take(&mut sides.lifts));
        let junction = Junction { corners: self.corners.clone(), rates, lifts };
        let mut shares: Vec<f64> = self.surfaces.iter().map(|s| s.share.clamp(0.0, 1.0)).collect();
        if m == 1 {
            shares[0] = 0.5;
        }
        self.hold(&junction, &mut shares, &vec![0.0; m]);
        junction.bear(&mut shares, &self.base);
        let own = self.surfaces.iter_mut().zip(shares).filter(|(s, _)| !s.averaged());
        own.for_each(|(s, share)| s.share = share);
        sum_mixes(&mut self.surfaces);
        Ok((junction, sides, place))
    }

    /// The shares for which functions move so fast. What is not determined of a mix of modes stays as it was on the average.
    fn hold(&self, junction: &Junction, shares: &mut [f64], wanted: &[f64]) {
        let mut others = (0..shares.len()).filter(|k| !self.base.contains(k));
        match others.all(|k| self.surfaces[k].memory.is_some()) {
            true => junction.solve(shares, &self.base, wanted),
            false => junction.hold(shares, &self.base, wanted),
        }
    }

    /// The mixed field. With `values`, these become the mix of all values of the sides, for rows of the result.
    pub fn field(
        &mut self,
        rhs: &mut Rhs<'_>,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        values: Option<&mut Vec<f64>>,
    ) -> Result<(), EvalError> {
        let mut kept: Vec<Vec<f64>> = Vec::new();
        let keep = values.is_some();
        let mut seen = |rhs: &Rhs<'_>| {
            if keep {
                kept.push(rhs.machine.values.clone());
            }
        };
        let (junction, sides, place) = self.shares(rhs, t, x, &mut seen)?;
        // What is left of the functions is drawn to zero as well. A step may go beyond where a share leaves [0, 1]: the field is as
        // smooth there as before, so that the step is good up to that place.
        let mut drawn: Vec<f64> = self.surfaces.iter().map(|s| s.share).collect();
        self.hold(&junction, &mut drawn, &sides.distances.iter().map(|g| -self.pull * g).collect::<Vec<f64>>());
        // Where sides hardly turn the function any more they draw no further than they can: nothing would hold the field.
        for (d, s) in drawn.iter_mut().zip(&self.surfaces) {
            let share = if s.has_faded() { s.share } else { *d };
            *d = d.clamp(share.clamp(-BEYOND, 0.0), share.clamp(1.0, 1.0 + BEYOND));
        }
        drawn.iter_mut().zip(&self.surfaces).filter(|(_, s)| s.averaged()).for_each(|(d, s)| *d = s.share);
        mix(&self.corners.weights(&drawn, None), &sides.fields, dx);
        if let Some(place) = place {
            dx.iter_mut().zip(x.iter().zip(place)).for_each(|(d, (x, y))| *d -= self.pull * (x - y));
        }
        if let Some(values) = values {
            let shares: Vec<f64> = self.surfaces.iter().map(|s| s.share.clamp(0.0, 1.0)).collect();
            let weights = self.corners.weights(&shares, None);
            values.clone_from(&kept[0]);
            for (w, side) in weights.iter().zip(&kept).skip(1) {
                for (v, (a, z)) in values.iter_mut().zip(side.iter().zip(&kept[0])) {
                    if a != z {
                        *v += w * (a - z);
                    }
                }
            }
            self.larger().for_each(|(s, second)| s.set(values, second));
        }
        Ok(())
    }

    /// Finds the shares at a point, how firmly the surfaces hold the solution, and what lifts bodies that rest.
    pub fn judge(&mut self, rhs: &mut Rhs<'_>, t: f64, x: &[f64]) -> Result<(), EvalError> {
        let junction = self.shares(rhs, t, x, &mut |_| ())?.0;
        let shares: Vec<f64> = self.surfaces.iter().map(|s| s.share).collect();
        self.lifts = junction.lifts(&shares);
        self.surfaces.iter_mut().for_each(|s| s.hold = s.firmest);
        for (&k, hold) in self.base.iter().zip(junction.holds(&shares, &self.base)) {
            let s = &mut self.surfaces[k];
            if !s.averaged() {
                (s.hold, s.firmest) = (hold, s.firmest.max(hold));
            }
        }
        for m in self.surfaces.iter_mut().filter_map(|s| s.memory.as_mut()) {
            let far = m.guards.iter().zip(&m.reach).map(|(g, reach)| rhs.value(g.0).abs() / reach);
            m.spread = far.fold(0.0, f64::max);
        }
        Ok(())
    }

    /// When it is to be seen what becomes of switches that accumulate.
    pub fn deadline(&self) -> Option<f64> {
        self.surfaces.iter().filter_map(|s| s.memory.as_ref()?.until).min_by(f64::total_cmp)
    }

    /// Whether the mix takes into account whatever the surfaces do together.
    pub fn whole(&self) -> bool {
        self.corners.whole
    }

    /// Gives the model the side of each surface that has the larger share.
    pub fn settle(&self, model: &mut Model) {
        self.larger().for_each(|(s, second)| s.settle(model, second));
    }

    /// The surfaces, each with whether its second side has the largest share; those come last.
    fn larger(&self) -> impl Iterator<Item = (&Surface, bool)> {
        let mut sides: Vec<(&Surface, bool)> = self.surfaces.iter().zip(larger(&self.surfaces)).collect();
        sides.sort_by_key(|s| s.1);
        sides.into_iter()
    }

    /// Takes out the mixes of modes of which something else has set what they switch; whether there were any.
    pub fn overruled(&mut self, model: &Model) -> bool {
        // Of each mix the mode with the largest share.
        let modes: FxHashMap<usize, (&Surface, bool)> = self.larger().filter_map(|s| Some((s.0.mix()?, s))).collect();
        let other = |(s, second): &(&Surface, bool)| s.overruled(model, *second);
        let gone: Vec<usize> = modes.into_iter().filter(|(_, s)| other(s)).map(|(m, _)| m).collect();
        let before = self.surfaces.len();
        self.surfaces.retain(|s| s.mix().is_none_or(|m| !gone.contains(&m)));
        self.surfaces.len() < before
    }

    /// The relations of all surfaces keep their values while an event is handled.
    pub fn freeze(&self, model: &mut Model, frozen: bool) {
        for i in self.surfaces.iter().flat_map(Surface::held) {
            model.machine.relations[i].frozen = frozen;
        }
    }

    /// How strongly each body that rests would have to be pulled to stay; positive: it leaves.
    pub fn lifts(&self) -> &[f64] {
        &self.lifts
    }

    /// Positive once a surface must be left, and once a body that rests leaves.
    fn looseness(&self) -> [f64; 2] {
        let most = |of: &mut dyn Iterator<Item = f64>| of.fold(f64::NEG_INFINITY, f64::max);
        [most(&mut self.surfaces.iter().map(Surface::looseness)), most(&mut self.lifts.iter().copied())]
    }

    /// Where in (from, to] the first surface or rest is left; `at` computes the shares at a time.
    pub fn leaving(&mut self, mut at: impl FnMut(&mut Sliding, f64) -> bool, span: (f64, f64, usize)) -> Option<f64> {
        let worst = |s: &Sliding| s.looseness()[0].max(s.looseness()[1]);
        let when = first_positive(|t| if at(self, t) { worst(self) } else { f64::NAN }, span)?;
        at(self, when);
        Some(when)
    }
}

/// Where in [from, to] a function that should be negative is first found positive, looking at `n` places and where three of them
/// tell of a maximum between them.
pub(crate) fn first_positive(mut f: impl FnMut(f64) -> f64, (from, to, n): (f64, f64, usize)) -> Option<f64> {
    let mut before = (from, f(from));
    // Already there at the start: it counts if it stays so.
    let begins = before.1 >= 0.0;
    let mut earlier: Option<(f64, f64)> = None;
    for k in 1..=n {
        let t = if k == n { to } else { from + (to - from) * k as f64 / n as f64 };
        let now = (t, f(t));
        if before.1 >= 0.0 {
            if k == n && now.1 > 0.0 {
                return Some(if begins { from } else { before.0 });
            }
            before = now;
            continue;
        }
        if now.1 > 0.0 {
            return Some(sign_change(|t| -f(t), before.0, -before.1, now.0, -now.1, 0.0).1);
        }
        if let Some(peak) = earlier.and_then(|e| vertex([e, before, now])) {
            let top = f(peak);
            if top > 0.0 {
                let (a, fa) = if peak > before.0 { before } else { earlier.unwrap_or(before) };
                return Some(sign_change(|t| -f(t), a, -fa, peak, -top, 0.0).1);
            }
        }
        if now.1.is_finite() {
            (earlier, before) = (Some(before), now);
        }
    }
    None
}

/// Where the parabola through three points has its maximum, if it is between them and above zero by twice its height over them.
fn vertex([a, b, c]: [(f64, f64); 3]) -> Option<f64> {
    if !(b.1 >= a.1 && b.1 >= c.1) {
        return None;
    }
    let (l, r) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = (r - l) / (c.0 - a.0);
    let slope = l + bend * (b.0 - a.0);
    let t = b.0 - slope / (2.0 * bend);
    let rise = -slope * slope / (4.0 * bend);
    (bend < 0.0 && t > a.0 && t < c.0 && b.1 + 4.0 * rise + 0.1 * (b.1 - a.1).max(b.1 - c.1) > 0.0).then_some(t)
}

impl Sliding {
    /// Takes out the surfaces whose shares have left, with the side they are left to.
    pub fn take_left(&mut self) -> Vec<(Surface, Parting)> {
        let [worst, lift] = self.looseness();
        let worst = if lift > worst { 0.0 } else { worst };
        let mut left = Vec::new();
        let mut k = 0;
        let mut sides = larger(&self.surfaces);
        while k < self.surfaces.len() {
            // At the instant of leaving the share is at the edge of what is allowed.
            if self.surfaces[k].looseness() >= worst.min(0.0) {
                let (s, second) = (self.surfaces.remove(k), sides.remove(k));
                let second = second && (s.memory.is_some() || s.share > 0.5 + 1e-6);
                let parting = Parting { second, repelled: s.repulsion() > s.excess() };
                left.push((s, parting));
            } else {
                k += 1;
            }
        }
        let mixes: Vec<usize> = left.iter().filter_map(|l| l.0.mix()).collect();
        for k in (0..self.surfaces.len()).rev() {
            if self.surfaces[k].mix().is_some_and(|m| mixes.contains(&m)) {
                left.push((self.surfaces.remove(k), Parting { second: sides[k], repelled: false }));
            }
        }
        let groups: Vec<usize> = left.iter().filter_map(|l| l.0.wound).collect();
        let with = self.surfaces.extract_if(.., |s| s.wound.is_some_and(|g| groups.contains(&g)));
        left.extend(with.map(|s| {
            let parting = Parting { second: s.share > 0.5, repelled: false };
            (s, parting)
        }));
        left
    }

    /// The states moved onto the surfaces, and to where rates are zero that are to be; none if one has to go further than `far`.
    pub fn place(&self, model: &mut Model, program: &ModeProgram, t: f64, far: &[f64]) -> Option<Vec<f64>> {
        let x = model.states_now(program);
        let Some(manifold) = &self.manifold else { return Some(x) };
        let y = model.aside(|model| manifold.nearest(&mut Rhs::new(&mut model.machine, program), t, &x).ok())?;
        let near = y.iter().zip(&x).zip(far).all(|((y, x), far)| (y - x).abs() <= *far);
        near.then_some(y)
    }

    /// The same, if the surfaces hold the solution there.
    pub fn holds(&mut self, model: &mut Model, program: &ModeProgram, t: f64, far: &[f64]) -> Option<Vec<f64>> {
        let y = self.place(model, program, t, far)?;
        model.aside(|model| self.judge(&mut Rhs::new(&mut model.machine, program), t, &y).ok())?;
        self.surfaces.iter().all(|s| s.looseness() < 0.0).then_some(y)
    }

    /// Of a first surface alone: the place near the present states where its function and the rates that both sides give it are zero, if a mix
    /// of the sides holds the solution there, and they lead back to it.
    pub fn standing(&mut self, model: &mut Model, program: &ModeProgram, t: f64, far: &[f64]) -> Option<Vec<f64>> {
        let mut place = None;
        for _ in 0..MOST_STANDS {
            self.arrange(model, program, t)?;
            let y = self.place(model, program, t, far)?;
            model.aside(|model| self.judge(&mut Rhs::new(&mut model.machine, program), t, &y).ok())?;
            place = Some(y);
        }
        let y = place.filter(|_| self.surfaces.iter().all(|s| s.looseness() < 0.0))?;
        let (s, manifold) = (self.surfaces.first()?, self.manifold.as_ref()?);
        let lead = s.relations[0].0;
        let scale: Vec<f64> = program.nominal.iter().map(|n| n.abs().clamp(1e-12, 1e12)).collect();
        model.aside(|model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            let toward = s.toward(rhs.machine);
            let mut look = |y: &[f64]| {
                let (mut fields, mut rates) = ([vec![0.0; y.len()], vec![0.0; y.len()]], [0.0; 2]);
                for (k, field) in fields.iter_mut().enumerate() {
                    s.set(&mut rhs.machine.values, k == 1);
                    rhs.field(t, y, field).ok()?;
                    rates[k] = toward * rhs.rate(lead, t, y, field).ok()?;
                }
                Some((fields, rates))
            };
            let (fields, rates) = look(&y)?;
            let across: Vec<f64> = fields[1].iter().zip(&fields[0]).map(|(b, a)| b - a).collect();
            let size = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
            let apart = size(&mut across.iter().zip(&scale).map(|(d, s)| d / s));
            let slope = size(&mut manifold.slopes[0].iter().zip(&scale).map(|(g, s)| g * s));
            let still = rates.iter().all(|r| r.abs() <= 1e-6 * apart * slope);
            let mut back = |by: f64| {
                let beside: Vec<f64> = y.iter().zip(&across).map(|(y, d)| y + by / apart * d).collect();
                look(&beside).is_some_and(|(_, rates)| rates[1] < rates[0])
            };
            (apart > 0.0 && still && back(BESIDE) && back(-BESIDE)).then_some(())
        })?;
        Some(y)
    }

    /// The surfaces whose sides hardly turn their functions any more, as last judged.
    pub fn faded(&self) -> Vec<Vec<(usize, f64, f64)>> {
        let plain = |s: &&Surface| s.memory.is_none() && s.wound.is_none() && !s.borne;
        let faded = self.surfaces.iter().filter(plain).filter(|s| s.has_faded());
        faded.map(|s| s.relations.clone()).collect()
    }

    /// The sides to which surfaces are left that no longer hold the solution: by the rate of their functions where that is no longer
    /// zero, else by their shares.
    pub fn abandoned(self, model: &mut Model, program: &ModeProgram, t: f64, far: &[f64]) -> Vec<(Surface, Parting)> {
        let x = model.states_now(program);
        let rates = model.aside(|model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            self.manifold.as_ref()?.rates(&mut rhs, t, &x).ok()
        });
        let rates = if self.place(model, program, t, far).is_none() { rates } else { None };
        let rates = rates.unwrap_or_else(|| vec![None; self.surfaces.len()]);
        let sides = self.surfaces.into_iter().zip(rates).map(|(s, rate)| {
            let second = rate.map_or(s.share > 0.5, |rate| s.toward(&model.machine) * rate > 0.0);
            (s, Parting { second, repelled: false })
        });
        sides.collect()
    }

    /// What errors of the states do to the function of the first surface.
    pub fn sway(&self, errors: &[f64]) -> Option<f64> {
        let row = self.manifold.as_ref()?.slopes.first()?;
        Some(row.iter().zip(errors).map(|(r, e)| r.abs() * e).sum())
    }

    /// Of a first surface alone that is of second order: what errors of the states along it do to the rate of its function, and how fast
    /// the sides turn that (towards the second side).
    pub fn turning(&self, model: &mut Model, program: &ModeProgram, t: f64, errors: &[f64]) -> Option<(f64, [f64; 2])> {
        let row = self.manifold.as_ref()?.turns.first()?.as_ref()?;
        let error = row.iter().zip(errors).map(|(r, e)| r.abs() * e).sum();
        let x = model.states_now(program);
        let look = |model: &mut Model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            self.look(&mut rhs, t, &x, &mut |_| ()).ok()
        };
        let rates = model.aside(look)?.0.rates;
        Some((error, [rates.first()?[0], rates.get(1)?[0]]))
    }

    /// How fast the sides of a first surface of second order lead to the second side, each at a distance `by` of the function and where
    /// there is no rate on the surface.
    pub fn beside(&self, model: &mut Model, program: &ModeProgram, t: f64, by: f64) -> Option<[f64; 2]> {
        let x = model.states_now(program);
        model.aside(|model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            let manifold = self.manifold.as_ref()?;
            let y = manifold.nearest(&mut rhs, t, &x).ok()?;
            let (s, way) = (&self.surfaces[0], manifold.way(0)?);
            let (toward, mut dx, mut rates) = (s.toward(rhs.machine), vec![0.0; x.len()], [0.0; 2]);
            for (k, rate) in rates.iter_mut().enumerate() {
                let off = if k == 0 { -toward * by } else { toward * by };
                let beside: Vec<f64> = y.iter().zip(way).map(|(y, w)| y + off * w).collect();
                self.values[k].iter().for_each(|&(slot, value)| rhs.machine.values[slot as usize] = value);
                rhs.field(t, &beside, &mut dx).ok()?;
                *rate = toward * rhs.rate(s.relations[0].0, t, &beside, &dx).ok()?;
            }
            Some(rates)
        })
    }

    /// By what small turns shrink around a first surface of second order whose rate is the function of the second one: out against the
    /// one acceleration, back by the other, on either side. Nothing if there are not just these two.
    pub fn contraction(&self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<f64> {
        let manifold = self.manifold.as_ref()?;
        let [x, v] = &self.surfaces[..] else { return None };
        let factor = made_of(std::slice::from_ref(&manifold.slopes[1]), manifold.turns[0].as_ref()?)?[0];
        if v.second || factor == 0.0 {
            return None;
        }
        let at = model.states_now(program);
        let look = |model: &mut Model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            self.look(&mut rhs, t, &at, &mut |_| ()).ok()
        };
        let rates = model.aside(look)?.0.rates;
        let (toward, along) = (x.toward(&model.machine), v.toward(&model.machine) * factor);
        // Outwards where function and rate have the same sign; accelerations back to zero count as positive.
        let back = |side: f64, out: bool| {
            let second = [side * toward > 0.0, (side * along > 0.0) == out];
            let corner: Vec<usize> = (0..2).filter(|&k| second[k]).collect();
            let c = self.corners.list.iter().position(|c| *c == corner)?;
            Some(-side * toward * rates[c][0])
        };
        let part = |side: f64| {
            let (out, home) = (back(side, true)?, back(side, false)?);
            Some(if out > 0.0 { home.max(0.0) / out } else { f64::INFINITY })
        };
        Some(part(1.0)? * part(-1.0)?)
    }

    /// The surfaces near the present states that are on the manifold wherever it goes.
    pub fn joined(&self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Vec<Surface>> {
        let manifold = self.manifold.as_ref()?;
        let leads: Vec<usize> = self.surfaces.iter().map(|s| s.relations[0].0).collect();
        let mut known: Vec<usize> = self.surfaces.iter().flat_map(Surface::held).collect();
        let rows: Vec<Vec<f64>> = manifold.slopes.iter().chain(manifold.turns.iter().flatten()).cloned().collect();
        let x = model.states_now(program);
        let mut found = Vec::new();
        for i in program.crossings.relations() {
            if known.contains(&i)
                || !matches!(model.machine.relations[i].kind, RelationKind::Sign(_))
                || !leads.iter().any(|&lead| model.neighbours(lead, i))
                || !assigned(program, i)
            {
                continue;
            }
            model.know_rate(program, i);
            let size = model.machine.relations[i].size;
            let look = |model: &mut Model| {
                let mut rhs = Rhs::new(&mut model.machine, program);
                let y = manifold.nearest(&mut rhs, t, &x).ok()?;
                let (here, there) = (rhs.function(i, t, &x).ok()?, rhs.function(i, t, &y).ok()?);
                let row = slopes(&mut rhs, i, t, &y).ok()?;
                (there.abs() <= 1e-3 * here.abs() + 1e-11 * size && made_of(&rows, &row).is_some()).then_some(())
            };
            if model.aside(look).is_none() {
                continue;
            }
            let bit = model.machine.values[model.machine.relations[i].var as usize];
            let surface = model.plain_surface(program, vec![(i, bit, f64::from(bit == 0.0))], t);
            if let Some(surface) = surface {
                known.extend(surface.held());
                found.push(surface);
            }
        }
        Some(found)
    }
}

/// Which surfaces have the larger share on their second sides, of a mix at most the one with the largest.
fn larger(surfaces: &[Surface]) -> Vec<bool> {
    let most = |(k, s): (usize, &Surface)| match &s.memory {
        None => s.share >= 0.5,
        Some(m) => {
            let other = |(j, o): (usize, &Surface)| {
                o.mix() == Some(m.mix) && (o.share > s.share || o.share == s.share && j < k)
            };
            s.share >= 1.0 - m.total && !surfaces.iter().enumerate().any(other)
        }
    };
    surfaces.iter().enumerate().map(most).collect()
}

/// What the shares of each mix come to.
fn sum_mixes(surfaces: &mut [Surface]) {
    for k in 0..surfaces.len() {
        let Some(mix) = surfaces[k].mix() else { continue };
        let total = surfaces.iter().filter(|s| s.mix() == Some(mix)).map(|s| s.share).sum();
        surfaces[k].memory.iter_mut().for_each(|m| m.total = total);
    }
}

/// Whether a corner is one of modes: not on the second sides of two surfaces of one mix.
fn compatible(surfaces: &[&Surface], corner: &[usize]) -> bool {
    let mut mixes = corner.iter().filter_map(|&k| surfaces[k].mix());
    let mut seen = FxHashSet::default();
    mixes.all(|m| seen.insert(m))
}

/// A function that moves in no direction.
fn is_none(way: &[f64]) -> bool {
    way.iter().all(|w| *w == 0.0)
}

/// Surfaces that hold all of them but for what is borne.
fn free_base(surfaces: &[Surface], ways: &[Vec<f64>]) -> Vec<usize> {
    let free: Vec<usize> = (0..surfaces.len()).filter(|&k| !surfaces[k].borne).collect();
    base(&free.iter().map(|&k| ways[k].clone()).collect::<Vec<_>>()).into_iter().map(|k| free[k]).collect()
}

/// Some corners of surfaces as seen from a point.
struct Sides {
    /// The fields of the corners.
    fields: Vec<Vec<f64>>,
    /// The rates at which they lead to the second sides: [corner][surface].
    rates: Vec<Vec<f64>>,
    /// How far the point is on the second sides.
    distances: Vec<f64>,
    /// How strongly bodies that rest would have to be pulled to stay: [corner][rest].
    lifts: Vec<Vec<f64>>,
}

/// What corners look like; `seen` is told when the values of one are at hand.
fn sides(
    rhs: &mut Rhs<'_>,
    surfaces: &[&Surface],
    corners: &[Vec<(u32, f64)>],
    t: f64,
    x: &[f64],
    seen: &mut dyn FnMut(&Rhs<'_>),
) -> Result<Sides, EvalError> {
    let mut fields = vec![vec![0.0; x.len()]; corners.len()];
    let mut rates = vec![vec![0.0; surfaces.len()]; corners.len()];
    let (mut distances, mut lifts) = (Vec::new(), Vec::with_capacity(corners.len()));
    for (c, set) in corners.iter().enumerate() {
        set.iter().for_each(|&(slot, value)| rhs.machine.values[slot as usize] = value);
        rhs.field(t, x, &mut fields[c])?;
        seen(rhs);
        lifts.push(hold(rhs, t, x, &mut fields[c])?);
        if c == 0 {
            distances = surfaces.iter().map(|s| s.toward(rhs.machine) * rhs.value(s.relations[0].0)).collect();
        }
        for (j, s) in surfaces.iter().enumerate() {
            rates[c][j] = s.toward(rhs.machine) * rhs.rate(s.relations[0].0, t, x, &fields[c])?;
        }
    }
    Ok(Sides { fields, rates, distances, lifts })
}

/// Σ_c w_c f_c.
fn mix(weights: &[f64], fields: &[Vec<f64>], dx: &mut [f64]) {
    dx.copy_from_slice(&fields[0]);
    for (w, f) in weights.iter().zip(fields).skip(1) {
        for (d, (f, z)) in dx.iter_mut().zip(f.iter().zip(&fields[0])) {
            *d += w * (f - z);
        }
    }
}

/// Component k of direction d, in [−1, 1]: directions that have nothing to do with each other (splitmix64).
fn scattered(k: usize, d: usize) -> f64 {
    let mut z = ((d as u64) << 32 | k as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// How fast the functions of what rests, and their rates, move in these directions.
fn held_still(rhs: &mut Rhs<'_>, t: f64, x: &[f64], directions: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, EvalError> {
    let mut out = Vec::new();
    let mut dx = vec![0.0; x.len()];
    for r in rhs.resting {
        let (mut value, mut rate) = (Vec::new(), Vec::new());
        for d in directions {
            value.push(rhs.rate(r.relation, t, x, d)?);
            let mut turn = 0.0;
            for h in [1e-4, -1e-4] {
                let moved: Vec<f64> = x.iter().zip(d).map(|(x, d)| x + h * d).collect();
                rhs.field(t + h, &moved, &mut dx)?;
                turn += rhs.rate(r.relation, t + h, &moved, &dx)? / (2.0 * h);
            }
            rate.push(turn);
        }
        out.extend([value, rate]);
    }
    Ok(out)
}

/// Whether the function of a relation is one of states and time, without equations to solve.
fn explicit(program: &ModeProgram, relation: usize) -> bool {
    let function = program.crossings.by_relation.get(&relation);
    function.is_some_and(|&k| program.crossings.functions[k].gradient.is_some())
}

/// Whether the function of a relation follows from states and time by assignments alone.
fn assigned(program: &ModeProgram, relation: usize) -> bool {
    let function = program.crossings.by_relation.get(&relation);
    function.is_some_and(|&k| !program.crossings.functions[k].solves)
}

impl Model {
    /// The surface of these relations, if the derivatives depend on its side, without memory.
    fn plain_surface(&mut self, program: &ModeProgram, relations: Vec<(usize, f64, f64)>, t: f64) -> Option<Surface> {
        let (relations, twins, bits) = self.complete(program, relations, t)?;
        let critical = bits.iter().any(|b| program.sensitivity.slots.contains(&b.0));
        if program.states.is_empty() || !critical || !self.without_memory(program, &relations, &bits) {
            return None;
        }
        let x = self.states_now(program);
        if self.one_field(program, &bits, t, &x) {
            return None;
        }
        Some(Surface::new(relations, twins, bits, 1e-6, 0.0))
    }

    /// The surface of these relations, if its sides leave the rate of its function alone, or hardly turn it near here (so that the solution
    /// may come to stand): that rate, where the function is zero.
    pub(crate) fn second_order(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
    ) -> Option<(Surface, f64)> {
        if !relations.iter().all(|r| assigned(program, r.0)) {
            return None;
        }
        let mut surface = self.plain_surface(program, relations, t)?;
        let lead = surface.relations[0].0;
        self.know_rate(program, lead);
        let x = self.states_now(program);
        let (rate, stands) = self.aside(|model| {
            let mut rhs = Rhs::new(&mut model.machine, program);
            let held = vec![Held { relation: lead, second: false }];
            let manifold = Manifold::new(&mut rhs, held, Vec::new(), t, &x, 1.0).ok()?;
            let y = manifold.flat(&mut rhs, t, &x).ok()?;
            let (mut fields, mut rates) = ([vec![0.0; x.len()], vec![0.0; x.len()]], [0.0; 2]);
            for (k, field) in fields.iter_mut().enumerate() {
                surface.set(&mut rhs.machine.values, k == 1);
                rhs.field(t, &y, field).ok()?;
                rates[k] = rhs.rate(lead, t, &y, field).ok()?;
            }
            let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
            let scale = || program.nominal.iter().map(|n| n.abs().clamp(1e-12, 1e12));
            let apart = norm(&mut fields[0].iter().zip(&fields[1]).zip(scale()).map(|((a, b), s)| (a - b) / s));
            let slope = norm(&mut manifold.slopes[0].iter().zip(scale()).map(|(g, s)| g * s));
            // Where sides turn states that the function follows, they turn the function, however steep it is in other states.
            let turned = |k: usize| {
                let (by, follows) = (fields[1][k] - fields[0][k], manifold.slopes[0][k]);
                let n = program.nominal[k].abs().clamp(1e-12, 1e12);
                let counts = by.abs() / n > 1e-3 * apart && follows.abs() * n > 1e-12 * slope;
                if counts { by * follows } else { 0.0 }
            };
            let turned: Vec<f64> = (0..x.len()).map(turned).collect();
            let (sum, most) = (turned.iter().sum::<f64>(), turned.iter().map(|t| t.abs()).sum::<f64>());
            let alike = (rates[1] - rates[0]).abs() <= 1e-6 * apart * slope && sum.abs() <= 1e-6 * most;
            let faded = (rates[1] - rates[0]).abs() <= FADED * apart * slope;
            (apart > 0.0 && (alike || faded)).then_some((0.5 * (rates[0] + rates[1]), !alike))
        })?;
        (surface.second, surface.stands) = (true, stands);
        Some((surface, rate))
    }

    /// All discrete values that follow without memory if relations have these values.
    fn discrete_with(
        &mut self,
        program: &ModeProgram,
        relations: impl Iterator<Item = (usize, f64)>,
        remembered: &[(u32, f64)],
    ) -> Option<Vec<f64>> {
        let kept = self.machine.values.clone();
        self.machine.hold_relations = true;
        self.machine.patient = true;
        remembered.iter().for_each(|&(slot, value)| self.machine.values[slot as usize] = value);
        for (i, value) in relations {
            let slot = self.machine.relations[i].var as usize;
            self.machine.values[slot] = value;
        }
        let done = self.machine.run(&program.event);
        remembered.iter().for_each(|&(slot, value)| self.machine.values[slot as usize] = value);
        let found = self.discrete_now();
        self.machine.hold_relations = false;
        self.machine.patient = false;
        self.machine.values = kept;
        done.ok().map(|()| found)
    }

    /// The discrete values that differ between the sides of a surface, previous values among them: slot, first, second.
    fn both_sides(&mut self, program: &ModeProgram, relations: &[(usize, f64, f64)]) -> Option<Vec<(u32, f64, f64)>> {
        let a = self.discrete_with(program, relations.iter().map(|r| (r.0, r.1)), &[])?;
        let b = self.discrete_with(program, relations.iter().map(|r| (r.0, r.2)), &[])?;
        let differing = self.discrete.iter().zip(a.into_iter().zip(b)).filter(|(_, (a, b))| a != b);
        Some(differing.flat_map(|(d, (a, b))| [(d.0, a, b), (d.1, a, b)]).collect())
    }

    /// Which corners of these surfaces are mixed, and the discrete values that differ between them. All, if they are few; else those
    /// from which the fields of others follow.
    fn corners(
        &mut self,
        program: &ModeProgram,
        surfaces: &[&Surface],
        t: f64,
    ) -> Option<(Corners, Vec<Vec<(u32, f64)>>)> {
        let m = surfaces.len();
        let modes = |c: &[usize]| compatible(surfaces, c);
        let corners = match m {
            0 | 1 => Corners::sums(m, &[]),
            2..=BLENDED => Corners::all(m).among(modes),
            _ if self.follow(program, surfaces, &Corners::sums(m, &[]), t).unwrap_or(true) => Corners::sums(m, &[]),
            ..=MOST_BLENDED => Corners::all(m).among(modes),
            _ => self.together(program, surfaces, t)?,
        };
        let values = self.values_at(program, surfaces, &corners.list, &[])?;
        Some((corners, values))
    }

    fn values_at(
        &mut self,
        program: &ModeProgram,
        surfaces: &[&Surface],
        corners: &[Vec<usize>],
        previous: &[(u32, f64)],
    ) -> Option<Vec<Vec<(u32, f64)>>> {
        let mut found: Vec<Vec<f64>> = Vec::new();
        for corner in corners {
            let side = |(k, s): (usize, &&Surface)| {
                let second = corner.contains(&k);
                s.relations.iter().map(move |r| (r.0, if second { r.2 } else { r.1 })).collect::<Vec<_>>()
            };
            let (own, with): (Vec<_>, Vec<_>) = surfaces.iter().enumerate().partition(|(_, s)| s.memory.is_none());
            let relations: Vec<(usize, f64)> = own.into_iter().flat_map(side).collect();
            let mut remembered = previous.to_vec();
            let mut with: Vec<(bool, &&Surface)> = with.into_iter().map(|(k, s)| (corner.contains(&k), s)).collect();
            with.sort_by_key(|w| w.0);
            for (second, s) in with {
                remembered.extend(s.bits.iter().map(|b| (b.0, if second { b.2 } else { b.1 })));
                let guards = s.guards(self, second).into_iter();
                remembered.extend(guards.map(|(i, v)| (self.machine.relations[i].var, v)));
            }
            found.push(self.discrete_with(program, relations.into_iter(), &remembered)?);
        }
        let differs = |k: &usize| found.iter().any(|f| f[*k] != found[0][*k]);
        let differing: Vec<usize> = (0..self.discrete.len()).filter(differs).collect();
        let value = |f: &Vec<f64>, k: usize| [(self.discrete[k].0, f[k]), (self.discrete[k].1, f[k])];
        let values = |f: &Vec<f64>| differing.iter().flat_map(|&k| value(f, k)).collect();
        Some(found.iter().map(values).collect())
    }

    /// Whether the fields of other corners follow from these: of that with all second sides, where whatever some surfaces do
    /// together is done, and of a few at random.
    fn follow(&mut self, program: &ModeProgram, surfaces: &[&Surface], corners: &Corners, t: f64) -> Option<bool> {
        let m = surfaces.len();
        let random = |d: usize| (0..m).filter(|&k| scattered(k, d) > 0.0).collect();
        let others = std::iter::once((0..m).collect()).chain((0..OTHERS).map(random));
        let others: Vec<Vec<usize>> = others.filter(|c: &Vec<usize>| compatible(surfaces, c)).collect();
        Some(self.unlike(program, surfaces, corners, others, t)?.is_empty())
    }

    /// Those of other corners whose fields do not follow from these.
    fn unlike(
        &mut self,
        program: &ModeProgram,
        surfaces: &[&Surface],
        corners: &Corners,
        mut others: Vec<Vec<usize>>,
        t: f64,
    ) -> Option<Vec<Vec<usize>>> {
        let list: Vec<Vec<usize>> = corners.list.iter().chain(&others).cloned().collect();
        let values = self.values_at(program, surfaces, &list, &[])?;
        let fields = self.seen_from(program, surfaces, &values, t)?.fields;
        let size = fields.iter().flatten().fold(0.0f64, |s, v| s.max(v.abs()));
        let mut mixed = vec![0.0; fields[0].len()];
        let mut follows = fields[corners.list.len()..].iter().zip(others.clone()).map(|(field, other)| {
            let shares: Vec<f64> = (0..surfaces.len()).map(|k| f64::from(u8::from(other.contains(&k)))).collect();
            mix(&corners.weights(&shares, None), &fields, &mut mixed);
            mixed.iter().zip(field).all(|(a, b)| (a - b).abs() <= 1e-9 * size)
        });
        others.retain(|_| !follows.next().unwrap_or(true));
        Some(others)
    }

    /// The corners of surfaces that do something else to the field together than what fewer of them do: pairs, then threes all of whose
    /// pairs do, and so on, until the others follow.
    fn together(&mut self, program: &ModeProgram, surfaces: &[&Surface], t: f64) -> Option<Corners> {
        let m = surfaces.len();
        let mut corners = Corners::sums(m, &[]);
        let mut level: Vec<Vec<usize>> = (0..m).map(|k| vec![k]).collect();
        loop {
            let known: FxHashSet<&[usize]> = level.iter().map(|c| &c[..]).collect();
            let without = |c: &[usize], k: usize| [&c[..k], &c[k + 1..]].concat();
            let all = |c: &Vec<usize>| (0..c.len()).all(|k| known.contains(&without(c, k)[..]));
            let more = |c: &Vec<usize>| (c[c.len() - 1] + 1..m).map(|k| [&c[..], &[k]].concat()).collect::<Vec<_>>();
            let next = level.iter().flat_map(more).filter(all);
            let next: Vec<Vec<usize>> = next.filter(|c| compatible(surfaces, c)).collect();
            if next.is_empty() || corners.list.len() + next.len() > MOST_CORNERS {
                corners.whole = false;
                return Some(corners);
            }
            level = self.unlike(program, surfaces, &corners, next, t)?;
            corners = corners.with(level.clone());
            if self.follow(program, surfaces, &corners, t)? {
                return Some(corners);
            }
        }
    }

    /// Corners as seen from the present states; the present values stay.
    fn seen_from(
        &mut self,
        program: &ModeProgram,
        surfaces: &[&Surface],
        corners: &[Vec<(u32, f64)>],
        t: f64,
    ) -> Option<Sides> {
        self.know_rests(program);
        let kept = self.machine.values.clone();
        let x: Vec<f64> = program.states.iter().map(|s| kept[s.0 as usize]).collect();
        let mut rhs = Rhs::held(&mut self.machine, program, &self.resting);
        let found = sides(&mut rhs, surfaces, corners, t, &x, &mut |_| ());
        self.machine.values = kept;
        self.machine.host.error = None;
        found.ok()
    }

    /// What the solution does where these surfaces meet.
    pub(crate) fn meet(&mut self, program: &ModeProgram, surfaces: &[Surface], t: f64) -> Option<Vec<Course>> {
        let free: Vec<&Surface> = surfaces.iter().filter(|s| !s.borne).collect();
        let (corners, values) = self.corners(program, &free, t)?;
        let rates = self.seen_from(program, &free, &values, t)?.rates;
        let ways = self.ways_beside_rests(program, &free.iter().map(|s| s.relations[0].0).collect::<Vec<_>>(), t)?;
        let second = |s: &&Surface| {
            let (lead, _, second) = s.relations[0];
            self.machine.values[self.machine.relations[lead].var as usize] == second
        };
        let present: Vec<bool> = free.iter().map(second).collect();
        let margins: Vec<f64> = free.iter().map(|s| s.margin).collect();
        let mut courses =
            Junction { corners, rates, lifts: Vec::new() }.resolve(&present, &margins, &ways)?.into_iter();
        let course = |s: &Surface| if s.borne { Some(Course::Slides(s.share)) } else { courses.next() };
        surfaces.iter().map(course).collect()
    }

    /// Moves the states onto surfaces that they are on but for errors, none further than `far`: along what the sides do to the
    /// field, as sliding would. Then a surface is left by its rate, and not by what is left of its function.
    pub(crate) fn onto(&mut self, program: &ModeProgram, surfaces: &[Surface], t: f64, far: &[f64]) -> Option<()> {
        let surfaces: Vec<&Surface> = surfaces.iter().filter(|s| !s.borne).collect();
        let leads: Vec<usize> = surfaces.iter().map(|s| s.relations[0].0).collect();
        // Values through solved equations are those of one branch.
        if !leads.iter().all(|&i| explicit(program, i)) {
            return None;
        }
        let (corners, values) = self.corners(program, &surfaces, t)?;
        let base = base(&self.ways_beside_rests(program, &leads, t)?);
        let size = |g: &[f64]| g.iter().fold(0.0f64, |s, g| s.max(g.abs()));
        let slots: Vec<usize> = program.states.iter().map(|s| s.0 as usize).collect();
        let x: Vec<f64> = slots.iter().map(|&s| self.machine.values[s]).collect();
        let mut seen = self.seen_from(program, &surfaces, &values, t)?;
        let mut moved = x.clone();
        for _ in 0..MOST_PROJECTIONS {
            let Sides { fields, rates, distances, .. } = seen;
            if size(&distances) == 0.0 {
                break;
            }
            let junction = Junction { corners: corners.clone(), rates, lifts: Vec::new() };
            let shift = junction.shift(&base, base.iter().map(|&k| -distances[k]).collect());
            let mut trial = moved.clone();
            for (k, by) in shift.iter().enumerate() {
                let weights = corners.weights(&vec![0.5; surfaces.len()], Some(k));
                let push = |i: usize| weights.iter().zip(&fields).map(|(w, f)| w * f[i]).sum::<f64>();
                trial.iter_mut().enumerate().for_each(|(i, x)| *x += by * push(i));
            }
            slots.iter().zip(&trial).for_each(|(&s, x)| self.machine.values[s] = *x);
            seen = self.seen_from(program, &surfaces, &values, t)?;
            if !(size(&seen.distances) < size(&distances)) {
                break;
            }
            moved = trial;
        }
        let near = moved.iter().zip(&x).zip(far).all(|((m, x), far)| (m - x).abs() <= *far);
        slots.iter().zip(if near { &moved } else { &x }).for_each(|(&s, x)| self.machine.values[s] = *x);
        Some(())
    }

    /// The surface of these relations, if the derivatives depend on its side and are not one field there. It may not hold the
    /// solution.
    pub(crate) fn prospect(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
    ) -> Option<Surface> {
        let x = self.states_now(program);
        let (relations, twins, bits) = self.complete(program, relations, t)?;
        if x.is_empty() || !bits.iter().any(|b| program.sensitivity.slots.contains(&b.0)) {
            return None;
        }
        if self.one_field(program, &bits, t, &x) {
            return None;
        }
        let &(lead, _, _) = relations.first()?;
        let rates = self.side_rates(program, lead, &bits, t, &x)?;
        let still = rates.iter().flatten().all(|r| *r == 0.0);
        let borne = self.borne(program, lead, &bits, t, &x, &rates);
        if !borne && (still || self.continuous(program, lead, &bits, t, &x, &rates)) {
            return None;
        }
        Some(Surface { borne, ..Surface::new(relations, twins, bits, 1e-6, 0.0) })
    }

    /// The same where surfaces are slid on already: what it does may be seen on other sides of these than those that are set.
    pub(crate) fn prospect_beside(
        &mut self,
        program: &ModeProgram,
        slides: &[Surface],
        relations: &[(usize, f64, f64)],
        t: f64,
    ) -> Option<Surface> {
        let found = self.prospect(program, relations.to_vec(), t);
        let slides: Vec<&Surface> = slides.iter().filter(|s| s.memory.is_none() && s.wound.is_none()).collect();
        if found.is_some() || slides.is_empty() || slides.len() > MOST_BLENDED {
            return found;
        }
        let kept = self.machine.values.clone();
        let found = Corners::all(slides.len()).list.iter().find_map(|corner| {
            let side = |(k, s): (usize, &&Surface)| {
                let second = corner.contains(&k);
                s.relations.iter().map(move |r| (r.0, if second { r.2 } else { r.1 })).collect::<Vec<_>>()
            };
            let sides: Vec<(usize, f64)> = slides.iter().enumerate().flat_map(side).collect();
            let there = self.discrete_with(program, sides.into_iter(), &[])?;
            self.discrete.iter().zip(there).for_each(|(d, v)| self.machine.values[d.0 as usize] = v);
            let found = self.prospect(program, relations.to_vec(), t);
            self.machine.values.clone_from(&kept);
            found
        });
        self.machine.values = kept;
        found
    }

    /// The other surfaces that the solution is on, within `near` (of a relation): those that the given ones hold at zero together
    /// are among them, whether they have crossed or not.
    pub(crate) fn nearby(
        &mut self,
        program: &ModeProgram,
        surfaces: &[Surface],
        t: f64,
        near: impl Fn(&Model, usize) -> f64,
    ) -> Vec<Surface> {
        // Functions through solved equations are not: their branches may end where they are zero.
        if !surfaces.iter().all(|s| explicit(program, s.relations[0].0)) {
            return Vec::new();
        }
        let leads: Vec<usize> = surfaces.iter().map(|s| s.relations[0].0).collect();
        let known = surfaces.iter().flat_map(Surface::held).collect();
        let found = self.at_zero(program, &leads, known, t, near);
        self.turned_by_sides(program, surfaces, found, t)
    }

    /// Surfaces that the solution is on, within `near`, beside these relations (but for those that are known).
    pub(crate) fn at_zero(
        &mut self,
        program: &ModeProgram,
        beside: &[usize],
        mut known: Vec<usize>,
        t: f64,
        near: impl Fn(&Model, usize) -> f64,
    ) -> Vec<Surface> {
        let mut found = Vec::new();
        for i in program.crossings.relations() {
            if known.contains(&i)
                || !beside.iter().any(|&lead| self.neighbours(lead, i))
                || !explicit(program, i)
                || !matches!(self.machine.relations[i].kind, RelationKind::Sign(_))
            {
                continue;
            }
            let mut g = [0.0];
            self.machine.crossing_values(&[i], &mut g);
            if !(g[0].abs() <= near(self, i)) {
                continue;
            }
            let bit = self.machine.values[self.machine.relations[i].var as usize];
            let surface = self.prospect(program, vec![(i, bit, f64::from(bit == 0.0))], t);
            if let Some(surface) = surface.filter(|s| self.without_memory(program, &s.relations, &s.bits)) {
                known.extend(surface.held());
                found.push(surface);
            }
        }
        found
    }

    /// Those of the surfaces that have not crossed whose functions some side moves otherwise: the others cross when they do, or are of
    /// second order.
    fn turned_by_sides(
        &mut self,
        program: &ModeProgram,
        known: &[Surface],
        found: Vec<Surface>,
        t: f64,
    ) -> Vec<Surface> {
        if found.is_empty() {
            return found;
        }
        let all: Vec<&Surface> = known.iter().chain(&found).collect();
        let corners = self.values_at(program, &all, &Corners::sums(all.len(), &[]).list, &[]);
        let rates = corners.and_then(|c| self.seen_from(program, &all, &c, t)).map_or(Vec::new(), |s| s.rates);
        let turned = |k: &usize| {
            let (low, high) =
                rates.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), r| (l.min(r[*k]), h.max(r[*k])));
            rates.is_empty() || high - low > 1e-9 * low.abs().max(high.abs())
        };
        let kept: Vec<bool> = (known.len()..all.len()).map(|k| all[k].borne || turned(&k)).collect();
        found.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(s, _)| s).collect()
    }

    /// The relations whose functions are multiples of this one's, and whether they have the same sign.
    fn multiples(&mut self, program: &ModeProgram, lead: usize, t: f64) -> Vec<(usize, bool)> {
        let sign = |r: &RelationKind| matches!(r, RelationKind::Sign(_));
        let others: Vec<usize> =
            program.crossings.relations().filter(|&i| i != lead && sign(&self.machine.relations[i].kind)).collect();
        let mut found = Vec::new();
        for i in others {
            if self.sys.relations[i].g == self.sys.relations[lead].g {
                found.push((i, true));
                continue;
            }
            if !(explicit(program, lead) && explicit(program, i)) {
                continue;
            }
            let mut g = [0.0; 2];
            self.machine.crossing_values(&[lead, i], &mut g);
            let rounding = 1e-9 * self.machine.relations[i].size;
            if g[1].abs() > 1e3 * g[0].abs() + rounding {
                continue;
            }
            let Some(ways) = self.ways(program, &[lead, i], t, &[]) else { continue };
            let Some(factor) = made_of(&ways[..1], &ways[1]).map(|f| f[0]) else { continue };
            if (g[1] - factor * g[0]).abs() <= 1e-6 * (factor * g[0]).abs() + rounding {
                found.push((i, factor > 0.0));
            }
        }
        found
    }

    /// How fast the functions of relations move in so many directions that they are independent where these numbers are, apart from
    /// combinations with what these bodies at rest hold still. A function through solved equations is taken for independent.
    fn ways(&mut self, program: &ModeProgram, relations: &[usize], t: f64, rests: &[Resting]) -> Option<Vec<Vec<f64>>> {
        let kept = self.machine.values.clone();
        let (x, m): (Vec<f64>, _) = (program.states.iter().map(|s| kept[s.0 as usize]).collect(), relations.len());
        let mut rhs = Rhs::held(&mut self.machine, program, rests);
        let direction = |d: usize| (0..x.len()).map(|k| scattered(k, d)).collect::<Vec<f64>>();
        let directions: Vec<Vec<f64>> = (0..m + 1 + 2 * rhs.resting.len()).map(direction).collect();
        let mut of = |(k, &i): (usize, &usize)| {
            let mut way = vec![0.0; directions.len() + m];
            if explicit(program, i) {
                for (w, d) in way.iter_mut().zip(&directions) {
                    *w = rhs.rate(i, t, &x, d)?;
                }
            } else {
                way[directions.len() + k] = 1.0;
            }
            Ok(way)
        };
        let found: Result<Vec<Vec<f64>>, EvalError> = relations.iter().enumerate().map(&mut of).collect();
        let still = found.and_then(|found| Ok((found, held_still(&mut rhs, t, &x, &directions)?)));
        self.machine.values = kept;
        self.machine.host.error = None;
        let (found, mut still) = still.ok()?;
        still.iter_mut().for_each(|w| w.resize(directions.len() + m, 0.0));
        Some(apart_from(&still, found))
    }

    /// The same apart from what all bodies at rest hold still.
    fn ways_beside_rests(&mut self, program: &ModeProgram, relations: &[usize], t: f64) -> Option<Vec<Vec<f64>>> {
        self.know_rests(program);
        let resting = std::mem::take(&mut self.resting);
        let found = self.ways(program, relations, t, &resting);
        self.resting = resting;
        found
    }

    /// A surface with all relations of its function, others that must not switch by noise, and the discrete values that differ
    /// between its sides. Relations that something with a memory reads are such others.
    fn complete(
        &mut self,
        program: &ModeProgram,
        mut relations: Vec<(usize, f64, f64)>,
        t: f64,
    ) -> Option<(Vec<(usize, f64, f64)>, Vec<(usize, bool)>, Vec<(u32, f64, f64)>)> {
        let &(lead, first, _) = relations.first()?;
        let up = positive_side(&self.machine.relations[lead].kind, first);
        let mut bits = self.both_sides(program, &relations)?;
        let mut twins = Vec::new();
        for (i, alike) in self.multiples(program, lead, t) {
            if relations.iter().any(|r| r.0 == i) {
                continue;
            }
            let kind = &self.machine.relations[i].kind;
            relations.push((i, side_value(kind, up == alike), side_value(kind, up != alike)));
            let sides = self.both_sides(program, &relations);
            match sides.filter(|b| self.without_memory(program, &relations, b)) {
                Some(more) => bits = more,
                None => {
                    relations.pop();
                    twins.push((i, alike));
                }
            }
        }
        Some((relations, twins, bits))
    }

    /// Whether discrete values follow from what is there now, and leave the mode as it is.
    fn without_memory(
        &mut self,
        program: &ModeProgram,
        relations: &[(usize, f64, f64)],
        bits: &[(u32, f64, f64)],
    ) -> bool {
        let key = self.modes.values(&program.plan.key);
        let mut among = bits.iter().flat_map(|b| self.discrete.iter().filter(|d| d.0 == b.0));
        if among.any(|d| key.contains_key(&d.2)) {
            return false;
        }
        let mut among = bits.iter().flat_map(|b| self.discrete.iter().filter(|d| d.0 == b.0));
        among.all(|d| self.memoryless(d.2)) || self.forgets(program, relations, bits)
    }

    /// The discrete values that have changed since they were these: slot, value before, value now.
    pub(crate) fn changes(&self, before: &[f64]) -> Vec<(u32, f64, f64)> {
        let now = |d: &(u32, u32, VarId)| self.machine.values[d.0 as usize];
        let changes = self.discrete.iter().zip(before).map(|(d, &b)| (d.0, b, now(d)));
        changes.filter(|c| c.1 != c.2).collect()
    }

    /// Whether what follows from some relations on either of their sides is the same whichever of two sets of values is remembered.
    pub(crate) fn forgets(
        &mut self,
        program: &ModeProgram,
        relations: &[(usize, f64, f64)],
        values: &[(u32, f64, f64)],
    ) -> bool {
        let sign = |i: usize| matches!(self.machine.relations[i].kind, RelationKind::Sign(_));
        if relations.is_empty() || !relations.iter().all(|r| sign(r.0)) {
            return false;
        }
        let remembered = |second: bool| -> Vec<(u32, f64)> {
            let previous = |s: u32| self.machine.previous.get(&s).copied();
            values.iter().filter_map(|&(s, a, b)| Some((previous(s)?, if second { b } else { a }))).collect()
        };
        let remembered = [remembered(false), remembered(true)];
        [false, true].iter().all(|&second| {
            let side = || relations.iter().map(move |r| (r.0, if second { r.2 } else { r.1 }));
            let [a, b] = [0, 1].map(|k| self.discrete_with(program, side(), &remembered[k]));
            a.is_some() && a == b
        })
    }

    /// Rates of a relation's function: [side whose function it is][side whose field moves the states].
    pub(crate) fn side_rates(
        &mut self,
        program: &ModeProgram,
        lead: usize,
        bits: &[(u32, f64, f64)],
        t: f64,
        x: &[f64],
    ) -> Option<[[f64; 2]; 2]> {
        self.know_rests(program);
        let kept = self.machine.values.clone();
        let mut rhs = Rhs::held(&mut self.machine, program, &self.resting);
        let mut found = || {
            let mut fields = [vec![0.0; x.len()], vec![0.0; x.len()]];
            let side = |rhs: &mut Rhs<'_>, second: bool| {
                bits.iter().for_each(|&(s, a, b)| rhs.machine.values[s as usize] = if second { b } else { a });
            };
            for k in 0..2 {
                side(&mut rhs, k == 1);
                rhs.held_field(t, x, &mut fields[k])?;
            }
            let mut rates = [[0.0; 2]; 2];
            for k in [1, 0] {
                side(&mut rhs, k == 1);
                // The values of this side again, from which rates are computed.
                let mut own = fields[k].clone();
                rhs.field(t, x, &mut own)?;
                for j in 0..2 {
                    rates[k][j] = rhs.rate(lead, t, x, &fields[j])?;
                }
            }
            Ok::<_, EvalError>(rates)
        };
        let rates = found().ok();
        self.machine.values = kept;
        rates
    }

    /// Whether two relations switch at the same surface: their functions are multiples of each other.
    pub(crate) fn same_surface(&mut self, program: &ModeProgram, i: usize, j: usize, t: f64) -> bool {
        if self.sys.relations[i].g == self.sys.relations[j].g {
            return true;
        }
        let kept = self.machine.values.clone();
        let x = self.states_now(program);
        let mut rhs = Rhs::new(&mut self.machine, program);
        let mut dx = vec![0.0; x.len()];
        let mut ratio: Option<f64> = None;
        let mut same = true;
        for trial in 1..4usize {
            // Off the surface in directions that have nothing to do with each other.
            let moved: Vec<f64> =
                x.iter().enumerate().map(|(k, v)| v + 1e-3 * (v.abs() + 1e-3) * scattered(k, trial)).collect();
            same &= rhs.field(t, &moved, &mut dx).is_ok();
            let (a, b) = (rhs.value(i), rhs.value(j));
            let r = b / a;
            same &= r.is_finite() && ratio.is_none_or(|q| (r - q).abs() <= 1e-6 * q.abs());
            ratio.get_or_insert(r);
        }
        self.machine.values = kept;
        same
    }

    /// Whether the fields of both sides of these relations' surface point to it (`loose`: or along it). It is passed also if
    /// the derivatives do not depend on the side.
    pub(crate) fn surface(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
        loose: bool,
    ) -> Meeting {
        self.meeting(program, relations, t, loose).unwrap_or(Meeting::Passes)
    }

    fn meeting(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
        loose: bool,
    ) -> Option<Meeting> {
        let x = self.states_now(program);
        let (relations, twins, bits) = self.complete(program, relations, t)?;
        if x.is_empty() || !bits.iter().any(|b| program.sensitivity.slots.contains(&b.0)) {
            return None;
        }
        let &(lead, first, _) = relations.first()?;
        let rates = self.side_rates(program, lead, &bits, t, &x)?;
        // Towards the surface: down from the positive side, up from the negative.
        let sign = if positive_side(&self.machine.relations[lead].kind, first) { 1.0 } else { -1.0 };
        let (a, b) = (-sign * rates[0][0], sign * rates[1][1]);
        let size = a.abs().max(b.abs());
        let (least, margin) = if loose { (-1e-4, 1e-2) } else { (1e-9, 1e-6) };
        if !(size > 0.0 && a > least * size && b > least * size) {
            return None;
        }
        if self.borne(program, lead, &bits, t, &x, &rates) || self.continuous(program, lead, &bits, t, &x, &rates) {
            return None;
        }
        // A mix of the fields holds g at zero only if the other field leads back where the own one leads on.
        let (across, back) = (-sign * rates[0][1], sign * rates[1][0]);
        if a.min(b) > 1e-9 * size && across > 0.5 * a && back > 0.5 * b {
            return Some(Meeting::Folds);
        }
        let hold = a + b;
        Some(Meeting::Slides(Surface::new(relations, twins, bits, margin, hold)))
    }

    /// Whether bodies at rest hold a function still whatever the side: what the sides do to it is borne by their supports.
    fn borne(
        &mut self,
        program: &ModeProgram,
        lead: usize,
        bits: &[(u32, f64, f64)],
        t: f64,
        x: &[f64],
        rates: &[[f64; 2]; 2],
    ) -> bool {
        if self.resting.is_empty() {
            return false;
        }
        let resting = std::mem::take(&mut self.resting);
        let free = self.side_rates(program, lead, bits, t, x);
        self.resting = resting;
        let apart = |r: &[[f64; 2]; 2]| (r[0][0] - r[0][1]).abs().max((r[1][0] - r[1][1]).abs());
        free.is_some_and(|free| apart(&free) > 0.0 && apart(rates) <= HELD * apart(&free))
    }

    /// Whether the derivatives do not depend on the side at present but for what solving for them leaves over: it stands in a branch
    /// that is not taken.
    fn one_field(&mut self, program: &ModeProgram, bits: &[(u32, f64, f64)], t: f64, x: &[f64]) -> bool {
        let fields = self.aside(|me| {
            let mut rhs = Rhs::new(&mut me.machine, program);
            [false, true].map(|second| {
                bits.iter().for_each(|&(s, a, b)| rhs.machine.values[s as usize] = if second { b } else { a });
                let mut dx = vec![0.0; x.len()];
                rhs.field(t, x, &mut dx).is_ok().then_some(dx)
            })
        });
        let [Some(a), Some(b)] = fields else { return false };
        let largest = a.iter().zip(&program.nominal).map(|(f, n)| f.abs() / n).fold(0.0, f64::max);
        let alike = |((a, b), n): ((&f64, &f64), &f64)| {
            (a - b).abs() <= ALIKE * (a.abs() + b.abs()) + f64::EPSILON * largest * n
        };
        a.iter().zip(&b).zip(&program.nominal).all(alike)
    }

    /// Whether the fields of both sides are one field where g is zero: what tells them apart here goes with the distance.
    fn continuous(
        &mut self,
        program: &ModeProgram,
        lead: usize,
        bits: &[(u32, f64, f64)],
        t: f64,
        x: &[f64],
        rates: &[[f64; 2]; 2],
    ) -> bool {
        self.know_rests(program);
        let (size, mut dx) = (1e-6, vec![0.0; x.len()]);
        let across: Vec<f64> = x.iter().enumerate().map(|(k, x)| scattered(k, 0) * (x.abs() + 1e-3)).collect();
        let moved = |by: f64| x.iter().zip(&across).map(|(x, d)| x + by * d).collect::<Vec<f64>>();
        let found = self.aside(|me| {
            let mut rhs = Rhs::held(&mut me.machine, program, &me.resting);
            bits.iter().for_each(|&(s, a, _)| rhs.machine.values[s as usize] = a);
            let mut g = |x: &[f64]| rhs.field(t, x, &mut dx).map(|()| rhs.value(lead));
            let slope = (g(&moved(size))? - g(&moved(-size))?) / (2.0 * size);
            let g = g(x)?;
            hold(&mut rhs, t, x, &mut dx)?;
            Ok::<_, EvalError>((g, slope))
        });
        let (Ok((g, slope)), rate) = (found, rates[0][0]) else { return false };
        if g == 0.0 {
            return false;
        }
        let apart = (rates[0][1] - rate).abs();
        let shrinks = |me: &mut Model, t: f64, nearer: &[f64]| {
            let there = me.side_rates(program, lead, bits, t, nearer);
            there.is_some_and(|r| (r[0][1] - r[0][0]).abs() < 0.3 * apart)
        };
        // Nearer by motion, and by a way that has nothing to do with it: motion may lead along the surface.
        let (back, by) = (-0.9 * g / rate, -0.9 * g / slope);
        let led: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + back * d).collect();
        back.is_finite() && shrinks(self, t + back, &led) || by.abs() < 1e-2 && shrinks(self, t, &moved(by))
    }

    /// After an event: does the solution still slide on this surface?
    pub(crate) fn review(&mut self, program: &ModeProgram, s: &mut Surface, t: f64) -> Fate {
        if s.borne {
            return Fate::Slides;
        }
        let loose = s.margin > 1e-3;
        let share = s.share;
        if let Meeting::Slides(new) = self.surface(program, s.relations.clone(), t, loose) {
            *s = Surface { share, firmest: s.firmest.max(new.firmest), ..new };
            return Fate::Slides;
        }
        let x = self.states_now(program);
        let lead = s.relations[0];
        let bits = self.both_sides(program, &s.relations).unwrap_or_default();
        let rates = self.side_rates(program, lead.0, &bits, t, &x).unwrap_or_default();
        let (a, b) = (rates[0][0], rates[1][1]);
        let first_positive = positive_side(&self.machine.relations[lead.0].kind, lead.1);
        // Where the fields go now.
        let up = if a.abs() > b.abs() { a > 0.0 } else { b > 0.0 };
        let repelled = if first_positive { a > 0.0 && b < 0.0 } else { a < 0.0 && b > 0.0 };
        Fate::Leaves(Parting { second: up != first_positive, repelled })
    }
}
