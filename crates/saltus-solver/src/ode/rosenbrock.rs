//! Rodas5P (Steinebach 2023): a stiffly accurate Rosenbrock method of order 5 with eight stages, one Jacobian and one
//! factorization per step, no iteration, dense output of order 4; keeps its order on index-1 systems.

use super::control::{Controller, Core, Driver, FAR, Failure, Method, eval_rhs, integrator_by_driver};
use super::iteration::{IterationMatrix, Jacobian};
use super::{OdeSystem, Options, Restart};

const STAGES: usize = 8;
const GAMMA: f64 = 0.211_937_563_194_290_14;
/// Stages 7 and 8 add the previous k to the argument of stage 6.
const A: [&[f64]; 6] = [
    &[],
    &[3.0],
    &[2.849_394_379_747_939, 0.458_422_422_044_639_23],
    &[-6.954_028_509_809_101, 2.489_845_061_869_568, -10.358_996_098_473_584],
    &[2.802_998_627_562_896_4, 0.507_246_473_622_820_6, -0.398_831_254_177_052_4, -0.047_211_872_304_046_41],
    &[
        -7.502_846_399_306_121,
        2.561_846_144_803_919,
        -11.627_539_656_261_098,
        -0.182_687_676_599_422_56,
        0.030_198_172_008_377_946,
    ],
];
const C: [&[f64]; STAGES] = [
    &[],
    &[-14.155_112_264_123_755],
    &[-17.972_960_358_859_52, -2.859_693_295_451_294],
    &[147.121_502_757_117_16, -1.412_214_027_182_13, 71.689_402_513_023_58],
    &[165.435_170_248_716_76, -0.459_282_345_649_112_6, 42.909_383_369_586_03, -5.961_986_721_573_306],
    &[
        24.854_864_614_690_072,
        -3.000_922_700_283_218_6,
        47.493_111_002_076_8,
        5.581_419_782_155_812_5,
        -0.661_069_182_524_947_1,
    ],
    &[
        30.912_732_140_285_99,
        -3.120_824_334_993_797_4,
        77.799_546_460_708_92,
        34.286_460_282_947_83,
        -19.097_331_116_725_623,
        -28.087_943_162_872_662,
    ],
    &[
        37.802_771_233_905_63,
        -3.257_196_902_907_227_6,
        112.269_188_494_963_27,
        66.934_723_124_404_7,
        -40.066_189_370_910_02,
        -54.667_802_628_779_68,
        -9.488_616_523_096_27,
    ],
];
const NODES: [f64; STAGES] = [
    0.0,
    0.635_812_689_582_870_4,
    0.409_579_839_339_753_5,
    0.976_930_672_506_071_6,
    0.428_840_360_955_866_4,
    1.0,
    1.0,
    1.0,
];
/// Factors of h ∂f/∂t.
const D: [f64; STAGES] = [
    0.211_937_563_194_290_14,
    -0.423_875_126_388_580_27,
    -0.338_462_712_623_592_4,
    1.804_645_287_288_273_4,
    2.325_825_639_765_069,
    0.0,
    0.0,
    0.0,
];
const H: [[f64; STAGES]; 3] = [
    [
        25.948_786_856_663_858,
        -2.557_972_484_584_623_5,
        10.433_815_404_888_879,
        -2.367_925_102_268_520_4,
        0.524_948_541_321_073,
        1.124_108_831_045_040_4,
        0.427_287_619_443_187_4,
        -0.172_022_210_701_554_93,
    ],
    [
        -9.915_688_506_951_71,
        -0.968_994_459_411_515_4,
        3.043_803_724_297_845_3,
        -24.495_224_566_215_796,
        20.176_138_334_709_044,
        15.980_663_614_246_51,
        -6.789_040_303_419_874,
        -6.710_236_069_923_372,
    ],
    [
        11.419_903_575_922_262,
        2.887_964_514_613_699_4,
        72.921_379_959_960_29,
        80.125_118_346_226_43,
        -52.072_871_366_152_654,
        -59.789_936_252_667_29,
        -0.155_826_842_827_519_13,
        4.883_087_185_713_722,
    ],
];

pub(crate) struct Rodas {
    k: Vec<Vec<f64>>,
    f: Vec<f64>,
    dfdt: Vec<f64>,
    jac: Jacobian,
    matrix: IterationMatrix<f64>,
    /// Jacobian and ∂f/∂t belong to the present start point.
    current: bool,
}

impl Rodas {
    fn linearize(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<(), Failure> {
        self.jac.eval(sys, &mut core.stats, core.t, &core.x, &core.dx, &core.w, h)?;
        let t = core.t;
        for sign in [1.0, -1.0] {
            // A part of the step, or of what time is told apart by at large times.
            let by = (f64::EPSILON * t.abs().max(1e-5)).sqrt().min(0.1 * h).max(64.0 * f64::EPSILON * t.abs());
            let tp = t + sign * by;
            match eval_rhs(sys, &mut core.stats, tp, &core.x, &mut self.f) {
                Ok(()) => {
                    for i in 0..core.n {
                        self.dfdt[i] = (self.f[i] - core.dx[i]) / (tp - t);
                    }
                    self.current = true;
                    return Ok(());
                }
                Err(Failure::Fatal) => return Err(Failure::Fatal),
                Err(e) if sign < 0.0 => return Err(e),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Method for Rodas {
    fn name(&self) -> &'static str {
        "rosenbrock"
    }
    fn order(&self) -> usize {
        5
    }
    fn error_power(&self) -> f64 {
        5.0
    }
    fn controller(&self) -> Controller {
        Controller::Pi(0.0)
    }
    fn degree(&self) -> usize {
        4
    }

    fn settle(&mut self, v: &mut [f64]) {
        self.matrix.solve(v);
    }
    fn start(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, _: Restart) {
        if self.jac.set_up(sys) {
            self.matrix.set_up(&self.jac.matrix, &core.opts);
        }
        self.current = false;
    }

    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure> {
        if !self.current {
            self.linearize(sys, core, h)?;
        }
        self.matrix.factor(&self.jac.matrix, 1.0 / (h * GAMMA), &core.w, &mut core.stats)?;
        self.matrix.see_growth(core)?;
        for s in 0..STAGES {
            let (done, rest) = self.k.split_at_mut(s);
            if s > 5 {
                core.x_new.iter_mut().zip(&done[s - 1]).for_each(|(x, k)| *x += k);
            } else {
                core.x_new.copy_from_slice(&core.x);
                for (a, k) in A[s].iter().zip(&*done) {
                    core.x_new.iter_mut().zip(k).for_each(|(x, k)| *x += a * k);
                }
            }
            let k = &mut rest[0];
            if s == 0 {
                k.copy_from_slice(&core.dx);
            } else {
                eval_rhs(sys, &mut core.stats, core.t + NODES[s] * h, &core.x_new, k)?;
            }
            let d = h * D[s];
            if d != 0.0 {
                k.iter_mut().zip(&self.dfdt).for_each(|(k, f)| *k += d * f);
            }
            for (c, kj) in C[s].iter().zip(&*done) {
                let c = c / h;
                k.iter_mut().zip(kj).for_each(|(k, kj)| *k += c * kj);
            }
            self.matrix.solve(k);
        }
        let last = &self.k[STAGES - 1];
        core.err.copy_from_slice(last);
        core.x_new.iter_mut().zip(last).for_each(|(x, k)| *x += k);
        Ok(core.error_norm())
    }

    fn finish(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64, t_new: f64) -> Result<(), Failure> {
        eval_rhs(sys, &mut core.stats, t_new, &core.x_new, &mut core.dx_new)?;
        // (1−θ) x₀ + θ (x₁ + (1−θ)(K₁ + θ (K₂ + θ K₃))) in powers of θ.
        core.poly.begin(core.t, t_new, 4);
        core.poly.coefficient_mut(0).copy_from_slice(&core.x);
        for j in 1..=4 {
            let c = core.poly.coefficient_mut(j);
            for i in 0..core.n {
                let big = |r: usize| -> f64 { H[r].iter().zip(&self.k).map(|(h, k)| h * k[i]).sum() };
                c[i] = match j {
                    1 => core.x_new[i] - core.x[i] + big(0),
                    2 => big(1) - big(0),
                    3 => big(2) - big(1),
                    _ => -big(2),
                };
            }
        }
        let slope = core.poly.coefficient_mut(1);
        core.doubt = (0..core.n).any(|i| !((slope[i] - h * core.dx[i]).abs() * core.w[i] <= FAR));
        self.current = false;
        Ok(())
    }
}

/// Rodas5P.
pub struct Rosenbrock(Driver<Rodas>);

impl Rosenbrock {
    /// For n states.
    pub fn new(n: usize, opts: Options) -> Self {
        let v = || vec![0.0; n];
        let rodas = Rodas {
            k: vec![v(); STAGES],
            f: v(),
            dfdt: v(),
            jac: Jacobian::new(n),
            matrix: IterationMatrix::new(),
            current: false,
        };
        Rosenbrock(Driver::new(n, opts, rodas))
    }
}

integrator_by_driver!(Rosenbrock);
