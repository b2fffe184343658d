
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

static double saltus_band(const NAME *m, int i) {
    double band = 1e-12 * (m->size[i] > 1e-2 ? m->size[i] : 1e-2);
    return band < relations[i].finest ? band : relations[i].finest;
}

/* Evaluates a relation into its variable: the held value stays unless g is beyond doubt on the other side. */
static void relation(NAME *m, int i) {
    double *v = m->v, next;
    const saltus_relation *r = &relations[i];
    crossing(v, i);
    double g = v[r->g], old = v[r->var], band = saltus_band(m, i);
    if (m->held) return;
    if (r->timed) {
        timing(v, i);
        v[r->var] = saltus_switch(r->kind, v[r->slope], v[r->rest], v[TIME], &next);
    } else if (r->kind == 4) {
        double w = band > 1e-9 ? band : 1e-9;
        if (!(fabs(g - m->left[i]) <= 4.0 * w) || g < old - w || g >= old + 1.0 + w) v[r->var] = floor(g + w);
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

/* A loop through discrete and continuous unknowns: iterated to a fixed point; if there is none, the nearest of its modes that
   agrees with itself. */
static int solve_mixed(NAME *m, const mixed_loop *b) {
    double *v = m->v, *first = m->mixed, *before = first + b->slots, *guess = before + b->slots;
    const char *message = m->message;
    int status = SALTUS_EVENTS, same = 0;
    for (int i = 0; i < b->slots; i++) first[i] = v[b->slot[i]];
    for (int i = 0; i < b->unknowns; i++) guess[i] = v[b->unknown[i]];
    for (unsigned round = 0; round < 40; round++) {
        for (int i = 0; i < b->slots; i++) before[i] = v[b->slot[i]];
        if ((status = saltus_told(m, b->continuous(m, v)))) break;
        if ((status = saltus_told(m, b->discrete(m, v)))) return status;
        same = 1;
        for (int i = 0; i < b->slots; i++) same &= before[i] == v[b->slot[i]];
        if (same) return SALTUS_OK;
        status = SALTUS_EVENTS;
    }
    if (m->held || b->bits > 12) return status;
    for (int weight = 1; weight <= b->bits; weight++)
        for (unsigned mask = 1; mask < 1u << b->bits; mask++) {
            int flips = 0;
            for (int i = 0; i < b->bits; i++) flips += mask >> i & 1;
            if (flips != weight) continue;
            for (int i = 0; i < b->slots; i++) v[b->slot[i]] = first[i];
            for (int i = 0; i < b->unknowns; i++) v[b->unknown[i]] = guess[i];
            for (int i = 0; i < b->bits; i++) if (mask >> i & 1) v[b->bit[i]] = v[b->bit[i]] == 0.0;
            m->held = 1;
            int failed = saltus_told(m, b->discrete(m, v));
            m->held = 0;
            for (int i = 0; i < b->slots; i++) before[i] = v[b->slot[i]];
            if (failed || saltus_told(m, b->continuous(m, v)) || saltus_told(m, b->discrete(m, v))) continue;
            same = 1;
            for (int i = 0; i < b->slots; i++) same &= before[i] == v[b->slot[i]];
            if (same) { m->message = message; return SALTUS_OK; }
        }
    for (int i = 0; i < b->slots; i++) v[b->slot[i]] = first[i];
    for (int i = 0; i < b->unknowns; i++) v[b->unknown[i]] = guess[i];
    return status;
}

/* What a mode change starts from. */
static void hold_cells(NAME *m) {
    for (int i = 0; i < modes[m->mode].cells; i++) m->left_values[i] = m->v[modes[m->mode].cell[i]];
}

static int rk4(NAME *m, double t, double h, const double *x, double *y);

#define SALTUS_OTHER_STATES "other variables would have to be states from here on"
#define SALTUS_TOO_LONG "the step is too long for how fast the model moves: take shorter ones, or compile with -DSALTUS_STIFF"

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

/* Restarts in a mode from the values in `base` and says which mode its conditions then ask for: they read impulses first, then
   values, then where these go. */
static int try_mode(NAME *m, int to, int *reached) {
    double *v = m->v;
    const saltus_restart *b = &restarts[to];
    int status;
    memcpy(v, m->base, sizeof m->base);
    if (!modes[to].known) return SALTUS_MODE;
    for (int i = 0; i < modes[to].conditions; i++) v[modes[to].condition[i].slot] = modes[to].condition[i].pre;
    m->mode = to;
    if ((status = saltus_enter(b, v, m->work, m->impulse))) return status;
    if ((status = saltus_told(m, continuous_steps(m, v)))) return status;
    leave_zero(m);
    memcpy(m->kept, v, sizeof m->kept);
    if (b->pushes) b->evaluate_pushes(v);
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!modes[to].active[i]) continue;
        double push = saltus_push(b, v, m->impulse, i);
        if (push != 0.0) v[relations[i].var] = saltus_plain(relations[i].kind, push);
        else relation(m, i);
    }
    if ((status = saltus_told(m, definition_steps(m, v)))) return status;
    *reached = mode_now(m);
    if (*reached == to) memcpy(v, m->kept, sizeof m->kept);
    return SALTUS_OK;
}

/* Enters a mode. If its conditions depend on what they guard, it must agree with them: else the mode that they ask for is tried
   from the same values, then those nearby. */
static int enter_mode(NAME *m, int key) {
    int from = m->mode, status, failure = SALTUS_MODE, first = 0, last = 0, reached = key;
    short queue[N_MODES];
    unsigned char tried[N_MODES], queued[N_MODES];
    const char *message = m->message;
    if (key < 0 || !modes[key].known) return SALTUS_MODE;
    if (N_MODES == 1 || !modes[key].searched[from]) {
        m->mode = key;
        if ((status = saltus_enter(&restarts[key], m->v, m->work, m->impulse))) return status;
        leave_zero(m);
        return SALTUS_OK;
    }
    memset(tried, 0, sizeof tried);
    memset(queued, 0, sizeof queued);
    memcpy(m->base, m->v, sizeof m->base);
    for (;;) {
        while ((reached < 0 || tried[reached]) && first < last) reached = queue[first++];
        if (reached < 0 || tried[reached]) break;
        int to = reached;
        tried[to] = 1;
        if ((status = try_mode(m, to, &reached))) {
            if (failure == SALTUS_MODE) failure = status;
            reached = -1;
        } else if (reached == to) { m->message = message; return SALTUS_OK; }
        /* Neighbours: one more condition changed. */
        const uint32_t *guards = guard_lists[modes[to].searched[from]];
        for (uint32_t g = 0; guards && g < guards[0]; g++) {
            memcpy(m->v, m->base, sizeof m->base);
            for (int i = 0; i < modes[to].conditions; i++) m->v[modes[to].condition[i].slot] = modes[to].condition[i].pre;
            m->v[guards[g + 1]] = m->v[guards[g + 1]] == 0.0;
            int near = mode_now(m);
            if (near >= 0 && !tried[near] && !queued[near]) { queued[near] = 1; queue[last++] = (short)near; }
        }
    }
    memcpy(m->v, m->base, sizeof m->base);
    m->mode = from;
    if (!m->message) m->message = "no mode agrees with its own conditions";
    return failure;
}

/* After a reset in a mode whose constraints are guarded: the mode that the conditions ask for if the constraints were to undo
   it. Whether another mode was entered. */
static int released(NAME *m) {
    int from = m->mode;
    const char *message = m->message;
    if (N_MODES == 1 || !restarts[from].stages || !modes[from].searched[from]) return 0;
    memcpy(m->before, m->v, sizeof m->before);
    memcpy(m->judging, m->judged, sizeof m->judged);
    if (!enter_mode(m, from) && m->mode != from) return 1;
    m->mode = from;
    m->message = message;
    memcpy(m->v, m->before, sizeof m->before);
    memcpy(m->judged, m->judging, sizeof m->judged);
    return 0;
}

/* Moves states of one stage by the least change so that variables that are reset and are no states take their values; 0 if the
   equations do not let them. */
static int impose_stage(NAME *m, int stage, const unsigned char *fixed) {
    double *v = m->v, *rate = m->rates, *a = rate + N_IMPOSED * N_STATES, *r = a + N_IMPOSED * N_IMPOSED, *now = r + N_IMPOSED;
    const saltus_mode *mode = &modes[m->mode];
    int which[N_IMPOSED + 1], n = 0;
    for (int i = 0; i < m->resets; i++) if (mode->target[m->reset_by[i]] == stage) which[n++] = i;
    for (int round = 0; round < 30; round++) {
        int met = 1;
        double size = 0.0;
        if (continuous_steps(m, v)) return 0;
        memcpy(m->kept, v, sizeof m->v);
        for (int i = 0; i < n; i++) {
            double want = m->reset_value[which[i]];
            now[i] = v[m->reset_slot[which[i]]];
            r[i] = want - now[i];
            met &= fabs(r[i]) <= 1e-12 * (fabs(want) + 1e-3);
        }
        if (met) return 1;
        for (int i = 0; i < n * n; i++) a[i] = 0.0;
        for (int s = 0; s < mode->states; s++) {
            if (mode->stage[s] != stage || fixed[s]) continue;
            uint32_t slot = mode->state[s].slot;
            v[slot] += 1e-7 * (fabs(v[slot]) + mode->nominal[s]);
            double h = v[slot] - m->kept[slot];
            if (continuous_steps(m, v)) return 0;
            for (int i = 0; i < n; i++) rate[s * N_IMPOSED + i] = (v[m->reset_slot[which[i]]] - now[i]) / h * mode->nominal[s];
            memcpy(v, m->kept, sizeof m->v);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) a[i * n + j] += rate[s * N_IMPOSED + i] * rate[s * N_IMPOSED + j];
        }
        for (int i = 0; i < n; i++) if (a[i * (n + 1)] > size) size = a[i * (n + 1)];
        for (int i = 0; i < n; i++) a[i * (n + 1)] += 1e-12 * size;
        if (size == 0.0 || saltus_lu(n, a, r)) return 0;
        for (int s = 0; s < mode->states; s++) {
            if (mode->stage[s] != stage || fixed[s]) continue;
            for (int i = 0; i < n; i++) v[mode->state[s].slot] += mode->nominal[s] * rate[s * N_IMPOSED + i] * r[i];
        }
    }
    return 0;
}

/* The same, highest derivatives' integrals first; what was reset itself stays. */
static void impose(NAME *m, int done) {
    unsigned char fixed[N_STATES + 1];
    const char *message = m->message;
    for (int stage = 8; N_IMPOSED && stage >= 0; stage--) {
        int any = 0;
        for (int i = 0; i < m->resets; i++) any |= modes[m->mode].target[m->reset_by[i]] == stage;
        if (!any) continue;
        for (int s = 0; s < modes[m->mode].states; s++) {
            fixed[s] = 0;
            for (int k = 0; k < done; k++) fixed[s] |= m->reset_done[k] == modes[m->mode].state[s].slot;
        }
        memcpy(m->before, m->v, sizeof m->v);
        if (!impose_stage(m, stage, fixed)) memcpy(m->v, m->before, sizeof m->v);
        m->message = message;
    }
}

/* A mode that ends in the instant it began in has values all the same: the next one starts from them. */
static void transient_values(NAME *m) {
    double *v = m->v;
    const char *message = m->message;
    int fine = 1;
    for (int i = 0; i < N_DISCRETE; i++) { m->decided[i] = v[memory[i].slot]; v[memory[i].slot] = m->conditions[i]; }
    for (int i = 0; i < modes[m->mode].cells; i++) v[modes[m->mode].cell[i]] = m->left_values[i];
    fine = !saltus_told(m, continuous_steps(m, v));
    for (int i = 0; i < modes[m->mode].cells; i++) fine &= isfinite(v[modes[m->mode].cell[i]]) != 0;
    if (fine) hold_cells(m);
    m->message = message;
    for (int i = 0; i < N_DISCRETE; i++) v[memory[i].slot] = m->decided[i];
}

/* Whether resets by one relation accumulate: their distances shrink, and what is left of them is short. */
static int accumulates(NAME *m, int i) {
    double t = m->v[TIME], gap = t - m->last[i], ratio = gap / m->gap[i], span = STOP - start_values[TIME];
    m->shrinking[i] = ratio < 0.995 ? m->shrinking[i] + 1 : 0;
    if (m->shrinking[i] < 2 || ratio > m->ratio[i]) m->ratio[i] = ratio;
    m->last[i] = t;
    m->gap[i] = gap;
    return m->shrinking[i] >= 4 && gap * m->ratio[i] / (1.0 - m->ratio[i]) < 1e-5 * span;
}

/* Handles the event at the present time; relations with `fired` have just crossed. */
static int event_at(NAME *m) {
    double *v = m->v;
    int ticking = 0, status;
    remember(v);
    if (m->ending) v[TERMINAL % N_VALUES] = 1.0;
    for (int i = 0; i < N_RELATIONS; i++) { crossing(v, i); m->left[i] = v[relations[i].g]; }
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        if (!m->fired[i]) continue;
        if (r->kind < 4) v[r->var] = 1.0 - v[r->var];
        else v[r->var] += v[r->g] < v[r->var] + 0.5 ? -1.0 : 1.0;
    }
    double t = v[TIME], tiny = 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3);
    for (int k = 0; k < N_TICKERS; k++)
        if (tickers[k].start + m->ticks[k] * tickers[k].interval <= t + tiny) {
            m->ticks[k] += 1.0;
            v[tickers[k].slot] = 1.0;
            v[tickers[k].pre] = 0.0;
            ticking = 1;
        }
    int reset = 0, changes = 0, fresh = 0;
    hold_cells(m);
    memset(m->judged, 0, sizeof m->judged);
    for (int iteration = 0;; iteration++) {
        int changed = 0, moved = 0, over = 0, switched, displaced = 0;
        if (iteration > 200) { m->message = "discrete values find no end of changes"; return SALTUS_EVENTS; }
        if (fresh) for (int i = 0; i < N_DISCRETE; i++) m->conditions[i] = v[memory[i].slot];
        if (N_MODES > 1) {
            /* Conditions first: if they end the mode, its equations are not solved again. */
            for (int i = 0; i < N_DISCRETE; i++) m->kept[i] = v[memory[i].slot];
            if ((status = saltus_told(m, guard_steps(m, v)))) return status;
            over = mode_now(m) != m->mode;
            for (int i = 0; i < N_DISCRETE && !over; i++) v[memory[i].slot] = m->kept[i];
        }
        if (!over && (status = saltus_told(m, event_steps(m, v)))) return status;
        m->resets = 0;
        if ((status = reactions(m, v, &changed))) return status;
        for (int i = 0; i < N_DISCRETE; i++) changed |= v[memory[i].slot] != v[memory[i].pre];
        switched = N_MODES > 1 && mode_now(m) != m->mode;
        /* A constraint that reads a discrete variable may move the states although the mode stays. */
        for (int i = 0; !switched && i < modes[m->mode].latent; i++)
            displaced |= v[modes[m->mode].late[i].slot] != v[modes[m->mode].late[i].pre];
        if (fresh && switched) transient_values(m);
        else if (fresh && !displaced) hold_cells(m);
        fresh = 0;
        if (switched || displaced)
            for (int i = 0; i < modes[m->mode].cells; i++) {
                int free = 1;
                for (int k = 0; k < reset; k++) free &= m->reset_done[k] != modes[m->mode].cell[i];
                if (free) v[modes[m->mode].cell[i]] = m->left_values[i];
            }
        for (int i = 0; i < m->resets; i++) {
            moved |= v[m->reset_slot[i]] != m->reset_value[i];
            v[m->reset_slot[i]] = m->reset_value[i];
            int known = 0;
            for (int k = 0; k < reset; k++) known |= m->reset_done[k] == m->reset_slot[i];
            if (!known && reset < N_RESETS) m->reset_done[reset++] = m->reset_slot[i];
        }
        /* A guarded constraint may give way to what a reset wants. */
        int gone = 0;
        if (!switched && !displaced && m->resets && !(gone = released(m))) impose(m, reset);
        remember(v);
        int was = m->mode;
        if (switched) {
            if ((status = enter_mode(m, mode_now(m)))) return status;
        } else if (displaced && (status = enter_mode(m, was))) return status;
        switched |= gone || m->mode != was;
        if (switched) {
            if (++changes > 64) { m->message = "the modes change without end"; return SALTUS_EVENTS; }
            fresh = 1;
        }
        if (switched || displaced) hold_cells(m);
        if (changed || moved || switched) continue;
        if (!ticking) break;
        ticking = 0;
        hold_cells(m);
        for (int k = 0; k < N_TICKERS; k++) v[tickers[k].slot] = v[tickers[k].pre] = 0.0;
        if ((status = saltus_told(m, event_steps(m, v)))) return status;
        /* A mode that holds at the tick alone ends with it. */
        if (N_MODES == 1 || mode_now(m) == m->mode) { remember(v); break; }
    }
    if (singular(m, v)) { m->message = "equations of this mode depend on each other"; return SALTUS_MODE; }
    m->sudden = reset || changes;
    memset(m->signs, 0, sizeof m->signs);
    for (int i = 0; i < N_RELATIONS; i++) {
        if (m->fired[i] && reset && accumulates(m, i)) { m->message = "infinitely many events in a finite time"; return SALTUS_ZENO; }
        m->fired[i] = 0;
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
    /* Jumps of delayed signals arrive. */
    for (int k = 0; k < N_DELAYS; k++) {
        if (m->line[k].lock == INFINITY) continue;
        delay_length(m->v, k);
        at = m->line[k].lock + m->v[delays[k].length];
        if (at < t) at = t;
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

/* Jumps that have arrived are read from now on. */
static void arrive_delays(NAME *m) {
    double t = m->v[TIME], tiny = 1e-12 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3);
    for (int k = 0; k < N_DELAYS; k++) {
        delay_length(m->v, k);
        if (t - m->v[delays[k].length] >= m->line[k].lock - tiny) m->line[k].lock = saltus_jump(&m->line[k], m->line[k].lock);
    }
    read_delays(m);
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

/* The size of state i: the largest value it has had. */
static double state_size(const NAME *m, int i, double x, double y) {
    uint32_t slot = modes[m->mode].state[i].slot;
    double size = fmax(fmax(fabs(x), fabs(y)), 1e-6 * modes[m->mode].nominal[i]);
    return N_STATES && m->greatest[slot] > size ? m->greatest[slot] : size;
}

/* Consistent values at the start time, computed by Saltus. */
int NAME_start(NAME *m) {
    memcpy(m->v, start_values, sizeof start_values);
    m->mode = FIRST_MODE;
#ifdef SALTUS_FUNCTIONS
    memset(m->functions.valid, 0, sizeof m->functions.valid);
    m->functions.message = 0;
#ifdef SALTUS_TEXT
    m->functions.text_top = 0;
#endif
    m->host.call = saltus_call;
    m->host.call_der = saltus_call_der;
    m->host.self = &m->functions;
#endif
    m->resets = m->held = m->ending = m->sudden = 0;
    m->pace = INFINITY;
    m->error = m->strain = 0.0;
    memset(m->greatest, 0, sizeof m->greatest);
    memset(m->signs, 0, sizeof m->signs);
    m->message = 0;
    memset(m->fired, 0, sizeof m->fired);
    memset(m->shrinking, 0, sizeof m->shrinking);
    for (int i = 0; i < N_RELATIONS; i++) m->last[i] = m->gap[i] = -INFINITY;
    (void)&saltus_solve; /* not every model needs all of the above */
    (void)&relation;
    (void)&saltus_factor;
    (void)&saltus_back;
    (void)&solve_mixed;
    for (int i = 0; i < N_RELATIONS; i++) m->size[i] = 0.0;
    for (int k = 0; k < N_TICKERS; k++) {
        double t = m->v[TIME];
        m->ticks[k] = tickers[k].start >= t ? 0.0 : ceil((t - tickers[k].start) / tickers[k].interval - 1e-9);
    }
    (void)&saltus_delayed;
    /* Signals that are delayed have always had the values they start with. */
    int status = event_at(m);
    for (int k = 0; k < N_DELAYS; k++) { m->line[k].first = m->line[k].count = 0; m->line[k].reach = 0.0; m->line[k].lock = INFINITY; }
    if (status || (status = note_delays(m)) || !N_DELAYS) return status;
    read_delays(m);
    if ((status = event_at(m))) return status;
    return note_delays(m);
}

/* One step of the classical Runge-Kutta method from x at t; everything is evaluated at the end. Two evaluations at the end of the
   step tell its error and, by how far apart their arguments are, what the step is to the fastest motion (Hairer and Wanner 1996,
   section IV.2). */
static int rk4(NAME *m, double t, double h, const double *x, double *y) {
    static const double c[4] = {0.0, 0.5, 0.5, 1.0}, w[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[N_STATES + 1], z[N_STATES + 1], rise = 0.0, apart = 0.0;
    int status;
    for (int i = 0; i < modes[m->mode].states; i++) y[i] = x[i];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < modes[m->mode].states; i++) z[i] = s ? x[i] + h * c[s] * k[i] : x[i];
        if ((status = NAME_derivatives(m, t + c[s] * h, z, k))) return status;
        for (int i = 0; i < modes[m->mode].states; i++) y[i] += h * w[s] * k[i];
        for (int i = 0; !s && i < modes[m->mode].states; i++) m->leaving[i] = k[i];
        if (!states_suit(m, m->v)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
    }
    if ((status = NAME_derivatives(m, t + h, y, m->arriving))) return status;
    m->error = 0.0;
    for (int i = 0; i < modes[m->mode].states; i++) {
        double size = state_size(m, i, x[i], y[i]), r = fabs(m->arriving[i] - k[i]) / size, a = fabs(y[i] - z[i]) / size;
        if (h / 6.0 * r > m->error) m->error = h / 6.0 * r;
        rise += r * r;
        apart += a * a;
    }
    m->strain = apart > 0.0 ? h * sqrt(rise / apart) : 0.0;
    return SALTUS_OK;
}

#ifdef SALTUS_STIFF
/* One step of a Rosenbrock method of third order for stiff models (RODAS3: Sandu et al. 1997), L-stable; derivatives by x and t
   are differences, made once from where the step begins. */
static int advance(NAME *m, double t, double h, const double *x, double *y) {
    static const double a[4][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {2.0, 0.0, 1.0}};
    static const double c[4][3] = {{0.0, 0.0, 0.0}, {4.0, 0.0, 0.0}, {1.0, -1.0, 0.0}, {1.0, -1.0, -8.0 / 3.0}};
    static const double alpha[4] = {0.0, 0.0, 1.0, 1.0}, gamma[4] = {0.5, 1.5, 0.0, 0.0}, weight[4] = {2.0, 0.0, 1.0, 1.0};
    double k[4][N_STATES + 1], z[N_STATES + 1], f[N_STATES + 1];
    int pivot[N_STATES + 1], n = modes[m->mode].states, status;
    if (!m->linearized) {
        double dt = 1e-7 * h;
        if ((status = NAME_derivatives(m, t, x, f)) || (status = NAME_derivatives(m, t + dt, x, m->drift))) return status;
        for (int i = 0; i < n; i++) { m->drift[i] = (m->drift[i] - f[i]) / dt; z[i] = x[i]; }
        for (int j = 0; j < n; j++) {
            double step = 1e-7 * (fabs(x[j]) + modes[m->mode].nominal[j]);
            z[j] = x[j] + step;
            if ((status = NAME_derivatives(m, t, z, k[0]))) return status;
            for (int i = 0; i < n; i++) m->jacobian[i * n + j] = (k[0][i] - f[i]) / (z[j] - x[j]);
            z[j] = x[j];
        }
        m->linearized = 1;
    }
    for (int i = 0; i < n * n; i++) m->factors[i] = -m->jacobian[i];
    for (int i = 0; i < n; i++) { m->factors[i * (n + 1)] += 2.0 / h; y[i] = x[i]; }
    if (saltus_factor(n, m->factors, pivot)) return SALTUS_UNSOLVED;
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < n; i++) {
            z[i] = x[i];
            for (int r = 0; r < s; r++) z[i] += a[s][r] * k[r][i];
        }
        if ((status = NAME_derivatives(m, t + alpha[s] * h, z, k[s]))) return status;
        for (int i = 0; !s && i < n; i++) m->leaving[i] = k[0][i];
        if (!states_suit(m, m->v)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
        for (int i = 0; i < n; i++) {
            k[s][i] += gamma[s] * h * m->drift[i];
            for (int r = 0; r < s; r++) k[s][i] += c[s][r] / h * k[r][i];
        }
        saltus_back(n, m->factors, pivot, k[s]);
        for (int i = 0; i < n; i++) y[i] += weight[s] * k[s][i];
    }
    return NAME_derivatives(m, t + h, y, m->arriving);
}
#else
#define advance rk4
#endif

/* Marks the relations that have left their held values; whether there are any. */
static int crossed(NAME *m) {
    int any = 0;
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        if (r->timed || !modes[m->mode].active[i]) continue;
        crossing(m->v, i);
        double g = m->v[r->g], old = m->v[r->var];
        if (fabs(g) > m->size[i]) m->size[i] = fabs(g);
        if (r->kind == 4 ? (g < old - 1e-9 || g >= old + 1.0 + 1e-9)
                         : ((old != 0.0) == (r->kind >= 2) ? g : -g) < -saltus_band(m, i))
            m->fired[i] = any = 1;
    }
    return any;
}

/* ---- inside a step ---- */

/* A step from x to y, and the functions of relations at its ends and in its middle. */
typedef struct { double t, h; const double *x, *y; double begin[N_RELATIONS + 1], middle[N_RELATIONS + 1], end[N_RELATIONS + 1]; } saltus_span;

/* The functions of all relations at the present values. */
static void sample(NAME *m, double *g) {
    for (int i = 0; i < N_RELATIONS; i++) {
        if (relations[i].timed || !modes[m->mode].active[i]) continue;
        crossing(m->v, i);
        g[i] = m->v[relations[i].g];
    }
}

/* What stays above zero as long as relation i keeps its value; integer parts have an upper end, too. */
static double clearance(const NAME *m, int i, double g, int upper) {
    double old = m->v[relations[i].var];
    if (relations[i].kind == 4) return (upper ? old + 1.0 - g : g - old) + 1e-9;
    return ((old != 0.0) == (relations[i].kind >= 2) ? g : -g) + saltus_band(m, i);
}

/* Evaluates at a part c of the step: on the cubic that has the values and derivatives of both ends, or by a step of its own if
   that leaves the domain. 1 if a relation has left its value there, -1 if nothing can be evaluated. */
static int probe(NAME *m, const saltus_span *s, double c, double *g) {
    double z[N_STATES + 1], f[N_STATES + 1], d = 1.0 - c;
    for (int i = 0; i < modes[m->mode].states; i++)
        z[i] = (1.0 + 2.0 * c) * d * d * s->x[i] + c * c * (3.0 - 2.0 * c) * s->y[i]
             + s->h * c * d * (d * m->leaving[i] - c * m->arriving[i]);
    if (NAME_derivatives(m, s->t + c * s->h, z, f)) { m->message = 0; return -1; }
    sample(m, g);
    for (int i = 0; i < N_RELATIONS; i++) {
        if (relations[i].timed || !modes[m->mode].active[i]) continue;
        if (clearance(m, i, g[i], 0) < 0.0 || (relations[i].kind == 4 && clearance(m, i, g[i], 1) < 0.0)) return 1;
    }
    return 0;
}

/* Where between -1 and 1 the parabola through a, b, c at -1, 0, 1, give or take a cubic that vanishes there, has a minimum below
   zero; 2 if nowhere. */
static double dip(double a, double b, double c, double cubic) {
    double slope = 0.5 * (c - a), bend = 0.5 * (a + c) - b;
    for (int k = 0; k < 3; k++) {
        double third = k == 0 ? 0.0 : k == 1 ? cubic : -cubic, first = slope - third, x;
        if (third == 0.0) {
            if (k || bend <= 0.0) continue;
            x = -0.5 * first / bend;
        } else {
            double root = bend * bend - 3.0 * third * first;
            if (root <= 0.0) continue;
            /* The root of the derivative with a rising slope, without cancellation. */
            x = bend > 0.0 ? -first / (bend + sqrt(root)) : (sqrt(root) - bend) / (3.0 * third);
        }
        if (x > -1.0 && x < 1.0 && b + x * (first + x * (bend + x * third)) < 0.0) return x;
    }
    return 2.0;
}

/* The first part of the step found, between two parts l and r of it, where a relation has left its value; 2 if there is none. The
   functions are known at l, r and between. Where third differences leave it open, halves are looked into. */
static double look(NAME *m, const saltus_span *s, int level, double l, double r, const double *gl, const double *gm, const double *gr) {
    double *g1 = m->inside[2 * level], *g3 = m->inside[2 * level + 1], quarter = 0.25 * (r - l), found;
    int at;
    if ((at = probe(m, s, l + quarter, g1))) return at > 0 ? l + quarter : 2.0;
    if ((at = probe(m, s, r - quarter, g3)) < 0) return 2.0;
    double limit = at ? r - quarter : 2.0;
    for (int half = 0; half < (at ? 1 : 2); half++) {
        const double *a = half ? gm : gl, *b = half ? g3 : g1, *c = half ? gr : gm;
        double centre = half ? r - quarter : l + quarter, place = 2.0;
        int open = 0;
        for (int i = 0; i < N_RELATIONS; i++) {
            if (relations[i].timed || !modes[m->mode].active[i]) continue;
            double d1 = g3[i] - 3.0 * gm[i] + 3.0 * g1[i] - gl[i], d2 = gr[i] - 3.0 * g3[i] + 3.0 * gm[i] - g1[i];
            double cubic = (fmax(fabs(d1), fabs(d2)) + fabs(d2 - d1)) / 3.0;
            for (int upper = 0; upper < (relations[i].kind == 4 ? 2 : 1); upper++) {
                double p = clearance(m, i, a[i], upper), q = clearance(m, i, b[i], upper), e = clearance(m, i, c[i], upper);
                double x = dip(p, q, e, cubic);
                if (x < 2.0) { open = 1; if (centre + x * quarter < place) place = centre + x * quarter; }
            }
        }
        if (!open) continue;
        if (probe(m, s, place, m->spare) > 0) return place;
        if (level < SALTUS_INSIDE && (found = look(m, s, level + 1, centre - quarter, centre + quarter, a, b, c)) < 2.0) return found;
    }
    return limit;
}

/* The same for the whole step, at whose end the values stay. */
static double look_inside(NAME *m, double t, double h, const double *x, const double *y) {
    saltus_span s = {t, h, x, y, {0}, {0}, {0}};
    double found = 2.0;
    int watched = 0, at;
    for (int i = 0; i < N_RELATIONS; i++) watched |= !relations[i].timed && modes[m->mode].active[i];
    if (!watched || !SALTUS_INSIDE) return found;
    memcpy(m->ahead, m->v, N_RELATIONS ? sizeof m->v : 0);
    sample(m, s.end);
    if (!probe(m, &s, 0.0, s.begin)) {
        at = probe(m, &s, 0.5, s.middle);
        if (!at) found = look(m, &s, 0, 0.0, 1.0, s.begin, s.middle, s.end);
        else if (at > 0) found = 0.5;
    }
    memcpy(m->v, m->ahead, N_RELATIONS ? sizeof m->v : 0);
    return found;
}

/* Goes on by h, through all events on the way; `event` is called before and after each. */
int NAME_step(NAME *m, double h, void (*event)(NAME *, void *), void *user) {
    double t = m->v[TIME], end = t + h, x[N_STATES + 1], y[N_STATES + 1];
    int status, guard = 0;
    while (t < end - 1e-12 * (fabs(h) + fabs(t))) {
        double due = NAME_next_event(m), to = due < end ? due : end;
        if (to > t + m->pace) to = t + m->pace;
        m->pace *= 8.0;
#ifdef SALTUS_STIFF
        m->linearized = 0;
#endif
        int fired = 0;
        if (++guard > 10000) { m->message = "too many events in one step: it may be a slide along a switching line"; return SALTUS_EVENTS; }
        if (due > t) {
            NAME_get_states(m, x);
            status = advance(m, t, to - t, x, y);
            if (status == SALTUS_DOMAIN || status == SALTUS_UNSOLVED || status == SALTUS_STATES) {
                /* Beyond the edge of a domain, or of what the states determine: an event may lie before it. */
                double part = to - t, least = 1e-12 * (fabs(t) + part);
                const char *why = m->message;
                int reason = status;
                while (status && part > least) {
                    part *= 0.5;
                    status = advance(m, t, part, x, y);
                }
                if (status || part <= least) { m->message = why; return reason; }
                to = t + part;
            } else if (status) return status;
            m->message = 0;
            fired = crossed(m);
            /* What crosses and comes back before the end: the step ends where it is beyond its edge. */
            double hair = 1e-9 * (to - t);
            for (int round = 0; round < 20; round++) {
                double part = look_inside(m, t, to - t, x, y);
                if (part >= 1.0) break;
                memset(m->fired, 0, sizeof m->fired);
                if ((status = advance(m, t, part * (to - t), x, y))) return status;
                to = t + part * (to - t);
                fired = crossed(m);
            }
#ifndef SALTUS_STIFF
            /* What follows an instability has nothing to do with the model. */
            if (m->error > (m->strain > 2.8 ? 1e-3 : 1e-2)) { m->message = SALTUS_TOO_LONG; return SALTUS_STEP; }
#endif
            if (fired) {
                /* The end of the step is beyond the event: bisection of the step. What crosses within a billionth of the step
                   crosses at the same instant. */
                double a = 0.0, b = to - t;
                for (int i = 0; i < 60 && b - a > 1e-14 * (fabs(t) + b); i++) {
                    double c = 0.5 * (a + b);
                    memset(m->fired, 0, sizeof m->fired);
                    if (advance(m, t, c, x, y) || crossed(m)) b = c; else a = c;
                }
                memset(m->fired, 0, sizeof m->fired);
                if (!advance(m, t, b + hair, x, y)) crossed(m);
                if ((status = advance(m, t, b, x, y))) return status;
                crossed(m);
                m->message = 0;
                t += b;
            } else t = to;
            m->v[TIME] = t;
            for (int i = 0; i < modes[m->mode].states; i++) {
                uint32_t slot = modes[m->mode].state[i].slot;
                m->greatest[slot] = state_size(m, i, x[i], m->v[slot]);
            }
            if (!states_suit(m, m->v)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
            if ((status = note_delays(m))) return status;
        }
        if (fired || due <= t + 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3)) {
            if (event) event(m, user);
            arrive_delays(m);
            if ((status = event_at(m)) || (status = note_delays(m))) return status;
            /* What was set in motion anew may come back soon. */
            if (m->sudden) m->pace = 1e-6 * h;
            if (event) event(m, user);
        }
    }
    return assertions(m, m->v);
}

/* The end of the run: what waits for terminal() happens. */
int NAME_finish(NAME *m) {
    if (TERMINAL == SALTUS_NONE) return SALTUS_OK;
    m->ending = 1;
    return event_at(m);
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

/* What a status means where the model itself has no message. */
static const char *const status_words[] = {
    "", "simultaneous equations could not be solved: a shorter step or other start values may help",
    "a function was called outside its domain", "an assertion failed",
    "events find no end, or no choice of branches solves the equations", "the model ended the run",
    "a delay reaches further back than DELAY_CAPACITY points", "the equations have no mode that could be entered here",
    "an impulse stands where it is not linear", "infinitely many events in a finite time",
    SALTUS_OTHER_STATES, SALTUS_TOO_LONG
};

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
    if (!status && TERMINAL != SALTUS_NONE && !(status = NAME_finish(&m))) row(&m, 0);
    if (status == SALTUS_TERMINATED) return 0;
    if (status) fprintf(stderr, "stopped at time %g: status %d: %s\n", m.v[TIME], status, m.message ? m.message : status_words[status]);
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
