//! Random systems: whatever is structurally regular gets states and an order of evaluation, at any numbers.

use saltus_dae::{Equation, HybridDae, Operand, Origin, Row, VarId, VarType, Variability, Variable};
use saltus_expr::{Calls, NoCalls};
use saltus_structure::{
    Cell, Generic, Point, RowOps, SimplifyOptions, StructuralPlan, System, analyse_modes, lower, plan_mode, simplify,
};
use std::collections::HashSet;

struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Every Jacobian entry is zero here.
struct Nought;

impl Point for Nought {
    fn value(&self, op: Operand) -> f64 {
        if let Operand::Const(v) = op { v } else { 0.0 }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        Box::new(NoCalls)
    }
}

/// n equations Σ ± x_j^(σ) or Σ (x_j^(σ))² + time = 0 over a few of n variables each, orders up to `top`.
fn random(n: usize, top: usize, seed: u64) -> HybridDae {
    let mut g = Lcg(seed);
    let mut dae = HybridDae::new("random");
    let vars: Vec<VarId> =
        (0..n).map(|k| dae.vars.push(Variable::new(format!("x{k}"), VarType::Real, Variability::Continuous))).collect();
    for i in 0..n {
        let mut args = vec![Operand::var(HybridDae::TIME)];
        let mut e = dae.pool.hole(0);
        let mut seen = HashSet::new();
        for k in 0..1 + g.below(3) {
            // The diagonal is there, so that most systems are regular.
            let j = if k == 0 { i } else { g.below(n) };
            let order = g.below(top + 1) as u8;
            if !seen.insert((j, order)) {
                continue;
            }
            args.push(Operand::Var { var: vars[j], order, neg: g.below(2) == 0 });
            let h = dae.pool.hole(args.len() as u32 - 1);
            let term = if g.below(2) == 0 { h } else { dae.pool.mul(h, h) };
            e = dae.pool.add(e, term);
        }
        let row = Row { template: e, args: args.into() };
        dae.equations.push(Equation { row, guard: None, origin: Origin::default() });
    }
    dae
}

/// Blocks compute every unknown once, from what is known by then.
fn assert_ordered(sys: &System, plan: &StructuralPlan) {
    let mut known: HashSet<Cell> = plan.states.iter().copied().collect();
    known.insert(Cell::new(HybridDae::TIME, 0));
    for b in &plan.continuous.blocks {
        for u in &b.unknowns {
            assert!(known.insert(*u), "{u:?} is computed twice or is a state");
        }
        for &i in &b.items {
            for c in plan.continuous.items[i].reads(sys) {
                assert!(known.contains(&c), "{c:?} is read before it is computed");
            }
        }
    }
    for &v in &plan.vars {
        for k in 0..=plan.d[&v] {
            assert!(known.contains(&Cell::new(v, k)), "derivative {k} of {v:?} is never computed");
        }
    }
}

#[test]
fn regular_systems_get_states_and_an_order() {
    let (mut planned, mut high) = (0, 0);
    for seed in 0..3000u64 {
        let n = 1 + (seed as usize * 7) % 14;
        for point in [&Generic as &dyn Point, &Nought] {
            let mut sys = lower(random(n, 2, seed));
            let mut ops = RowOps::default();
            simplify(&mut sys, &mut ops, SimplifyOptions { keep_all: true, max: 0 });
            let modes = analyse_modes(&mut sys);
            match plan_mode(&mut sys, &mut ops, &modes, &Default::default(), point) {
                Ok(plan) => {
                    planned += 1;
                    high += usize::from(plan.index > 1);
                    let c: usize = plan.c.iter().map(|&c| c as usize).sum();
                    let d: usize = plan.d.values().map(|&d| d as usize).sum();
                    assert_eq!(plan.states.len(), d - c, "seed {seed}: degrees of freedom");
                    assert_ordered(&sys, &plan);
                }
                Err(e) => assert!(e.message.contains("structurally singular"), "seed {seed}: {}", e.message),
            }
        }
    }
    assert!(planned > 4000 && high > 500, "{planned} planned, {high} of higher index");
}
