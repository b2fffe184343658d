//! The last resort: a panic becomes a message that says "bug in Saltus" and exit code 70.

use crate::console;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::sync::Mutex;
use std::{panic, thread};

/// The exit code of a bug in Saltus (`EX_SOFTWARE` of sysexits.h).
pub const BUG: i32 = 70;

/// Deep models recurse deeply.
const STACK: usize = 256 << 20;

/// What went wrong first, and where.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Runs `work` on a thread with a large stack and returns its exit code.
pub fn run(work: impl FnOnce() -> i32 + Send + 'static) -> i32 {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let mut words = format!("{text}{place}");
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            words += &format!("\n{trace}");
        }
        if let Ok(mut last) = LAST_WORDS.lock() {
            last.get_or_insert(words);
        }
    }));
    one_heap();
    let worker = thread::Builder::new().name("saltus".into()).stack_size(STACK).spawn(work);
    match worker.map(|w| w.join()) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => {
            let words = LAST_WORDS.lock().ok().and_then(|mut w| w.take());
            bug(words.as_deref().unwrap_or("no message"))
        }
        Err(error) => {
            console::say(format!("error: cannot start a thread: {error}"));
            BUG
        }
    }
}

/// The C library gives each thread a heap of its own that grows page by page. The work is done by one thread: it may
/// use the main heap, which grows in larger steps.
fn one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        const M_ARENA_MAX: i32 = -8;
        // SAFETY: mallopt may be called at any time with any values.
        unsafe { mallopt(M_ARENA_MAX, 1) };
    }
}

/// Says that Saltus has a bug, and gives the exit code for it.
pub fn bug(what: &str) -> i32 {
    console::say(format!("bug in Saltus: {what}"));
    console::say("This should not happen, whatever the model. Please report it together with the model.");
    BUG
}
