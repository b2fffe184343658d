//! What a run is asked for and what it reports.

use saltus_base::{Diagnostic, Span, Stage};
use saltus_results::Column;

/// What to do at an accumulation point of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeno {
    /// Come to rest and go on.
    #[default]
    Rest,
    /// End the run there.
    Stop,
    /// Fail.
    Error,
}

/// How often functions were looked at in a step, by the way it was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looks {
    /// As polynomials of the step, exactly.
    pub exact: usize,
    /// By enclosures over the interpolant.
    pub enclosed: usize,
    /// As polynomials under error control.
    pub appended: usize,
}

/// Settings of a run. `None` leaves the choice to the model's `experiment` annotation or a default.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Start time.
    pub start: Option<f64>,
    /// Stop time.
    pub stop: Option<f64>,
    /// Number of output intervals.
    pub intervals: Option<usize>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
    /// Absolute tolerance (times the nominal value).
    pub absolute: Option<f64>,
    /// Integrator name; `None` or `auto`: chosen.
    pub solver: Option<String>,
    /// Step of fixed-step integrators.
    pub step: Option<f64>,
    /// One-step methods of the fixed-step family control their error by step doubling instead.
    pub doubling: bool,
    /// Largest step.
    pub max_step: Option<f64>,
    /// First step.
    pub initial_step: Option<f64>,
    /// Smallest step.
    pub min_step: Option<f64>,
    /// Highest order.
    pub max_order: Option<usize>,
    /// Times closer than this are one instant: no step is smaller, and events that close to each other are handled
    /// together.
    pub time_resolution: Option<f64>,
    /// Steps after which the run is given up.
    pub max_steps: Option<usize>,
    /// Evaluations of the right-hand side after which the run is given up.
    pub max_evaluations: Option<usize>,
    /// How linear systems of implicit methods are solved.
    pub linear: saltus_solver::linear::Linear,
    /// Keep states within their `min` and `max` while integrating.
    pub keep_bounds: bool,
    /// Accumulation points.
    pub zeno: Zeno,
    /// Where a branch of solutions ends, fail; else that is told, and the run goes on with another solution.
    pub stop_at_folds: bool,
    /// Seconds of model time per second of wall clock.
    pub realtime: Option<f64>,
    /// Write protected and generated variables too.
    pub all_variables: bool,
    /// Patterns of the variables that are written (see [`chosen`]); all if there are none.
    pub variables: Vec<String>,
    /// Parameters whose sensitivities are carried along; columns `der(variable, parameter)`.
    pub sensitivity: Vec<String>,
    /// Sensitivities take part in the error test.
    pub sensitivity_error: bool,
}

impl RunOptions {
    /// Whether a variable is left out of results, whatever its name: a generated one, or one that the model hides and nobody asks
    /// for.
    pub fn leaves_out(&self, v: &saltus_dae::Variable) -> bool {
        !self.all_variables && (v.hidden || v.unshown && self.variables.is_empty())
    }
}

/// Whether one of these patterns means a variable. `*` stands for any text, `?` for any one character; the name of an array or of a
/// component means all its parts. No pattern means every variable.
pub fn chosen(patterns: &[String], name: &str) -> bool {
    fn matches(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => matches!(name.first(), None | Some('.' | '[')),
            Some(('*', rest)) => (0..=name.len()).any(|k| matches(rest, &name[k..])),
            Some((p, rest)) => name.split_first().is_some_and(|(c, left)| (p == c || *p == '?') && matches(rest, left)),
        }
    }
    let name: Vec<char> = name.chars().collect();
    patterns.is_empty() || patterns.iter().any(|p| matches(&p.chars().collect::<Vec<char>>(), &name))
}

/// Tells which patterns mean no column; refused if none does.
pub(crate) fn found(patterns: &[String], columns: &[Column], observer: &mut dyn Observer) -> Result<(), Diagnostic> {
    if columns.is_empty() && !patterns.is_empty() {
        let text = format!("no variable of the result matches {}", patterns.join(", "));
        return Err(Diagnostic::error(Stage::Usage, Span::NONE, text));
    }
    for pattern in patterns {
        if !columns.iter().any(|c| chosen(std::slice::from_ref(pattern), &c.name)) {
            observer.message(&format!("no variable of the result matches {pattern}"), Span::NONE);
        }
    }
    Ok(())
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EventKind {
    Initial,
    State,
    Time,
    Mode,
    Terminal,
}

impl EventKind {
    /// As written to the event file.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Initial => "initial",
            EventKind::State => "state",
            EventKind::Time => "time",
            EventKind::Mode => "mode",
            EventKind::Terminal => "terminal",
        }
    }
}

/// One event, after it was handled.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// When.
    pub time: f64,
    /// What kind.
    pub kind: EventKind,
    /// What fired, by source name: relations with their direction (`h <= 0 became true`), samplers; what came to be held at
    /// zero, or is no longer (`h <= 0 comes to rest`, `v > 0 leaves the surface`).
    pub fired: Vec<String>,
    /// Discrete variables and states that changed: name, before, after.
    pub changed: Vec<(String, f64, f64)>,
    /// Text that changed: name, before, after.
    pub texts: Vec<(String, String, String)>,
    /// Number of micro-steps (iterations in superdense time; the last one changes nothing).
    pub micro_steps: usize,
    /// What changed in each micro-step that changed something: name, before, after.
    pub instants: Vec<Vec<(String, f64, f64)>>,
    /// The mode key after the event, if the model has structural modes (`engaged = true`).
    pub mode: Option<String>,
    /// Impulses: variable, order and size. Order 1 is a Dirac impulse, its size ∫ over the instant; order 2 a doublet (the
    /// derivative of one), its size that of the impulse of the integral.
    pub impulses: Vec<(String, u8, f64)>,
    /// Quantities declared as conserved: name, before, after.
    pub conserved: Vec<(String, f64, f64)>,
    /// Largest residual of the active equations after the restart, relative to what stands in them (if asked for).
    pub residual: Option<f64>,
    /// The equation that has it.
    pub worst: Option<String>,
}

impl EventRecord {
    /// Something changes at this instant, perhaps once more.
    pub fn change(&mut self, name: String, before: f64, after: f64) {
        match self.changed.iter_mut().find(|c| c.0 == name) {
            Some(c) => c.2 = after,
            None => self.changed.push((name, before, after)),
        }
    }

    /// What happens next at the same instant is part of the same event.
    pub fn join(&mut self, next: EventRecord) {
        if next.kind == EventKind::Mode {
            self.kind = next.kind;
        }
        self.fired.extend(next.fired);
        next.changed.into_iter().for_each(|(name, before, after)| self.change(name, before, after));
        for (name, before, after) in next.texts {
            match self.texts.iter_mut().find(|c| c.0 == name) {
                Some(c) => c.2 = after,
                None => self.texts.push((name, before, after)),
            }
        }
        // The last micro-step of each changes nothing.
        self.micro_steps += next.micro_steps - 1;
        self.instants.extend(next.instants);
        self.mode = next.mode;
        self.impulses.extend(next.impulses);
        self.conserved.iter_mut().zip(next.conserved).for_each(|(c, n)| c.2 = n.2);
        (self.residual, self.worst) = (next.residual, next.worst);
    }
}

/// Follows a run from outside.
pub trait Observer {
    /// The run has reached `t`.
    fn progress(&mut self, _t: f64) {}
    /// An event was handled.
    fn event(&mut self, _event: &EventRecord) {}
    /// Whether events should carry the residuals of the equations after them.
    fn wants_residuals(&self) -> bool {
        false
    }
    /// Something worth saying once (warnings, Zeno, sliding), with the source place if known.
    fn message(&mut self, _text: &str, _span: Span) {}
    /// Whether the run should end now, keeping its results.
    fn cancelled(&self) -> bool {
        false
    }
}

/// An observer that looks away.
pub struct Quiet;
impl Observer for Quiet {}

/// Numbers of a finished run.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// Integrator used, and why it was chosen.
    pub solver: String,
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps (error test and convergence failures).
    pub rejected: usize,
    /// Right-hand side evaluations.
    pub evaluations: usize,
    /// Evaluations of crossing functions between the ends of steps.
    pub searches: usize,
    /// Enclosures of crossing functions over parts of steps.
    pub enclosures: usize,
    /// How often crossing functions were looked at in a step, and how.
    pub looks: Looks,
    /// Seconds spent on locating events.
    pub locating: f64,
    /// Jacobian evaluations.
    pub jacobians: usize,
    /// Linear factorizations.
    pub factorizations: usize,
    /// Products of GMRES with the matrix.
    pub krylov: usize,
    /// State events.
    pub state_events: usize,
    /// Time events.
    pub time_events: usize,
    /// Mode changes.
    pub mode_changes: usize,
    /// Modes compiled.
    pub modes: usize,
    /// Independent parts of modes that were planned, for this run and the check of all modes before it.
    pub parts_planned: usize,
    /// Those taken over from modes planned before.
    pub parts_reused: usize,
    /// Independent parts of modes that were compiled.
    pub parts_compiled: usize,
    /// How often a part compiled before became part of another mode.
    pub parts_joined: usize,
    /// Seconds that each change into a mode entered for the first time took, planning and compiling included.
    pub first_entries: Vec<f64>,
    /// Seconds that each change into a mode that was there before took.
    pub returns: Vec<f64>,
    /// Continuous states at the end.
    pub states: usize,
    /// Where the run ended.
    pub end: f64,
    /// `terminate` message, if the model ended the run.
    pub terminated: Option<String>,
    /// Whether the run was interrupted from outside.
    pub cancelled: bool,
    /// Seconds that it was behind the clock at the end, if it could not keep the pace asked for.
    pub late: Option<f64>,
    /// Structural index of the mode at the start.
    pub index: i32,
    /// What took its start value because nothing else determines it, with that value.
    pub chosen: Vec<(String, f64)>,
    /// What linear equations leave open at the start although they agree, with the value taken.
    pub open: Vec<(String, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_at_the_same_instant_is_one_event() {
        let event = |kind, fired: &str, changed: &[(&str, f64, f64)]| EventRecord {
            time: 1.0,
            kind,
            fired: vec![fired.into()],
            changed: changed.iter().map(|c| (c.0.to_string(), c.1, c.2)).collect(),
            texts: Vec::new(),
            micro_steps: 2,
            instants: Vec::new(),
            mode: None,
            impulses: Vec::new(),
            conserved: Vec::new(),
            residual: None,
            worst: None,
        };
        let mut first = event(EventKind::State, "h <= 0 became true", &[("v", -2.0, 1.0)]);
        first.join(event(EventKind::Mode, "open became true", &[("v", 1.0, 0.0), ("n", 1.0, 2.0)]));
        assert_eq!((first.kind, first.micro_steps), (EventKind::Mode, 3));
        assert_eq!(first.fired, ["h <= 0 became true", "open became true"]);
        assert_eq!(first.changed, [("v".to_string(), -2.0, 0.0), ("n".to_string(), 1.0, 2.0)]);
    }

    #[test]
    fn patterns_mean_variables() {
        let names = ["x", "x[1]", "x[2]", "xy", "a.x", "a.b.x", "der(x)"];
        let which = |patterns: &[&str]| -> Vec<&str> {
            let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
            names.into_iter().filter(|n| chosen(&patterns, n)).collect()
        };
        assert_eq!(which(&[]), names);
        assert_eq!(which(&["x"]), ["x", "x[1]", "x[2]"]);
        assert_eq!(which(&["a", "x[2]"]), ["x[2]", "a.x", "a.b.x"]);
        assert_eq!(which(&["*.x"]), ["a.x", "a.b.x"]);
        assert_eq!(which(&["x?", "der(*"]), ["xy", "der(x)"]);
    }
}
