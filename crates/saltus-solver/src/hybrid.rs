//! DAEs with state conditions: the usage of DSL48E in modern dress.
//!
//! The model is *locked*: between events [`DaeSystem::residual`] follows the branches taken last, whatever its arguments
//! say. Which branch to take is a matter of *state conditions*, logical expressions over the signs of *discontinuity
//! functions* g_i(t, x, x'). [`HybridDae`] finds the earliest crossing after which a condition has another value, puts the
//! state just behind it, lets the model react ([`HybridSystem::event`]: jump, lock the new mode), and finds consistent
//! values again. Conditions that have no such function (a table lookup, a counter) are asked for after each step.
//!
//! A tank with a hole that is closed below 20 cm while the pump is on, and a pump that is switched on below 10 cm:
//!
//! ```
//! use saltus_solver::dae::*;
//! use saltus_solver::hybrid::*;
//! use saltus_solver::ode::{EvalError, Options};
//! struct Tank { pumping: bool }
//! impl DaeSystem for Tank {
//!     fn dim(&self) -> usize { 1 }
//!     fn residual(&mut self, _t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
//!         r[0] = xp[0] - if self.pumping { 0.1 } else { -0.05 };
//!         Ok(())
//!     }
//! }
//! impl HybridSystem for Tank {
//!     fn functions(&self) -> usize { 2 }
//!     fn discontinuities(&mut self, _t: f64, x: &[f64], _xp: &[f64], g: &mut [f64]) {
//!         g[0] = 0.1 - x[0];
//!         g[1] = x[0] - 0.2;
//!     }
//!     fn conditions(&self) -> usize { 1 }
//!     // Low, or pumping and not yet full.
//!     fn condition(&mut self, _k: usize, positive: &[bool]) -> bool {
//!         positive[0] || (self.pumping && !positive[1])
//!     }
//!     fn event(&mut self, e: &Event, _x: &mut [f64], _xp: &mut [f64]) -> Reaction {
//!         self.pumping = e.values[0];
//!         Reaction::Continue
//!     }
//! }
//! let mut tank = Tank { pumping: false };
//! let opts = DaeOptions::new(Options::new(1, 1e-8, 1e-10));
//! let mut run = HybridDae::start(&mut tank, 0.0, &[0.15], &[0.0], opts)?;
//! let mut switches = Vec::new();
//! loop {
//!     match run.advance(&mut tank, 5.0)? {
//!         Advance::Step => {}
//!         Advance::Event => switches.push(run.t()),
//!         Advance::Stop => break,
//!     }
//! }
//! // Down 5 cm in 1 s, up 10 cm in 1 s, down 10 cm in 2 s, up again.
//! for (found, exact) in switches.iter().zip([1.0, 2.0, 4.0, 5.0]) {
//!     assert!((found - exact).abs() < 1e-6, "{switches:?}");
//! }
//! # Ok::<(), HybridError>(())
//! ```

use crate::dae::{DaeBdf, DaeOptions, DaeSystem, InitError, Unknowns, initialize};
use crate::ode::{Restart, Stats, StepError, StepOutcome};
use crate::roots::{CrossingOptions, Sign, generic::first_crossing_sampled};

/// What to do after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Find consistent values and go on.
    Continue,
    /// End the integration here.
    Stop,
}

/// An event, as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub t: f64,
    /// The conditions that changed.
    pub changed: Vec<usize>,
    /// All conditions' values from now on.
    pub values: Vec<bool>,
    /// Whether it was found by [`HybridSystem::check`] rather than by a crossing.
    pub checked: bool,
}

/// A DAE whose branches depend on state conditions.
pub trait HybridSystem: DaeSystem {
    /// Number of discontinuity functions.
    fn functions(&self) -> usize;
    /// g = g(t, x, x'); positive means true.
    fn discontinuities(&mut self, t: f64, x: &[f64], xp: &[f64], g: &mut [f64]);
    /// Number of state conditions.
    fn conditions(&self) -> usize;
    /// The value of condition k, given which functions are positive.
    fn condition(&mut self, k: usize, positive: &[bool]) -> bool;
    /// Conditions without a discontinuity function, looked at after each step: true calls [`Self::event`].
    fn check(&mut self, _t: f64, _x: &[f64], _xp: &[f64]) -> bool {
        false
    }
    /// Locks the new mode and may change x and x' (differential variables jump; the rest is found consistent).
    fn event(&mut self, event: &Event, x: &mut [f64], xp: &mut [f64]) -> Reaction;
}

/// Why [`HybridDae::advance`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// A step without event.
    Step,
    /// An event was handled at [`HybridDae::t`].
    Event,
    /// The stop time, or a model that said [`Reaction::Stop`].
    Stop,
}

/// Why an integration could not go on.
#[derive(Debug, Clone, PartialEq)]
pub enum HybridError {
    /// A step failed.
    Step(StepError),
    /// No consistent values after an event or at the start.
    Init(InitError),
    /// A condition keeps changing without time passing.
    Chattering {
        /// When.
        t: f64,
        /// The last condition that changed.
        condition: usize,
    },
}

impl std::fmt::Display for HybridError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HybridError::Step(e) => e.fmt(f),
            HybridError::Init(e) => e.fmt(f),
            HybridError::Chattering { t, condition } => {
                write!(f, "condition {condition} keeps changing at t = {t} without time passing")
            }
        }
    }
}

impl std::error::Error for HybridError {}

impl From<StepError> for HybridError {
    fn from(e: StepError) -> Self {
        HybridError::Step(e)
    }
}
impl From<InitError> for HybridError {
    fn from(e: InitError) -> Self {
        HybridError::Init(e)
    }
}

const CHATTER: usize = 100;

/// The integration of a [`HybridSystem`].
pub struct HybridDae {
    bdf: DaeBdf,
    opts: DaeOptions,
    t: f64,
    x: Vec<f64>,
    xp: Vec<f64>,
    g: Vec<f64>,
    /// Signs of the functions and values of the conditions that the model is locked to.
    positive: Vec<bool>,
    values: Vec<bool>,
    last_event: (f64, usize),
    ended: bool,
}

impl HybridDae {
    /// Finds consistent values from x of differential variables and guesses of the rest.
    pub fn start(
        sys: &mut dyn HybridSystem,
        t: f64,
        x: &[f64],
        xp: &[f64],
        opts: DaeOptions,
    ) -> Result<HybridDae, HybridError> {
        let (n, m) = (sys.dim(), sys.functions());
        let mut h = HybridDae {
            bdf: DaeBdf::new(n, opts.clone()),
            opts,
            t,
            x: x.to_vec(),
            xp: xp.to_vec(),
            g: vec![0.0; m],
            positive: vec![false; m],
            values: vec![false; sys.conditions()],
            last_event: (f64::NAN, 0),
            ended: false,
        };
        h.settle(sys)?;
        h.look(sys);
        for k in 0..h.values.len() {
            h.values[k] = sys.condition(k, &h.positive);
        }
        h.bdf.restart(as_dae(sys), t, &h.x, &h.xp, Restart::Cold)?;
        Ok(h)
    }

    fn settle(&mut self, sys: &mut dyn HybridSystem) -> Result<(), HybridError> {
        initialize(as_dae(sys), self.t, &mut self.x, &mut self.xp, Unknowns::DerivativesAndAlgebraic, &self.opts)?;
        Ok(())
    }

    /// Signs of all functions as they stand.
    fn look(&mut self, sys: &mut dyn HybridSystem) {
        sys.discontinuities(self.t, &self.x, &self.xp, &mut self.g);
        for (p, g) in self.positive.iter_mut().zip(&self.g) {
            *p = *g > 0.0;
        }
    }

    /// One step, ended early by the first event in it; never past `tstop`.
    pub fn advance(&mut self, sys: &mut dyn HybridSystem, tstop: f64) -> Result<Advance, HybridError> {
        if self.ended || self.t >= tstop {
            return Ok(Advance::Stop);
        }
        let outcome = self.bdf.step(as_dae(sys), tstop)?;
        let end = self.bdf.t();
        let mut from = self.t;
        while let Some((at, which)) = self.crossing(sys, from, end) {
            self.positive[which] = !self.positive[which];
            from = at;
            let changed: Vec<usize> = (0..self.values.len())
                .filter(|&k| {
                    let value = sys.condition(k, &self.positive);
                    std::mem::replace(&mut self.values[k], value) != value
                })
                .collect();
            if !changed.is_empty() {
                self.place(at);
                return self.react(sys, changed, false);
            }
        }
        self.place(end);
        if sys.check(self.t, &self.x, &self.xp) {
            return self.react(sys, Vec::new(), true);
        }
        Ok(if outcome == StepOutcome::ReachedStop { Advance::Stop } else { Advance::Step })
    }

    fn place(&mut self, t: f64) {
        self.t = t;
        self.bdf.interpolate(t, &mut self.x);
        self.bdf.interpolate_derivative(t, &mut self.xp);
    }

    /// The earliest crossing of any function from its side in (from, to], just behind it.
    fn crossing(&mut self, sys: &mut dyn HybridSystem, from: f64, to: f64) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for i in 0..self.g.len() {
            let (bdf, x, xp, g) = (&self.bdf, &mut self.x, &mut self.xp, &mut self.g);
            let mut f = |t: f64| {
                bdf.interpolate(t, x);
                bdf.interpolate_derivative(t, xp);
                sys.discontinuities(t, x, xp, g);
                g[i]
            };
            let side = if self.positive[i] { Sign::Positive } else { Sign::Negative };
            let limit = best.map_or(to, |b| b.0);
            let opts = CrossingOptions::default();
            if let Some(c) = first_crossing_sampled(&mut f, from, limit, side, &opts, &Default::default()).crossing
                && best.is_none_or(|b| c.s_after < b.0)
            {
                best = Some((c.s_after, i));
            }
        }
        best
    }

    fn react(
        &mut self,
        sys: &mut dyn HybridSystem,
        changed: Vec<usize>,
        checked: bool,
    ) -> Result<Advance, HybridError> {
        let t = self.t;
        self.last_event = if t == self.last_event.0 { (t, self.last_event.1 + 1) } else { (t, 0) };
        if self.last_event.1 > CHATTER {
            return Err(HybridError::Chattering { t, condition: changed.first().copied().unwrap_or(0) });
        }
        let event = Event { t, changed, values: self.values.clone(), checked };
        let reaction = sys.event(&event, &mut self.x, &mut self.xp);
        self.settle(sys)?;
        // A jump may have moved other functions: their new signs are what the model is locked to now.
        self.look(sys);
        for k in 0..self.values.len() {
            self.values[k] = sys.condition(k, &self.positive);
        }
        self.bdf.restart(as_dae(sys), t, &self.x, &self.xp, Restart::Warm)?;
        if reaction == Reaction::Stop {
            self.ended = true;
            return Ok(Advance::Stop);
        }
        Ok(Advance::Event)
    }

    /// Time reached.
    pub fn t(&self) -> f64 {
        self.t
    }
    /// Values at [`Self::t`].
    pub fn x(&self) -> &[f64] {
        &self.x
    }
    /// Derivatives at [`Self::t`].
    pub fn xp(&self) -> &[f64] {
        &self.xp
    }
    /// Values of the conditions.
    pub fn values(&self) -> &[bool] {
        &self.values
    }
    /// Counters.
    pub fn stats(&self) -> &Stats {
        self.bdf.stats()
    }
}

fn as_dae(sys: &mut dyn HybridSystem) -> &mut dyn DaeSystem {
    sys
}
