//! Following a run: events, messages, progress, and Ctrl-C.

use crate::args::Trace;
use crate::console::{self, number};
use crate::events::{Event, EventsFile};
use crate::render::{self, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saltus_base::{Diagnostic, SourceMap, Span, Stage};
use saltus_sim::{EventRecord, Observer};
use serde_json::json;
use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shorter runs show no progress bar.
const PATIENCE: Duration = Duration::from_millis(500);
const REFRESH: Duration = Duration::from_millis(50);

static RUNNING: AtomicBool = AtomicBool::new(false);
/// When the run was first asked to end.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();

/// How long a run may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);
/// Signals in such quick succession are one: a key that bounces, a signal to the group and to the process.
const ONE: Duration = Duration::from_millis(300);

/// From now on the first Ctrl-C (or SIGTERM) asks the run to end and the second ends the process; without a run, or if it
/// does not answer (a function without end, say), the first one does.
pub fn listen_for_interrupts() {
    let _ = ctrlc::set_handler(|| {
        match INTERRUPTED.get() {
            Some(asked) if asked.elapsed() < ONE => return,
            None if RUNNING.load(Ordering::Relaxed) => INTERRUPTED.get_or_init(Instant::now),
            _ => std::process::exit(130),
        };
        saltus_engine::interrupt::request();
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            if RUNNING.load(Ordering::Relaxed) {
                eprintln!("the run does not end when asked to: results are not kept");
                std::process::exit(130);
            }
        });
    });
}

/// From now on there is something that the first Ctrl-C asks to end.
pub fn running() {
    RUNNING.store(true, Ordering::Relaxed);
}

/// Whether the user wants it to end.
pub fn interrupted() -> bool {
    INTERRUPTED.get().is_some()
}

/// Watches one run.
pub struct Watch {
    style: Style,
    trace: Option<Trace>,
    events: Option<EventsFile>,
    /// All files, for messages that come while the engine is busy.
    files: SourceMap,
    said: HashSet<(String, Span)>,
    range: (f64, f64),
    bar: Option<ProgressBar>,
    begun: Instant,
    drawn: Instant,
    draws: bool,
    /// The first sign of life of the run: compilation is over.
    pub first_sign: Cell<Option<Instant>>,
    /// Where the run is.
    pub time: f64,
    /// The events file could not be made, and why.
    pub refused: Option<io::Error>,
    /// What went wrong with writing it.
    pub failed: Option<io::Error>,
}

impl Watch {
    /// Watches a run over `range`. Messages are shown with the text of `sources`.
    pub fn new(
        style: Style,
        trace: Option<Trace>,
        events: Option<EventsFile>,
        sources: &SourceMap,
        range: (f64, f64),
    ) -> Watch {
        running();
        let now = Instant::now();
        Watch {
            style,
            trace,
            events,
            files: sources.clone(),
            said: HashSet::new(),
            range,
            bar: None,
            begun: now,
            drawn: now,
            draws: !style.is_json() && console::is_terminal(),
            first_sign: Cell::new(None),
            time: range.0,
            refused: None,
            failed: None,
        }
    }

    /// Ends the watch: removes the bar, and closes the events file (if there was a run).
    pub fn finish(&mut self, ran: bool) {
        RUNNING.store(false, Ordering::Relaxed);
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if ran {
            self.write(EventsFile::finish);
        }
        self.events = None;
    }

    /// Does something with the events file; after a failure it is left alone.
    fn write(&mut self, work: impl FnOnce(&mut EventsFile) -> io::Result<()>) {
        let Some(events) = &mut self.events else { return };
        if let Err(error) = work(events) {
            let place = if events.exists() { &mut self.failed } else { &mut self.refused };
            *place = Some(error);
            self.events = None;
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| console::say(text)),
            None => console::say(text),
        }
    }

    fn sign_of_life(&self) {
        if self.first_sign.get().is_none() {
            self.first_sign.set(Some(Instant::now()));
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, t: f64) {
        self.sign_of_life();
        self.time = t;
        if !self.draws {
            return;
        }
        let now = Instant::now();
        if now - self.drawn < if self.bar.is_some() { REFRESH } else { PATIENCE } {
            return;
        }
        self.drawn = now;
        let (start, stop) = self.range;
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  t = {msg}  {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr()).with_style(style);
            bar.with_elapsed(self.begun.elapsed())
        });
        bar.set_message(format!("{} of {}", number(t), number(stop)));
        bar.set_position((1000.0 * (t - start) / (stop - start)).clamp(0.0, 1000.0) as u64);
    }

    fn event(&mut self, event: &EventRecord) {
        self.sign_of_life();
        self.write(|events| events.add(event));
        if self.trace == Some(Trace::Events) {
            let text = if self.style.is_json() {
                serde_json::to_string(&Event::in_stream(event)).unwrap_or_default()
            } else {
                in_words(event)
            };
            self.say(&text);
        }
    }

    fn message(&mut self, text: &str, span: Span) {
        self.sign_of_life();
        if self.said.insert((text.to_string(), span)) {
            let warning = Diagnostic::warning(Stage::Run, span, text);
            self.say(&render::render(&warning, &self.files, self.style));
        }
    }

    fn wants_residuals(&self) -> bool {
        self.events.is_some() || self.trace == Some(Trace::Events)
    }

    fn cancelled(&self) -> bool {
        interrupted()
    }
}

/// An event as a sentence.
fn in_words(event: &EventRecord) -> String {
    let mut parts = Vec::new();
    if !event.fired.is_empty() {
        parts.push(event.fired.join(", "));
    }
    for (name, before, after) in &event.changed {
        parts.push(format!("{name} from {} to {}", number(*before), number(*after)));
    }
    for (name, before, after) in &event.texts {
        parts.push(format!("{name} from {before:?} to {after:?}"));
    }
    for (name, order, size) in &event.impulses {
        let what = match order {
            1 => "impulse".to_string(),
            2 => "doublet".to_string(),
            k => format!("impulse of order {k}"),
        };
        parts.push(format!("{what} of {} in {name}", number(*size)));
    }
    for (name, before, after) in &event.conserved {
        if (before - after).abs() > 1e-9 * (1.0 + before.abs()) {
            parts.push(format!("{name} is not conserved: {} before, {} after", number(*before), number(*after)));
        }
    }
    if let Some(r) = event.residual.filter(|r| *r > 1e-6) {
        let worst = event.worst.as_deref().unwrap_or("an equation");
        parts.push(format!("residual {r:.1e} in {worst}"));
    }
    if event.micro_steps > 1 {
        let mut text = format!("{} micro-steps", event.micro_steps);
        if event.instants.len() > 1 {
            let one = |(name, _, after): &(String, f64, f64)| format!("{name} = {}", number(*after));
            let each: Vec<String> =
                event.instants.iter().map(|i| i.iter().map(one).collect::<Vec<_>>().join(", ")).collect();
            text = format!("{text} ({})", each.join(" | "));
        }
        parts.push(text);
    }
    if let Some(mode) = &event.mode {
        parts.push(format!("mode {mode}"));
    }
    let kind = match event.kind {
        saltus_sim::EventKind::Mode => "mode change",
        saltus_sim::EventKind::Initial => "initial event",
        saltus_sim::EventKind::Terminal => "terminal event",
        saltus_sim::EventKind::State => "state event",
        saltus_sim::EventKind::Time => "time event",
    };
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("t = {}: {kind}{colon}{}", number(event.time), parts.join("; "))
}

/// What to say about a run that Ctrl-C ended.
pub fn interruption(t: f64) -> (String, serde_json::Value) {
    let text = format!("interrupted at t = {}, results kept", number(t));
    (text.clone(), json!({ "type": "interrupted", "time": t, "message": text }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_sim::EventKind;

    #[test]
    fn events_are_told_in_words() {
        let event = EventRecord {
            time: 0.5,
            kind: EventKind::Mode,
            fired: vec!["time >= 0.5 became true".into()],
            changed: vec![("w1".into(), 80.0, 20.0)],
            texts: vec![("s".into(), "a".into(), "b".into())],
            micro_steps: 2,
            instants: Vec::new(),
            mode: Some("engaged = true".into()),
            impulses: vec![("tau".into(), 1, -12.0), ("tau".into(), 2, 3.0)],
            conserved: Vec::new(),
            residual: None,
            worst: None,
        };
        assert_eq!(
            in_words(&event),
            "t = 0.5: mode change: time >= 0.5 became true; w1 from 80 to 20; s from \"a\" to \"b\"; impulse of -12 in tau; doublet of 3 in tau; \
             2 micro-steps; \
             mode engaged = true"
        );
        let bare = EventRecord {
            kind: EventKind::Terminal,
            fired: Vec::new(),
            changed: Vec::new(),
            texts: Vec::new(),
            micro_steps: 1,
            instants: Vec::new(),
            mode: None,
            impulses: Vec::new(),
            ..event
        };
        assert_eq!(in_words(&bare), "t = 0.5: terminal event");
    }
}
