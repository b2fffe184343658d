//! Draws a bouncing ball from its closed form: `cargo run -p saltus-results --example falling_ball > ball.svg`

use saltus_results::{Column, Size, Trajectory, plot_svg};

fn main() {
    let (g, restitution, stop) = (9.81, 0.8, 3.0);
    let mut result = Trajectory::new(vec![Column::real("h").with_unit("m"), Column::real("v").with_unit("m/s")]);
    let (mut start, mut h, mut v) = (0.0f64, 1.0f64, 0.0f64);
    while start < stop {
        let impact = start + (v + (v * v + 2.0 * g * h).sqrt()) / g;
        for k in 0..=40 {
            let t = start + f64::from(k) / 40.0 * (impact.min(stop) - start);
            let s = t - start;
            result.push(t, &[(h + v * s - g * s * s / 2.0).max(0.0), v - g * s], None);
        }
        (h, v) = (0.0, restitution * (g * (impact - start) - v));
        start = impact;
    }
    match plot_svg(&result, &["h", "v"], Size::default()) {
        Ok(svg) => print!("{svg}"),
        Err(error) => eprintln!("{error}"),
    }
}
