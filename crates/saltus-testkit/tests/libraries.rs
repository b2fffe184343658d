//! Libraries on disk (`tests/libraries`): folders, C code in `Resources`, versions, `package.order`.

use saltus_testkit::process::{self, End, Outcome};
use saltus_testkit::{Scratch, project_root, saltus_binary};
use std::time::Duration;

fn saltus(arguments: &[&str]) -> Result<Outcome, String> {
    let scratch = Scratch::new().map_err(|e| e.to_string())?;
    let libraries = project_root()?.join("tests/libraries").display().to_string();
    let mut all: Vec<String> = arguments.iter().map(|a| a.replace("LIBRARIES", &libraries)).collect();
    all.extend(["-L".to_string(), libraries]);
    process::run(&saltus_binary()?, &all, scratch.path(), Duration::from_secs(120)).map_err(|e| e.to_string())
}

/// The ratio is computed by C code compiled from the library's `Resources`: 40/10 teeth, so `out = 8 exp(-t)/4`.
#[test]
fn c_code_of_a_library_is_called() -> Result<(), String> {
    let o = saltus(&["simulate", "Gears.Train", "--stop", "1", "--intervals", "1", "--output", "-"])?;
    assert_eq!(o.end, End::Code(0), "{}", o.stderr);
    let header: Vec<&str> = o.stdout.lines().next().unwrap_or("").split(',').collect();
    let at = header.iter().position(|h| *h == "out").ok_or(format!("no column out in {}", o.stdout))?;
    let last = o.stdout.lines().last().unwrap_or("").split(',').nth(at).unwrap_or("");
    let out: f64 = last.parse().map_err(|e| format!("{last}: {e}"))?;
    assert!((out - 2.0 * (-1f64).exp()).abs() < 1e-4, "{out}");
    Ok(())
}

/// `Clock` asks for version 2.0.0 of `Gears`; there is 1.2.0. `Gears` itself lists a class that is not there.
#[test]
fn versions_and_package_order_are_compared() -> Result<(), String> {
    let o = saltus(&["check", "LIBRARIES/Clockwork.mo"])?;
    assert_eq!(o.end, End::Code(0), "{}", o.stderr);
    assert!(o.stderr.contains("Clockwork uses Gears 2.0.0, but version 1.2.0 was found"), "{}", o.stderr);
    assert!(o.stderr.contains("lists Nothing, which is not there"), "{}", o.stderr);
    Ok(())
}

/// A class that is misspelt or missing: a suggestion, or where libraries are looked for.
#[test]
fn unknown_classes_get_advice() -> Result<(), String> {
    let o = saltus(&["check", "Gears.Trian"])?;
    assert_eq!(o.end, End::Code(3), "{}", o.stderr);
    assert!(o.stderr.contains("did you mean Train?"), "{}", o.stderr);
    let o = saltus(&["check", "Wheels.Train"])?;
    assert!(o.stderr.contains("MODELICAPATH"), "{}", o.stderr);
    Ok(())
}

/// Trees kept from an earlier run, damaged ones and `--no-cache` all give the same.
#[test]
fn kept_trees_change_nothing() -> Result<(), String> {
    let scratch = Scratch::new().map_err(|e| e.to_string())?;
    let libraries = project_root()?.join("tests/libraries");
    let flatten = |cached: bool| -> Result<(String, String), String> {
        let mut command = std::process::Command::new(saltus_binary()?);
        command.args(["flatten", "Gears.Train", "-L"]).arg(&libraries).current_dir(scratch.path());
        command.env("XDG_CACHE_HOME", scratch.path().join("cache"));
        if !cached {
            command.arg("--no-cache");
        }
        let o = command.output().map_err(|e| e.to_string())?;
        let text = |b: Vec<u8>| String::from_utf8_lossy(&b).into_owned();
        if o.status.code() == Some(0) { Ok((text(o.stdout), text(o.stderr))) } else { Err(text(o.stderr)) }
    };
    let folder = scratch.path().join("cache/saltus/trees");
    let packs = || -> Vec<std::path::PathBuf> {
        std::fs::read_dir(&folder).map(|f| f.flatten().map(|e| e.path()).collect()).unwrap_or_default()
    };
    let first = flatten(false)?;
    assert!(packs().is_empty(), "--no-cache writes nothing");
    assert_eq!(flatten(true)?, first);
    let [pack] = &packs()[..] else { return Err(format!("one pack is expected: {:?}", packs())) };
    assert_eq!(flatten(true)?, first);
    let good = std::fs::read(pack).map_err(|e| e.to_string())?;
    for damaged in [Vec::new(), vec![7; 100], good[..good.len() / 2].to_vec(), good.iter().map(|b| !b).collect()] {
        std::fs::write(pack, damaged).map_err(|e| e.to_string())?;
        assert_eq!(flatten(true)?, first);
        assert_eq!(std::fs::read(pack).map_err(|e| e.to_string())?, good, "repaired");
    }
    Ok(())
}

/// `modelica://Gears/…` is a file of the library: it has three lines.
#[test]
fn resources_are_found_by_their_address() -> Result<(), String> {
    let o = saltus(&["simulate", "Gears.Measured", "--stop", "1", "--intervals", "1", "--output", "-"])?;
    assert_eq!(o.end, End::Code(0), "{}", o.stderr);
    let header: Vec<&str> = o.stdout.lines().next().unwrap_or("").split(',').collect();
    let at = header.iter().position(|h| *h == "teeth").ok_or(format!("no column teeth in {}", o.stdout))?;
    assert_eq!(o.stdout.lines().last().unwrap_or("").split(',').nth(at), Some("3.0"), "{}", o.stdout);
    Ok(())
}

/// One name, one class: not in `package.mo` and in a file, not in a file and in a folder.
#[test]
fn two_classes_of_one_name_in_different_files() -> Result<(), String> {
    let o = saltus(&["check", "Doubles.Bolt"])?;
    assert_eq!(o.end, End::Code(3), "{}", o.stderr);
    for text in ["Doubles has two classes called Bolt: in", "Doubles/Bolt.mo", "Doubles has two classes called Cap:"] {
        assert!(o.stderr.contains(text), "{text} in {}", o.stderr);
    }
    Ok(())
}

/// A byte order mark and letters beyond ASCII.
#[test]
fn texts_with_a_byte_order_mark() -> Result<(), String> {
    let scratch = Scratch::new().map_err(|e| e.to_string())?;
    let file = scratch.path().join("model.mo");
    let text = "\u{feff}model M \"Größe, 大きさ\"\n  Real x = 2*time \"µm\";\nend M;\n";
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let path = file.display().to_string();
    let o = saltus(&["simulate", &path, "--stop", "1", "--intervals", "1", "--output", "-"])?;
    assert_eq!(o.end, End::Code(0), "{}", o.stderr);
    assert_eq!(o.stdout.lines().last(), Some("1.0,2.0"), "{}", o.stdout);
    Ok(())
}
