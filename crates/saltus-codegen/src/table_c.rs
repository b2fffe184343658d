//! Table objects of the standard library as C: their data, and the functions that read them.

use crate::c::literal_c;
use saltus_function::external::table_data;
use std::fmt::Write;

const RUNTIME: &str = include_str!("tables.c");

/// A function of a table in C: its name there, and how its derivative is found.
#[derive(Clone, Copy)]
pub(crate) struct TableCall {
    /// Takes the arguments as an array.
    pub name: &'static str,
    pub derivative: Slope,
}

/// The derivative of a [`TableCall`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slope {
    Zero,
    /// The function with `_der` at the end of its name.
    Known,
    Differences,
}

/// What a symbol of the standard library is called in C; `None` if it reads no table.
pub(crate) fn table_call(symbol: &str) -> Option<TableCall> {
    const LIST: [(&str, Slope); 14] = [
        ("CombiTable1D_getValue", Slope::Known),
        ("CombiTable1D_getDerValue", Slope::Known),
        ("CombiTable1D_getDer2Value", Slope::Differences),
        ("CombiTable1D_minimumAbscissa", Slope::Zero),
        ("CombiTable1D_maximumAbscissa", Slope::Zero),
        ("CombiTimeTable_getValue", Slope::Known),
        ("CombiTimeTable_getDerValue", Slope::Known),
        ("CombiTimeTable_getDer2Value", Slope::Differences),
        ("CombiTimeTable_minimumTime", Slope::Zero),
        ("CombiTimeTable_maximumTime", Slope::Zero),
        ("CombiTimeTable_nextTimeEvent", Slope::Zero),
        ("CombiTable2D_getValue", Slope::Known),
        ("CombiTable2D_getDerValue", Slope::Known),
        ("CombiTable2D_getDer2Value", Slope::Differences),
    ];
    let name = symbol.strip_prefix("ModelicaStandardTables_")?;
    LIST.iter().find(|x| x.0 == name).map(|&(name, derivative)| TableCall { name, derivative })
}

/// The tables with these handles, and what reads them.
pub(crate) fn tables_c(handles: &[f64]) -> String {
    let mut o = String::from(RUNTIME);
    let mut cases = String::new();
    for (k, handle) in handles.iter().enumerate() {
        let Some(t) = table_data(*handle) else { continue };
        for (name, list) in [("x", &t.x), ("y", &t.y), ("data", &t.data), ("event", &t.events)] {
            let list: Vec<String> = list.iter().map(|v| literal_c(*v)).chain(["0.0".into()]).collect();
            let lines: Vec<String> = list.chunks(8).map(|l| l.join(", ")).collect();
            let _ = writeln!(o, "static const double table{k}_{name}[] = {{\n  {}\n}};", lines.join(",\n  "));
        }
        let events = if t.no_events { -1 } else { t.events.len() as i64 };
        let _ = writeln!(
            o,
            "static const saltus_table table{k} = {{{}, {}, {}, {}, {}, {}, {events}, table{k}_x, table{k}_y, table{k}_data, table{k}_event, {}, {}}};",
            t.kind,
            t.smoothness,
            t.extrapolation,
            t.x.len(),
            t.y.len(),
            t.columns,
            literal_c(t.start),
            literal_c(t.shift)
        );
        let _ = writeln!(cases, "  if (handle == {}) t = &table{k};", literal_c(*handle));
    }
    let _ = writeln!(
        o,
        "static inline const saltus_table *saltus_table_of(saltus_functions *c, double handle, int kind) {{\n  const saltus_table *t = 0;\n{cases}  if (!t || t->kind != kind) saltus_fail(c, \"an object is no such table\");\n  return t;\n}}\n"
    );
    o
}
