//! Versions of libraries: `annotation(version = "1.2.0", uses(Modelica(version = "4.1.0")))`.

use saltus_base::Span;
use saltus_syntax::ast::{Argument, ClassBody, ClassDef, ExprKind, Modification};

/// The libraries a class asks for: name, version, where.
pub(crate) fn uses(def: &ClassDef) -> Vec<(String, String, Span)> {
    let Some(uses) = annotation(def, "uses") else { return Vec::new() };
    uses.args
        .iter()
        .filter_map(|a| match a {
            Argument::Modification { path, modification: Some(m), span, .. } => {
                Some((path.first()?.name.to_string(), text(child(&m.args, "version")?)?, *span))
            }
            _ => None,
        })
        .collect()
}

/// The version of a library.
pub(crate) fn version(def: &ClassDef) -> Option<String> {
    text(annotation(def, "version")?)
}

/// Whether a library says that users of another version need no change (`conversion(noneFromVersion = …)`).
pub(crate) fn converts_silently(def: &ClassDef, from: &str) -> bool {
    let Some(c) = annotation(def, "conversion") else { return false };
    c.args.iter().any(|a| match a {
        Argument::Modification { path, modification: Some(m), .. } => {
            path.first().is_some_and(|p| p.name == "noneFromVersion") && text(m).as_deref() == Some(from)
        }
        _ => false,
    })
}

fn annotation<'a>(def: &'a ClassDef, name: &str) -> Option<&'a Modification> {
    match &*def.body {
        ClassBody::Long { annotation: Some(a), .. } => child(&a.args, name),
        _ => None,
    }
}

fn child<'a>(args: &'a [Argument], name: &str) -> Option<&'a Modification> {
    args.iter().find_map(|a| match a {
        Argument::Modification { path, modification: Some(m), .. } if path.len() == 1 && path[0].name == name => {
            Some(m)
        }
        _ => None,
    })
}

fn text(m: &Modification) -> Option<String> {
    match &m.binding.as_ref()?.kind {
        ExprKind::String(s) => Some(s.to_string()),
        _ => None,
    }
}
