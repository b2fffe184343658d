//! Times of the structural passes on generated systems of growing size, as a table.
//!
//! `cargo run --release -p saltus-structure --example scale [largest]`

use saltus_dae::{Equation, HybridDae, Operand, Origin, Row, VarId, VarType, Variability, Variable};
use saltus_expr::ExprId;
use saltus_structure::{Generic, RowOps, SimplifyOptions, analyse_modes, lower, plan_mode, simplify};
use std::time::Instant;

struct Build {
    dae: HybridDae,
}

impl Build {
    fn var(&mut self, name: String) -> VarId {
        self.dae.vars.push(Variable::new(name, VarType::Real, Variability::Continuous))
    }
    fn equation(&mut self, template: ExprId, args: &[Operand]) {
        let row = Row { template, args: args.into() };
        self.dae.equations.push(Equation { row, guard: None, origin: Origin::default() });
    }
}

/// der(u[i]) = u[i-1] - 2 u[i] + u[i+1].
fn heat(n: usize) -> HybridDae {
    let mut b = Build { dae: HybridDae::new("heat") };
    let u: Vec<VarId> = (0..n).map(|i| b.var(format!("u[{i}]"))).collect();
    let p = &mut b.dae.pool;
    let (d, l, m, r) = (p.hole(0), p.hole(1), p.hole(2), p.hole(3));
    let two = p.num(2.0);
    let mm = p.mul(two, m);
    let lr = p.add(l, r);
    let f = p.sub(lr, mm);
    let e = p.sub(d, f);
    for i in 0..n {
        let at = |k: Option<usize>| k.filter(|&k| k < n).map_or(Operand::Const(0.0), |k| Operand::var(u[k]));
        b.equation(e, &[Operand::der(u[i]), at(i.checked_sub(1)), Operand::var(u[i]), at(Some(i + 1))]);
    }
    b.dae
}

/// A ladder of resistors and capacitors with its connection equations: seven equations a segment.
fn ladder(n: usize) -> HybridDae {
    let mut b = Build { dae: HybridDae::new("ladder") };
    let p = &mut b.dae.pool;
    let (x, y, z) = (p.hole(0), p.hole(1), p.hole(2));
    let same = p.sub(x, y);
    let xy = p.sub(x, y);
    let difference = p.sub(xy, z);
    let xpy = p.add(x, y);
    let sum = p.add(xpy, z);
    let opposite = p.add(x, y);
    let mut left = b.var("source".into());
    let p = &mut b.dae.pool;
    let h = p.hole(0);
    let one = p.num(1.0);
    let given = p.sub(h, one);
    b.equation(given, &[Operand::var(left)]);
    let mut flow = None;
    for k in 0..n {
        let names = ["r.p.v", "r.n.v", "r.p.i", "r.n.i", "r.v", "c.p.v", "c.p.i"];
        let v: Vec<VarId> = names.iter().map(|s| b.var(format!("s[{k}].{s}"))).collect();
        let o = |i: usize| Operand::var(v[i]);
        b.equation(same, &[o(0), Operand::var(left)]);
        b.equation(difference, &[o(0), o(1), o(4)]);
        b.equation(same, &[o(4), o(2)]);
        b.equation(opposite, &[o(2), o(3)]);
        b.equation(same, &[o(5), o(1)]);
        b.equation(same, &[Operand::der(v[5]), o(6)]);
        // The current that leaves the node goes on to the next segment.
        if let Some((in_flow, charge)) = flow {
            b.equation(sum, &[Operand::var(in_flow), Operand::var(charge), o(2)]);
        }
        flow = Some((v[3], v[6]));
        left = v[5];
    }
    if let Some((i, c)) = flow {
        b.equation(opposite, &[Operand::var(i), Operand::var(c)]);
    }
    b.dae
}

/// n inertias coupled rigidly: one degree of freedom, every angle constrained to the next.
fn train(n: usize) -> HybridDae {
    let mut b = Build { dae: HybridDae::new("train") };
    let v: Vec<[VarId; 3]> = (0..n).map(|k| ["phi", "w", "tau"].map(|s| b.var(format!("{s}[{k}]")))).collect();
    let p = &mut b.dae.pool;
    let (x, y, z) = (p.hole(0), p.hole(1), p.hole(2));
    let same = p.sub(x, y);
    let yz = p.sub(y, z);
    let newton = p.sub(x, yz);
    let three = p.num(3.0);
    let gy = p.mul(three, y);
    let gear = p.sub(x, gy);
    for k in 0..n {
        b.equation(same, &[Operand::der(v[k][0]), Operand::var(v[k][1])]);
        let next = if k + 1 < n { Operand::var(v[k + 1][2]) } else { Operand::Const(0.0) };
        b.equation(newton, &[Operand::der(v[k][1]), Operand::var(v[k][2]), next]);
        if k + 1 < n {
            b.equation(if k % 2 == 0 { same } else { gear }, &[Operand::var(v[k][0]), Operand::var(v[k + 1][0])]);
        }
    }
    let p = &mut b.dae.pool;
    let h = p.hole(0);
    let one = p.num(1.0);
    let given = p.sub(h, one);
    b.equation(given, &[Operand::var(v[0][2])]);
    b.dae
}

fn main() {
    let largest: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1_000_000);
    println!("| system | equations | lower | simplify | modes | plan | µs per equation |");
    println!("|---|---|---|---|---|---|---|");
    for (name, make) in [("heat", heat as fn(usize) -> HybridDae), ("ladder", ladder), ("train", train)] {
        let mut n = 1000;
        while n <= largest {
            let segments = match name {
                "ladder" => n / 7,
                "train" => n / 3,
                _ => n,
            };
            let dae = make(segments);
            let equations = dae.equations.len();
            let t = Instant::now();
            let mut sys = lower(dae);
            let t1 = t.elapsed();
            let mut ops = RowOps::default();
            simplify(&mut sys, &mut ops, SimplifyOptions::default());
            let t2 = t.elapsed();
            let modes = analyse_modes(&mut sys);
            let t3 = t.elapsed();
            let plan = plan_mode(&mut sys, &mut ops, &modes, &Default::default(), &Generic);
            let t4 = t.elapsed();
            let ok = match &plan {
                Ok(p) => format!("{} states", p.states.len()),
                Err(d) => d.message.clone(),
            };
            let s = |d: std::time::Duration| format!("{:.3} s", d.as_secs_f64());
            println!(
                "| {name}, {ok} | {equations} | {} | {} | {} | {} | {:.2} |",
                s(t1),
                s(t2 - t1),
                s(t3 - t2),
                s(t4 - t3),
                t4.as_secs_f64() * 1e6 / equations as f64
            );
            n *= 10;
        }
    }
}
