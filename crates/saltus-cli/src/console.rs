//! The standard streams, without panics when nobody listens.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Writes a line to standard error.
pub fn say(text: impl AsRef<str>) {
    let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
}

/// Writes text to standard output, with a line break at its end.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = StandardOutput;
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Whether the reader of standard output has gone away (`saltus … | head`): then it is time to end, quietly.
pub fn reader_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Whether standard error is a terminal that one can draw on.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Whether messages may have colours.
pub fn has_colours() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Standard output, which remembers when its reader has gone.
pub struct StandardOutput;

fn watch<T>(result: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &result
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        READER_GONE.store(true, Ordering::Relaxed);
    }
    result
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        watch(io::stdout().lock().write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        watch(io::stdout().lock().flush())
    }
}

/// A number for people: nine digits, no trailing zeros.
pub fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.8e}").parse().unwrap_or(x);
    if rounded == 0.0 {
        "0".into()
    } else if rounded.is_finite() && !(1e-4..1e9).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [0.1 + 0.2, -0.0, 1e-7, 2.5e12, 1.0 / 3.0, 100.0].map(number).into();
        assert_eq!(shown, ["0.3", "0", "1e-7", "2.5e12", "0.333333333", "100"]);
        assert_eq!(number(f64::NAN), "NaN");
    }
}
