
/* ---- events and steps ---- */

/* A function that has failed: the evaluation has, too. */
static int saltus_told(NAME *m, int status) {
#ifdef SALTUS_FUNCTIONS
    if (m->functions.message) {
        m->message = m->functions.message;
        m->functions.message = 0;
        return status ? status : SALTUS_DOMAIN;
    }
#endif
    (void)m;
    return status;
}

static double saltus_band(const NAME *m, int i) { return 1e-12 * (m->size[i] > 1e-2 ? m->size[i] : 1e-2); }

/* Evaluates a relation into its variable: the held value stays unless g is beyond doubt on the other side. */
static void relation(NAME *m, int i) {
    double *v = m->v, next;
    const saltus_relation *r = &relations[i];
    crossing(v, i);
    double g = v[r->g], old = v[r->var], band = saltus_band(m, i);
    if (r->timed) {
        timing(v, i);
        v[r->var] = saltus_switch(r->kind, v[r->slope], v[r->rest], v[TIME], &next);
    } else if (r->kind == 4) {
        double w = band > 1e-9 ? band : 1e-9;
        if (g < old - w || g >= old + 1.0 + w) v[r->var] = floor(g + w);
    } else if (!(fabs(g - m->left[i]) <= 4.0 * band)) {
        v[r->var] = saltus_plain(r->kind, fabs(g) <= band ? 0.0 : g);
    } else {
        double side = (old != 0.0) == (r->kind >= 2) ? g : -g;
        if (side < -band) v[r->var] = old == 0.0;
    }
}

static void remember(double *v) {
    for (int i = 0; i < N_MEMORY; i++) v[memory[i].pre] = v[memory[i].slot];
}

/* The mode that the conditions call for; -1 if there is none. */
static int mode_now(const NAME *m) {
    for (int k = 0; k < N_MODES; k++) {
        int same = 1;
        for (int i = 0; i < modes[k].conditions; i++)
            same &= (m->v[modes[k].condition[i].slot] != 0.0) == (modes[k].condition[i].pre != 0);
        if (same) return k;
    }
    return -1;
}

/* What a mode change starts from. */
static void hold_cells(NAME *m) {
    for (int i = 0; i < modes[m->mode].cells; i++) m->left_values[i] = m->v[modes[m->mode].cell[i]];
}

static int rk4(NAME *m, double t, double h, const double *x, double *y);

/* Relations at zero as a mode begins are judged by where the mode takes them, once at an event. */
static void leave_zero(NAME *m) {
    static const double steps[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
    double x[N_STATES + 1], y[N_STATES + 1], here[N_RELATIONS + 1], unit = 1.0, t = m->v[TIME];
    double moved[N_RELATIONS + 1];
    int near[N_RELATIONS + 1], any = 0, n = modes[m->mode].states;
    memcpy(m->kept, m->v, N_MODES > 1 ? sizeof m->v : 0);
    if (N_MODES == 1 || n == 0 || saltus_told(m, continuous_steps(m, m->v))) {
        if (N_MODES > 1) memcpy(m->v, m->kept, sizeof m->kept);
        return;
    }
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        double size = m->size[i] > 1e-2 ? m->size[i] : 1e-2;
        near[i] = 0;
        here[i] = 0.0;
        moved[i] = 0.0;
        if (!modes[m->mode].active[i] || r->kind == 4) continue;
        crossing(m->v, i);
        here[i] = m->v[r->g];
        if (fabs(here[i]) <= 1e-10 * size && !m->judged[m->mode][i]) { m->judged[m->mode][i] = 1; near[i] = any = 1; }
    }
    if (any) {
        for (int i = 0; i < n; i++) {
            x[i] = m->v[modes[m->mode].state[i].slot];
            double w = (fabs(x[i]) + 1.0) / (fabs(m->v[modes[m->mode].state[i].pre]) + 1e-30);
            if (w < unit) unit = w;
        }
        for (int k = 0; k < 5; k++) {
            if (rk4(m, t, steps[k] * unit, x, y)) break;
            for (int i = 0; i < N_RELATIONS; i++) {
                if (!near[i]) continue;
                crossing(m->v, i);
                double change = m->v[relations[i].g] - here[i], size = m->size[i] > 1e-2 ? m->size[i] : 1e-2;
                if (fabs(change) > 1e-12 * size) { moved[i] = change; near[i] = 0; }
            }
        }
    }
    memcpy(m->v, m->kept, sizeof m->kept);
    for (int i = 0; i < N_RELATIONS; i++)
        if (moved[i] != 0.0) { m->v[relations[i].var] = saltus_plain(relations[i].kind, moved[i]); m->left[i] = here[i]; }
}

/* Enters a mode; if its conditions depend on what they guard, one that agrees with them is looked for. */
static int enter_mode(NAME *m, int to) {
    double *v = m->v;
    int from = m->mode, status, impulses;
    if (N_MODES == 1) return SALTUS_OK;
    memcpy(m->base, v, sizeof m->base);
    for (int tries = 0; tries < 2 * N_MODES; tries++) {
        if (to < 0 || !modes[to].known) return SALTUS_MODE;
        m->mode = to;
        if ((status = saltus_enter(&restarts[to], v, m->work, &impulses))) return status;
        if (!modes[to].searched[from]) { leave_zero(m); return SALTUS_OK; }
        if (impulses) { m->message = "impulses in a mode whose conditions depend on what they guard"; return SALTUS_MODE; }
        if ((status = saltus_told(m, continuous_steps(m, v)))) return status;
        leave_zero(m);
        memcpy(m->kept, v, sizeof m->kept);
        for (int i = 0; i < N_RELATIONS; i++) if (modes[to].active[i]) relation(m, i);
        if ((status = saltus_told(m, definition_steps(m, v)))) return status;
        int reached = mode_now(m);
        if (reached == to) { memcpy(v, m->kept, sizeof m->kept); return SALTUS_OK; }
        memcpy(v, m->base, sizeof m->base);
        to = reached;
        for (int i = 0; to >= 0 && i < modes[to].conditions; i++)
            v[modes[to].condition[i].slot] = modes[to].condition[i].pre;
    }
    return SALTUS_EVENTS;
}

/* Handles the event at the present time; `fired` is a relation that has just crossed, or -1. */
static int event_at(NAME *m, int fired) {
    double *v = m->v;
    int ticked = 0, status;
    remember(v);
    for (int i = 0; i < N_RELATIONS; i++) { crossing(v, i); m->left[i] = v[relations[i].g]; }
    if (fired >= 0) {
        const saltus_relation *r = &relations[fired];
        if (r->kind < 4) v[r->var] = 1.0 - v[r->var];
        else v[r->var] += v[r->g] < v[r->var] + 0.5 ? -1.0 : 1.0;
    }
    double t = v[TIME], tiny = 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3);
    for (int k = 0; k < N_TICKERS; k++)
        if (tickers[k].start + m->ticks[k] * tickers[k].interval <= t + tiny) {
            m->ticks[k] += 1.0;
            v[tickers[k].slot] = 1.0;
            v[tickers[k].pre] = 0.0;
            ticked = 1;
        }
    int reset = 0, changes = 0;
    hold_cells(m);
    memset(m->judged, 0, sizeof m->judged);
    for (int iteration = 0;; iteration++) {
        int changed = 0, over = 0, switched, displaced = 0;
        if (iteration > 200) return SALTUS_EVENTS;
        if (N_MODES > 1) {
            /* Conditions first: if they end the mode, its equations are not solved again. */
            for (int i = 0; i < N_DISCRETE; i++) m->kept[i] = v[memory[i].slot];
            if ((status = saltus_told(m, guard_steps(m, v)))) return status;
            over = mode_now(m) != m->mode;
            for (int i = 0; i < N_DISCRETE && !over; i++) v[memory[i].slot] = m->kept[i];
        }
        if (!over && (status = saltus_told(m, event_steps(m, v)))) return status;
        if ((status = reactions(m, v, &changed))) return status;
        for (int i = 0; i < N_DISCRETE; i++) changed |= v[memory[i].slot] != v[memory[i].pre];
        switched = N_MODES > 1 && mode_now(m) != m->mode;
        if (!switched && !m->resets && !reset)
            for (int i = 0; i < modes[m->mode].latent; i++)
                displaced |= v[modes[m->mode].late[i].slot] != v[modes[m->mode].late[i].pre];
        if (switched || displaced)
            for (int i = 0; i < modes[m->mode].cells; i++) {
                int free = 1;
                for (int k = 0; k < reset; k++) free &= m->reset_done[k] != modes[m->mode].cell[i];
                if (free) v[modes[m->mode].cell[i]] = m->left_values[i];
            }
        for (int i = 0; i < m->resets; i++) {
            changed |= v[m->reset_slot[i]] != m->reset_value[i];
            v[m->reset_slot[i]] = m->reset_value[i];
            if (reset < N_RESETS) m->reset_done[reset++] = m->reset_slot[i];
        }
        m->resets = 0;
        remember(v);
        if (switched) {
            if (++changes > 64) return SALTUS_EVENTS;
            if ((status = enter_mode(m, mode_now(m)))) return status;
            changed = 1;
        } else if (displaced) {
            int impulses;
            if ((status = saltus_enter(&restarts[m->mode], v, m->work, &impulses))) return status;
        }
        if (switched || displaced) hold_cells(m);
        if (!changed) break;
    }
    if (ticked) {
        for (int k = 0; k < N_TICKERS; k++) v[tickers[k].slot] = v[tickers[k].pre] = 0.0;
        if ((status = saltus_told(m, event_steps(m, v)))) return status;
        remember(v);
    }
    return SALTUS_OK;
}

/* The next instant known in advance. */
double NAME_next_event(NAME *m) {
    double next = INFINITY, at, t = m->v[TIME];
    for (int k = 0; k < N_TICKERS; k++) {
        at = tickers[k].start + m->ticks[k] * tickers[k].interval;
        if (at < next) next = at;
    }
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!relations[i].timed) continue;
        timing(m->v, i);
        double value = saltus_switch(relations[i].kind, m->v[relations[i].slope], m->v[relations[i].rest], t, &at);
        if (value != m->v[relations[i].var]) at = t;
        if (at < next) next = at;
    }
    return next;
}

void NAME_get_states(const NAME *m, double *x) {
    for (int i = 0; i < modes[m->mode].states; i++) x[i] = m->v[modes[m->mode].state[i].slot];
}

/* The past goes on: signals that are delayed are noted. */
static int note_delays(NAME *m) {
    for (int k = 0; k < N_DELAYS; k++) {
        delay_signal(m->v, k);
        delay_length(m->v, k);
        if (!saltus_note(&m->line[k], m->v[TIME], m->v[delays[k].value], m->v[delays[k].length])) return SALTUS_HISTORY;
    }
    return SALTUS_OK;
}

/* Delayed values at the present time. */
static void read_delays(NAME *m) {
    for (int k = 0; k < N_DELAYS; k++) {
        delay_length(m->v, k);
        if (m->line[k].count) m->v[delays[k].out] = saltus_delayed(&m->line[k], m->v[TIME] - m->v[delays[k].length]);
    }
}

/* The derivatives of the states at time t, all relations held. */
int NAME_derivatives(NAME *m, double t, const double *x, double *dx) {
    m->v[TIME] = t;
    for (int i = 0; i < modes[m->mode].states; i++) m->v[modes[m->mode].state[i].slot] = x[i];
    read_delays(m);
    int status = saltus_told(m, continuous_steps(m, m->v));
    for (int i = 0; i < modes[m->mode].states; i++) {
        dx[i] = m->v[modes[m->mode].state[i].pre];
        if (!status && !isfinite(dx[i])) status = SALTUS_DOMAIN;
    }
    return status;
}

/* Consistent values at the start time, computed by Saltus. */
int NAME_start(NAME *m) {
    memcpy(m->v, start_values, sizeof start_values);
    m->mode = FIRST_MODE;
#ifdef SALTUS_FUNCTIONS
    memset(m->functions.valid, 0, sizeof m->functions.valid);
    m->functions.message = 0;
    m->host.call = saltus_call;
    m->host.call_der = saltus_call_der;
    m->host.self = &m->functions;
#endif
    m->resets = 0;
    m->message = 0;
    (void)&saltus_solve; /* not every model needs all of the above */
    (void)&relation;
    for (int i = 0; i < N_RELATIONS; i++) m->size[i] = 0.0;
    for (int k = 0; k < N_TICKERS; k++) {
        double t = m->v[TIME];
        m->ticks[k] = tickers[k].start >= t ? 0.0 : ceil((t - tickers[k].start) / tickers[k].interval - 1e-9);
    }
    (void)&saltus_delayed;
    /* Signals that are delayed have always had the values they start with. */
    int status = event_at(m, -1);
    for (int k = 0; k < N_DELAYS; k++) { m->line[k].first = m->line[k].count = 0; m->line[k].reach = 0.0; }
    if (status || (status = note_delays(m)) || !N_DELAYS) return status;
    read_delays(m);
    if ((status = event_at(m, -1))) return status;
    return note_delays(m);
}

/* One step of the classical Runge-Kutta method from x at t; everything is evaluated at the end. */
static int rk4(NAME *m, double t, double h, const double *x, double *y) {
    static const double c[4] = {0.0, 0.5, 0.5, 1.0}, w[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[N_STATES + 1], z[N_STATES + 1];
    int status;
    for (int i = 0; i < modes[m->mode].states; i++) y[i] = x[i];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < modes[m->mode].states; i++) z[i] = s ? x[i] + h * c[s] * k[i] : x[i];
        if ((status = NAME_derivatives(m, t + c[s] * h, z, k))) return status;
        for (int i = 0; i < modes[m->mode].states; i++) y[i] += h * w[s] * k[i];
    }
    return NAME_derivatives(m, t + h, y, k);
}

/* The first relation that has left its held value, or -1. */
static int crossed(NAME *m) {
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        if (r->timed || !modes[m->mode].active[i]) continue;
        crossing(m->v, i);
        double g = m->v[r->g], old = m->v[r->var];
        if (fabs(g) > m->size[i]) m->size[i] = fabs(g);
        if (r->kind == 4 ? (g < old - 1e-9 || g >= old + 1.0 + 1e-9)
                         : ((old != 0.0) == (r->kind >= 2) ? g : -g) < -saltus_band(m, i))
            return i;
    }
    return -1;
}

/* Goes on by h, through all events on the way; `event` is called before and after each. */
int NAME_step(NAME *m, double h, void (*event)(NAME *, void *), void *user) {
    double t = m->v[TIME], end = t + h, x[N_STATES + 1], y[N_STATES + 1];
    int status, guard = 0;
    while (t < end - 1e-12 * (fabs(h) + fabs(t))) {
        double due = NAME_next_event(m), to = due < end ? due : end;
        int fired = -1;
        if (++guard > 10000) return SALTUS_EVENTS;
        if (due > t) {
            NAME_get_states(m, x);
            status = rk4(m, t, to - t, x, y);
            if (status == SALTUS_DOMAIN || status == SALTUS_UNSOLVED) {
                /* Beyond the edge of a domain: an event may lie before it. */
                double part = to - t;
                for (int cut = 0; cut < 50 && status; cut++) {
                    part *= 0.5;
                    status = rk4(m, t, part, x, y);
                }
                if (status) return status;
                to = t + part;
            } else if (status) return status;
            fired = crossed(m);
            if (fired >= 0) {
                /* The end of the step is beyond the event: bisection of the step. */
                double a = 0.0, b = to - t;
                for (int i = 0; i < 60 && b - a > 1e-14 * (fabs(t) + b); i++) {
                    double c = 0.5 * (a + b);
                    status = rk4(m, t, c, x, y);
                    int now = status ? fired : crossed(m);
                    if (now >= 0) { b = c; if (!status) fired = now; } else a = c;
                }
                if ((status = rk4(m, t, b, x, y))) return status;
                t += b;
            } else t = to;
            m->v[TIME] = t;
            if ((status = note_delays(m))) return status;
        }
        if (fired >= 0 || due <= t + 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3)) {
            if (event) event(m, user);
            if ((status = event_at(m, fired)) || (status = note_delays(m))) return status;
            if (event) event(m, user);
        }
    }
    return assertions(m, m->v);
}

#ifdef SALTUS_MAIN
#include <stdio.h>
#include <stdlib.h>

static void row(NAME *m, void *user) {
    (void)user;
    printf("%.17g", m->v[TIME]);
    for (int i = 0; i < N_OUTPUTS; i++) printf(",%.17g", NAME_output(m, i) + 0.0);
    printf("\n");
}

/* usage: model [stop time] [number of steps] */
int main(int argc, char **argv) {
    static NAME m;
    double begin = start_values[TIME], stop = argc > 1 ? atof(argv[1]) : STOP;
    int steps = argc > 2 ? atoi(argv[2]) : STEPS, status = NAME_start(&m);
    printf("time");
    for (int i = 0; i < N_OUTPUTS; i++) printf(strchr(output_names[i], ',') ? ",\"%s\"" : ",%s", output_names[i]);
    printf("\n");
    if (!status) row(&m, 0);
    for (int k = 1; k <= steps && !status; k++) {
        double t = k == steps ? stop : begin + (stop - begin) * k / steps;
        if (!(status = NAME_step(&m, t - m.v[TIME], row, 0))) { m.v[TIME] = t; row(&m, 0); }
    }
    if (status == SALTUS_TERMINATED) return 0;
    if (status) fprintf(stderr, "stopped at time %g: status %d%s%s\n", m.v[TIME], status, m.message ? ": " : "", m.message ? m.message : "");
    return status;
}
#endif

#ifdef SALTUS_BENCH
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* usage: model [number of evaluations a time]: prints the shortest time of one evaluation of the derivatives, in ns. */
int main(int argc, char **argv) {
    static NAME m;
    static double x[N_STATES + 1], dx[N_STATES + 1];
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    double best = INFINITY;
    if (NAME_start(&m)) return 1;
    NAME_get_states(&m, x);
    for (int k = 0; k < 200; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (int i = 0; i < n; i++) NAME_derivatives(&m, m.v[TIME], x, dx);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        double t = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n;
        if (t < best) best = t;
    }
    printf("%.17g\n", best);
    return 0;
}
#endif
