//! Which integrator a run uses, and why.
//!
//! A named one is used throughout. `auto` begins with what structure and stiffness suggest, watches how many steps lie
//! between restarts, and may change over at a restart: a multistep method that begins again at order one after every
//! event loses to a one-step method.

use crate::implicit::Wanted;
use crate::model::ModeProgram;
use saltus_solver::ode::{INTEGRATORS, Spectrum};
use std::sync::LazyLock;

/// The names a user may give: `auto` and every integrator.
pub static SOLVERS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| std::iter::once("auto").chain(INTEGRATORS.iter().copied()).collect());

/// Restarts before `auto` judges their density.
const SEGMENTS: usize = 8;
/// With fewer steps than this between restarts, a one-step method takes over; with more than the other, it gives way.
const DENSE: f64 = 120.0;
const SPARSE: f64 = 150.0;
/// Explicit methods need about ρΔ/3 steps for an interval Δ: beyond this ρΔ an implicit one is cheaper.
const STIFF: f64 = 60.0;
/// Steps of an explicit method after which it gives way without an event.
const LABOUR: usize = 1000;
/// A fast real eigenvalue that dies out in this part of the run calls for BDF from the start.
const VERY_STIFF: f64 = 1e5;
/// Up to this size a Jacobian per step (Rosenbrock) costs less than Newton's iterations (ESDIRK).
const SMALL: usize = 12;

/// Below this tolerance Radau's order pays: half to a third of the time of the others on a hundred jumps at 1e-8.
const SHARP: f64 = 1e-7;

/// The choice of a run so far.
pub struct Choice {
    auto: bool,
    name: &'static str,
    /// What was chosen, from when on and why.
    log: Vec<String>,
    restarts: usize,
    /// Moving means over the segments between restarts: steps and length.
    steps: f64,
    length: f64,
    last: (usize, f64),
    /// What a one-step method gives way to.
    multistep: &'static str,
    /// Largest spectral radius seen.
    radius: f64,
    /// Relative tolerance of the run.
    pub tolerance: f64,
}

impl Choice {
    /// The integrator of that name, or `auto`; `None` if the name is unknown.
    pub fn new(name: &str, t: f64) -> Option<Choice> {
        let auto = name == "auto";
        let name = if auto { "lsoda" } else { INTEGRATORS.iter().find(|n| **n == name)? };
        Some(Choice {
            auto,
            name,
            log: Vec::new(),
            restarts: 0,
            steps: 0.0,
            length: 0.0,
            last: (0, t),
            multistep: "lsoda",
            radius: 0.0,
            tolerance: 1e-6,
        })
    }

    /// The same for a run that carries sensitivities along: only one integrator can.
    pub fn for_sensitivities(name: &str, t: f64) -> Option<Choice> {
        Choice::new("bdf", t).filter(|_| ["auto", "bdf"].contains(&name))
    }

    /// The integrator to use now.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Which modes should have an implicit form.
    pub fn implicit(&self) -> Wanted {
        match self.name {
            _ if self.auto => Wanted::WhereLarge,
            "dae" => Wanted::Always,
            _ => Wanted::Never,
        }
    }

    /// Whether anything is left to choose.
    pub fn is_auto(&self) -> bool {
        self.auto
    }

    /// The first choice, from structure and stiffness over the whole run.
    pub fn begin(&mut self, program: &ModeProgram, span: f64, spectrum: Option<Spectrum>) {
        if !self.auto {
            return;
        }
        let (n, pattern) = (program.states.len(), program.pattern.as_ref());
        let size = match (n, pattern) {
            (0, _) => "no states".to_string(),
            (1, _) => "1 state".to_string(),
            (_, Some(p)) if p.nnz() < n * n => {
                format!("{n} states, {:.2} % of the Jacobian filled", 100.0 * p.nnz() as f64 / (n * n) as f64)
            }
            _ => format!("{n} states"),
        };
        if let Some(form) = &program.implicit {
            (self.name, self.multistep) = ("dae", "dae");
            let loops = form.unknowns.len();
            self.log.push(format!("dae ({size}; {loops} algebraic unknowns in loops keep it sparse)"));
            return;
        }
        self.radius = spectrum.as_ref().map_or(0.0, |s| s.radius);
        let fast = spectrum.filter(|s| s.rayleigh < -0.7 * s.radius && s.radius * span > VERY_STIFF);
        self.log.push(match fast {
            Some(s) => {
                (self.name, self.multistep) = ("bdf", "bdf");
                format!("bdf ({size}; stiff: the fastest mode dies out in {:.1e} of the run)", 1.0 / (s.radius * span))
            }
            None => format!("lsoda ({size}; changes between Adams and BDF as stiffness asks)"),
        });
    }

    /// A restart at time t after so many steps in all; true if another integrator takes over from here.
    /// The spectrum is asked for only if it matters.
    pub fn restart(&mut self, t: f64, steps: usize, n: usize, spectrum: impl FnOnce() -> Option<Spectrum>) -> bool {
        let (done, length) = ((steps - self.last.0.min(steps)) as f64, t - self.last.1);
        let laboured = self.laboured(steps);
        self.last = (steps, t);
        if !self.auto || n == 0 || length <= 0.0 {
            return false;
        }
        if laboured {
            self.radius = spectrum().map_or(self.radius, |s| s.radius.max(self.radius));
            self.name = self.multistep;
            self.restarts = 0;
            self.log.push(format!("{} from t = {t:.6} ({done:.0} steps without an event)", self.name));
            return true;
        }
        self.restarts += 1;
        let share = 1.0 / self.restarts.min(2 * SEGMENTS) as f64;
        self.steps += share * (done - self.steps);
        self.length += share * (length - self.length);
        if self.restarts < SEGMENTS {
            return false;
        }
        let multistep = ["lsoda", "bdf", "dae"].contains(&self.name);
        // Sharp tolerances take more steps, and Radau's order pays the more.
        let more = if self.tolerance < SHARP { 2.0 } else { 1.0 };
        let (name, why) = if multistep && self.steps < more * DENSE {
            // Modes differ: one that was stiff may come again.
            self.radius = spectrum().map_or(self.radius, |s| s.radius.max(self.radius));
            let reach = self.radius * self.length;
            let name = match reach > STIFF {
                false => "dopri5",
                true if self.tolerance < SHARP => "radau",
                true if n <= SMALL => "rosenbrock",
                true => "esdirk",
            };
            let kind = if reach > STIFF { "stiff" } else { "not stiff" };
            (name, format!("{:.0} steps between events; {kind}: {reach:.1e} of the fastest time constant", self.steps))
        } else if !multistep && self.steps > more * SPARSE {
            (self.multistep, format!("{:.0} steps between events", self.steps))
        } else {
            return false;
        };
        self.log.push(format!("{name} from t = {t:.6} ({why})"));
        self.name = name;
        self.restarts = 0;
        true
    }

    /// Whether an explicit method has taken so many steps since the last restart that stability must bound them.
    pub fn laboured(&self, steps: usize) -> bool {
        self.auto && self.name == "dopri5" && steps > self.last.0 + LABOUR
    }

    /// Everything chosen, for people.
    pub fn text(&self) -> String {
        if !self.auto {
            return self.name.to_string();
        }
        const SHOWN: usize = 6;
        let mut text = self.log[..self.log.len().min(SHOWN)].join(", then ");
        if self.log.len() > SHOWN {
            text += &format!(", and {} more changes", self.log.len() - SHOWN);
        }
        format!("auto: {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_radius(radius: f64) -> impl Fn() -> Option<Spectrum> {
        move || Some(Spectrum { radius, rayleigh: -radius })
    }

    /// Eight segments of one second with so many steps each.
    fn segments(c: &mut Choice, from: &mut (usize, f64), steps: usize, radius: f64) {
        for _ in 0..SEGMENTS {
            *from = (from.0 + steps, from.1 + 1.0);
            c.restart(from.1, from.0, 2, of_radius(radius));
        }
    }

    #[test]
    fn a_mode_that_was_stiff_may_come_again() {
        let mut c = Choice::new("auto", 0.0).expect("a choice");
        let mut at = (0, 0.0);
        segments(&mut c, &mut at, 10, 1e4);
        assert_eq!(c.name(), "rosenbrock");
        segments(&mut c, &mut at, 400, 1e4);
        assert_eq!(c.name(), "lsoda");
        // The mode of this restart is slow; an explicit method would crawl through the next stiff one.
        segments(&mut c, &mut at, 10, 1.0);
        assert_eq!(c.name(), "rosenbrock");
        // A run that never saw a stiff mode goes on explicitly.
        let mut c = Choice::new("auto", 0.0).expect("a choice");
        segments(&mut c, &mut (0, 0.0), 10, 1.0);
        assert_eq!(c.name(), "dopri5");
    }

    #[test]
    fn an_explicit_method_that_labours_gives_way() {
        let mut c = Choice::new("auto", 0.0).expect("a choice");
        let mut at = (0, 0.0);
        segments(&mut c, &mut at, 10, 1.0);
        assert!(!c.laboured(at.0 + LABOUR) && c.laboured(at.0 + LABOUR + 1));
        assert!(c.restart(at.1 + 0.5, at.0 + LABOUR + 1, 2, of_radius(1e6)));
        assert_eq!(c.name(), "lsoda");
        // What made it labour is remembered.
        segments(&mut c, &mut (at.0 + LABOUR + 1, at.1 + 0.5), 10, 1.0);
        assert_eq!(c.name(), "rosenbrock");
        // A named integrator is the user's choice.
        let mut named = Choice::new("dopri5", 0.0).expect("a choice");
        assert!(!named.laboured(10 * LABOUR) && !named.restart(1.0, 10 * LABOUR, 2, of_radius(1.0)));
    }
}
