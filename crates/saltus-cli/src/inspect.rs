//! `check`, `flatten`, `analyze` and `export`: a model without running it.

use crate::args::{AnalyzeArgs, CheckArgs, Dump, ExportArgs, ExportForm, FlattenArgs};
use crate::console;
use crate::session::{Failure, Session};
use saltus_engine::AnalyzeRequest;
use std::path::Path;

/// `saltus check`: the front end, and the structure of all modes.
pub fn check(arguments: &CheckArgs) -> Result<(), Failure> {
    match arguments.dump {
        Some(Dump::Syntax) => return Session::dump_syntax(&arguments.model),
        Some(stage) => return Session::open(&arguments.model)?.dump(stage),
        None => {}
    }
    let mut session = Session::open(&arguments.model)?;
    let dae = session.flatten()?;
    // The rest may take long.
    session.tell()?;
    let analysis = session.engine.analyze(dae, &AnalyzeRequest { all_modes: true, ..AnalyzeRequest::default() });
    session.need(analysis)?;
    session.tell()?;
    let warnings = match session.warnings() {
        0 => String::new(),
        1 => ", 1 warning".into(),
        n => format!(", {n} warnings"),
    };
    Ok(console::print(&format!("{}: no errors{warnings}", session.model))?)
}

/// `saltus flatten`: the flat model as text.
pub fn flatten(arguments: &FlattenArgs) -> Result<(), Failure> {
    Session::open(&arguments.model)?.dump(Dump::Flat)
}

/// `saltus analyze`: the structural plan as text, and as a picture if asked for.
pub fn analyze(arguments: &AnalyzeArgs) -> Result<(), Failure> {
    let mut session = Session::open(&arguments.model)?;
    let dae = session.flatten()?;
    let request = AnalyzeRequest {
        explain: arguments.explain.clone(),
        picture: arguments.picture.is_some(),
        incidence: arguments.incidence.is_some(),
        all_modes: false,
        schemes: arguments.schemes || arguments.shifts.is_some(),
        shifts: arguments.shifts,
    };
    let analysis = session.engine.analyze(dae, &request);
    let analysis = session.need(analysis)?;
    session.tell()?;
    for (path, content, what) in [
        (&arguments.picture, &analysis.picture, "a picture of the structure"),
        (&arguments.incidence, &analysis.incidence, "the incidence matrix"),
    ] {
        match (path, content) {
            (Some(path), Some(content)) => write(&session, path, content)?,
            (Some(_), None) => return Err(Failure::Usage(format!("not supported yet: {what}"))),
            (None, _) => {}
        }
    }
    Ok(console::print(&analysis.text)?)
}

/// Writes a text file and says so.
pub fn write(session: &Session, path: &Path, content: &str) -> Result<(), Failure> {
    std::fs::write(path, content)
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))?;
    session.remark(
        &format!("wrote {}", path.display()),
        || serde_json::json!({ "type": "file", "path": path.display().to_string() }),
    );
    Ok(())
}

/// Writes a model in another form.
pub fn export(arguments: &ExportArgs) -> Result<(), Failure> {
    if arguments.form == ExportForm::Fmu {
        return Err(Failure::Usage("not supported yet: saltus export fmu".into()));
    }
    let mut session = Session::open(&arguments.model)?;
    let dae = session.flatten()?;
    let name = session.model.clone();
    let text = session.engine.export_c(dae, &name);
    let text = session.need(text)?;
    session.tell()?;
    match arguments.output.as_deref() {
        Some("-") => Ok(console::print(text.trim_end())?),
        given => {
            let file = given.map_or_else(|| format!("{}.c", name.rsplit('.').next().unwrap_or(&name)), str::to_string);
            std::fs::write(&file, text).map_err(|e| Failure::Run(format!("cannot write {file}: {e}")))?;
            console::say(format!("wrote {file}"));
            Ok(())
        }
    }
}
