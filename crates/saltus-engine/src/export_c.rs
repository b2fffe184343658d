//! A model as one C99 file: kernels, their index tables, the steps, events and a fixed-step loop.
//!
//! The file depends on `<math.h>` and `<string.h>` alone, allocates nothing and keeps all numbers in one structure, so
//! that it can run on a small machine without an operating system. With `-DSALTUS_MAIN` it is a program that prints CSV.
//! The kernels are those of native code, operation by operation; compiled with `-ffp-contract=off` they give the same bits.

use crate::program::Started;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_codegen::{
    Called, FLOWS_C, JoinedC, ObjectC, PRELUDE_C, PlanC, called, functions_c, kernel_c, quoted_c, run_c,
};
use saltus_dae::{Action, HybridDae, Operand, Piece, VarId, VarType, Variability};
use saltus_expr::{NoCalls, Node, RelOp, eval};
use saltus_program::{Advance, Batch, Chain, FEW_ROWS, NEGATE, Run};
use saltus_sim::assembly::{Assembly, Unit};
use saltus_sim::block::SolveBlock;
use saltus_sim::compile::{MixedBlock, Step};
use saltus_sim::model::ModeProgram;
use saltus_sim::restart::Restart;
use saltus_structure::{DiscKind, RelationKind};
use std::fmt::Write;
use std::rc::Rc;

const RUNTIME: &str = include_str!("runtime.c");
const STEPPER: &str = include_str!("stepper.c");

/// Modes that are all listed, and modes that are put together from parts.
const ENUMERATED: &str = include_str!("enumerated.c");
const PARTS: &str = include_str!("parts.h");
const ASSEMBLY: &str = include_str!("assembly.c");

/// Newton's method of the exported file is dense: more takes too long, and memory (50 MB). A torn loop that fails is solved whole
/// up to the second size.
const LARGEST_BLOCK: usize = 2500;
const LARGEST_WHOLE: usize = 1000;

fn refuse<T>(what: &str) -> Result<T, Diagnostic> {
    refuse_at(Span::NONE, what)
}

fn refuse_at<T>(place: Span, what: &str) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(Stage::Structure, place, format!("not supported yet: {what} in C export")))
}

/// Blocks up to this size are looked at where they are singular (`SALTUS_SINGULAR`).
const SINGULAR: usize = 200;

/// Operations of one function of joined rows, of all of them, and statements of one function: compilers take more than
/// proportional time.
const PIECE: usize = 1_000;
const JOINED: usize = 60_000;
const STATEMENTS: usize = 500;

/// A mode without restart equations.
const NO_RESTART: &str = "{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}";

/// Modes of one file.
const MOST_MODES: usize = 512;

/// Choices of states of one mode besides the first.
const MOST_CHOICES: usize = 24;

/// A mode, with what its entry takes. Modes with other states than those they are entered with follow all others.
struct Mode {
    /// The same mode with the states it is entered with.
    first: usize,
    /// Slots of its conditions, and their values.
    conditions: Vec<(u32, bool)>,
    /// `None` if it has no solution by structure.
    program: Option<(Rc<ModeProgram>, Option<Restart>)>,
    /// Values of conditions (by slot) that leave it without a solution.
    singular: Vec<Vec<(u32, bool)>>,
    /// By the mode it is entered from: its conditions that depend on what they guard.
    searched: Vec<Vec<u32>>,
}

/// All modes of a model, and the number of the one it starts in; none if they are too many.
fn modes(s: &mut Started) -> Option<(Vec<Mode>, usize)> {
    let now = s.program.plan.key.clone();
    let m = &mut s.model;
    let keys = if now.is_empty() { vec![now.clone()] } else { m.all_modes(MOST_MODES)? };
    let programs: Vec<Option<Rc<ModeProgram>>> =
        keys.iter().map(|k| if *k == now { Some(s.program.clone()) } else { m.mode(k).ok() }).collect();
    let mut modes = Vec::new();
    for (key, program) in keys.iter().zip(&programs) {
        let searched =
            programs.iter().map(|old| old.as_ref().map_or(vec![], |old| m.guarded_slots(old, key))).collect();
        // Without another mode only discrete variables in constraints displace anything.
        let program = program.as_ref().map(|p| {
            let restart = (keys.len() > 1 || !p.latent.is_empty()).then(|| m.restart(p));
            (p.clone(), restart)
        });
        let singular = program.as_ref().map_or(vec![], |p| m.singular_choices(&p.0));
        modes.push(Mode { first: modes.len(), conditions: m.key_slots(key), program, singular, searched });
    }
    for first in 0..modes.len() {
        let Some(program) = &programs[first] else { continue };
        for p in m.other_choices(program, MOST_CHOICES.min(MOST_MODES.saturating_sub(modes.len()))) {
            let (conditions, searched) = (modes[first].conditions.clone(), modes[first].searched.clone());
            modes.push(Mode { first, conditions, program: Some((p, None)), singular: vec![], searched });
        }
    }
    let first = keys.iter().position(|k| *k == now).unwrap_or(0);
    Some((modes, first))
}

/// The model as C.
pub(crate) fn write(s: &mut Started, name: &str) -> Result<String, Diagnostic> {
    let (modes, first_mode, assembly) = match modes(s) {
        Some((modes, first)) => (modes, first, None),
        None => match s.model.assembly() {
            Ok(assembly) => (Vec::new(), 0, Some(assembly)),
            Err(why) => return refuse(&format!("more than {MOST_MODES} modes with equations of their own ({why})")),
        },
    };
    let s = &*s;
    let m = &s.model;
    let lines = delays(s, &modes, assembly.as_ref());
    let flows = m.flows();
    let mut c = Writer {
        s,
        delayed: lines.iter().map(|d| d.out).collect(),
        used: FxHashSet::default(),
        calling: FxHashSet::default(),
        runs: FxHashMap::default(),
        plans: FxHashMap::default(),
        pieces: String::new(),
        joined: 0,
        tables: String::new(),
        blocks: String::new(),
        n: 0,
        work: 1,
        mixed: 0,
        watched: 0,
    };
    let (stepped, assembled) = match &assembly {
        None => (c.modes(&modes)?, None),
        Some(a) => {
            let (text, sizes) = c.assembly(a)?;
            (text, Some(sizes))
        }
    };
    let mut crossing = String::new();
    let mut timing = String::new();
    for (i, r) in m.machine.relations.iter().enumerate() {
        let g = c.batch(&r.batch)?;
        line(&mut crossing, 1, &format!("case {i}: {g} break;"));
        if let Some(t) = &r.time {
            let (a, b) = (c.batch(&t.batches[0])?, c.batch(&t.batches[1])?);
            line(&mut timing, 1, &format!("case {i}: {a} {b} break;"));
        }
    }
    let reactions = c.reactions()?;
    let mut asserts = String::new();
    c.chain(&m.assertions)?.iter().for_each(|call| line(&mut asserts, 1, call));
    for (slot, (_, index)) in m.assertion_slots.iter().zip(&m.sys.assertions) {
        let assertion = &m.sys.dae.assertions[*index];
        if !assertion.error {
            continue;
        }
        // Values in the message are left out: the file prints no numbers.
        let text = assertion.message.pieces.iter().map(|p| if let Piece::Text(t) = p { t.as_str() } else { "..." });
        let text = quoted_c(&text.collect::<String>());
        line(&mut asserts, 1, &format!("if (v[{slot}] == 0.0) {{ m->message = {text}; return SALTUS_ASSERT; }}"));
    }
    let (mut signals, mut lengths) = (String::new(), String::new());
    for (k, d) in lines.iter().enumerate() {
        let (value, length) = (c.batch(&d.value.0)?, c.batch(&d.lag.0)?);
        line(&mut signals, 1, &format!("case {k}: {value} break;"));
        line(&mut lengths, 1, &format!("case {k}: {length} break;"));
    }
    let mut inflows = String::new();
    for (k, (_, inputs, _)) in flows.iter().enumerate() {
        let calls = inputs.iter().map(|i| c.batch(&i.0)).collect::<Result<Vec<_>, _>>()?;
        line(&mut inflows, 1, &format!("case {k}: {} break;", calls.join(" ")));
    }
    let ((kernels, functions), pieces, tables, blocks, work, mixed, watched) =
        (c.kernels()?, c.pieces, c.tables, c.blocks, c.work, c.mixed, c.watched);

    let id = identifier(name);
    let mut o = String::new();
    let e = m.sys.dae.experiment;
    let start = m.machine.values[m.machine.time as usize];
    let stop = e.stop.unwrap_or(start + 1.0);
    let steps = e.interval.filter(|i| *i > 0.0).map_or(500.0, |i| ((stop - start) / i).round().clamp(1.0, 1e9));
    let _ = writeln!(
        o,
        "/* {name}, written by Saltus {}.\n   C99, no dependency but the mathematical functions. For a program that prints CSV:\n   cc -O2 -ffp-contract=off -DSALTUS_MAIN model.c -lm */\n",
        env!("CARGO_PKG_VERSION")
    );
    o.push_str(PRELUDE_C);
    o.push('\n');
    o.push_str(RUNTIME);
    if !flows.is_empty() {
        let _ = writeln!(o, "#define SALTUS_FLOWS {}", flows.len());
        o.push_str(FLOWS_C);
    }
    if let Some(f) = &functions {
        o.push_str(f);
    }
    let outputs = outputs(s);
    let impulses = modes.iter().flat_map(|m| &m.program).flat_map(|p| &p.1).map(|r| r.d.len() * r.values.len());
    let impulses = impulses.max().unwrap_or(0);
    let imposed = assembly.as_ref().is_some_and(|a| a.resets.iter().any(Option::is_some))
        || modes.iter().flat_map(|mode| &mode.program).any(|p| targets(s, &p.0).iter().any(|t| *t >= 0));
    let terminal = m.layout.find(saltus_structure::Cell::new(HybridDae::TERMINAL, 0));
    let mut sizes = vec![
        ("N_VALUES", m.machine.values.len()),
        ("N_MODES", modes.len()),
        ("N_KEYS", modes.iter().enumerate().filter(|(k, mode)| *k == mode.first).count()),
        ("FIRST_MODE", first_mode),
        ("N_STATES", modes.iter().flat_map(|m| &m.program).map(|p| p.0.states.len()).max().unwrap_or(0)),
        ("N_CELLS", modes.iter().flat_map(|m| &m.program).map(|p| p.0.cells.len()).max().unwrap_or(0)),
        ("N_RELATIONS", m.machine.relations.len()),
        ("N_DISCRETE", m.discrete.len()),
        ("N_MEMORY", m.discrete.len() + m.previous.len()),
        ("N_TICKERS", m.tickers.len()),
        ("N_OUTPUTS", outputs.len()),
        ("N_RESETS", m.reactions.len()),
        ("TIME", m.machine.time as usize),
        ("N_DELAYS", lines.len()),
        ("N_IMPOSED", if imposed { m.reactions.len() } else { 0 }),
        ("N_IMPULSES", impulses),
        ("N_MIXED", mixed),
        ("N_WATCHED", watched),
        ("WORK", work),
    ];
    if let Some(own) = &assembled {
        sizes.retain(|s| !own.iter().any(|o| o.0 == s.0) && !["N_MODES", "N_KEYS", "FIRST_MODE"].contains(&s.0));
        sizes.extend(own);
    }
    let _ = writeln!(o, "\n/* ---- {name} ---- */\n");
    for (k, v) in sizes {
        let _ = writeln!(o, "#define {k} {v}");
    }
    match assembly {
        Some(_) => {
            o.push_str(&PARTS.replace("NAME", &id));
            o.push_str("#define SALTUS_BEGIN(m) ((m)->assembly.keys = 0, (m)->assembly.made = -2, (m)->mode = -1, set_mode(m, mode_now(m)))\n");
        }
        None => o.push_str("#define SALTUS_BEGIN(m) set_mode(m, FIRST_MODE)\n"),
    }
    let terminal = terminal.map_or("SALTUS_NONE".into(), |t| format!("{t}u"));
    let _ = writeln!(o, "#define TERMINAL {terminal}\n#define STOP {}\n#define STEPS {steps}\n", number(stop));
    let _ = writeln!(
        o,
        "/* How often a step is halved where a relation may leave its value inside; with 0 only the ends of steps are looked at. */\n#ifndef SALTUS_INSIDE\n#define SALTUS_INSIDE 6\n#endif\n/* Surfaces that the solution may slide on at once. */\n#ifndef SALTUS_SLIDES\n#define SALTUS_SLIDES 4\n#endif\n#define N_SPARE (N_MODES > 1 || N_IMPOSED ? N_VALUES : 1)\n\n/* All numbers of a running model. */\ntypedef struct {id} {{\n    double v[N_VALUES];\n    double left[N_RELATIONS + 1], rested[N_RELATIONS + 1], size[N_RELATIONS + 1], ticks[N_TICKERS + 1];\n    double reset_value[N_RESETS + 1], work[WORK];\n    saltus_line line[N_DELAYS + 1];\n    uint32_t reset_slot[N_RESETS + 1], reset_done[N_RESETS + 1], reset_by[N_RESETS + 1];\n    double left_values[N_CELLS + 1], conditions[N_DISCRETE + 1], decided[N_DISCRETE + 1], impulse[N_IMPULSES + 1], mixed[N_MIXED + 1];\n    double base[N_SPARE], kept[N_SPARE], before[N_SPARE], rates[N_IMPOSED * (N_STATES + N_IMPOSED + 2) + 1];\n    double leaving[N_STATES + 1], arriving[N_STATES + 1], greatest[N_STATES ? N_VALUES : 1], error, strain;\n    double ahead[N_RELATIONS ? N_VALUES : 1], inside[2 * SALTUS_INSIDE + 2][N_RELATIONS + 1], spare[N_RELATIONS + 1];\n    double pace, last[N_RELATIONS + 1], gap[N_RELATIONS + 1], ratio[N_RELATIONS + 1];\n    double prior[N_DISCRETE + 1], sides[SALTUS_SLIDES][2][N_DISCRETE + 1], fell[N_RELATIONS + 1], begins[N_RELATIONS + 1];\n    double blended[N_RELATIONS ? N_VALUES : 1], slack;\n    saltus_surface surface[SALTUS_SLIDES];\n    uint32_t hold[N_RELATIONS + 1][N_RESETS + 1];\n    int rests, slides, touch, holds[N_RELATIONS + 1];\n    unsigned char frozen[N_RELATIONS + 1], resting[N_RELATIONS + 1], surface_of[N_RELATIONS + 1];\n    unsigned char near[N_RELATIONS + 1], far[N_RELATIONS + 1], slid[N_RELATIONS + 1];\n    unsigned char judged[N_MODES][N_RELATIONS + 1], judging[N_MODES][N_RELATIONS + 1];\n    signed char signs[N_WATCHED + 1], outside[N_RELATIONS + 1];\n#ifdef SALTUS_STIFF\n    double jacobian[N_STATES * N_STATES + 1], factors[N_STATES * N_STATES + 1], drift[N_STATES + 1];\n    int linearized;\n#endif\n    int resets, mode, held, sudden, ending, fired[N_RELATIONS + 1], shrinking[N_RELATIONS + 1];\n    const char *message;\n    const saltus_mode *now;\n{}{}}} {id};\n",
        if assembly.is_some() { "    saltus_assembly assembly;\n    saltus_visit visit;\n" } else { "" },
        match (functions.is_some(), flows.is_empty()) {
            (false, _) => "",
            (true, true) => "    saltus_host host;\n    saltus_functions functions;\n",
            (true, false) => {
                "    saltus_host host;\n    saltus_functions functions;\n    saltus_flow flow[SALTUS_FLOWS];\n"
            }
        }
    );
    // Kernels are given the values alone, which are the first thing in the structure.
    o.push_str(&match functions {
        Some(_) => format!("#define SALTUS_FUNCTIONS 1\n#define HOST (&((const {id} *)(const void *)v)->host)\n\n"),
        None => "#define HOST 0\n\n".into(),
    });
    let values: Vec<String> = m.machine.values.iter().map(|v| number(*v)).collect();
    let _ = writeln!(o, "static const double start_values[N_VALUES] = {{\n{}}};", wrap(&values));
    let pairs = |list: Vec<(u32, u32)>| {
        let mut t: Vec<String> = list.into_iter().map(|(a, b)| format!("{{{a}, {b}}}")).collect();
        t.push("{0, 0}".into());
        wrap(&t)
    };
    // Lists of conditions, the first for none.
    let mut guards: Vec<Vec<u32>> = vec![vec![]];
    for (k, mode) in modes.iter().enumerate() {
        let p = mode.program.as_ref().map(|p| &*p.0);
        let _ = writeln!(
            o,
            "static const saltus_memory states{k}[] = {{\n{}}};",
            pairs(p.map_or(vec![], |p| p.states.clone()))
        );
        let _ = writeln!(
            o,
            "static const saltus_memory latent{k}[] = {{\n{}}};",
            pairs(p.map_or(vec![], |p| p.latent.clone()))
        );
        let cells = p.map_or(&[][..], |p| &p.cells).iter().map(|c| format!("{c}u")).chain(["0u".into()]);
        let _ = writeln!(o, "static const uint32_t cells{k}[] = {{\n{}}};", wrap(&cells.collect::<Vec<_>>()));
        let conditions = mode.conditions.iter().map(|&(s, b)| (s, u32::from(b))).collect();
        let _ = writeln!(o, "static const saltus_memory conditions{k}[] = {{\n{}}};", pairs(conditions));
        let active = |i: usize| p.is_some_and(|p| p.crossings.relations().any(|r| r == i));
        let list = (0..m.machine.relations.len()).map(|i| u8::from(active(i)).to_string()).chain(["0".into()]);
        let _ = writeln!(o, "static const unsigned char active{k}[] = {{\n{}}};", wrap(&list.collect::<Vec<_>>()));
        let list: Vec<String> = mode.searched.iter().map(|slots| guard_list(&mut guards, slots).to_string()).collect();
        let _ = writeln!(o, "static const unsigned short searched{k}[] = {{\n{}}};", wrap(&list));
        let numbers = |list: Vec<i16>| wrap(&list.iter().map(i16::to_string).chain(["0".into()]).collect::<Vec<_>>());
        let stage = |(cell, d): (&saltus_structure::Cell, &u8)| i16::from(*d) - i16::from(cell.order);
        let stages = p.map_or(vec![], |p| {
            p.plan.states.iter().map(|c| stage((c, &p.plan.d.get(&c.var).copied().unwrap_or(0)))).collect()
        });
        let _ = writeln!(o, "static const int stages{k}[] = {{\n{}}};", numbers(stages));
        let _ = writeln!(o, "static const int targets{k}[] = {{\n{}}};", numbers(p.map_or(vec![], |p| targets(s, p))));
        let nominal = p.map_or(&[][..], |p| &p.nominal).iter().map(|v| number(*v)).chain(["0.0".into()]);
        let _ = writeln!(o, "static const double sizes{k}[] = {{\n{}}};", wrap(&nominal.collect::<Vec<_>>()));
    }
    let list = modes.iter().enumerate().map(|(k, mode)| {
        let p = mode.program.as_ref().map(|p| &*p.0);
        let sizes = p.map_or([0; 3], |p| [p.states.len(), p.latent.len(), p.cells.len()]);
        format!(
            "{{{}, {}, {}, {}, {}, {}, states{k}, latent{k}, conditions{k}, cells{k}, active{k}, searched{k}, stages{k}, targets{k}, sizes{k}}}",
            u8::from(p.is_some()),
            sizes[0],
            sizes[1],
            mode.conditions.len(),
            sizes[2],
            mode.first
        )
    });
    if assembly.is_none() {
        let _ = writeln!(o, "static const saltus_mode modes[] = {{\n{}}};", wrap(&list.collect::<Vec<_>>()));
    }
    for (k, list) in guards.iter().enumerate().skip(1) {
        let list = std::iter::once(list.len() as u32).chain(list.iter().copied()).map(|s| format!("{s}u"));
        let _ = writeln!(o, "static const uint32_t guards{k}[] = {{\n{}}};", wrap(&list.collect::<Vec<_>>()));
    }
    let list: Vec<String> = (0..guards.len()).map(|k| if k == 0 { "0".into() } else { format!("guards{k}") }).collect();
    if assembly.is_none() {
        let _ = writeln!(o, "static const uint32_t *const guard_lists[] = {{\n{}}};", wrap(&list));
    }
    let memory = m.discrete.iter().map(|d| (d.0, d.1)).chain(m.previous.iter().copied()).collect();
    let _ = writeln!(o, "static const saltus_memory memory[] = {{\n{}}};", pairs(memory));
    let mut rel: Vec<String> = Vec::new();
    for r in &m.machine.relations {
        let kind = match &r.kind {
            RelationKind::Sign(RelOp::Lt) => 0,
            RelationKind::Sign(RelOp::Le) => 1,
            RelationKind::Sign(RelOp::Gt) => 2,
            RelationKind::Sign(RelOp::Ge) => 3,
            RelationKind::Floor => 4,
        };
        let (a, b, timed) = r.time.as_ref().map_or((0, 0, 0), |t| (t.slots[0], t.slots[1], 1));
        let sizes = format!("{}, {}", number(r.finest), number(1e-2 * r.nominal));
        rel.push(format!("{{{}, {}, {a}, {b}, {kind}, {timed}, {sizes}}}", r.g, r.var));
    }
    rel.push("{0, 0, 0, 0, 0, 0, 0.0, 0.0}".into());
    let _ = writeln!(o, "static const saltus_relation relations[] = {{\n{}}};", wrap(&rel));
    let mut ticks: Vec<String> = m
        .tickers
        .iter()
        .map(|t| format!("{{{}, {}, {}, {}}}", t.slot, t.pre, number(t.start), number(t.interval)))
        .collect();
    ticks.push("{0, 0, 0.0, 1.0}".into());
    let _ = writeln!(o, "static const saltus_ticker tickers[] = {{\n{}}};\n", wrap(&ticks));
    let mut delays: Vec<String> = lines.iter().map(|d| format!("{{{}, {}, {}}}", d.out, d.value.1, d.lag.1)).collect();
    delays.push("{0, 0, 0}".into());
    let _ = writeln!(o, "static const saltus_delay delays[] = {{\n{}}};\n", wrap(&delays));
    o.push_str(&kernels);
    o.push_str(&pieces);
    o.push_str(&tables);
    for (name, cases) in [("signal", &signals), ("length", &lengths)] {
        let _ = writeln!(
            o,
            "/* The {name} of delay i into its slot. */\nstatic void delay_{name}(double *v, int i) {{\n  (void)v;\n  switch (i) {{\n{cases}  default: break;\n  }}\n}}\n"
        );
    }
    if !flows.is_empty() {
        let slots = flows.iter().map(|(_, i, _)| format!("{{{{{}, {}}}, {}, {}}}", i[0].1, i[1].1, i[2].1, i[3].1));
        let slots: Vec<String> = slots.collect();
        let _ = writeln!(
            o,
            "/* Where the inflows at both ends, x and the direction of distributions are; what computes them. */\nstatic const struct {{ uint32_t in[2], x, forward; }} flow_slots[] = {{\n{}}};\nstatic void flow_inputs(double *v, int i) {{\n  switch (i) {{\n{inflows}  default: break;\n  }}\n}}",
            wrap(&slots)
        );
        for (k, (_, _, points)) in flows.iter().enumerate() {
            let list: Vec<String> = points.iter().map(|v| number(*v)).collect();
            let _ = writeln!(o, "static const double flow_points{k}[] = {{\n{}}};", wrap(&list));
        }
        let begins = flows.iter().enumerate().map(|(k, f)| format!("{{flow_points{k}, {}}}", f.2.len() / 3));
        let _ = writeln!(
            o,
            "static const struct {{ const double *points; int n; }} flow_begins[] = {{\n{}}};\n",
            wrap(&begins.collect::<Vec<_>>())
        );
    }
    let _ = writeln!(
        o,
        "\nstatic void relation({id} *m, int i);\n\n/* A loop through discrete and continuous unknowns: their slots, those of relations, and how each part follows from the other. */\ntypedef struct {{\n    int slots, bits, unknowns;\n    const uint32_t *slot, *bit, *unknown;\n    int (*continuous)({id} *m, double *v), (*discrete)({id} *m, double *v);\n}} mixed_loop;\nstatic int solve_mixed({id} *m, const mixed_loop *b);\n"
    );
    let _ = writeln!(
        o,
        "/* The function of relation i into its slot. */\nstatic void crossing(double *v, int i) {{\n  (void)v;\n  switch (i) {{\n{crossing}  default: break;\n  }}\n}}\n"
    );
    let _ = writeln!(
        o,
        "/* Slope and rest of a relation of time. */\nstatic void timing(double *v, int i) {{\n  (void)v;\n  switch (i) {{\n{timing}  default: break;\n  }}\n}}\n"
    );
    o.push_str(&blocks.replace("NAME", &id));
    o.push_str(&stepped.replace("NAME", &id));
    o.push_str(&if assembly.is_some() { ASSEMBLY } else { ENUMERATED }.replace("NAME", &id));
    let _ = writeln!(
        o,
        "/* What when-equations do besides assigning. */\nstatic int reactions({id} *m, double *v, int *changed) {{\n  (void)m; (void)v; (void)changed;\n{reactions}  return SALTUS_OK;\n}}\n"
    );
    let _ = writeln!(
        o,
        "/* What must hold at the end of each step. */\nstatic int assertions({id} *m, double *v) {{\n  (void)m; (void)v;\n{asserts}  return SALTUS_OK;\n}}\n"
    );
    let names: Vec<String> = outputs.iter().map(|(n, _)| quoted_c(n)).chain(["0".into()]).collect();
    let _ = writeln!(o, "const char *const output_names[] = {{\n{}}};", wrap(&names));
    let places: Vec<String> = outputs
        .iter()
        .map(|(_, place)| match place {
            Place::Slot(slot, false) => format!("{{{slot}, 1, 0.0}}"),
            Place::Slot(slot, true) => format!("{{{slot}, -1, 0.0}}"),
            Place::Number(v) => format!("{{0, 0, {}}}", number(*v)),
        })
        .chain(["{0, 0, 0.0}".into()])
        .collect();
    let _ = writeln!(
        o,
        "/* Where the variables are: slot and sign, or without a sign a number. */\nstatic const struct {{ uint32_t slot; int sign; double number; }} output_places[] = {{\n{}}};",
        wrap(&places)
    );
    let _ = writeln!(
        o,
        "/* A variable of the model, by its number in output_names. */\ndouble {id}_output(const {id} *m, int i) {{\n  if (i < 0 || i >= N_OUTPUTS) return NAN;\n  switch (output_places[i].sign) {{\n  case 1: return m->v[output_places[i].slot];\n  case -1: return -m->v[output_places[i].slot];\n  default: return output_places[i].number;\n  }}\n}}"
    );
    o.push_str(&STEPPER.replace("NAME", &id));
    Ok(o)
}

fn identifier(name: &str) -> String {
    let mut id: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if id.is_empty() || id.starts_with(|c: char| c.is_ascii_digit()) {
        id.insert(0, 'm');
    }
    // Not a word of the file itself.
    let among = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|w| w == id);
    if ["main", "memory", "modes", "crossing", "timing"].contains(&id.as_str())
        || [RUNTIME, STEPPER, ENUMERATED, PARTS, ASSEMBLY].into_iter().any(among)
    {
        id.push_str("_model");
    }
    id
}

fn line(o: &mut String, depth: usize, text: &str) {
    o.push_str(&"  ".repeat(depth));
    o.push_str(text);
    o.push('\n');
}

fn number(v: f64) -> String {
    saltus_codegen::literal_c(v)
}

fn wrap(items: &[String]) -> String {
    let mut o = String::new();
    let mut width = 0;
    for i in items {
        if width == 0 {
            o.push_str("  ");
        }
        o.push_str(i);
        o.push(',');
        width += i.len() + 2;
        if width > 100 {
            o.push('\n');
            width = 0;
        } else {
            o.push(' ');
        }
    }
    if width > 0 {
        o.push('\n');
    }
    o
}

/// The number of a list of conditions among those known.
fn guard_list(known: &mut Vec<Vec<u32>>, slots: &[u32]) -> usize {
    known.iter().position(|k| k == slots).unwrap_or_else(|| {
        known.push(slots.to_vec());
        known.len() - 1
    })
}

/// Of each reaction: the stage of the variable that it resets, if that is no state of the mode; else −1.
fn targets(s: &Started, p: &ModeProgram) -> Vec<i16> {
    let target = |(k, r): (usize, &saltus_structure::Reaction)| match &r.action {
        Action::Reinit { var, .. } if p.states.iter().all(|x| x.0 != s.model.reactions[k].target) => {
            p.plan.d.get(var).map_or(-1, |d| i16::from(*d))
        }
        _ => -1,
    };
    s.model.sys.reactions.iter().enumerate().map(target).collect()
}

/// Where a variable is found: a slot, possibly negated, or a number.
enum Place {
    Slot(u32, bool),
    Number(f64),
}

/// What a run would write.
fn outputs(s: &Started) -> Vec<(String, Place)> {
    let m = &s.model;
    let mut out = Vec::new();
    for i in 0..m.sys.dae.vars.len() {
        let v = VarId::new(i);
        let var = &m.sys.dae.vars[v];
        let parameter = var.variability <= Variability::Parameter;
        let text = matches!(var.ty, VarType::String | VarType::Object);
        if HybridDae::is_builtin(v) || parameter || var.hidden || var.unshown || text {
            continue;
        }
        let place = match m.sys.alias[v] {
            None => m.layout.find(saltus_structure::Cell::new(v, 0)).map(|s| Place::Slot(s, false)),
            Some(saltus_structure::Alias::Var(to, neg)) => {
                m.layout.find(saltus_structure::Cell::new(to, 0)).map(|s| Place::Slot(s, neg))
            }
            Some(saltus_structure::Alias::Const(c)) => Some(Place::Number(c)),
        };
        if let Some(p) = place {
            out.push((var.name.clone(), p));
        }
    }
    out
}

/// The handles of all external objects.
fn objects(s: &Started) -> Vec<f64> {
    let m = &s.model;
    let all = (0..m.sys.dae.vars.len()).map(VarId::new).filter(|v| m.sys.dae.vars[*v].ty == VarType::Object);
    let handle = |v: VarId| match m.sys.alias[v] {
        Some(saltus_structure::Alias::Const(c)) => Some(c),
        Some(saltus_structure::Alias::Var(to, _)) => {
            m.layout.find(saltus_structure::Cell::new(to, 0)).map(|s| m.machine.values[s as usize])
        }
        None => m.layout.find(saltus_structure::Cell::new(v, 0)).map(|s| m.machine.values[s as usize]),
    };
    let mut list: Vec<f64> = all.filter_map(handle).collect();
    list.sort_by(f64::total_cmp);
    list.dedup();
    list
}

/// The external objects that foreign code made, in that order.
fn made(s: &Started) -> Result<Vec<ObjectC>, Diagnostic> {
    let m = &s.model;
    let mut list: Vec<ObjectC> = Vec::new();
    let handles = objects(s).into_iter().filter(|h| saltus_function::external::is_foreign(*h));
    for handle in handles {
        let by_constructor = |v: VarId| {
            let defined = || m.sys.discrete.iter().find(|d| d.var == v);
            let row = match (&m.sys.dae.vars[v].binding, defined().map(|d| &d.kind)) {
                (Some(row), _) | (None, Some(DiscKind::Value(row))) => row,
                _ => return None,
            };
            let Node::Call { func, args, .. } = m.sys.dae.pool.node(row.template) else { return None };
            let hole = |k: u32| match row.args.get(k as usize).map(|a| m.sys.resolve(*a)) {
                Some(Operand::Const(c)) => c,
                Some(Operand::Var { var, order, neg }) => {
                    m.value(var, order).map_or(f64::NAN, |v| if neg { -v } else { v })
                }
                _ => f64::NAN,
            };
            let args = args.iter().map(|a| eval(&m.sys.dae.pool, *a, &hole, &mut NoCalls)).collect::<Vec<_>>();
            let known = args.iter().all(|a| !a.is_nan());
            (known && m.value(v, 0) == Some(handle)).then_some(ObjectC { handle, constructor: *func, args })
        };
        let all = (0..m.sys.dae.vars.len()).map(VarId::new).filter(|v| m.sys.dae.vars[*v].ty == VarType::Object);
        match all.filter_map(by_constructor).next() {
            Some(x) => list.push(x),
            None => return refuse("an external object that is more than a call of its constructor"),
        }
    }
    Ok(list)
}

/// A delay whose output the C code writes itself, before anything is evaluated.
struct Delayed {
    out: u32,
    value: (Batch, u32),
    lag: (Batch, u32),
}

/// The delays, with the slots of the variables that read them.
fn delays(s: &Started, modes: &[Mode], assembly: Option<&Assembly>) -> Vec<Delayed> {
    let templates = s.templates.borrow();
    let pool = &s.model.sys.dae.pool;
    let mut outs: FxHashMap<u32, u32> = FxHashMap::default();
    let listed = modes.iter().flat_map(|m| &m.program).flat_map(|p| &p.0.continuous);
    let parts = assembly.iter().flat_map(|a| &a.parts).flat_map(|p| &p.units).flat_map(|u| &u.steps);
    for step in listed.chain(parts) {
        let Step::Assign(chain) = step else { continue };
        for (kernel, row) in chain.rows() {
            if let Node::Call { func, .. } = pool.node(templates[kernel.0 as usize].0) {
                outs.insert(func.0, row[0]);
            }
        }
    }
    let lines = s.model.delay_lines().into_iter();
    lines.filter_map(|(f, value, lag)| Some(Delayed { out: *outs.get(&f.0)?, value, lag })).collect()
}

/// Simultaneous equations as they are iterated on.
struct Form<'a> {
    residual: &'a Chain,
    /// The name of the function that computes what the entries name.
    jacobian: &'a str,
    unknowns: Vec<u32>,
    residuals: &'a [u32],
    nominal: Vec<f64>,
    /// (equation, unknown, slot, sign)
    entries: Vec<(usize, usize, u32, f64)>,
    slopes: &'a [u32],
}

struct Writer<'a> {
    s: &'a Started,
    /// Slots of delayed values: nothing else computes them.
    delayed: FxHashSet<u32>,
    /// Kernels that rows without a rule are run by, and all that occur.
    used: FxHashSet<u32>,
    calling: FxHashSet<u32>,
    /// Kernels of runs, by number.
    runs: FxHashMap<(u32, Box<[Advance]>, bool), usize>,
    plans: FxHashMap<u32, Rc<PlanC>>,
    /// Kernels of runs and joined rows, as text.
    pieces: String,
    /// Operations joined so far.
    joined: usize,
    tables: String,
    blocks: String,
    n: usize,
    /// Numbers that solving takes at most, and that loops through discrete unknowns keep.
    work: usize,
    mixed: usize,
    /// Pivots that choices of states rest on, of one mode at most.
    watched: usize,
}

impl Writer<'_> {
    /// The calls that run a batch, one per run of rows; their tables are written aside.
    fn batch(&mut self, b: &Batch) -> Result<String, Diagnostic> {
        let (kernel, stride) = (b.kernel.0, b.rows.stride);
        self.calling.insert(kernel);
        let mut calls = Vec::new();
        for run in b.rows.runs() {
            let words = &b.rows.words()[run.start * stride..][..run.len * stride];
            if !run.pattern.is_empty() {
                let places: Vec<String> = words[..stride].iter().map(|w| format!("v + {}", w & !NEGATE)).collect();
                calls.push(format!("{}({}, {}, HOST);", self.run_kernel(kernel, run), places.join(", "), run.len));
                continue;
            }
            self.used.insert(kernel);
            let t = self.n;
            self.n += 1;
            let words: Vec<String> = words.iter().map(|w| format!("{w}u")).collect();
            let _ = writeln!(self.tables, "static const uint32_t w{t}[] = {{\n{}}};", wrap(&words));
            calls.push(format!("k{kernel}(v, w{t}, {}, HOST);", run.len));
        }
        Ok(calls.join(" "))
    }

    /// The kernel for runs of one pattern.
    fn run_kernel(&mut self, kernel: u32, run: &Run) -> String {
        let next = self.runs.len();
        let key = (kernel, run.pattern.clone(), run.independent);
        if let Some(k) = self.runs.get(&key) {
            return format!("r{k}");
        }
        let name = format!("r{next}");
        let (template, holes) = self.s.templates.borrow()[kernel as usize];
        let pattern = (&*run.pattern, run.independent);
        let text = run_c(&self.s.model.sys.dae.pool, template, holes, pattern, &name);
        let _ = write!(self.pieces, "static {text}");
        self.runs.insert(key, next);
        name
    }

    /// Statements that run assignments: batches of few rows joined into straight code, as in native code, others as loops.
    fn chain(&mut self, chain: &Chain) -> Result<Vec<String>, Diagnostic> {
        let mut out = Vec::new();
        let mut joined = JoinedC::default();
        for b in chain {
            let kernel = b.kernel.0;
            let delayed = b.rows.len() == 1 && self.delayed.contains(&b.rows.words()[0]);
            if delayed {
                continue;
            }
            let (template, holes) = self.s.templates.borrow()[kernel as usize];
            let pool = &self.s.model.sys.dae.pool;
            let plan = self.plans.entry(kernel).or_insert_with(|| Rc::new(PlanC::new(pool, template, holes))).clone();
            let size = plan.len() * b.rows.len();
            let joins = b.rows.len() <= FEW_ROWS && size <= PIECE && self.joined + size <= JOINED;
            if !joins || joined.len() + size > PIECE {
                out.extend(self.piece(std::mem::take(&mut joined)));
            }
            if !joins {
                out.push(self.batch(b)?);
                continue;
            }
            self.joined += size;
            self.calling.insert(kernel);
            b.rows.words().chunks_exact(b.rows.stride).for_each(|row| joined.row(&plan, row));
        }
        out.extend(self.piece(joined));
        Ok(out)
    }

    /// The call of joined rows.
    fn piece(&mut self, joined: JoinedC) -> Option<String> {
        if joined.is_empty() {
            return None;
        }
        let name = format!("joined{}", self.n);
        self.n += 1;
        let _ = write!(self.pieces, "static {}", joined.finish(&name));
        Some(format!("{name}(v, HOST);"))
    }

    /// Statements in functions of bearable size; gives the calls of these.
    fn split(&mut self, statements: Vec<String>) -> Vec<String> {
        if statements.len() <= 2 * STATEMENTS {
            return statements;
        }
        let mut calls = Vec::new();
        for part in statements.chunks(STATEMENTS) {
            let name = format!("part{}", self.n);
            self.n += 1;
            let _ = writeln!(self.blocks, "static void {name}(double *v) {{\n  {}\n}}", part.join("\n  "));
            calls.push(format!("{name}(v);"));
        }
        calls
    }

    /// All kernels, and the functions they call.
    fn kernels(&self) -> Result<(String, Option<String>), Diagnostic> {
        let dae = &self.s.model.sys.dae;
        let templates = self.s.templates.borrow();
        let mut calling: Vec<u32> = self.calling.iter().copied().collect();
        calling.sort_unstable();
        let mut o = String::new();
        let mut calls = Vec::new();
        for k in calling {
            let (template, holes) = templates[k as usize];
            dae.pool.visit(template, |_, node| {
                let (func, args, out, dual) = match node {
                    Node::Call { func, args, out } => (*func, args.len(), *out, false),
                    Node::CallDer { func, args, out, .. } => (*func, args.len(), *out, true),
                    _ => return,
                };
                calls.push(Called { func, dual, args, outs: out as usize + 1 });
            });
            if self.used.contains(&k) {
                let _ = write!(o, "static {}", kernel_c(&dae.pool, template, holes, &format!("k{k}")));
            }
        }
        if calls.is_empty() {
            return Ok((o, None));
        }
        let objects = objects(self.s);
        let shared: Vec<_> = self.s.model.sys.shared.iter().map(|s| (s.func, s.call, s.result)).collect();
        let ends: Vec<_> = dae.distributions.iter().map(|d| d.ends).collect();
        let made = made(self.s)?;
        let functions = functions_c(&dae.functions, &called(calls), &shared, &objects, &made, &ends).or_else(|e| {
            let f = dae.functions.get(e.func.0 as usize);
            refuse_at(
                f.map_or(Span::NONE, |f| f.span),
                &format!("the function {} ({})", f.map_or("?", |f| f.name.as_str()), e.what),
            )
        })?;
        Ok((o, Some(functions)))
    }

    /// The steps of all modes, and the choice between them.
    fn modes(&mut self, modes: &[Mode]) -> Result<String, Diagnostic> {
        let kinds = [
            ("continuous", "Everything continuous, given time, states and held relations."),
            ("event", "The same with the discrete part."),
            ("guard", "What of it is known before any equation is solved anew."),
            ("definition", "Discrete values without memory."),
            ("when", "When-equations alone: of a mode that ends they keep what it was."),
        ];
        let mut choice = kinds.map(|_| String::new());
        let (mut restarts, mut watches, mut singular) = (Vec::new(), String::new(), String::new());
        for (k, mode) in modes.iter().enumerate() {
            let Some((p, restart)) = &mode.program else {
                restarts.push(NO_RESTART.into());
                continue;
            };
            let lists = [&p.continuous, &p.event, &p.guards, &p.definitions, &p.event];
            for ((name, _), (steps, choice)) in kinds.iter().zip(lists.into_iter().zip(&mut choice)) {
                // These are looked at where there is another mode to go to.
                if modes.len() == 1 && ["guard", "definition", "when"].contains(name) {
                    continue;
                }
                let text = self.steps(steps.iter().filter(|s| *name != "when" || matches!(s, Step::When(_))))?;
                let _ = writeln!(
                    self.blocks,
                    "static int {name}{k}(NAME *m, double *v) {{\n  (void)m; (void)v;\n{text}  return SALTUS_OK;\n}}"
                );
                line(choice, 1, &format!("case {k}: return {name}{k}(m, v);"));
            }
            if let Some(checks) = self.watches(k, p)? {
                line(&mut watches, 1, &format!("case {k}: {checks}"));
            }
            for choice in &mode.singular {
                let tests = choice.iter().map(|(s, b)| format!(" && v[{s}] {}= 0.0", if *b { '!' } else { '=' }));
                let test = format!("if (modes[m->mode].first == {k}{}) return 1;", tests.collect::<String>());
                line(&mut singular, 1, &test);
            }
            restarts.push(match restart {
                Some(restart) => self.restart(k, restart)?,
                None => NO_RESTART.into(),
            });
        }
        let mut o = String::new();
        for ((name, what), choice) in kinds.iter().zip(&choice) {
            let _ = writeln!(
                o,
                "/* {what} */\nstatic int {name}_steps(NAME *m, double *v) {{\n  (void)v;\n  switch (m->mode) {{\n{choice}  default: return SALTUS_MODE;\n  }}\n}}\n"
            );
        }
        let _ = writeln!(
            o,
            "/* Whether the equations depend on each other in the present mode. */\nstatic int singular(NAME *m, double *v) {{\n  (void)m; (void)v;\n{singular}  return 0;\n}}\n"
        );
        let _ = writeln!(
            o,
            "/* How well the states of a mode determine the others: the least pivot, relative to its row; below zero one has changed its\n   sign since `signs` were noted. */\nstatic double states_suit(NAME *m, double *v, int mode, signed char *signs) {{\n  (void)m; (void)v; (void)signs; (void)&saltus_suits;\n  switch (mode) {{\n{watches}  default: return 1.0;\n  }}\n}}\n"
        );
        let _ = writeln!(o, "static const saltus_restart restarts[] = {{\n{}}};\n", wrap(&restarts));
        Ok(o)
    }

    /// The parts that modes are put together from, and the sizes of what holds them.
    #[allow(clippy::type_complexity)]
    fn assembly(&mut self, a: &Assembly) -> Result<(String, Vec<(&'static str, usize)>), Diagnostic> {
        let mut o = String::new();
        let ints = |list: &mut dyn Iterator<Item = usize>| {
            wrap(&list.map(|v| v.to_string()).chain(["0".into()]).collect::<Vec<_>>())
        };
        let counted = |list: &[(usize, bool)]| {
            let words = list.iter().map(|(c, b)| (2 * c + usize::from(*b)).to_string());
            wrap(&std::iter::once(list.len().to_string()).chain(words).collect::<Vec<_>>())
        };
        let mut units: Vec<String> = Vec::new();
        for (k, d) in a.discrete.iter().enumerate() {
            let kind = if d.definition {
                1
            } else if d.when {
                2
            } else {
                0
            };
            units.push(self.unit(k, &d.unit, kind, d.bit)?);
        }
        let discrete = units.len();
        let mut parts = Vec::new();
        let mut levels = 0;
        for (k, p) in a.parts.iter().enumerate() {
            let first = units.len();
            for u in &p.units {
                units.push(self.unit(units.len(), u, 0, None)?);
            }
            let n = p.vars.len();
            let largest = p.blocks.windows(2).map(|b| b[1] - b[0]).max().unwrap_or(0);
            if largest > LARGEST_BLOCK {
                return refuse(&format!("a mode with constraints in a system of {largest} simultaneous equations"));
            }
            self.work = self.work.max(largest * largest + 4 * a.vars.len());
            self.function(&format!("evaluate_part{k}"), &p.evaluation)?;
            for (i, cube) in p.cubes.iter().enumerate() {
                let _ = writeln!(o, "static const short cube{k}_{i}[] = {{\n{}}};", counted(cube));
            }
            let list: Vec<String> = (0..p.cubes.len()).map(|i| format!("cube{k}_{i}")).chain(["0".into()]).collect();
            let _ = writeln!(o, "static const short *const cubes{k}[] = {{\n{}}};", wrap(&list));
            let shorts: [(&str, Vec<usize>); 3] = [
                ("equations", p.equations.clone()),
                ("vars", p.vars.iter().map(|v| v.0).collect()),
                ("others", p.reads.clone()),
            ];
            for (name, list) in shorts {
                let _ = writeln!(o, "static const short {name}{k}[] = {{\n{}}};", ints(&mut list.into_iter()));
            }
            let numbers: [(&str, Vec<usize>); 4] = [
                ("part_c", p.c.iter().map(|v| usize::from(*v)).collect()),
                ("part_d", p.vars.iter().map(|v| usize::from(v.1)).collect()),
                ("part_blocks", p.blocks.clone()),
                ("part_stages", p.states.iter().map(|s| usize::from(s.3)).collect()),
            ];
            for (name, list) in numbers {
                let _ = writeln!(o, "static const int {name}{k}[] = {{\n{}}};", ints(&mut list.into_iter()));
            }
            let pairs = |list: &mut dyn Iterator<Item = (u32, u32)>| {
                wrap(&list.map(|(a, b)| format!("{{{a}, {b}}}")).chain(["{0, 0}".into()]).collect::<Vec<_>>())
            };
            let _ = writeln!(
                o,
                "static const saltus_memory part_states{k}[] = {{\n{}}};\nstatic const saltus_memory part_late{k}[] = {{\n{}}};",
                pairs(&mut p.states.iter().map(|s| (s.0, s.1))),
                pairs(&mut p.latent.iter().copied())
            );
            let nominal: Vec<String> = p.states.iter().map(|s| number(s.2)).chain(["0.0".into()]).collect();
            let _ = writeln!(o, "static const double part_sizes{k}[] = {{\n{}}};", wrap(&nominal));
            let _ = writeln!(
                o,
                "static const uint32_t part_cells{k}[] = {{\n{}}};",
                ints(&mut p.cells.iter().map(|c| *c as usize))
            );
            let mut list = Vec::new();
            for slots in &p.levels {
                if slots.is_empty() {
                    list.push("0".into());
                    continue;
                }
                let _ = writeln!(
                    o,
                    "static const uint32_t levels{levels}[] = {{\n{}}};",
                    ints(&mut slots.iter().map(|c| *c as usize))
                );
                list.push(format!("levels{levels}"));
                levels += 1;
            }
            list.push("0".into());
            let _ = writeln!(o, "static const uint32_t *const part_levels{k}[] = {{\n{}}};", wrap(&list));
            let entries: Vec<String> = p
                .entries
                .iter()
                .map(|(i, v, order, slot, sign)| format!("{{{i}, {v}, {order}, {slot}u, {}}}", number(*sign)))
                .chain(["{0, 0, 0, 0u, 0.0}".into()])
                .collect();
            let _ = writeln!(o, "static const saltus_part_entry part_entries{k}[] = {{\n{}}};", wrap(&entries));
            let products: Vec<String> = p
                .products
                .iter()
                .map(|(i, a, x, b, y)| format!("{{{i}, {a}, {x}, {b}, {y}}}"))
                .chain(["{0, 0, 0, 0, 0}".into()])
                .collect();
            let _ = writeln!(o, "static const saltus_part_product part_products{k}[] = {{\n{}}};", wrap(&products));
            parts.push(format!(
                "{{{}, {n}, {}, {first}, {}, {}, {}, {}, {}, {}, {}, cubes{k}, equations{k}, vars{k}, others{k}, part_c{k}, part_d{k}, part_blocks{k}, part_stages{k}, part_states{k}, part_late{k}, part_sizes{k}, part_cells{k}, part_levels{k}, part_entries{k}, part_products{k}, evaluate_part{k}}}",
                p.cubes.len(),
                p.reads.len(),
                p.units.len(),
                p.states.len(),
                p.cells.len(),
                p.latent.len(),
                p.blocks.len() - 1,
                p.entries.len(),
                p.products.len(),
            ));
        }
        let _ = writeln!(o, "static const saltus_part parts[] = {{\n{}}};", wrap(&parts));
        let _ = writeln!(o, "static const saltus_unit units[] = {{\n{}}};", wrap(&units));
        let list_of = |list: &[usize]| {
            wrap(&std::iter::once(list.len()).chain(list.iter().copied()).map(|v| v.to_string()).collect::<Vec<_>>())
        };
        let mut list = Vec::new();
        for (k, c) in a.conditions.iter().enumerate() {
            let _ = writeln!(o, "static const short condition_reads{k}[] = {{\n{}}};", list_of(&c.reads));
            list.push(format!("{{{}u, {}, condition_reads{k}}}", c.slot, u8::from(c.memoryless)));
        }
        let _ = writeln!(o, "static const saltus_condition conditions[] = {{\n{}}};", wrap(&list));
        let mut list = Vec::new();
        for (k, e) in a.equations.iter().enumerate() {
            let Some(e) = e else {
                list.push("0".into());
                continue;
            };
            let _ = writeln!(o, "static const short equation_holds{k}[] = {{\n{}}};", counted(e));
            list.push(format!("equation_holds{k}"));
        }
        let _ = writeln!(o, "static const short *const equation_holds[] = {{\n{}}};", wrap(&list));
        let mut list = Vec::new();
        for (k, r) in a.relations.iter().enumerate() {
            let _ = writeln!(o, "static const short relation_reads{k}[] = {{\n{}}};", list_of(r));
            list.push(format!("relation_reads{k}"));
        }
        list.push("0".into());
        let _ = writeln!(o, "static const short *const relation_reads[] = {{\n{}}};", wrap(&list));
        let mut list = Vec::new();
        for (k, slots) in a.vars.iter().enumerate() {
            let _ = writeln!(
                o,
                "static const uint32_t var_slots{k}[] = {{\n{}}};",
                ints(&mut slots.iter().map(|c| *c as usize))
            );
            list.push(format!("var_slots{k}"));
        }
        let _ = writeln!(o, "static const uint32_t *const var_slots[] = {{\n{}}};", wrap(&list));
        let resets = a.resets.iter().map(|r| r.map_or("-1".into(), |v| v.to_string())).chain(["-1".into()]);
        let _ = writeln!(o, "static const int reset_vars[] = {{\n{}}};", wrap(&resets.collect::<Vec<_>>()));
        let pushes = a.pushes.iter().map(|(i, v, slot, sign)| format!("{{{i}, {v}, {slot}u, {}}}", number(*sign)));
        let pushes: Vec<String> = pushes.chain(["{0, 0, 0u, 0.0}".into()]).collect();
        let _ = writeln!(o, "static const saltus_entry all_pushes[] = {{\n{}}};", wrap(&pushes));
        self.function("evaluate_pushes", &a.pushing)?;
        // Per variable or equation the most that any part has of it.
        let most = |per: &dyn Fn(&saltus_sim::assembly::PartForm) -> Vec<(usize, usize)>| {
            let mut by: FxHashMap<usize, usize> = FxHashMap::default();
            for (key, count) in a.parts.iter().flat_map(per) {
                let m = by.entry(key).or_insert(0);
                *m = (*m).max(count);
            }
            by.values().sum::<usize>()
        };
        let first = |p: &saltus_sim::assembly::PartForm, count: usize| vec![(p.equations[0], count)];
        let present = a.equations.len().max(1);
        let cells = most(&|p| p.vars.iter().map(|v| (v.0, usize::from(v.1) + 1)).collect());
        let stages = a.parts.iter().flat_map(|p| p.c.iter()).copied().max().unwrap_or(0) as usize;
        let whole = |count: &dyn Fn(&saltus_sim::assembly::PartForm) -> usize| most(&|p| first(p, count(p)));
        let sizes = vec![
            ("N_CONDITIONS", a.conditions.len()),
            ("N_PARTS", a.parts.len()),
            ("N_PRESENT", present),
            ("N_EQUATIONS", a.equations.len()),
            ("N_VARS", a.vars.len()),
            ("N_DISCRETE_UNITS", discrete),
            ("N_PLACES", discrete + cells),
            ("N_STATES", cells),
            ("N_CELLS", cells),
            ("N_LATENT", whole(&|p| p.latent.len())),
            ("N_STAGES", stages),
            ("N_ENTRIES", whole(&|p| p.entries.len())),
            ("N_PRODUCTS", whole(&|p| p.products.len())),
            ("N_PUSHES", a.pushes.len()),
            ("N_IMPULSES", a.vars.len() * stages),
            ("N_MIXED", 2 * discrete + cells),
            ("N_WATCHED", 0),
        ];
        Ok((o, sizes))
    }

    /// One unit of an assembly, as an initializer.
    fn unit(&mut self, k: usize, u: &Unit, kind: u8, bit: Option<u32>) -> Result<String, Diagnostic> {
        let text = self.steps(u.steps.iter())?;
        let o = &mut self.blocks;
        let _ = writeln!(
            o,
            "static int unit{k}(NAME *m, double *v) {{\n  (void)m; (void)v;\n{text}  return SALTUS_OK;\n}}"
        );
        for (name, slots) in [("unit_reads", &u.reads), ("unit_writes", &u.writes)] {
            let list: Vec<String> = slots.iter().map(|w| format!("{w}u")).chain(["0u".into()]).collect();
            let _ = writeln!(o, "static const uint32_t {name}{k}[] = {{\n{}}};", wrap(&list));
        }
        let itself = u.writes.iter().any(|w| u.reads.binary_search(w).is_ok()) && kind != 0;
        Ok(format!(
            "{{{}, {}, {}, {kind}, {}, unit_reads{k}, unit_writes{k}, {}, unit{k}}}",
            u.reads.len(),
            u.writes.len(),
            u8::from(u.varies),
            u8::from(itself),
            bit.map_or("SALTUS_NONE".into(), |b| format!("{b}u")),
        ))
    }

    /// What looks whether the choice of a mode's states suits, if that depends on values.
    fn watches(&mut self, k: usize, p: &ModeProgram) -> Result<Option<String>, Diagnostic> {
        let (values, parts) = p.watched();
        if parts.is_empty() {
            return Ok(None);
        }
        self.function(&format!("watch_values{k}"), &values)?;
        let (mut checks, mut at) = (Vec::new(), 0);
        for (i, part) in parts.iter().enumerate() {
            let pivots: Vec<String> = part.pivots.iter().map(|p| format!("{p}u")).collect();
            let entry =
                |(i, j, slot, factor): &(usize, usize, u32, f64)| format!("{{{i}, {j}, {slot}u, {}}}", number(*factor));
            let entries: Vec<String> = part.entries.iter().map(entry).collect();
            let o = &mut self.blocks;
            let _ = writeln!(o, "static const uint32_t pivots{k}_{i}[] = {{\n{}}};", wrap(&pivots));
            let _ = writeln!(o, "static const saltus_entry watched{k}_{i}[] = {{\n{}}};", wrap(&entries));
            let sizes = format!("{}, {}, {}", part.pivots.len(), part.columns, part.entries.len());
            let _ = writeln!(o, "static const saltus_watch watch{k}_{i} = {{{sizes}, pivots{k}_{i}, watched{k}_{i}}};");
            checks.push(format!("saltus_suits(&watch{k}_{i}, v, m->work, signs ? signs + {at} : 0)"));
            at += part.pivots.len();
            self.work = self.work.max(part.pivots.len() * part.columns);
        }
        self.watched = self.watched.max(at);
        let least = checks.iter().rev().cloned().reduce(|rest, one| format!("fmin({one}, {rest})")).unwrap_or_default();
        Ok(Some(format!("watch_values{k}(v); return {least};")))
    }

    /// The restart equations of a mode.
    fn restart(&mut self, k: usize, r: &Restart) -> Result<String, Diagnostic> {
        let (n, stages) = (r.d.len(), r.values.len());
        if stages == 0 {
            return Ok(NO_RESTART.into());
        }
        let largest = r.blocks.windows(2).map(|b| b[1] - b[0]).max().unwrap_or(0);
        if largest > LARGEST_BLOCK {
            return refuse(&format!("a mode with constraints in a system of {largest} simultaneous equations"));
        }
        self.work = self.work.max(largest * largest + 4 * n);
        self.function(&format!("restart_values{k}"), &r.evaluation)?;
        let numbers = |v: &[u8]| wrap(&v.iter().map(u8::to_string).chain(["0".into()]).collect::<Vec<_>>());
        let slots = |v: &[Vec<Option<u32>>]| {
            let slot = |s: &Option<u32>| s.map_or("SALTUS_NONE".into(), |s| format!("{s}u"));
            wrap(&v.iter().flatten().map(slot).chain(["0u".into()]).collect::<Vec<_>>())
        };
        let entries: Vec<String> = r
            .entries
            .iter()
            .map(|(i, j, slot, sign)| format!("{{{i}, {j}, {slot}u, {}}}", number(*sign)))
            .chain(["{0, 0, 0u, 0.0}".into()])
            .collect();
        self.function(&format!("pushes{k}"), &r.pushing)?;
        let products = r.products.iter().map(|(i, a, b)| format!("{{{i}, {a}, {b}}}")).chain(["{0, 0, 0}".into()]);
        let products: Vec<String> = products.collect();
        let pushes = r.pushes.iter().map(|(i, j, slot, sign)| format!("{{{i}, {j}, {slot}u, {}}}", number(*sign)));
        let pushes: Vec<String> = pushes.chain(["{0, 0, 0u, 0.0}".into()]).collect();
        let blocks: Vec<String> = r.blocks.iter().map(usize::to_string).collect();
        let o = &mut self.blocks;
        let _ = writeln!(o, "static const int stage_blocks{k}[] = {{\n{}}};", wrap(&blocks));
        let _ = writeln!(o, "static const int orders{k}[] = {{\n{}}};", numbers(&r.c));
        let _ = writeln!(o, "static const int highest{k}[] = {{\n{}}};", numbers(&r.d));
        let _ = writeln!(o, "static const uint32_t stage_values{k}[] = {{\n{}}};", slots(&r.values));
        let _ = writeln!(o, "static const uint32_t stage_levels{k}[] = {{\n{}}};", slots(&r.levels));
        let _ = writeln!(o, "static const saltus_entry stage_entries{k}[] = {{\n{}}};", wrap(&entries));
        let _ = writeln!(o, "static const saltus_product products{k}[] = {{\n{}}};", wrap(&products));
        let _ = writeln!(o, "static const saltus_entry stage_pushes{k}[] = {{\n{}}};", wrap(&pushes));
        Ok(format!(
            "{{{n}, {stages}, {}, {}, {}, {}, orders{k}, highest{k}, stage_blocks{k}, stage_entries{k}, stage_values{k}, stage_levels{k}, products{k}, stage_pushes{k}, restart_values{k}, pushes{k}}}",
            r.entries.len(),
            r.blocks.len() - 1,
            r.products.len(),
            r.pushes.len()
        ))
    }

    fn steps<'s>(&mut self, steps: impl Iterator<Item = &'s Step>) -> Result<String, Diagnostic> {
        let mut o = String::new();
        for s in steps {
            match s {
                Step::Assign(c) => {
                    let calls = self.chain(c)?;
                    self.split(calls).iter().for_each(|call| line(&mut o, 1, call));
                }
                Step::Relation(i) => line(&mut o, 1, &format!("relation(m, {i});")),
                Step::Solve(b) => {
                    let k = self.block(b)?;
                    line(&mut o, 1, &format!("{{ int s = saltus_solve(&block{k}, v, m->work); if (s) return s; }}"));
                }
                Step::When(w) => {
                    for (i, value) in w.values.iter().enumerate() {
                        let test = self.fired(w.when, i);
                        let action = match value {
                            Some(b) => self.batch(b)?,
                            None => format!("v[{}] = v[{}];", w.slot, w.pre),
                        };
                        let word = if i == 0 { "if" } else { "else if" };
                        line(&mut o, 1, &format!("{word} ({test}) {{ {action} }}"));
                    }
                    let rest = format!("v[{}] = v[{}];", w.slot, w.pre);
                    line(&mut o, 1, &if w.values.is_empty() { rest } else { format!("else {rest}") });
                }
                Step::Mixed(b) => {
                    let k = self.mixed(b)?;
                    line(&mut o, 1, &format!("{{ int s = solve_mixed(m, &mixed{k}); if (s) return s; }}"));
                }
            }
        }
        Ok(o)
    }

    /// Whether this branch of a when-equation has a rising edge.
    fn fired(&self, when: usize, branch: usize) -> String {
        let list = &self.s.model.machine.whens[when][branch];
        if list.is_empty() {
            return "0".into();
        }
        let tests: Vec<String> = list.iter().map(|(c, p)| format!("(v[{c}] != 0.0 && v[{p}] == 0.0)")).collect();
        tests.join(" || ")
    }

    /// A function of the values that runs assignments.
    fn function(&mut self, name: &str, chain: &Chain) -> Result<(), Diagnostic> {
        let mut body = String::new();
        let calls = self.chain(chain)?;
        self.split(calls).iter().for_each(|call| line(&mut body, 1, call));
        let _ = writeln!(self.blocks, "static void {name}(double *v) {{\n  (void)v;\n{body}}}");
        Ok(())
    }

    /// Simultaneous equations: on the torn unknowns where native code does so, and on all if that is not too many.
    fn block(&mut self, b: &SolveBlock) -> Result<usize, Diagnostic> {
        let n = b.unknowns.len();
        let k = self.n;
        self.n += 1;
        let jacobian = format!("jacobian{k}");
        self.function(&jacobian, &b.jacobian)?;
        let full = if n <= if b.torn.used { LARGEST_WHOLE } else { LARGEST_BLOCK } {
            let places = b.entries.iter().zip(&b.places);
            let entries = places.map(|(&(_, slot, sign), &(i, j))| (i, j, slot, sign)).collect();
            let form = Form {
                residual: &b.residual,
                jacobian: &jacobian,
                unknowns: b.unknowns.clone(),
                residuals: &b.residual_slots,
                nominal: b.nominal.clone(),
                entries,
                slopes: &[],
            };
            self.form(&format!("{k}f"), b.linear, &form, "0")?;
            format!("&block{k}f")
        } else if b.torn.used {
            "0".into()
        } else {
            return refuse(&format!("a system of {n} simultaneous equations"));
        };
        if !b.torn.used {
            let _ = writeln!(self.blocks, "#define block{k} block{k}f\n");
            return Ok(k);
        }
        let e = &b.torn.elimination;
        let reduced = format!("reduced{k}");
        self.function(&format!("elimination{k}"), &e.chain)?;
        let _ = writeln!(self.blocks, "static void {reduced}(double *v) {{ {jacobian}(v); elimination{k}(v); }}");
        let sign = |word: u32| if word & NEGATE != 0 { -1.0 } else { 1.0 };
        let form = Form {
            residual: &b.torn.evaluation,
            jacobian: &reduced,
            unknowns: b.torn.tears.iter().map(|&j| b.unknowns[j as usize]).collect(),
            residuals: &b.torn.residual_slots,
            nominal: b.torn.tears.iter().map(|&j| b.nominal[j as usize]).collect(),
            entries: e.entries.iter().map(|&(i, t, w)| (i as usize, t as usize, w & !NEGATE, sign(w))).collect(),
            slopes: &e.slopes,
        };
        self.form(&k.to_string(), b.linear, &form, &full)?;
        Ok(k)
    }

    /// One form of a block, and the form to fall back on.
    fn form(&mut self, name: &str, linear: bool, f: &Form<'_>, otherwise: &str) -> Result<(), Diagnostic> {
        self.function(&format!("residual{name}"), f.residual)?;
        let n = f.unknowns.len();
        self.work = self.work.max(n * (n + 5) + if n <= SINGULAR { n * n } else { 0 });
        let words = |v: &[u32]| wrap(&v.iter().map(|w| format!("{w}u")).chain(["0u".into()]).collect::<Vec<_>>());
        let entries: Vec<String> = f
            .entries
            .iter()
            .map(|(i, j, slot, sign)| format!("{{{i}, {j}, {slot}u, {}}}", number(*sign)))
            .chain(["{0, 0, 0u, 0.0}".into()])
            .collect();
        let numbers: Vec<String> = f.nominal.iter().map(|v| number(*v)).collect();
        let o = &mut self.blocks;
        let _ = writeln!(o, "static const uint32_t unknowns{name}[] = {{\n{}}};", words(&f.unknowns));
        let _ = writeln!(o, "static const uint32_t residuals{name}[] = {{\n{}}};", words(f.residuals));
        let _ = writeln!(o, "static const uint32_t slopes{name}[] = {{\n{}}};", words(f.slopes));
        let _ = writeln!(o, "static const saltus_entry entries{name}[] = {{\n{}}};", wrap(&entries));
        let _ = writeln!(o, "static const double nominal{name}[] = {{\n{}}};", wrap(&numbers));
        let _ = writeln!(
            o,
            "static const saltus_block block{name} = {{{n}, {}, {}, {}, unknowns{name}, residuals{name}, entries{name}, nominal{name}, residual{name}, {}, slopes{name}, {otherwise}}};\n",
            u8::from(linear),
            f.entries.len(),
            f.slopes.len(),
            f.jacobian
        );
        Ok(())
    }

    /// A loop through discrete and continuous unknowns.
    fn mixed(&mut self, b: &MixedBlock) -> Result<usize, Diagnostic> {
        let continuous = self.steps(b.continuous.iter())?;
        let discrete = self.steps(b.discrete.iter())?;
        let k = self.n;
        self.n += 1;
        let relations = &self.s.model.machine.relations;
        let bits = b.discrete.iter().filter_map(|s| match s {
            Step::Relation(i) => {
                let r = &relations[*i];
                (matches!(r.kind, RelationKind::Sign(_)) && r.time.is_none() && !r.frozen).then_some(r.var)
            }
            _ => None,
        });
        let bits: Vec<u32> = bits.collect();
        self.mixed = self.mixed.max(2 * b.slots.len() + b.continuous_slots.len());
        let o = &mut self.blocks;
        for (name, slots) in [("slots", &b.slots), ("bits", &bits), ("open", &b.continuous_slots)] {
            let list = slots.iter().map(|w| format!("{w}u")).chain(["0u".into()]);
            let _ = writeln!(o, "static const uint32_t {name}{k}[] = {{\n{}}};", wrap(&list.collect::<Vec<_>>()));
        }
        for (name, text) in [("solve", continuous), ("decide", discrete)] {
            let _ = writeln!(
                o,
                "static int {name}{k}(NAME *m, double *v) {{\n  (void)m; (void)v;\n{text}  return SALTUS_OK;\n}}"
            );
        }
        let sizes = format!("{}, {}, {}", b.slots.len(), bits.len(), b.continuous_slots.len());
        let _ = writeln!(
            o,
            "static const mixed_loop mixed{k} = {{{sizes}, slots{k}, bits{k}, open{k}, solve{k}, decide{k}}};\n"
        );
        Ok(k)
    }

    fn reactions(&mut self) -> Result<String, Diagnostic> {
        let m = &self.s.model;
        let mut o = String::new();
        for (k, r) in m.sys.reactions.iter().enumerate() {
            let slots = &m.reactions[k];
            // The first branch with a rising edge is the one that acts.
            let mut test = format!("({})", self.fired(r.when, r.branch));
            for earlier in 0..r.branch {
                test = format!("{test} && !({})", self.fired(r.when, earlier));
            }
            let mut inside = String::new();
            let mut guard = String::new();
            if let Some((b, s)) = &slots.condition {
                let b = self.batch(b)?;
                guard = format!("{b} if (v[{s}] != 0.0) ");
            }
            match &r.action {
                Action::Reinit { .. } => {
                    if let Some((b, s)) = &slots.value {
                        let b = self.batch(b)?;
                        inside = format!(
                            "{{ {b} m->reset_slot[m->resets] = {}u; m->reset_by[m->resets] = {k}; m->reset_value[m->resets++] = v[{s}]; }}",
                            slots.target
                        );
                    }
                }
                Action::Assert { error, .. } => {
                    if let Some((b, s)) = &slots.value
                        && *error
                    {
                        let b = self.batch(b)?;
                        inside = format!("{{ {b} if (v[{s}] == 0.0) return SALTUS_ASSERT; }}");
                    }
                }
                Action::Terminate { .. } => inside = "return SALTUS_TERMINATED;".into(),
                Action::Call { .. } => {
                    if let Some((b, _)) = &slots.value {
                        inside = self.batch(b)?;
                    }
                }
                _ => {}
            }
            if !inside.is_empty() {
                line(&mut o, 1, &format!("if ({test}) {{ {guard}{inside} }}"));
            }
        }
        Ok(o)
    }
}
