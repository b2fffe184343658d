//! Explicit Runge–Kutta pairs with continuous extension: Dormand–Prince 5(4), Tsitouras 5(4), Fehlberg 4(5).

use super::control::{Controller, Core, Driver, Failure, Method, integrator_by_driver};
use super::{OdeSystem, Options};

/// Coefficients of an explicit pair. Row i of `a` has i entries.
struct Tableau {
    name: &'static str,
    order: usize,
    c: &'static [f64],
    a: &'static [&'static [f64]],
    /// Weights of the solution; the last stage of a first-same-as-last pair is f at the end.
    b: &'static [f64],
    /// b − b̂.
    e: &'static [f64],
    fsal: bool,
    /// Continuous weights b_i(θ) = Σ_j d[i][j] θ^{j+1}; empty: cubic Hermite.
    d: &'static [[f64; 4]],
}

/// Dormand and Prince 1980; dense output of order 4 after Shampine, as in Hairer's DOPRI5.
static DOPRI5: Tableau = Tableau {
    name: "dopri5",
    order: 5,
    c: &[0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    a: &[
        &[],
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    e: &[71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0],
    fsal: true,
    d: &[
        [1.0, -8048581381.0 / 2820520608.0, 8663915743.0 / 2820520608.0, -12715105075.0 / 11282082432.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200.0 / 32700410799.0, -68118460800.0 / 10900136933.0, 87487479700.0 / 32700410799.0],
        [0.0, -1754552775.0 / 470086768.0, 14199869525.0 / 1410260304.0, -10690763975.0 / 1880347072.0],
        [0.0, 127303824393.0 / 49829197408.0, -318862633887.0 / 49829197408.0, 701980252875.0 / 199316789632.0],
        [0.0, -282668133.0 / 205662961.0, 2019193451.0 / 616988883.0, -1453857185.0 / 822651844.0],
        [0.0, 40617522.0 / 29380423.0, -110615467.0 / 29380423.0, 69997945.0 / 29380423.0],
    ],
};

/// Tsitouras 2011, with his free interpolant of order 4.
static TSIT5: Tableau = Tableau {
    name: "tsit5",
    order: 5,
    c: &[0.0, 0.161, 0.327, 0.9, 0.980_025_540_904_509_7, 1.0, 1.0],
    a: &[
        &[],
        &[0.161],
        &[-0.008_480_655_492_356_989, 0.335_480_655_492_357],
        &[2.897_153_057_105_493_5, -6.359_448_489_975_075, 4.362_295_432_869_581_5],
        &[5.325_864_828_439_257, -11.748_883_564_062_828, 7.495_539_342_889_836_5, -0.092_495_066_361_755_25],
        &[
            5.861_455_442_946_42,
            -12.920_969_317_847_11,
            8.159_367_898_576_159,
            -0.071_584_973_281_401,
            -0.028_269_050_394_068_383,
        ],
        &[
            0.096_460_766_818_065_23,
            0.01,
            0.479_889_650_414_499_6,
            1.379_008_574_103_742,
            -3.290_069_515_436_081,
            2.324_710_524_099_774,
        ],
    ],
    b: &[
        0.096_460_766_818_065_23,
        0.01,
        0.479_889_650_414_499_6,
        1.379_008_574_103_742,
        -3.290_069_515_436_081,
        2.324_710_524_099_774,
        0.0,
    ],
    e: &[
        -0.001_780_011_052_225_777,
        -0.000_816_434_459_656_746_9,
        0.007_880_878_010_261_995,
        -0.144_711_007_173_262_9,
        0.582_357_165_452_555_2,
        -0.458_082_105_929_186_97,
        0.015_151_515_151_515_152,
    ],
    fsal: true,
    d: &[
        [1.0, -2.763_706_197_274_826, 2.913_255_461_821_912_6, -1.053_088_497_729_021_6],
        [0.0, 0.131_7, -0.2234, 0.1017],
        [0.0, 3.930_296_236_894_751_6, -5.941_033_872_131_505, 2.490_627_285_651_253],
        [0.0, -12.411_077_166_933_676, 30.338_188_630_282_32, -16.548_102_889_244_902],
        [0.0, 37.509_313_416_511_04, -88.178_904_894_766_4, 47.379_521_962_819_28],
        [0.0, -27.896_526_289_197_286, 65.091_894_674_793_66, -34.870_657_861_496_61],
        [0.0, 1.5, -4.0, 2.5],
    ],
};

/// Fehlberg 1969; the solution of order 4 is carried on, as he did.
static RKF45: Tableau = Tableau {
    name: "rkf45",
    order: 4,
    c: &[0.0, 0.25, 0.375, 12.0 / 13.0, 1.0, 0.5],
    a: &[
        &[],
        &[0.25],
        &[3.0 / 32.0, 9.0 / 32.0],
        &[1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0],
        &[439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0],
        &[-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0],
    ],
    b: &[25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -0.2, 0.0],
    e: &[1.0 / 360.0, 0.0, -128.0 / 4275.0, -2197.0 / 75240.0, 0.02, 2.0 / 55.0],
    fsal: false,
    d: &[],
};

/// (1 − 1/√3)/2.
const INSIDE: f64 = 0.211_324_865_405_187_13;

pub(crate) struct Explicit {
    tab: &'static Tableau,
    k: Vec<Vec<f64>>,
}

impl Method for Explicit {
    fn name(&self) -> &'static str {
        self.tab.name
    }
    fn order(&self) -> usize {
        self.tab.order
    }
    fn error_power(&self) -> f64 {
        5.0
    }
    fn controller(&self) -> Controller {
        Controller::Pi(0.04)
    }
    fn degree(&self) -> usize {
        4
    }

    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure> {
        let tab = self.tab;
        self.k[0].copy_from_slice(&core.dx);
        for i in 1..tab.c.len() {
            let (done, rest) = self.k.split_at_mut(i);
            combine(&core.x, h, tab.a[i], done, &mut core.x_new);
            super::control::eval_rhs(sys, &mut core.stats, core.t + tab.c[i] * h, &core.x_new, &mut rest[0])?;
        }
        if !tab.fsal {
            combine(&core.x, h, tab.b, &self.k, &mut core.x_new);
        }
        core.err.fill(0.0);
        for (e, k) in tab.e.iter().zip(&self.k) {
            if *e != 0.0 {
                core.err.iter_mut().zip(k).for_each(|(r, k)| *r += h * e * k);
            }
        }
        Ok(core.error_norm())
    }

    fn finish(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64, t_new: f64) -> Result<(), Failure> {
        let tab = self.tab;
        if tab.fsal {
            core.dx_new.copy_from_slice(&self.k[tab.c.len() - 1]);
        } else {
            super::control::eval_rhs(sys, &mut core.stats, t_new, &core.x_new, &mut core.dx_new)?;
        }
        if tab.d.is_empty() {
            core.poly.set_hermite(core.t, t_new, &core.x, &core.dx, &core.x_new, &core.dx_new);
            // One evaluation on the cubic, where the bump s²(1 − s)² is steepest, gives the fourth power.
            let (t, bump) = (core.t + INSIDE * h, 2.0 * INSIDE * (1.0 - INSIDE) * (1.0 - 2.0 * INSIDE));
            let [at, slope, f, ..] = &mut self.k[..] else { return Ok(()) };
            core.poly.eval(t, at);
            core.poly.eval_derivative(t, slope);
            if super::control::eval_rhs(sys, &mut core.stats, t, at, f).is_ok() {
                core.poly.add_bump(|i| h * (f[i] - slope[i]) / bump);
            }
            return Ok(());
        }
        core.poly.begin(core.t, t_new, 4);
        core.poly.coefficient_mut(0).copy_from_slice(&core.x);
        for j in 0..4 {
            let c = core.poly.coefficient_mut(j + 1);
            c.fill(0.0);
            for (d, k) in tab.d.iter().zip(&self.k) {
                if d[j] != 0.0 {
                    c.iter_mut().zip(k).for_each(|(c, k)| *c += h * d[j] * k);
                }
            }
        }
        Ok(())
    }
}

/// y = x + h Σ a_j k_j.
pub(crate) fn combine(x: &[f64], h: f64, a: &[f64], k: &[Vec<f64>], y: &mut [f64]) {
    y.fill(0.0);
    for (a, k) in a.iter().zip(k) {
        if *a != 0.0 {
            y.iter_mut().zip(k).for_each(|(y, k)| *y += a * k);
        }
    }
    y.iter_mut().zip(x).for_each(|(y, x)| *y = x + h * *y);
}

/// An explicit Runge–Kutta pair with error control.
pub struct EmbeddedRk(Driver<Explicit>);

impl EmbeddedRk {
    fn with(tab: &'static Tableau, n: usize, opts: Options) -> Self {
        EmbeddedRk(Driver::new(n, opts, Explicit { tab, k: vec![vec![0.0; n]; tab.c.len()] }))
    }
    /// Dormand–Prince 5(4).
    pub fn dopri5(n: usize, opts: Options) -> Self {
        Self::with(&DOPRI5, n, opts)
    }
    /// Tsitouras 5(4).
    pub fn tsit5(n: usize, opts: Options) -> Self {
        Self::with(&TSIT5, n, opts)
    }
    /// Fehlberg 4(5).
    pub fn rkf45(n: usize, opts: Options) -> Self {
        Self::with(&RKF45, n, opts)
    }
}

integrator_by_driver!(EmbeddedRk);
