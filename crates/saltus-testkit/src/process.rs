//! Running a program with a time limit.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It was stopped because its time was up.
    Timeout,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Outcome {
    /// A sentence about an end that no input excuses: a panic, a signal, no end at all.
    pub fn crash(&self) -> Option<String> {
        match self.end {
            End::Timeout => Some("no answer within the time limit".into()),
            End::Signal(signal) => Some(format!("killed by signal {signal}")),
            End::Code(code) if code == 101 || self.stderr.to_lowercase().contains("panicked") => {
                let line = self.stderr.lines().find(|l| l.to_lowercase().contains("panicked"));
                Some(format!("crash: {}", line.unwrap_or("exit code 101")))
            }
            End::Code(_) => None,
        }
    }
}

/// Runs a program in `folder`, where it may leave files; standard input is empty, colours and libraries are off.
pub fn run<S: AsRef<OsStr>>(program: &Path, arguments: &[S], folder: &Path, limit: Duration) -> io::Result<Outcome> {
    // Files instead of pipes: nothing has to be drained while the program runs.
    let (stdout, stderr) = (folder.join(".stdout"), folder.join(".stderr"));
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("MODELICAPATH")
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .spawn()?;
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break end_of(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            break End::Timeout;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Outcome { end, stdout: text(&stdout)?, stderr: text(&stderr)? })
}

fn end_of(status: ExitStatus) -> End {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return End::Signal(signal);
    }
    End::Code(status.code().unwrap_or(-1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::Scratch;

    fn shell(script: &str, limit: Duration) -> Outcome {
        let scratch = Scratch::new().unwrap();
        run(Path::new("/bin/sh"), &["-c", script], scratch.path(), limit).unwrap()
    }

    #[test]
    fn output_and_exit_code_come_back() {
        let outcome = shell("echo out; echo err >&2; exit 3", Duration::from_secs(10));
        assert_eq!(outcome, Outcome { end: End::Code(3), stdout: "out\n".into(), stderr: "err\n".into() });
        assert_eq!(outcome.crash(), None);
    }

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let outcome = shell("echo begun; exec sleep 100", Duration::from_millis(200));
        assert_eq!((outcome.end, outcome.stdout.as_str()), (End::Timeout, "begun\n"));
        assert!(outcome.crash().is_some());
    }

    #[test]
    fn signals_and_panics_are_crashes() {
        assert_eq!(shell("kill -SEGV $$", Duration::from_secs(10)).crash().unwrap(), "killed by signal 11");
        let panic = shell("echo \"thread 'main' panicked at x.rs\" >&2; exit 101", Duration::from_secs(10));
        assert!(panic.crash().unwrap().contains("x.rs"));
    }
}
