//! What a run leaves to the one that goes on from its end, beyond the values of variables: relations (those at zero have the side
//! that the run had come to), bodies at rest, surfaces that are slid on. Lines of text, one fact each:
//!
//! ```text
//! begun 0.5               when the run, or the first of those it goes on from, began: clocks tick from there
//! text s⇥b                a discrete variable that is text, and what it is, after a tabulator
//! relation 0 x > 0        the relations of the model in order: value and text
//! rest 3 1 0.5 inert v    events of relation 3 accumulated, its function is positive outside, they push the state v with a share
//!                         of 0.5 (`inert`, `as-such`: see `Pushed`; `still`: they have brought it to where it stays)
//! slide 1 1 0             along relation 1, which is 1 on the first side and 0 on the second; more of them may follow
//! ```

use crate::model::{ModeProgram, Model};
use crate::resting::{Pushed, Resting};
use crate::sliding::Surface;
use rustc_hash::FxHashMap;
use saltus_dae::VarType;
use saltus_function::strings;
use saltus_structure::cell_name;

/// What such lines say about a model.
#[derive(Default)]
pub(crate) struct Recalled {
    /// Relations and their values.
    pub relations: Vec<(usize, f64)>,
    /// Bodies at rest: the relation, where it leaves to, and the states it holds: share, kind, name.
    pub rests: Vec<(usize, f64, Vec<(f64, String, String)>)>,
    /// Surfaces: relations, their values on both sides.
    pub slides: Vec<Vec<(usize, f64, f64)>>,
}

impl Recalled {
    /// The relations of rests and surfaces.
    pub fn held(&self) -> impl Iterator<Item = usize> + '_ {
        self.rests.iter().map(|r| r.0).chain(self.slides.iter().flatten().map(|s| s.0))
    }
}

/// The discrete variables that are text, with what they are in these lines.
pub fn texts(lines: &[String]) -> impl Iterator<Item = (&str, &str)> {
    lines.iter().filter_map(|l| l.strip_prefix("text ")?.split_once('\t'))
}

/// When the run that left these lines began.
pub(crate) fn begun(lines: &[String]) -> Option<f64> {
    lines.iter().find_map(|l| l.strip_prefix("begun ")).and_then(|t| t.parse().ok())
}

impl Model {
    /// The lines for this moment.
    pub(crate) fn leave(&mut self, program: &ModeProgram, surfaces: &[Surface]) {
        let mut lines = vec![format!("begun {:?}", self.begun)];
        for &(slot, _, v) in &self.discrete {
            let var = &self.sys.dae.vars[v];
            if var.ty == VarType::String {
                lines.push(format!("text {}\t{}", var.name, strings::text(self.machine.values[slot as usize])));
            }
        }
        for (r, slots) in self.sys.relations.iter().zip(&self.machine.relations) {
            lines.push(format!("relation {} {}", self.machine.values[slots.var as usize], r.text));
        }
        for r in &self.resting {
            let pushed = r.pushed.iter().map(|p| (p.state, p.share, if p.inert { "inert" } else { "as-such" }));
            for (k, share, kind) in pushed.chain(r.still.iter().map(|&k| (k, 0.0, "still"))) {
                let Some(cell) = program.plan.states.get(k) else { continue };
                let name = cell_name(&self.sys, *cell);
                lines.push(format!("rest {} {} {share} {kind} {name}", r.relation, r.away));
            }
        }
        // What is remembered on both sides is found again by its switches.
        for s in surfaces.iter().filter(|s| s.memory.is_none()) {
            let words = s.relations.iter().map(|(i, a, b)| format!(" {i} {a} {b}"));
            lines.push(format!("slide{}", words.collect::<String>()));
        }
        self.left = lines;
        self.left_states = program.plan.states.clone();
    }

    /// What lines of an earlier run say. Relations are found by their text, the first of equal ones by the first; what is not
    /// found is forgotten.
    pub(crate) fn recall(&self, lines: &[String]) -> Recalled {
        let mut own: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (i, r) in self.sys.relations.iter().enumerate().rev() {
            own.entry(&r.text).or_default().push(i);
        }
        let mut out = Recalled::default();
        let mut numbers: Vec<Option<usize>> = Vec::new();
        for line in lines {
            let mut words = line.splitn(3, ' ');
            let (kind, first, rest) = (words.next(), words.next().unwrap_or(""), words.next().unwrap_or(""));
            let known = |n: &str| n.parse().ok().and_then(|n: usize| numbers.get(n).copied().flatten());
            match kind {
                Some("relation") => {
                    let i = own.get_mut(rest).and_then(Vec::pop);
                    numbers.push(i);
                    out.relations.extend(i.zip(first.parse().ok()));
                }
                Some("rest") => {
                    let mut words = rest.splitn(4, ' ');
                    let mut number = || words.next().and_then(|w| w.parse::<f64>().ok());
                    let (Some(i), Some(away), Some(share)) = (known(first), number(), number()) else { continue };
                    let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
                    let state = (share, kind.to_string(), name.to_string());
                    match out.rests.iter_mut().find(|r| r.0 == i) {
                        Some(r) => r.2.push(state),
                        None => out.rests.push((i, away, vec![state])),
                    }
                }
                Some("slide") => {
                    let words: Vec<&str> = line.split(' ').skip(1).collect();
                    let relation = |w: &[&str]| Some((known(w[0])?, w[1].parse().ok()?, w[2].parse().ok()?));
                    let group: Option<Vec<_>> = words.chunks_exact(3).map(relation).collect();
                    out.slides.extend(group.filter(|g| !g.is_empty()));
                }
                _ => {}
            }
        }
        out
    }

    /// Gives relations the values that an earlier run had come to, and to what follows from them; everything else as guessed.
    pub fn guess_as_left(&mut self, lines: &[String]) {
        let relations = self.recall(lines).relations;
        for &(i, value) in &relations {
            let slot = self.machine.relations[i].var as usize;
            self.machine.values[slot] = value;
        }
        self.freeze(&relations, true);
        self.guess_discrete();
        self.freeze(&relations, false);
    }

    pub(crate) fn freeze(&mut self, relations: &[(usize, f64)], frozen: bool) {
        relations.iter().for_each(|r| self.machine.relations[r.0].frozen = frozen);
    }

    /// The bodies that rest on.
    pub(crate) fn resting_still(&mut self, program: &ModeProgram, recalled: &Recalled, span: f64) -> Vec<Resting> {
        let names: Vec<String> = program.plan.states.iter().map(|c| cell_name(&self.sys, *c)).collect();
        let mut rest = |(i, away, held): &(usize, f64, Vec<(f64, String, String)>)| {
            let (mut pushed, mut still) = (Vec::new(), Vec::new());
            for (share, kind, name) in held {
                let state = names.iter().position(|n| n == name)?;
                match kind.as_str() {
                    "still" => still.push(state),
                    kind => pushed.push(Pushed { state, share: *share, inert: kind == "inert" }),
                }
            }
            Some(Resting::new(*i, *away, pushed, still, self.island_of(*i), span))
        };
        recalled.rests.iter().filter_map(&mut rest).collect()
    }
}
