//! Random systems: whatever is structurally regular gets states and an order of evaluation, at any numbers.

use saltus_dae::{Equation, HybridDae, IfGroup, Operand, Origin, Row, VarId, VarType, Variability, Variable};
use saltus_expr::{Calls, NoCalls, RelOp};
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

/// The same with a variable of its own that has an equation only while `time > 1`: the system has modes.
fn with_a_mode(mut dae: HybridDae) -> HybridDae {
    let (time, one) = (dae.pool.hole(0), dae.pool.num(1.0));
    let late = dae.pool.relation(RelOp::Gt, time, one);
    let condition = Row { template: late, args: Box::new([Operand::var(HybridDae::TIME)]) };
    let group = dae.ifs.push(IfGroup { conditions: vec![condition], parent: None, origin: Origin::default() });
    let own = dae.vars.push(Variable::new("own", VarType::Real, Variability::Continuous));
    let template = dae.pool.hole(0);
    let row = Row { template, args: Box::new([Operand::Var { var: own, order: 1, neg: false }]) };
    dae.equations.push(Equation { row, guard: Some((group, 0)), origin: Origin::default() });
    dae
}

#[test]
fn parts_are_planned_like_the_whole_and_once() {
    let mut planned = 0;
    for seed in 0..3000u64 {
        let n = 1 + (seed as usize * 7) % 14;
        let prepare = |dae: HybridDae| {
            let mut sys = lower(dae);
            let mut ops = RowOps::default();
            simplify(&mut sys, &mut ops, SimplifyOptions { keep_all: true, max: 0 });
            let modes = analyse_modes(&mut sys);
            (sys, ops, modes)
        };
        let (mut sys, mut ops, modes) = prepare(random(n, 2, seed));
        let whole = plan_mode(&mut sys, &mut ops, &modes, &Default::default(), &Generic);
        let (mut sys, mut ops, mut modes) = prepare(with_a_mode(random(n, 2, seed)));
        assert_eq!(modes.next(&mut sys, &mut ops, &[]).len(), 1);
        let before = plan_mode(&mut sys, &mut ops, &modes, &vec![false], &Generic);
        let (Ok(whole), Ok(before)) = (&whole, &before) else {
            assert!(whole.is_err() && before.is_err(), "seed {seed}");
            continue;
        };
        planned += 1;
        assert_eq!(whole.d, before.d, "seed {seed}: offsets of the variables");
        let shifts = |p: &StructuralPlan| p.rows.iter().zip(&p.c).map(|(r, c)| (r.0, *c)).collect::<HashSet<_>>();
        assert_eq!(shifts(whole), shifts(before), "seed {seed}: offsets of the equations");
        assert_eq!((whole.states.len(), whole.index), (before.states.len(), before.index), "seed {seed}");
        assert_ordered(&sys, before);
        // The other mode has one part more, and the rest is at hand.
        let first = modes.parts.borrow().clone();
        let after = plan_mode(&mut sys, &mut ops, &modes, &vec![true], &Generic).unwrap();
        assert_ordered(&sys, &after);
        let both = modes.parts.borrow();
        assert_eq!((both.planned, both.reused), (first.planned + 1, first.reused + first.planned), "seed {seed}");
    }
    assert!(planned > 1500, "{planned} planned");
}
