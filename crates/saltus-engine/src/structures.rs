//! Structure kept by content: a model whose parameters have changed is not analysed again.

use saltus_base::Diagnostic;
use saltus_sim::Model;
use saltus_structure::{Modes, RowOps, StructuralPlan, System};

/// Models kept at most.
const MOST: usize = 8;

/// Equations of all kept models at most: beyond, memory is worth more than time.
pub const MOST_EQUATIONS: usize = 500_000;

/// What analysis finds out about a model.
pub struct Structure {
    /// The system, with all expressions that analysis has made.
    pub sys: System,
    /// Row operations done so far.
    pub ops: RowOps,
    /// The modes looked at so far.
    pub modes: Modes,
    /// Plans of the modes entered so far.
    pub plans: Vec<StructuralPlan>,
    /// The check of all modes: the numbers it was made with (see [`saltus_structure::numbers`]), the time span, what it
    /// found.
    pub checked: Option<(u64, (f64, f64), Vec<Diagnostic>)>,
}

/// Structures by content, the one used last at the end.
#[derive(Default)]
pub struct Structures {
    kept: Vec<(u64, Structure)>,
    /// Modes planned so far.
    pub planned: usize,
}

impl Structures {
    /// The structure of this content, if it is known; it is given back by [`Structures::keep`].
    pub fn take(&mut self, content: u64) -> Option<Structure> {
        let at = self.kept.iter().position(|k| k.0 == content)?;
        Some(self.kept.remove(at).1)
    }

    /// Keeps what a run has found out.
    pub fn keep(&mut self, content: u64, model: Model, checked: Option<(u64, (f64, f64), Vec<Diagnostic>)>) {
        self.planned += model.plans;
        let (sys, ops, modes, plans) = model.into_structure();
        self.kept.push((content, Structure { sys, ops, modes, plans, checked }));
        let equations = |k: &(u64, Structure)| k.1.sys.equations.len();
        while self.kept.len() > MOST || self.kept.iter().map(equations).sum::<usize>() > MOST_EQUATIONS {
            self.kept.remove(0);
        }
    }
}
