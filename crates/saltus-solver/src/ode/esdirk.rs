//! ESDIRK 4(3): the implicit half of ARK4(3)6L[2]SA of Kennedy and Carpenter (2003). Six stages, the first explicit,
//! γ = 1/4, L-stable and stiffly accurate; as a one-step method it loses nothing at an event.

use super::control::{Controller, Core, Driver, FAR, Failure, Method, Trail, integrator_by_driver};
use super::embedded::combine;
use super::iteration::StageNewton;
use super::{OdeSystem, Options, Restart};

const STAGES: usize = 6;
const GAMMA: f64 = 0.25;
const C: [f64; STAGES] = [0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0];
const A: [&[f64]; STAGES] = [
    &[],
    &[0.25],
    &[8611.0 / 62500.0, -1743.0 / 31250.0],
    &[5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0],
    &[15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0, 2285395.0 / 8070912.0],
    &[82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0],
];
const B_HAT: [f64; STAGES] = [
    4586570599.0 / 29645900160.0,
    0.0,
    178811875.0 / 945068544.0,
    814220225.0 / 1159782912.0,
    -3700637.0 / 11593932.0,
    61727.0 / 225920.0,
];

pub(crate) struct Stages {
    k: Vec<Vec<f64>>,
    base: Vec<f64>,
    newton: StageNewton,
    /// How far a stage is from dense output.
    off: Vec<f64>,
    /// The polynomial of the last step may be extrapolated.
    history: bool,
    trail: Trail,
}

impl Stages {
    /// First guess of stage derivative i by interpolation through up to three earlier stages.
    fn guess(&mut self, i: usize) {
        const NODES: [&[usize]; STAGES] = [&[], &[0], &[0, 1], &[0, 2, 1], &[2, 1, 3], &[1, 3, 4]];
        let nodes = NODES[i];
        let (done, rest) = self.k.split_at_mut(i);
        rest[0].fill(0.0);
        for &a in nodes {
            let weight: f64 = nodes.iter().filter(|&&b| b != a).map(|&b| (C[i] - C[b]) / (C[a] - C[b])).product();
            rest[0].iter_mut().zip(&done[a]).for_each(|(g, k)| *g += weight * k);
        }
    }

    /// Component m of stage i.
    fn value(&self, core: &Core, h: f64, i: usize, m: usize) -> f64 {
        let explicit: f64 = A[i].iter().zip(&self.k).map(|(a, k)| a * k[m]).sum();
        core.x[m] + h * (explicit + GAMMA * self.k[i][m])
    }

    /// The slopes of stiff components at the ends of a step are those of transients that it has stepped over: times h they tell nothing.
    /// Where dense output by slopes is off a stage, and the equations would draw it there at once, it goes through stages.
    fn through_stages(&mut self, core: &mut Core, h: f64) {
        core.poly.eval(core.t + C[1] * h, &mut self.off);
        for m in 0..core.n {
            self.off[m] = self.value(core, h, 1, m) - self.off[m];
        }
        let far = |(off, w): (&f64, &f64)| !(off.abs() * w <= FAR);
        if !self.off.iter().zip(&core.w).any(far) {
            return;
        }
        core.doubt = true;
        self.base.copy_from_slice(&self.off);
        self.newton.filter(&mut self.base);
        for m in 0..core.n {
            if !far((&self.off[m], &core.w[m])) || self.base[m].abs() > 0.2 * GAMMA * h * self.off[m].abs() {
                continue;
            }
            // Through the beginning, three stages and the end, in Newton's form, then in powers of s.
            let nodes = [0.0, C[2], C[3], C[4], 1.0];
            let [ya, yb, yc] = [2, 3, 4].map(|i| self.value(core, h, i, m));
            let mut c = [core.x[m], ya, yb, yc, core.x_new[m]];
            for k in 1..5 {
                for j in (k..5).rev() {
                    c[j] = (c[j] - c[j - 1]) / (nodes[j] - nodes[j - k]);
                }
            }
            for k in (0..4).rev() {
                (k..4).for_each(|j| c[j] -= nodes[k] * c[j + 1]);
            }
            core.poly.lift();
            (0..5).for_each(|j| core.poly.coefficient_mut(j)[m] = c[j]);
        }
    }

    fn stages(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<(), Failure> {
        let hg = h * GAMMA;
        self.newton.prepare(sys, core, hg)?;
        self.k[0].copy_from_slice(&core.dx);
        for i in 1..STAGES {
            combine(&core.x, h, A[i], &self.k[..i], &mut self.base);
            let t = core.t + C[i] * h;
            if i == 1 && self.history {
                core.poly.eval(t, &mut core.x_new);
            } else {
                self.guess(i);
                for m in 0..core.n {
                    core.x_new[m] = self.base[m] + hg * self.k[i][m];
                }
            }
            self.newton.solve(sys, &mut core.stats, t, &self.base, hg, &core.w, &mut core.x_new)?;
            for m in 0..core.n {
                self.k[i][m] = (core.x_new[m] - self.base[m]) / hg;
            }
        }
        Ok(())
    }
}

impl Method for Stages {
    fn name(&self) -> &'static str {
        "esdirk"
    }
    fn order(&self) -> usize {
        4
    }
    fn error_power(&self) -> f64 {
        4.0
    }
    fn controller(&self) -> Controller {
        Controller::Predictive
    }
    fn degree(&self) -> usize {
        4
    }
    fn settle(&mut self, v: &mut [f64]) {
        self.newton.filter(v);
    }
    fn start(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, kind: Restart) {
        self.newton.start(sys, &core.opts, kind);
        self.history = false;
        self.trail.forget();
    }

    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure> {
        while let Err(e) = self.stages(sys, core, h) {
            if !self.newton.blame_jacobian(e) {
                return Err(e);
            }
        }
        for i in 0..core.n {
            core.err[i] = 0.0;
            for s in 0..STAGES {
                let b = if s == STAGES - 1 { GAMMA } else { A[STAGES - 1][s] };
                core.err[i] += (b - B_HAT[s]) * self.k[s][i];
            }
        }
        // h·e filtered by (I − hγJ)⁻¹, so that stiff components do not ask for needlessly small steps.
        self.newton.filter(&mut core.err);
        core.err.iter_mut().for_each(|e| *e /= GAMMA);
        Ok(core.error_norm())
    }

    fn finish(&mut self, _: &mut dyn OdeSystem, core: &mut Core, h: f64, t_new: f64) -> Result<(), Failure> {
        core.dx_new.copy_from_slice(&self.k[STAGES - 1]);
        core.poly.set_hermite(core.t, t_new, &core.x, &core.dx, &core.x_new, &core.dx_new);
        self.trail.raise(core, t_new);
        self.through_stages(core, h);
        self.newton.accepted();
        self.history = true;
        Ok(())
    }
}

/// Stiffly accurate, L-stable ESDIRK of order 4.
pub struct Esdirk(Driver<Stages>);

impl Esdirk {
    /// For n states.
    pub fn new(n: usize, opts: Options) -> Self {
        let v = || vec![0.0; n];
        let stages = Stages {
            k: vec![v(); STAGES],
            base: v(),
            off: v(),
            newton: StageNewton::new(n),
            history: false,
            trail: Trail::new(n),
        };
        Esdirk(Driver::new(n, opts, stages))
    }
}

integrator_by_driver!(Esdirk);
