//! The events file: a JSON array, one event per line.
//!
//! ```json
//! [
//! {"time":0.4515,"kind":"state","fired":["h <= 0 became true"],"changed":[{"name":"v","before":-4.4,"after":3.5}],
//!  "micro_steps":1,"mode":null,"impulses":[],"residual":0.0}
//! ]
//! ```
//!
//! The array is closed however the run ends, short of the process being killed.

use saltus_sim::EventRecord;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// An event as an object. Numbers that are not finite become null.
#[derive(Debug, Serialize)]
pub struct Event<'a> {
    /// `event` in a stream of objects of several kinds; absent in the events file.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    object: Option<&'static str>,
    time: f64,
    kind: &'static str,
    fired: &'a [String],
    changed: Vec<Change<'a>>,
    micro_steps: usize,
    /// What each micro-step changed, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instants: Vec<Vec<Change<'a>>>,
    mode: Option<&'a str>,
    impulses: Vec<Impulse<'a>>,
    /// Declared conserved quantities, before and after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conserved: Vec<Change<'a>>,
    /// Largest residual of the active equations after the event, and the equation that has it.
    residual: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    name: &'a str,
    before: Value<'a>,
    after: Value<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Number(f64),
    Text(&'a str),
}

#[derive(Debug, Serialize)]
struct Impulse<'a> {
    name: &'a str,
    size: f64,
    /// 2: a doublet, the derivative of an impulse; left out for impulses proper.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u8>,
}

impl<'a> Event<'a> {
    fn new(event: &'a EventRecord) -> Event<'a> {
        let change = |(name, before, after): &'a (String, f64, f64)| Change {
            name,
            before: Value::Number(*before),
            after: Value::Number(*after),
        };
        let text = |(name, before, after): &'a (String, String, String)| Change {
            name,
            before: Value::Text(before),
            after: Value::Text(after),
        };
        let impulse = |(name, order, size): &'a (String, u8, f64)| {
            let order = Some(*order).filter(|k| *k > 1);
            Impulse { name, size: *size, order }
        };
        Event {
            object: None,
            time: event.time,
            kind: event.kind.name(),
            fired: &event.fired,
            changed: event.changed.iter().map(change).chain(event.texts.iter().map(text)).collect(),
            micro_steps: event.micro_steps,
            instants: match &event.instants[..] {
                [_] => Vec::new(),
                all => all.iter().map(|i| i.iter().map(change).collect()).collect(),
            },
            mode: event.mode.as_deref(),
            impulses: event.impulses.iter().map(impulse).collect(),
            conserved: event.conserved.iter().map(change).collect(),
            residual: event.residual,
            worst: event.worst.as_deref(),
        }
    }

    /// An event as one of several kinds of objects.
    pub fn in_stream(event: &'a EventRecord) -> Event<'a> {
        Event { object: Some("event"), ..Event::new(event) }
    }
}

/// Writes events to a file, as they come. The file comes into being with the first event or at the end of the run, so
/// that a model that does not compile leaves an earlier file alone.
pub struct EventsFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    count: usize,
    finished: bool,
}

impl EventsFile {
    /// A file that will be at `path`.
    pub fn new(path: PathBuf) -> EventsFile {
        EventsFile { path, file: None, count: 0, finished: false }
    }

    /// Whether there is a file yet.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        if self.file.is_none() {
            let file = self.file.insert(BufWriter::new(File::create(&self.path)?));
            file.write_all(b"[")?;
        }
        Ok(self.file.as_mut().expect("it has just been opened"))
    }

    /// Adds an event.
    pub fn add(&mut self, event: &EventRecord) -> io::Result<()> {
        let separator = if self.count == 0 { "\n" } else { ",\n" };
        self.count += 1;
        let file = self.open()?;
        file.write_all(separator.as_bytes())?;
        serde_json::to_writer(file, &Event::new(event)).map_err(io::Error::from)
    }

    /// Closes the array. Calling it again does nothing.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.finished {
            return Ok(());
        }
        self.finished = true;
        let file = self.open()?;
        file.write_all(b"\n]\n")?;
        file.flush()
    }
}

impl Drop for EventsFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = self.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_sim::EventKind;
    use serde_json::{Value, json};

    fn bounce(time: f64) -> EventRecord {
        EventRecord {
            time,
            kind: EventKind::State,
            fired: vec!["h <= 0 became true".into()],
            changed: vec![("v".into(), -4.0, 3.0)],
            texts: vec![("s".into(), "a".into(), "b".into())],
            micro_steps: 1,
            instants: Vec::new(),
            mode: Some("open = true".into()),
            impulses: vec![("f".into(), 1, f64::NAN), ("f".into(), 2, 0.5)],
            conserved: Vec::new(),
            residual: Some(0.0),
            worst: None,
        }
    }

    fn written(name: &str, work: impl FnOnce(EventsFile)) -> Option<Value> {
        let path = std::env::temp_dir().join(format!("saltus-events-{}-{name}.json", std::process::id()));
        work(EventsFile::new(path.clone()));
        let text = std::fs::read_to_string(&path).ok()?;
        let _ = std::fs::remove_file(&path);
        Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}")))
    }

    #[test]
    fn the_array_is_closed_even_if_nobody_closes_it() {
        let value = written("dropped", |mut file| {
            file.add(&bounce(0.5)).unwrap();
            file.add(&bounce(1.0)).unwrap();
        });
        let value = value.unwrap();
        assert_eq!(value.as_array().unwrap().len(), 2);
        assert_eq!(value[1]["time"], 1.0);
        assert!(value[0].get("type").is_none());
        assert_eq!(value[0]["kind"], "state");
        assert_eq!(
            value[0]["changed"],
            json!([{"name": "v", "before": -4.0, "after": 3.0}, {"name": "s", "before": "a", "after": "b"}])
        );
        assert_eq!(value[0]["mode"], "open = true");
        assert_eq!(value[0]["impulses"], json!([{"name": "f", "size": null}, {"name": "f", "size": 0.5, "order": 2}]));
    }

    #[test]
    fn a_run_without_events_leaves_an_empty_array_and_no_run_leaves_nothing() {
        assert_eq!(written("empty", |mut file| file.finish().unwrap()), Some(json!([])));
        assert_eq!(written("none", drop), None);
    }
}
