//! The class table as text: the classes that have been asked for, with what each declares itself.

use crate::table::{ClassId, ClassTable};
use saltus_syntax::ast::Element;
use std::fmt::Write as _;

impl ClassTable {
    /// The classes that have been looked into so far, in the order in which they were met. Files are named without their
    /// folders.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        for id in (0..self.len() as u32).map(ClassId).filter(|&id| self.looked_into(id)) {
            let def = self.def(id);
            let place = self.sources().describe(def.name.span);
            let place = place.rsplit('/').next().unwrap_or_default();
            let _ = writeln!(out, "{} // {} at {place}", def, self.qualified(id));
            for element in self.elements(id) {
                let _ = match element {
                    Element::Components(c) => writeln!(out, "  {c}"),
                    Element::Class { def, .. } => writeln!(out, "  {} {}", def.kind.keyword(), def.name),
                    Element::Import(import, _) => writeln!(out, "  {import}"),
                    Element::Extends(x) => writeln!(out, "  extends {}", x.base),
                };
            }
        }
        out
    }
}
