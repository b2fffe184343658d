//! Delays and distributions along a step: what is written, and when jumps arrive.

use super::*;

/// Places of a step where reading with a lag that varies is compared with the jumps that travel.
const LOOKS: u32 = 8;

impl Runner<'_> {
    /// Takes note of what travels inside an accepted part of a step.
    pub(super) fn transport(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Trouble> {
        if model.machine.host.lines.list.is_empty() {
            return Ok(());
        }
        model.machine.host.lines.list.iter_mut().for_each(|l| l.forget());
        let marks: Vec<Mark> = model.machine.host.lines.list.iter().map(Line::mark).collect();
        let mut parts = TRANSPORTED;
        loop {
            for k in 1..=parts {
                let t = if k == parts { to } else { from + (to - from) * k as f64 / parts as f64 };
                self.evaluate_at(model, program, integrator, t)?;
                if model.write_lines(t, false).is_err() {
                    return Ok(()); // told where the step ends
                }
            }
            if self.coarse {
                return Ok(());
            }
            // Between the places, what is read must be what was written.
            let mut missed = 0.0f64;
            for part in BETWEEN {
                let t = from + part * (to - from);
                self.evaluate_at(model, program, integrator, t)?;
                missed = missed.max(model.lines_miss(t, &marks));
                if missed > self.tolerance {
                    break;
                }
            }
            if !(missed > self.tolerance) {
                return Ok(());
            }
            if parts >= MOST_TRANSPORTED {
                // Noise, or jumps without events: no number of places would do.
                self.coarse = true;
                let delays = model.sys.dae.delays.iter().map(|d| &d.origin);
                let origins = delays.chain(model.sys.dae.distributions.iter().map(|d| &d.origin));
                let place = origins.filter_map(|o| o.span).next().unwrap_or(Span::NONE);
                let text =
                    format!("what is delayed is not smooth at time {from:?}; it is kept at a few places of each step");
                self.say(observer, &text, place, "coarse");
                return Ok(());
            }
            model.machine.host.lines.list.iter_mut().zip(&marks).for_each(|(l, m)| l.rewind(m));
            parts *= 4;
        }
    }

    /// Where in (from, to] a jump that travels arrives.
    pub(super) fn arrival(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
    ) -> Option<f64> {
        let lines = &model.machine.host.lines.list;
        if !lines.iter().any(Line::has_jumps) {
            return None;
        }
        // A lag that varies may carry reading over a jump and back.
        let looks = if lines.iter().any(Line::varies) { LOOKS } else { 1 };
        let mut ahead = |me: &mut Self, t: f64| match me.evaluate_at(model, program, integrator, t) {
            Ok(()) => model.jump_distance(),
            Err(_) => f64::NAN,
        };
        let mut last = (from, ahead(self, from));
        if last.1 < 0.0 {
            return Some(from);
        }
        for k in 1..=looks {
            let t = if k == looks { to } else { from + (to - from) * f64::from(k) / f64::from(looks) };
            let next = (t, ahead(self, t));
            if next.1 < 0.0 {
                return Some(sign_change(|t| ahead(self, t), last.0, last.1, next.0, next.1, 0.0).1);
            }
            last = next;
        }
        None
    }
}
