//! `ModelicaInternal_*`, `ModelicaStreams_*` and messages: files, environment, time.

use super::{ExtArg, ExtDerivative, ExtResult, External, num, set, set_array, string, warn};
use crate::strings::intern;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

fn io<T>(name: &str, r: std::io::Result<T>) -> Result<T, String> {
    r.map_err(|e| format!("{name}: {e}"))
}

fn lines(file: &str) -> Result<Vec<String>, String> {
    let bytes = io(file, fs::read(file))?;
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect())
}

fn print(a: &mut [ExtArg]) -> ExtResult {
    let (text, file) = (string(a, 0)?, string(a, 1)?);
    if file.is_empty() {
        println!("{text}");
    } else {
        let mut f = io(&file, fs::OpenOptions::new().create(true).append(true).open(&*file))?;
        io(&file, writeln!(f, "{text}"))?;
    }
    Ok(0.0)
}

fn read_line(a: &mut [ExtArg]) -> ExtResult {
    let file = string(a, 0)?;
    let n = num(a, 1)?;
    let all = lines(&file)?;
    let line = if n >= 1.0 { all.get(n as usize - 1) } else { None };
    set(a, 2, f64::from(line.is_none()))?;
    Ok(line.map_or(0.0, |l| intern(l)))
}

fn read_file(a: &mut [ExtArg]) -> ExtResult {
    let all: Vec<f64> = lines(&string(a, 0)?)?.iter().map(|l| intern(l)).collect();
    set_array(a, 1, &all)?;
    Ok(0.0)
}

fn stat(a: &mut [ExtArg]) -> ExtResult {
    Ok(match fs::metadata(&*string(a, 0)?) {
        Err(_) => 1.0,
        Ok(m) if m.is_file() => 2.0,
        Ok(m) if m.is_dir() => 3.0,
        Ok(_) => 4.0,
    })
}

fn full_path(a: &mut [ExtArg]) -> ExtResult {
    let name = string(a, 0)?;
    let path = fs::canonicalize(&*name).or_else(|_| std::path::absolute(&*name));
    Ok(intern(&io(&name, path)?.to_string_lossy()))
}

fn entries(name: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for e in io(name, fs::read_dir(name))? {
        names.push(io(name, e)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn read_directory(a: &mut [ExtArg]) -> ExtResult {
    let names: Vec<f64> = entries(&string(a, 0)?)?.iter().map(|n| intern(n)).collect();
    set_array(a, 2, &names)?;
    Ok(0.0)
}

fn getenv(a: &mut [ExtArg]) -> ExtResult {
    let value = std::env::var(&*string(a, 0)?).ok();
    set(a, 2, value.as_deref().map_or(0.0, intern))?;
    set(a, 3, f64::from(value.is_some()))?;
    Ok(0.0)
}

#[allow(unsafe_code)]
fn setenv(a: &mut [ExtArg]) -> ExtResult {
    let (name, value) = (string(a, 0)?, string(a, 1)?);
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(format!("{name} is no name of an environment variable"));
    }
    // SAFETY: functions run on one thread, and no other thread of the process reads the environment.
    unsafe { std::env::set_var(&*name, &*value) };
    Ok(0.0)
}

/// A command for the shell; its exit code.
fn command(a: &mut [ExtArg]) -> ExtResult {
    let words = string(a, 0)?;
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let status = io(&words, std::process::Command::new(shell).arg(flag).arg(&*words).status())?;
    Ok(status.code().map_or(-1.0, f64::from))
}

/// Universal time: this crate knows no time zones.
fn get_time(a: &mut [ExtArg]) -> ExtResult {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (now.as_secs() / 86400, now.as_secs() % 86400);
    let (y, m, d) = civil(days as i64);
    let parts = [u64::from(now.subsec_millis()), rest % 60, rest / 60 % 60, rest / 3600, d, m, y];
    for (i, v) in parts.into_iter().enumerate() {
        set(a, i, v as f64)?;
    }
    Ok(0.0)
}

/// Year, month and day of a number of days since 1970 (years counted from March).
fn civil(days: i64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let d = doy - (153 * mp + 2) / 5 + 1;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    ((yoe + era * 400 + i64::from(m <= 2)) as u64, m as u64, d as u64)
}

fn temporary(_: &mut [ExtArg]) -> ExtResult {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let k = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("saltus-{}-{k}", std::process::id()));
    Ok(intern(&path.to_string_lossy()))
}

macro_rules! system {
    ($symbol:literal, $call:expr) => {
        External { symbol: $symbol, call: $call, derivative: ExtDerivative::Zero }
    };
}

pub(super) static LIST: &[External] = &[
    system!("ModelicaInternal_print", print),
    system!("ModelicaInternal_readLine", read_line),
    system!("ModelicaInternal_readFile", read_file),
    system!("ModelicaInternal_countLines", |a| Ok(lines(&string(a, 0)?)?.len() as f64)),
    system!("ModelicaInternal_stat", stat),
    system!("ModelicaInternal_fullPathName", full_path),
    system!("ModelicaInternal_temporaryFileName", temporary),
    system!("ModelicaInternal_mkdir", |a| {
        let n = string(a, 0)?;
        io(&n, fs::create_dir(&*n)).map(|()| 0.0)
    }),
    system!("ModelicaInternal_rmdir", |a| {
        let n = string(a, 0)?;
        io(&n, fs::remove_dir(&*n)).map(|()| 0.0)
    }),
    system!("ModelicaInternal_rename", |a| {
        let n = string(a, 0)?;
        io(&n, fs::rename(&*n, &*string(a, 1)?)).map(|()| 0.0)
    }),
    system!("ModelicaInternal_removeFile", |a| {
        let n = string(a, 0)?;
        io(&n, fs::remove_file(&*n)).map(|()| 0.0)
    }),
    system!("ModelicaInternal_copyFile", |a| {
        let n = string(a, 0)?;
        io(&n, fs::copy(&*n, &*string(a, 1)?)).map(|_| 0.0)
    }),
    system!("ModelicaInternal_readDirectory", read_directory),
    system!("ModelicaInternal_getNumberOfFiles", |a| Ok(entries(&string(a, 0)?)?.len() as f64)),
    system!("ModelicaInternal_getcwd", |_| Ok(intern(&io("cwd", std::env::current_dir())?.to_string_lossy()))),
    system!("ModelicaInternal_chdir", |a| {
        let n = string(a, 0)?;
        io(&n, std::env::set_current_dir(&*n)).map(|()| 0.0)
    }),
    system!("ModelicaInternal_getenv", getenv),
    system!("ModelicaInternal_setenv", setenv),
    system!("system", command),
    system!("ModelicaInternal_getTime", get_time),
    system!("ModelicaInternal_getpid", |_| Ok(f64::from(std::process::id()))),
    system!("ModelicaStreams_closeFile", |_| Ok(0.0)),
    system!("ModelicaError", |a| Err(string(a, 0)?.to_string())),
    system!("ModelicaWarning", |a| {
        warn(string(a, 0)?.to_string());
        Ok(0.0)
    }),
    system!("ModelicaMessage", |a| {
        println!("{}", string(a, 0)?);
        Ok(0.0)
    }),
];

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_453), (2025, 12, 31));
    }
}
