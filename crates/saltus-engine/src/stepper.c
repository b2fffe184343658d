
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

/* The size of a relation's function: the largest value it has had. */
static double saltus_extent(const NAME *m, int i) {
    return m->size[i] > relations[i].least ? m->size[i] : relations[i].least;
}

static double saltus_band(const NAME *m, int i) {
    double band = 1e-12 * m->slack * saltus_extent(m, i);
    return band < relations[i].finest ? band : relations[i].finest;
}

/* Whether a relation may switch between events. */
static int watched(const NAME *m, int i) {
    return !relations[i].timed && m->now->active[i] && !m->frozen[i];
}

/* Evaluates a relation into its variable: the held value stays unless g is beyond doubt on the other side. */
static void relation(NAME *m, int i) {
    double *v = m->v, next;
    const saltus_relation *r = &relations[i];
    crossing(v, i);
    double g = v[r->g], old = v[r->var], band = saltus_band(m, i);
    if (m->held || m->frozen[i]) return;
    if (r->timed) {
        timing(v, i);
        v[r->var] = saltus_switch(r->kind, v[r->slope], v[r->rest], v[TIME], &next);
    } else if (r->kind == 4) {
        double w = band > 1e-9 ? band : 1e-9;
        if ((m->slack == 1.0 && !(fabs(g - m->left[i]) <= 4.0 * w)) || g < old - w || g >= old + 1.0 + w) v[r->var] = floor(g + w);
    } else if (m->slack == 1.0 && !(fabs(g - m->left[i]) <= 4.0 * band)) {
        v[r->var] = saltus_plain(r->kind, fabs(g) <= band ? 0.0 : g);
    } else {
        double side = (old != 0.0) == (r->kind >= 2) ? g : -g;
        if (side < -band) v[r->var] = old == 0.0;
    }
}

static void remember(double *v) {
    for (int i = 0; i < N_MEMORY; i++) v[memory[i].pre] = v[memory[i].slot];
}

/* A loop through discrete and continuous unknowns: iterated to a fixed point; if there is none, the nearest of its modes that
   agrees with itself. */
static int solve_mixed(NAME *m, const mixed_loop *b) {
    double *v = m->v, *first = m->mixed, *before = first + b->slots, *guess = before + b->slots;
    const char *message = m->message;
    int status = SALTUS_EVENTS, same = 0, settled = 0;
    for (int i = 0; i < b->slots; i++) first[i] = v[b->slot[i]];
    for (int i = 0; i < b->unknowns; i++) guess[i] = v[b->unknown[i]];
    for (int round = 0; round < (b->unknowns ? 40 : 1000); round++) {
        for (int i = 0; i < b->slots; i++) before[i] = v[b->slot[i]];
        if ((status = saltus_told(m, b->continuous(m, v)))) break;
        if ((status = saltus_told(m, b->discrete(m, v)))) return status;
        same = settled = 1;
        for (int i = 0; i < b->slots; i++) {
            same &= before[i] == v[b->slot[i]];
            settled &= fabs(before[i] - v[b->slot[i]]) <= 8.0 * 2.220446049250313e-16 * fabs(before[i]);
        }
        if (same) return SALTUS_OK;
        status = SALTUS_EVENTS;
    }
    /* Nothing but rounding changed in the last round. */
    if (settled && status == SALTUS_EVENTS) return SALTUS_OK;
    if (m->held || b->bits > 12) return status;
    /* Where none agrees to the last digits, rounding may be what keeps them apart. */
    for (double slack = 1.0; slack <= 1e6; slack *= 1e3)
        for (int weight = slack == 1.0; weight <= b->bits; weight++)
            for (unsigned mask = 0; mask < 1u << b->bits; mask++) {
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
                if (failed || saltus_told(m, b->continuous(m, v))) continue;
                m->slack = slack;
                failed = saltus_told(m, b->discrete(m, v));
                m->slack = 1.0;
                if (failed) continue;
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
    for (int i = 0; i < m->now->cells; i++) m->left_values[i] = m->v[m->now->cell[i]];
}

static int rk4(NAME *m, double t, double h, const double *x, double *y);

/* Goes on with states of the same mode that determine the others better, if the present ones do so badly. */
static void suit_states(NAME *m) {
#if N_MODES == N_KEYS
    (void)m;
#else
    int best = m->mode, first = modes[m->mode].first;
    double now = states_suit(m, m->v, m->mode, 0), most = 2.0 * now;
    if (now >= 0.15) return;
    for (int k = 0; k < N_MODES; k++) {
        double other = modes[k].first == first ? states_suit(m, m->v, k, 0) : 0.0;
        if (other > most) { most = other; best = k; }
    }
    if (best != m->mode) memset(m->signs, 0, sizeof m->signs);
    set_mode(m, best);
#endif
}

/* Goes on with those states of the same mode that most of what is reset is among, of these with the ones that suit best. */
static void reset_states(NAME *m) {
#if N_MODES == N_KEYS
    (void)m;
#else
    int best = m->mode;
    double most = -1.0;
    for (int k = 0; k < N_MODES; k++) {
        if (modes[k].first != modes[m->mode].first) continue;
        double worth = states_suit(m, m->v, k, 0);
        for (int i = 0; i < m->resets; i++)
            for (int j = 0; j < modes[k].states; j++) worth += 2.0 * (modes[k].state[j].slot == m->reset_slot[i]);
        if (worth > most || (worth == most && k == m->mode)) { most = worth; best = k; }
    }
    if (best != m->mode) memset(m->signs, 0, sizeof m->signs);
    set_mode(m, best);
#endif
}

#define SALTUS_SPAN (STOP - start_values[TIME])
#define SALTUS_OTHER_STATES "other variables would have to be states from here on"
/* Errors of a step that say that the rest of the run means nothing: an explicit method near its limit has less to lose. */
#ifdef SALTUS_STIFF
#define SALTUS_ERROR 10.0
#else
#define SALTUS_ERROR (m->strain > 2.8 ? 1e-3 : 1e-2)
#endif
#ifdef SALTUS_STIFF
#define SALTUS_TOO_LONG "the step is too long for how fast the model moves: take shorter ones"
#else
#define SALTUS_TOO_LONG "the step is too long for how fast the model moves: take shorter ones, or compile with -DSALTUS_STIFF"
#endif

/* Relations at zero as a mode begins are judged by where the mode takes them, once at an event. */
static void leave_zero(NAME *m) {
    static const double steps[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
    double x[N_STATES + 1], y[N_STATES + 1], here[N_RELATIONS + 1], unit = 1.0, t = m->v[TIME];
    double moved[N_RELATIONS + 1];
    int near[N_RELATIONS + 1], any = 0, n = m->now->states;
    memcpy(m->kept, m->v, N_KEYS > 1 ? sizeof m->v : 0);
    if (N_KEYS == 1 || saltus_told(m, continuous_steps(m, m->v))) {
        if (N_KEYS > 1) memcpy(m->v, m->kept, sizeof m->kept);
        return;
    }
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        double size = saltus_extent(m, i);
        near[i] = 0;
        here[i] = 0.0;
        moved[i] = 0.0;
        if (!m->now->active[i] || r->kind == 4) continue;
        crossing(m->v, i);
        here[i] = m->v[r->g];
        if (fabs(here[i]) <= 1e-10 * size && !m->judged[m->mode][i]) { m->judged[m->mode][i] = 1; near[i] = any = 1; }
    }
    if (any) {
        for (int i = 0; i < n; i++) {
            x[i] = m->v[m->now->state[i].slot];
            double w = (fabs(x[i]) + 1.0) / (fabs(m->v[m->now->state[i].pre]) + 1e-30);
            if (w < unit) unit = w;
        }
        for (int k = 0; k < 5; k++) {
            if (rk4(m, t, steps[k] * unit, x, y)) break;
            for (int i = 0; i < N_RELATIONS; i++) {
                if (!near[i]) continue;
                crossing(m->v, i);
                double change = m->v[relations[i].g] - here[i], size = saltus_extent(m, i);
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
    int status;
    memcpy(v, m->base, sizeof m->base);
    if (!mode_known(m, to)) return SALTUS_MODE;
    set_conditions(m, to);
    set_mode(m, to);
    const saltus_restart *b = restart_of(m, to);
    if ((status = saltus_enter(b, v, m->work, m->impulse))) return status;
    suit_states(m);
    if ((status = saltus_told(m, continuous_steps(m, v)))) return status;
    leave_zero(m);
    memcpy(m->kept, v, sizeof m->kept);
    if (b->pushes) b->evaluate_pushes(v);
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!m->now->active[i]) continue;
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
    int was = m->mode, from = first_mode(m, was), status, failure = SALTUS_MODE, first = 0, last = 0, reached = key;
    short queue[N_KEYS];
    unsigned char tried[N_KEYS], queued[N_KEYS];
    const char *message = m->message;
    if (key < 0) return SALTUS_MODE;
    begin_search(m);
    if (N_KEYS == 1 || (mode_known(m, key) && !searched(m, key, from))) {
        set_mode(m, key);
        if ((status = saltus_enter(restart_of(m, key), m->v, m->work, m->impulse))) return status;
        suit_states(m);
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
        /* Neighbours: one more condition changed, of a mode without a solution any. */
        int n = neighbours(m, to, from);
        for (int g = 0; g < n; g++) {
            memcpy(m->v, m->base, sizeof m->base);
            set_conditions(m, to);
            uint32_t slot = neighbour(m, to, from, g);
            m->v[slot] = m->v[slot] == 0.0;
            int near = mode_now(m);
            if (near >= 0 && !tried[near] && !queued[near]) { queued[near] = 1; queue[last++] = (short)near; }
        }
    }
    memcpy(m->v, m->base, sizeof m->base);
    set_mode(m, was);
    if (!m->message) m->message = "no mode agrees with its own conditions";
    return failure;
}

/* After a reset in a mode whose constraints are guarded: the mode that the conditions ask for if the constraints were to undo
   it. Whether another mode was entered. */
static int released(NAME *m) {
    int was = m->mode, from = first_mode(m, was);
    const char *message = m->message;
    if (N_KEYS == 1 || !restart_of(m, from)->stages) return 0;
    set_mode(m, was);
    begin_search(m);
    if (!searched(m, from, from)) return 0;
    memcpy(m->before, m->v, sizeof m->before);
    memcpy(m->judging, m->judged, sizeof m->judged);
    if (!enter_mode(m, from) && m->mode != from) return 1;
    set_mode(m, was);
    m->message = message;
    memcpy(m->v, m->before, sizeof m->before);
    memcpy(m->judged, m->judging, sizeof m->judged);
    return 0;
}

/* Moves states of one stage by the least change so that variables that are reset and are no states take their values; 0 if the
   equations do not let them. */
static int impose_stage(NAME *m, int stage, const unsigned char *fixed) {
    double *v = m->v, *rate = m->rates, *a = rate + N_IMPOSED * N_STATES, *r = a + N_IMPOSED * N_IMPOSED, *now = r + N_IMPOSED;
    const saltus_mode *mode = m->now;
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
        for (int i = 0; i < m->resets; i++) any |= m->now->target[m->reset_by[i]] == stage;
        if (!any) continue;
        for (int s = 0; s < m->now->states; s++) {
            fixed[s] = 0;
            for (int k = 0; k < done; k++) fixed[s] |= m->reset_done[k] == m->now->state[s].slot;
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
    for (int i = 0; i < m->now->cells; i++) v[m->now->cell[i]] = m->left_values[i];
    fine = !saltus_told(m, continuous_steps(m, v));
    for (int i = 0; i < m->now->cells; i++) fine &= isfinite(v[m->now->cell[i]]) != 0;
    if (fine) hold_cells(m);
    m->message = message;
    for (int i = 0; i < N_DISCRETE; i++) v[memory[i].slot] = m->decided[i];
}

static int carry_over(NAME *m);
static double rest_sum(const NAME *m, int i);
static void end_rest(NAME *m, int i);
static int begin_rest(NAME *m, int i, int reset);
static int hardly_rebounds(NAME *m, int i);

/* Whether resets by one relation accumulate: their distances shrink, and what is left of them is short. */
static int accumulates(NAME *m, int i) {
    double t = m->v[TIME], gap = t - m->last[i], ratio = gap / m->gap[i], span = SALTUS_SPAN;
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
#ifdef SALTUS_FUNCTIONS
    saltus_forget(&m->functions);
#endif
    for (int i = 0; i < N_DISCRETE; i++) m->prior[i] = v[memory[i].slot];
    remember(v);
    if (m->ending) v[TERMINAL % N_VALUES] = 1.0;
    for (int i = 0; i < N_RELATIONS; i++) { crossing(v, i); m->left[i] = v[relations[i].g]; m->rested[i] = rest_sum(m, i); }
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        if (!m->fired[i]) continue;
        m->near[i] = m->far[i] = 0;
        if (r->kind < 4) {
            m->outside[i] = (v[r->var] != 0.0) == (r->kind >= 2) ? 1 : -1;
            v[r->var] = 1.0 - v[r->var];
        }
        else v[r->var] += v[r->g] < v[r->var] + 0.5 ? -1.0 : 1.0;
    }
    double t = v[TIME], tiny = 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3);
    for (int k = 0; k < N_TICKERS; k++)
        if (tickers[k].start + m->ticks[k] * tickers[k].interval <= t + tiny) {
            m->ticks[k] += 1.0;
            v[tickers[k].slot] = 1.0;
            v[tickers[k].pre] = 0.0;
            ticking = 2;
        }
    int reset = 0, changes = 0, fresh = 0;
    forget_modes(m);
    hold_cells(m);
    memset(m->judged, 0, sizeof m->judged);
    for (int iteration = 0;; iteration++) {
        int changed = 0, moved = 0, over = 0, switched, displaced = 0;
        if (iteration > 200) { m->message = "discrete values find no end of changes"; return SALTUS_EVENTS; }
        if (fresh) for (int i = 0; i < N_DISCRETE; i++) m->conditions[i] = v[memory[i].slot];
        if (N_KEYS > 1) {
            /* Conditions first: if they end the mode, its equations are not solved again. */
            for (int i = 0; i < N_DISCRETE; i++) m->kept[i] = v[memory[i].slot];
            if ((status = saltus_told(m, guard_steps(m, v)))) return status;
            over = mode_now(m) != first_mode(m, m->mode);
            if (over && (status = saltus_told(m, when_steps(m, v)))) return status;
            for (int i = 0; i < N_DISCRETE && !over; i++) v[memory[i].slot] = m->kept[i];
        }
        if (!over && (status = saltus_told(m, event_steps(m, v)))) return status;
        m->resets = 0;
        if ((status = saltus_told(m, reactions(m, v, &changed)))) return status;
        for (int i = 0; i < N_DISCRETE; i++) changed |= v[memory[i].slot] != v[memory[i].pre];
        switched = N_KEYS > 1 && mode_now(m) != first_mode(m, m->mode);
        /* A constraint that reads a discrete variable may move the states although the mode stays. */
        for (int i = 0; !switched && i < m->now->latent; i++)
            displaced |= v[m->now->late[i].slot] != v[m->now->late[i].pre];
        if (fresh && switched) transient_values(m);
        else if (fresh && !displaced) hold_cells(m);
        fresh = 0;
        if (switched || displaced)
            for (int i = 0; i < m->now->cells; i++) {
                int free = 1;
                for (int k = 0; k < reset; k++) free &= m->reset_done[k] != m->now->cell[i];
                if (free) v[m->now->cell[i]] = m->left_values[i];
            }
        for (int i = 0; i < m->resets; i++) {
            moved |= v[m->reset_slot[i]] != m->reset_value[i];
            v[m->reset_slot[i]] = m->reset_value[i];
            int known = 0;
            for (int k = 0; k < reset; k++) known |= m->reset_done[k] == m->reset_slot[i];
            if (!known && reset < N_RESETS) m->reset_done[reset++] = m->reset_slot[i];
        }
        if (m->resets && !switched) reset_states(m);
        /* A guarded constraint may give way to what a reset wants. */
        int gone = 0;
        if (!switched && !displaced && m->resets && !(gone = released(m))) impose(m, reset);
        remember(v);
        int was = first_mode(m, m->mode);
        if (switched) {
            if ((status = enter_mode(m, mode_now(m)))) return status;
        } else if (displaced && (status = enter_mode(m, was))) return status;
        switched |= gone || first_mode(m, m->mode) != was;
        if (switched) {
            if (++changes > 64) { m->message = "the modes change without end"; return SALTUS_EVENTS; }
            fresh = 1;
        }
        if (switched || displaced) hold_cells(m);
        /* Samplers are true in the first iteration alone; in the second their previous values are. A mode that has just been
           entered is solved at the tick; one that holds there alone ends with it. */
        if (ticking && !fresh) {
            ticking--;
            hold_cells(m);
            for (int k = 0; k < N_TICKERS; k++) {
                v[tickers[k].pre] = v[tickers[k].slot];
                v[tickers[k].slot] = 0.0;
            }
            continue;
        }
        if (!changed && !moved && !switched) break;
    }
    if (singular(m, v)) { m->message = "equations of this mode depend on each other"; return SALTUS_MODE; }
    m->sudden = reset || changes;
    memset(m->signs, 0, sizeof m->signs);
    suit_states(m);
    if (changes && (status = carry_over(m))) return status;
    for (int i = 0; i < N_RELATIONS; i++) {
        if (m->fired[i] && reset && (accumulates(m, i) || hardly_rebounds(m, i))) {
            m->message = "infinitely many events in a finite time (rest is known of one state alone)";
            if ((status = begin_rest(m, i, reset))) return status;
            m->message = 0;
        }
        m->slid[i] = m->fired[i] && !reset && !changes;
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
    for (int i = 0; i < m->now->states; i++) x[i] = m->v[m->now->state[i].slot];
}

/* The past goes on: signals that are delayed and flows are noted; at an `event` these may jump. */
static int note_delays(NAME *m, int event) {
#ifdef SALTUS_FLOWS
    for (int k = 0; k < SALTUS_FLOWS; k++) {
        flow_inputs(m->v, k);
        const double *v = m->v;
        if (!flow_note(&m->flow[k], v[TIME], v[flow_slots[k].in[0]], v[flow_slots[k].in[1]], v[flow_slots[k].x], v[flow_slots[k].forward] != 0.0, event))
            return SALTUS_HISTORY;
    }
#endif
    (void)event;
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
#ifdef SALTUS_FLOWS
    for (int k = 0; k < SALTUS_FLOWS; k++) { flow_inputs(m->v, k); flow_arrive(&m->flow[k], m->v[flow_slots[k].x]); }
#endif
    read_delays(m);
}

/* The derivatives of the states at time t, all relations held. */
int NAME_derivatives(NAME *m, double t, const double *x, double *dx) {
    m->v[TIME] = t;
    for (int i = 0; i < m->now->states; i++) m->v[m->now->state[i].slot] = x[i];
    read_delays(m);
    int status = saltus_told(m, continuous_steps(m, m->v));
    for (int i = 0; i < m->now->states; i++) {
        dx[i] = m->v[m->now->state[i].pre];
        if (!status && !isfinite(dx[i])) status = SALTUS_DOMAIN;
    }
    return status;
}

/* The size of state i: the largest value it has had. */
static double state_size(const NAME *m, int i, double x, double y) {
    uint32_t slot = m->now->state[i].slot;
    double size = fmax(fmax(fabs(x), fabs(y)), 1e-6 * m->now->nominal[i]);
    return N_STATES && m->greatest[slot] > size ? m->greatest[slot] : size;
}

/* Consistent values at the start time, computed by Saltus. */
int NAME_start(NAME *m) {
    memcpy(m->v, start_values, sizeof start_values);
    SALTUS_BEGIN(m);
#ifdef SALTUS_FUNCTIONS
    memset(m->functions.valid, 0, sizeof m->functions.valid);
    m->functions.message = 0;
#ifdef SALTUS_TEXT
    m->functions.text_top = 0;
#endif
#ifdef SALTUS_GENERATORS
    m->functions.generators = SALTUS_BEGUN;
    memcpy(m->functions.generator, saltus_begun, SALTUS_BEGUN * sizeof *saltus_begun);
#endif
    m->host.call = saltus_call;
    m->host.call_der = saltus_call_der;
    m->host.self = &m->functions;
#ifdef SALTUS_FLOWS
    m->functions.flow = m->flow;
    for (int k = 0; k < SALTUS_FLOWS; k++) flow_begin(&m->flow[k], flow_begins[k].points, flow_begins[k].n);
#endif
#endif
#ifdef SALTUS_OBJECTS
    saltus_begin(&m->functions);
    m->message = 0;
    if (m->functions.message) return saltus_told(m, SALTUS_DOMAIN);
#endif
    m->resets = m->held = m->ending = m->sudden = 0;
    m->pace = INFINITY;
    m->error = m->strain = 0.0;
    memset(m->greatest, 0, sizeof m->greatest);
    memset(m->signs, 0, sizeof m->signs);
    m->message = 0;
    memset(m->fired, 0, sizeof m->fired);
    memset(m->shrinking, 0, sizeof m->shrinking);
    memset(m->frozen, 0, sizeof m->frozen);
    memset(m->resting, 0, sizeof m->resting);
    memset(m->surface_of, 0, sizeof m->surface_of);
    memset(m->near, 0, sizeof m->near);
    memset(m->far, 0, sizeof m->far);
    m->rests = m->slides = 0;
    m->slack = 1.0;
    for (int i = 0; i < N_RELATIONS; i++) m->last[i] = m->gap[i] = m->fell[i] = -INFINITY;
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
    if (status || (status = note_delays(m, 1)) || !N_DELAYS) return status;
    read_delays(m);
    if ((status = event_at(m))) return status;
    return note_delays(m, 1);
}

/* ---- resting and sliding ---- */

/* How long differences in time are. */
#define SALTUS_MOMENT (1e-4 * (SALTUS_SPAN < 1.0 ? SALTUS_SPAN : 1.0))

/* dg/dt of relations while the states move by dx. */
static int rates(NAME *m, int n, const int *which, double t, const double *x, const double *dx, double *rate) {
    double z[N_STATES + 1] = {0}, f[N_STATES + 1] = {0}, d = SALTUS_MOMENT;
    int status;
    for (int side = 1; side >= -1; side -= 2) {
        for (int i = 0; i < m->now->states; i++) z[i] = x[i] + side * d * dx[i];
        if ((status = NAME_derivatives(m, t + side * d, z, f))) return status;
        for (int k = 0; k < n; k++) {
            crossing(m->v, which[k]);
            double g = m->v[relations[which[k]].g];
            rate[k] = side > 0 ? g : (rate[k] - g) / (2.0 * d);
        }
    }
    return SALTUS_OK;
}

/* The rate of relation i a moment later, if state k (or none) has the derivative a until then. */
static int turned(NAME *m, int i, int k, double a, double t, const double *x, const double *dx, double *rate) {
    double z[N_STATES + 1] = {0}, f[N_STATES + 1] = {0}, h = SALTUS_MOMENT;
    int status;
    for (int j = 0; j < m->now->states; j++) z[j] = x[j] + h * (j == k ? a : dx[j]);
    if ((status = NAME_derivatives(m, t + h, z, f))) return status;
    return rates(m, 1, &i, t + h, z, f, rate);
}

/* The state that relation i holds at rest, if it is one alone; -1 if it is none, -2 if there are several. */
static int held_state(const NAME *m, int i) {
    int found = -1;
    for (int k = 0; k < m->now->states; k++)
        for (int j = 0; j < m->holds[i]; j++)
            if (m->now->state[k].slot == m->hold[i][j]) found = found == -1 ? k : -2;
    return found;
}

/* Replaces the derivatives of what rests by those that keep the function of relation i at zero. */
static int hold_rest(NAME *m, int i, double t, const double *x, double *dx) {
    int k = held_state(m, i), status;
    double now, zero, one, pull = 10.0 / SALTUS_SPAN, h = SALTUS_MOMENT;
    if (k < 0) {
        for (int s = 0; s < m->now->states; s++)
            for (int j = 0; j < m->holds[i]; j++) if (m->now->state[s].slot == m->hold[i][j]) dx[s] = 0.0;
        return SALTUS_OK;
    }
    crossing(m->v, i);
    double g = m->v[relations[i].g];
    if ((status = rates(m, 1, &i, t, x, dx, &now)) || (status = turned(m, i, k, 0.0, t, x, dx, &zero))
        || (status = turned(m, i, k, 1.0, t, x, dx, &one))) return status;
    double slope = (one - zero) / h, want = -2.0 * pull * now - pull * pull * g, free = (zero - now) / h;
    dx[k] = fabs(slope) > 1e-9 ? (want - free) / slope : 0.0;
    return SALTUS_OK;
}

/* How strongly the free motion carries away what rests on relation i; positive: it leaves. */
static double lift(NAME *m, int i) {
    double x[N_STATES + 1] = {0}, dx[N_STATES + 1] = {0}, f[N_STATES + 1] = {0}, now, later, t = m->v[TIME], away = -1.0;
    NAME_get_states(m, x);
    int status = NAME_derivatives(m, t, x, dx), several = held_state(m, i) < 0;
    if (!status) status = rates(m, 1, &i, t, x, dx, &now);
    for (int s = 0; s < m->now->states; s++) {
        int held = 0;
        for (int j = 0; j < m->holds[i]; j++) held |= m->now->state[s].slot == m->hold[i][j];
        f[s] = several && !held ? 0.0 : dx[s];
    }
    if (!status && !turned(m, i, -1, 0.0, t, x, f, &later))
        away = m->outside[i] * (later - now) / SALTUS_MOMENT - 1e-9;
    m->message = 0;
    NAME_derivatives(m, t, x, dx);
    return away;
}

/* Whether what relation i has just turned comes back from within what counts as zero: its next event would not be seen. */
static int hardly_rebounds(NAME *m, int i) {
    double x[N_STATES + 1] = {0}, dx[N_STATES + 1] = {0}, now = 0.0, later = 0.0, t = m->v[TIME], away = m->outside[i];
    if (relations[i].kind == 4 || !N_STATES) return 0;
    NAME_get_states(m, x);
    int fails = NAME_derivatives(m, t, x, dx) || rates(m, 1, &i, t, x, dx, &now) || turned(m, i, -1, 0.0, t, x, dx, &later);
    m->message = 0;
    NAME_derivatives(m, t, x, dx);
    double turn = away * (now - later) / SALTUS_MOMENT;
    return !fails && away * now > 0.0 && turn > 0.0 && 0.5 * now * now / turn <= 8.0 * saltus_band(m, i);
}

/* A relation is on its own again; where its function is on the wrong side of zero by a hair, that is no event. */
static void set_free(NAME *m, int i) { m->frozen[i] = 2; }

static void end_rest(NAME *m, int i) {
    m->resting[i] = 0;
    m->rests--;
    m->shrinking[i] = 0;
    m->last[i] = m->gap[i] = -INFINITY;
    set_free(m, i);
}

/* Brings to rest what relation i holds. */
static int stand_still(NAME *m, int i) {
    double x[N_STATES + 1] = {0}, dx[N_STATES + 1] = {0}, rate[2], t = m->v[TIME];
    int k = held_state(m, i), status;
    NAME_get_states(m, x);
    if (k < 0) return SALTUS_ZENO;
    /* The value for which g stands still: its rate is affine in it. */
    for (int one = 0; one < 2; one++) {
        x[k] = one;
        if ((status = NAME_derivatives(m, t, x, dx)) || (status = rates(m, 1, &i, t, x, dx, &rate[one]))) return status;
    }
    x[k] = -rate[0] / (rate[1] - rate[0]);
    if (!isfinite(x[k])) x[k] = 0.0;
    status = NAME_derivatives(m, t, x, dx);
    remember(m->v);
    return status;
}

/* Rest where the events of relation i accumulate, of what they have reset. */
static int begin_rest(NAME *m, int i, int reset) {
    m->holds[i] = 0;
    for (int j = 0; j < reset; j++) m->hold[i][m->holds[i]++] = m->reset_done[j];
    m->v[relations[i].var] = saltus_plain(relations[i].kind, m->outside[i]);
    m->resting[i] = m->frozen[i] = 1;
    m->rests++;
    return stand_still(m, i);
}

/* What changes if the states that rest on relation i do. */
static double rest_sum(const NAME *m, int i) {
    double sum = 0.0;
    for (int j = 0; m->resting[i] && j < m->holds[i]; j++) sum += (j + 1) * m->v[m->hold[i][j]];
    return sum;
}

/* Gives the model one side of a surface. */
static void set_side(NAME *m, int k, int second) {
    for (int i = 0; i < N_DISCRETE; i++)
        if (m->sides[k][0][i] != m->sides[k][1][i]) m->v[memory[i].slot] = m->sides[k][second][i];
    for (int i = 0; i < N_RELATIONS; i++)
        if (m->surface_of[i] == k + 1)
            m->v[relations[i].var] = saltus_plain(relations[i].kind, (second ? -1.0 : 1.0) * m->begins[i]);
}

/* How far a surface is from holding the solution: positive once it must be left, because the share of a side has left [0, 1] or
   because both fields lead away from it. */
static double looseness(const saltus_surface *s) {
    double excess = fmax(-s->share, s->share - 1.0) - 1e-6;
    return fmax(excess, -s->hold / fmax(s->firmest, 1e-300) - 1e-9);
}

/* What a corner counts: bit k tells the side of surface k; without a factor for surface `apart`, whose sides then count with a sign. */
static double weight(int n, const double *share, int corner, int apart) {
    double w = 1.0;
    for (int k = 0; k < n; k++) {
        int second = corner >> k & 1;
        w *= k == apart ? (second ? 1.0 : -1.0) : second ? share[k] : 1.0 - share[k];
    }
    return w;
}

/* Filippov's field on n surfaces: a mix of the fields of all corners, whose shares are products of one share for each surface, so
   that d/dt g = 0 on every surface; what is left of g is drawn to zero as well. Where fields add up the equations are linear. */
static int slide_field(NAME *m, double t, const double *x, double *dx) {
    double f[1 << SALTUS_SLIDES][N_STATES + 1];
    double rate[1 << SALTUS_SLIDES][SALTUS_SLIDES], g[SALTUS_SLIDES], pull = 100.0 / SALTUS_SPAN;
    double a[SALTUS_SLIDES * SALTUS_SLIDES], b[SALTUS_SLIDES], share[2][SALTUS_SLIDES], hold[SALTUS_SLIDES];
    int lead[SALTUS_SLIDES], n = m->slides, status;
    for (int k = 0; k < n; k++) lead[k] = m->surface[k].lead;
    for (int corner = 0; corner < 1 << n; corner++) {
        for (int j = 0; j < n; j++) set_side(m, j, corner >> j & 1);
        if ((status = NAME_derivatives(m, t, x, f[corner]))) return status;
        for (int j = 0; !corner && j < n; j++) { crossing(m->v, lead[j]); g[j] = m->v[relations[lead[j]].g]; }
        if ((status = rates(m, n, lead, t, x, f[corner], rate[corner]))) return status;
    }
    for (int drawn = 1; drawn >= 0; drawn--) {
        int fails = 0;
        for (int k = 0; k < n; k++) share[drawn][k] = 0.0;
        for (int round = 0; round < 20 && !fails; round++) {
            double moved = 0.0;
            for (int j = 0; j < n; j++) {
                b[j] = drawn ? -pull * g[j] : 0.0;
                for (int k = 0; k < n; k++) a[j * n + k] = 0.0;
                for (int corner = 0; corner < 1 << n; corner++) {
                    b[j] -= weight(n, share[drawn], corner, -1) * rate[corner][j];
                    for (int k = 0; k < n; k++) a[j * n + k] += weight(n, share[drawn], corner, k) * rate[corner][j];
                }
                hold[j] = a[j * n + j];
            }
            fails = saltus_lu(n, a, b);
            for (int k = 0; k < n && !fails; k++) { share[drawn][k] += b[k]; moved = fmax(moved, fabs(b[k])); }
            if (n == 1 || moved < 1e-12) break;
        }
        for (int k = 0; k < n && fails; k++) share[drawn][k] = 0.5;
    }
    for (int k = 0; k < n; k++) {
        saltus_surface *s = &m->surface[k];
        s->share = share[0][k];
        s->hold = m->begins[s->lead] * hold[k];
        if (s->hold > s->firmest) s->firmest = s->hold;
        share[1][k] = fmin(fmax(share[1][k], 0.0), 1.0);
    }
    for (int i = 0; i < m->now->states; i++) dx[i] = f[0][i];
    for (int corner = 1; corner < 1 << n; corner++) {
        double part = weight(n, share[1], corner, -1);
        for (int i = 0; i < m->now->states; i++) dx[i] += part * (f[corner][i] - f[0][i]);
    }
    for (int j = 0; j < n; j++) set_side(m, j, m->surface[j].share >= 0.5);
    return NAME_derivatives(m, t, x, f[0]);
}

/* While the solution slides, values are those of the mix of all sides. */
static void blend(NAME *m) {
    double x[N_STATES + 1] = {0}, f[N_STATES + 1] = {0}, t = m->v[TIME], share[SALTUS_SLIDES];
    if (!m->slides) return;
    NAME_get_states(m, x);
    for (int k = 0; k < m->slides; k++) share[k] = fmin(fmax(m->surface[k].share, 0.0), 1.0);
    for (int corner = 0; corner < 1 << m->slides; corner++) {
        for (int j = 0; j < m->slides; j++) set_side(m, j, corner >> j & 1);
        if (NAME_derivatives(m, t, x, f)) return;
        if (!corner) { memcpy(m->ahead, m->v, sizeof m->ahead); memcpy(m->blended, m->v, sizeof m->ahead); continue; }
        double part = weight(m->slides, share, corner, -1);
        for (int i = 0; i < (int)(sizeof m->ahead / sizeof *m->ahead); i++)
            if (m->v[i] != m->ahead[i]) m->blended[i] += part * (m->v[i] - m->ahead[i]);
    }
    memcpy(m->v, m->blended, sizeof m->ahead);
    for (int j = 0; j < m->slides; j++) set_side(m, j, m->surface[j].share >= 0.5);
}

/* The discrete values on both sides of surface k; 0 if they cannot be computed. */
static int both_sides(NAME *m, int k) {
    int fine = 1;
    memcpy(m->ahead, m->v, sizeof m->ahead);
    for (int second = 0; second < 2 && fine; second++) {
        memcpy(m->v, m->ahead, sizeof m->ahead);
        for (int i = 0; i < N_RELATIONS; i++)
            if (m->surface_of[i] == k + 1)
                m->v[relations[i].var] = saltus_plain(relations[i].kind, (second ? -1.0 : 1.0) * m->begins[i]);
        m->held = 1;
        fine = !saltus_told(m, event_steps(m, m->v));
        m->held = 0;
        for (int i = 0; i < N_DISCRETE; i++) m->sides[k][second][i] = m->v[memory[i].slot];
    }
    memcpy(m->v, m->ahead, sizeof m->ahead);
    m->message = 0;
    return fine;
}

/* Rates of the leading function of surface k: [side whose function it is][side whose field moves the states]. */
static int side_rates(NAME *m, int k, double rate[2][2]) {
    double x[N_STATES + 1] = {0}, f[2][N_STATES + 1], t = m->v[TIME];
    int fine = 1;
    NAME_get_states(m, x);
    memcpy(m->ahead, m->v, sizeof m->ahead);
    for (int second = 0; second < 2 && fine; second++) { set_side(m, k, second); fine = !NAME_derivatives(m, t, x, f[second]); }
    for (int second = 0; second < 2 && fine; second++) {
        set_side(m, k, second);
        for (int by = 0; by < 2 && fine; by++) fine = !rates(m, 1, &m->surface[k].lead, t, x, f[by], &rate[second][by]);
    }
    memcpy(m->v, m->ahead, sizeof m->ahead);
    m->message = 0;
    return fine;
}

/* Whether the fields of both sides point to surface k; else `up` says whether they lead to the second side. */
static int attracts(NAME *m, int k, int *second) {
    double rate[2][2], sign = m->begins[m->surface[k].lead];
    *second = 1;
    if (!both_sides(m, k) || !side_rates(m, k, rate)) return 0;
    double a = -sign * rate[0][0], b = sign * rate[1][1], size = fmax(fabs(a), fabs(b));
    double across = -sign * rate[0][1], back = sign * rate[1][0];
    *second = fabs(a) > fabs(b) ? a > 0.0 : b < 0.0;
    if (!(size > 0.0 && a > 1e-9 * size && b > 1e-9 * size)) return 0;
    /* Each side's own function leads back, yet not by the motion of the states: a branch of solutions ends here. */
    if (across > 0.5 * a && back > 0.5 * b) return 0;
    if (m->surface[k].firmest < a + b) m->surface[k].firmest = a + b;
    m->surface[k].hold = a + b;
    return 1;
}

/* Takes surface k out; its relations are on their own. */
static void leave_surface(NAME *m, int k) {
    for (int i = 0; i < N_RELATIONS; i++) {
        if (m->surface_of[i] == k + 1) { m->surface_of[i] = 0; set_free(m, i); }
        else if (m->surface_of[i] > k + 1) m->surface_of[i]--;
    }
    m->slides--;
    for (int j = k; j < m->slides; j++) { m->surface[j] = m->surface[j + 1]; memcpy(m->sides[j], m->sides[j + 1], sizeof m->sides[j]); }
}

/* Into another mode: surfaces are found anew; what rests does so still if its states are part of the mode and were not set off. */
static int carry_over(NAME *m) {
    double x[N_STATES + 1] = {0}, dx[N_STATES + 1] = {0}, rate = 0.0, t = m->v[TIME];
    int status;
    while (m->slides) leave_surface(m, m->slides - 1);
    for (int i = 0; i < N_RELATIONS && m->rests; i++) {
        int found = 0;
        if (!m->resting[i]) continue;
        for (int k = 0; k < m->now->states; k++)
            for (int j = 0; j < m->holds[i]; j++) found += m->now->state[k].slot == m->hold[i][j];
        if (found < m->holds[i]) { end_rest(m, i); continue; }
        if (rest_sum(m, i) == m->rested[i]) continue;
        NAME_get_states(m, x);
        if ((status = NAME_derivatives(m, t, x, dx)) || (status = rates(m, 1, &i, t, x, dx, &rate))) return status;
        NAME_derivatives(m, t, x, dx);
        if (m->outside[i] * rate > 0.0) end_rest(m, i);
        else if ((status = stand_still(m, i))) return status;
    }
    return SALTUS_OK;
}

/* Whether relation j switches where relation i does: their functions are multiples of each other. The sign of the factor, or 0. */
static double alike(NAME *m, int i, int j) {
    double x[N_STATES + 1] = {0}, z[N_STATES + 1] = {0}, f[N_STATES + 1] = {0}, ratio = 0.0, t = m->v[TIME];
    NAME_get_states(m, x);
    for (int trial = 1; trial < 4; trial++) {
        for (int k = 0; k < m->now->states; k++)
            z[k] = x[k] + 1e-3 * (fabs(x[k]) + 1e-3) * ((double)((k + 1) * trial * 7919 % 1009) / 504.5 - 1.0);
        if (NAME_derivatives(m, t, z, f)) { ratio = 0.0; break; }
        crossing(m->v, i);
        crossing(m->v, j);
        double r = m->v[relations[j].g] / m->v[relations[i].g];
        if (!isfinite(r) || (trial > 1 && !(fabs(r - ratio) <= 1e-6 * fabs(r)))) { ratio = 0.0; break; }
        ratio = r;
    }
    m->message = 0;
    NAME_derivatives(m, t, x, f);
    return ratio > 0.0 ? 1.0 : ratio < 0.0 ? -1.0 : 0.0;
}

/* After an event: a relation that has switched to and fro may hold the solution on its surface. */
static int begin_slide(NAME *m, int i) {
    int k = m->slides, second;
    if (k == SALTUS_SLIDES || !m->now->states || relations[i].kind == 4 || relations[i].timed) return 0;
    saltus_surface *s = &m->surface[k];
    s->lead = i;
    s->share = 0.5;
    s->firmest = s->hold = 0.0;
    for (int j = 0; j < N_RELATIONS; j++) {
        if (m->frozen[j] || relations[j].timed || relations[j].kind == 4 || !m->now->active[j]) continue;
        crossing(m->v, j);
        if (j != i && fabs(m->v[relations[j].g]) > 1e-6 * saltus_extent(m, j)) continue;
        m->begins[j] = j == i ? 1.0 : alike(m, i, j);
        if (m->begins[j] == 0.0) continue;
        m->surface_of[j] = (unsigned char)(k + 1);
    }
    /* The first side is the one that was left last. */
    int after = (m->v[relations[i].var] != 0.0) == (relations[i].kind >= 2);
    for (int j = 0; j < N_RELATIONS; j++) if (m->surface_of[j] == k + 1 && after) m->begins[j] = -m->begins[j];
    int fine = attracts(m, k, &second);
    /* Without memory: what the event has changed follows from the side. */
    for (int d = 0; d < N_DISCRETE && fine; d++)
        fine = m->sides[k][0][d] == m->prior[d] && m->sides[k][1][d] == m->v[memory[d].slot];
    for (int j = 0; j < N_RELATIONS; j++)
        if (m->surface_of[j] == k + 1) { if (fine) m->frozen[j] = 1; else m->surface_of[j] = 0; }
    m->slides += fine;
    return fine;
}

/* After an event that another relation has made: surfaces that no longer hold the solution are left. */
static void review(NAME *m) {
    for (int k = m->slides - 1; k >= 0; k--) {
        int second;
        if (attracts(m, k, &second)) continue;
        set_side(m, k, second);
        leave_surface(m, k);
        event_at(m);
    }
}

/* The derivatives of the states, as what rests and what slides leave them. */
static int field(NAME *m, double t, const double *x, double *dx) {
    double f[N_STATES + 1];
    int status = m->slides ? slide_field(m, t, x, dx) : NAME_derivatives(m, t, x, dx);
    for (int i = 0; i < N_RELATIONS && m->rests && !status; i++)
        if (m->resting[i] && !(status = hold_rest(m, i, t, x, dx))) status = NAME_derivatives(m, t, x, f);
    return status;
}

/* One step of the classical Runge-Kutta method from x at t; everything is evaluated at the end. Two evaluations at the end of the
   step tell its error and, by how far apart their arguments are, what the step is to the fastest motion (Hairer and Wanner 1996,
   section IV.2). */
static int rk4(NAME *m, double t, double h, const double *x, double *y) {
    static const double c[4] = {0.0, 0.5, 0.5, 1.0}, w[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[N_STATES + 1], z[N_STATES + 1], rise = 0.0, apart = 0.0;
    int status;
    for (int i = 0; i < m->now->states; i++) y[i] = x[i];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < m->now->states; i++) z[i] = s ? x[i] + h * c[s] * k[i] : x[i];
        if ((status = field(m, t + c[s] * h, z, k))) return status;
        for (int i = 0; i < m->now->states; i++) y[i] += h * w[s] * k[i];
        for (int i = 0; !s && i < m->now->states; i++) m->leaving[i] = k[i];
        if (!(states_suit(m, m->v, m->mode, m->signs) > 0.02)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
    }
    if ((status = field(m, t + h, y, m->arriving))) return status;
    m->error = 0.0;
    for (int i = 0; i < m->now->states; i++) {
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
    int pivot[N_STATES + 1], n = m->now->states, status;
    if (!m->linearized) {
        double dt = 1e-7 * h;
        if ((status = field(m, t, x, f)) || (status = field(m, t + dt, x, m->drift))) return status;
        for (int i = 0; i < n; i++) { m->drift[i] = (m->drift[i] - f[i]) / dt; z[i] = x[i]; }
        for (int j = 0; j < n; j++) {
            double step = 1e-7 * (fabs(x[j]) + m->now->nominal[j]);
            z[j] = x[j] + step;
            if ((status = field(m, t, z, k[0]))) return status;
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
        if ((status = field(m, t + alpha[s] * h, z, k[s]))) return status;
        for (int i = 0; !s && i < n; i++) m->leaving[i] = k[0][i];
        if (!(states_suit(m, m->v, m->mode, m->signs) > 0.02)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
        for (int i = 0; i < n; i++) {
            k[s][i] += gamma[s] * h * m->drift[i];
            for (int r = 0; r < s; r++) k[s][i] += c[s][r] / h * k[r][i];
        }
        saltus_back(n, m->factors, pivot, k[s]);
        for (int i = 0; i < n; i++) y[i] += weight[s] * k[s][i];
    }
    /* The last stage is what a method of second order inside differs by; what is stiff in it decays. */
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < n; i++) k[3][i] *= 2.0 / h;
        saltus_back(n, m->factors, pivot, k[3]);
    }
    m->error = m->strain = 0.0;
    for (int i = 0; i < n; i++) {
        double error = fabs(k[3][i]) / state_size(m, i, x[i], y[i]);
        if (!(error <= m->error)) m->error = error;
    }
    return field(m, t + h, y, m->arriving);
}
#else
#define advance rk4
#endif

/* Marks the relations that have left their held values; whether there are any. */
static int crossed(NAME *m) {
    int any = 0;
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        if (!watched(m, i)) continue;
        crossing(m->v, i);
        double g = m->v[r->g], old = m->v[r->var];
        if (fabs(g) > m->size[i]) m->size[i] = fabs(g);
        if (r->kind == 4 ? (g < old - 1e-9 || g >= old + 1.0 + 1e-9)
                         : ((old != 0.0) == (r->kind >= 2) ? g : -g) < -saltus_band(m, i))
            m->fired[i] = any = 1;
    }
#ifdef SALTUS_FLOWS
    for (int k = 0; k < SALTUS_FLOWS; k++) {
        int jump;
        flow_inputs(m->v, k);
        any |= flow_distance(&m->flow[k], m->v[flow_slots[k].x], &jump) < 0.0;
    }
#endif
    for (int k = 0; k < m->slides; k++) any |= looseness(&m->surface[k]) > 0.0;
    for (int i = 0; i < N_RELATIONS && m->rests; i++) any |= m->resting[i] && lift(m, i) > 0.0;
    return any;
}

/* ---- inside a step ---- */

/* A step from x to y, and the functions of relations at its ends and in its middle. */
typedef struct { double t, h; const double *x, *y; double begin[N_RELATIONS + 1], middle[N_RELATIONS + 1], end[N_RELATIONS + 1]; } saltus_span;

/* The functions of all relations at the present values. */
static void sample(NAME *m, double *g) {
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!watched(m, i)) continue;
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
    for (int i = 0; i < m->now->states; i++)
        z[i] = (1.0 + 2.0 * c) * d * d * s->x[i] + c * c * (3.0 - 2.0 * c) * s->y[i]
             + s->h * c * d * (d * m->leaving[i] - c * m->arriving[i]);
    if (NAME_derivatives(m, s->t + c * s->h, z, f)) { m->message = 0; return -1; }
    sample(m, g);
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!watched(m, i)) continue;
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

/* Within which distance of zero a function touches it, if zero has another value than the relation; else 0. */
static double touching(const NAME *m, int i) {
    if (!watched(m, i) || relations[i].kind == 4 || saltus_plain(relations[i].kind, 0.0) == m->v[relations[i].var]) return 0.0;
    return fmax(saltus_band(m, i), 1e-9 * saltus_extent(m, i));
}

/* How far the function of relation i is from zero, on its side. */
static double distance(const NAME *m, int i, double g) {
    return (m->v[relations[i].var] != 0.0) == (relations[i].kind >= 2) ? g : -g;
}

/* Where between the parts a and b of the step the function of relation i comes closest to zero, by golden sections. What has
   crossed there is found as well. */
static double closest(NAME *m, const saltus_span *s, int i, double a, double b, double *least) {
    const double part = 0.6180339887498949;
    double p = b - part * (b - a), q = a + part * (b - a), gp, gq;
    int at;
    *least = INFINITY;
    if ((at = probe(m, s, p, m->spare))) return at > 0 ? p : 2.0;
    gp = distance(m, i, m->spare[i]);
    if ((at = probe(m, s, q, m->spare))) return at > 0 ? q : 2.0;
    gq = distance(m, i, m->spare[i]);
    for (int round = 0; round < 50; round++) {
        double *g = gp < gq ? &gp : &gq, c;
        if (gp < gq) { b = q; q = p; gq = gp; c = p = b - part * (b - a); }
        else { a = p; p = q; gp = gq; c = q = a + part * (b - a); }
        if ((at = probe(m, s, c, m->spare))) return at > 0 ? c : 2.0;
        *g = distance(m, i, m->spare[i]);
    }
    *least = fmin(gp, gq);
    return gp < gq ? p : q;
}

/* The first part of the step found, between two parts l and r of it, where a relation has left its value; 2 if there is none. The
   functions are known at l, r and between. Where third differences leave it open, halves are looked into. */
static double look(NAME *m, const saltus_span *s, int level, double l, double r, const double *gl, const double *gm, const double *gr) {
    double *g1 = m->inside[2 * level], *g3 = m->inside[2 * level + 1], quarter = 0.25 * (r - l), found;
    int at;
    if ((at = probe(m, s, l + quarter, g1))) return at > 0 ? l + quarter : 2.0;
    if ((at = probe(m, s, r - quarter, g3)) < 0) return 2.0;
    double limit = at ? r - quarter : 2.0;
    const double *at_parts[5] = {gl, g1, gm, g3, gr};
    for (int i = 0; i < N_RELATIONS && !at; i++) {
        double close = touching(m, i), least;
        if (close == 0.0 || !(distance(m, i, gl[i]) > 2.0 * close)) continue;
        for (int k = 1; k < 4; k++) {
            double a = distance(m, i, at_parts[k - 1][i]), b = distance(m, i, at_parts[k][i]), c = distance(m, i, at_parts[k + 1][i]);
            if (!(b <= a && b <= c && b <= fmax(a - b, c - b) + close)) continue;
            found = closest(m, s, i, l + (k - 1) * quarter, l + (k + 1) * quarter, &least);
            if (found < 2.0 && !(least > close)) { m->touch = least <= close && isfinite(least) ? i : -1; return found; }
        }
    }
    for (int half = 0; half < (at ? 1 : 2); half++) {
        const double *a = half ? gm : gl, *b = half ? g3 : g1, *c = half ? gr : gm;
        double centre = half ? r - quarter : l + quarter, place = 2.0;
        int open = 0;
        for (int i = 0; i < N_RELATIONS; i++) {
            if (!watched(m, i)) continue;
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
    int any = 0, at;
    for (int i = 0; i < N_RELATIONS; i++) any |= watched(m, i);
    if (!any || !SALTUS_INSIDE) return found;
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

/* At the end of a step: what a function does near zero, for the next one. Relations that were set free are watched again once their
   functions are on the right side, or clearly on the wrong one. */
static void settle(NAME *m) {
    for (int i = 0; i < N_RELATIONS; i++) {
        crossing(m->v, i);
        double away = distance(m, i, m->v[relations[i].g]), band = saltus_band(m, i);
        if (m->frozen[i] == 2 && (away > 2.0 * band || away < -1e-6 * saltus_extent(m, i))) m->frozen[i] = 0;
        double close = touching(m, i);
        if (close == 0.0) m->near[i] = m->far[i] = 0;
        else if (away > 2.0 * close) { m->far[i] = 1; m->near[i] = 0; }
        else if (m->far[i] && away <= close) m->near[i] = 1;
    }
}

/* A function that came to zero at the end of the last step and goes back in this one has touched it. */
static int went_back(NAME *m) {
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!m->near[i] || m->fired[i] || touching(m, i) == 0.0) continue;
        crossing(m->v, i);
        if (distance(m, i, m->v[relations[i].g]) > 2.0 * touching(m, i)) return i;
    }
    return -1;
}

/* What rests or slides no longer where it did goes on freely; whether there was any. */
static int leave(NAME *m) {
    int any = 0;
    double worst = 0.0;
    for (int i = 0; i < N_RELATIONS && m->rests; i++)
        if (m->resting[i] && lift(m, i) > -1e-9) { end_rest(m, i); any = 1; }
    for (int k = 0; k < m->slides; k++) worst = fmax(worst, looseness(&m->surface[k]));
    for (int k = m->slides - 1; k >= 0; k--)
        if (worst > 0.0 && looseness(&m->surface[k]) > 0.0) {
            set_side(m, k, m->surface[k].share > 0.5 + 1e-6);
            leave_surface(m, k);
            any = 1;
        }
    return any;
}

/* What an event has set in motion rests no longer: it leaves its support, or strikes it at once. Whether anything does that. */
static int stirred(NAME *m) {
    double x[N_STATES + 1] = {0}, dx[N_STATES + 1] = {0}, now, later, t = m->v[TIME];
    int struck = 0;
    for (int i = 0; i < N_RELATIONS && m->rests; i++) {
        if (!m->resting[i]) continue;
        NAME_get_states(m, x);
        int fails = NAME_derivatives(m, t, x, dx) || rates(m, 1, &i, t, x, dx, &now) || turned(m, i, -1, 0.0, t, x, dx, &later);
        m->message = 0;
        NAME_derivatives(m, t, x, dx);
        if (fails || fabs(now) < 1e-6 || 0.5 * now * now <= 8.0 * saltus_band(m, i) * fabs(later - now) / SALTUS_MOMENT) continue;
        end_rest(m, i);
        m->frozen[i] = 0;
        if (m->outside[i] * now > 0.0) continue;
        m->v[relations[i].var] = saltus_plain(relations[i].kind, m->outside[i]);
        m->fired[i] = struck = 1;
    }
    if (struck) remember(m->v);
    return struck;
}

/* The event at the present time, with what `event` is called for before and after. */
static int happen(NAME *m, double h, void (*event)(NAME *, void *), void *user) {
    int status, sliding = m->slides;
    double t = m->v[TIME];
    blend(m);
    if (event) event(m, user);
    arrive_delays(m);
    if (m->touch >= 0) m->frozen[m->touch] = 1;
    status = event_at(m);
    if (m->touch >= 0) m->frozen[m->touch] = 0;
    for (int k = 0; k < 64 && !status && stirred(m); k++) status = event_at(m);
    if (status || (status = note_delays(m, 1))) return status;
    /* What was rested or slid on may have jumped away. */
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!m->resting[i] && !m->surface_of[i]) continue;
        crossing(m->v, i);
        if (fabs(m->v[relations[i].g] - m->left[i]) <= 1e-8 * saltus_extent(m, i)) continue;
        if (m->resting[i]) end_rest(m, i);
        else leave_surface(m, m->surface_of[i] - 1);
        m->frozen[i] = 0;
    }
    for (int i = 0; i < N_RELATIONS; i++) {
        if (!m->slid[i]) continue;
        /* To and fro in no time. */
        if (t - m->fell[i] < 1e-3 * h && i != m->touch && begin_slide(m, i)) m->pace = 1e-3 * h;
        m->fell[i] = t;
    }
    if (sliding && m->slides) review(m);
    m->touch = -1;
    /* What was set in motion anew may come back soon. */
    if (m->sudden) m->pace = 1e-6 * h;
    blend(m);
    if (event) event(m, user);
    return SALTUS_OK;
}

/* Looks for discrete values that solve the equations a moment after t, from the states x; whether there are any. */
static int elsewhere(NAME *m, double t, double moment, const double *x) {
    double f[N_STATES + 1];
    int failed = 1, mode = m->mode;
    for (int i = 0; i < m->now->states; i++) m->v[m->now->state[i].slot] = x[i];
    memcpy(m->blended, m->v, sizeof m->blended);
    m->v[TIME] = t + moment;
    memset(m->fired, 0, sizeof m->fired);
    read_delays(m);
    if ((failed = event_at(m) || note_delays(m, 1))) { memcpy(m->v, m->blended, sizeof m->blended); set_mode(m, mode); return 0; }
    for (int i = 0; i < m->now->states; i++) f[i] = m->v[m->now->state[i].slot];
    return !NAME_derivatives(m, m->v[TIME], f, m->leaving);
}

/* What is at its edge within rounding where the step ends, has another value there and goes beyond it crosses there, together with
   what happens at that time; whether there is any, or -1 if the step cannot be taken again. */
static int at_edge(NAME *m, double t, double h, const double *x, double *y) {
    unsigned char close[N_RELATIONS + 1];
    int any = 0;
    for (int i = 0; i < N_RELATIONS; i++) {
        const saltus_relation *r = &relations[i];
        close[i] = watched(m, i) && r->kind < 4 && fabs(m->v[r->g]) <= saltus_band(m, i) && m->v[r->var] != saltus_plain(r->kind, 0.0);
        any |= close[i];
    }
    if (!any) return 0;
    any = 0;
    if (!advance(m, t, h + 1e-6 * h, x, y)) crossed(m);
    for (int i = 0; i < N_RELATIONS; i++) any |= m->fired[i] = m->fired[i] && close[i];
    if (advance(m, t, h, x, y)) return -1;
    m->message = 0;
    return any;
}

/* Goes on by h, through all events on the way; `event` is called before and after each. */
int NAME_step(NAME *m, double h, void (*event)(NAME *, void *), void *user) {
    double t = m->v[TIME], end = t + h, x[N_STATES + 1], y[N_STATES + 1], moment = 1e-9 * h;
    int status, guard = 0;
    while (t < end - 1e-12 * (fabs(h) + fabs(t))) {
        double due = NAME_next_event(m), to = due < end ? due : end;
        if (to > t + m->pace) to = t + m->pace;
#ifdef SALTUS_FLOWS
        /* What is read has been written. */
        for (int k = 0; k < SALTUS_FLOWS; k++)
            if (to > t + 0.5 / fabs(m->flow[k].speed)) to = t + 0.5 / fabs(m->flow[k].speed);
#endif
        m->pace *= 8.0;
#ifdef SALTUS_STIFF
        m->linearized = 0;
#endif
        int fired = 0, left = 0, met = 0;
        m->touch = -1;
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
                if (status || part <= least) {
                    /* The mode has no solution beyond this instant: another may, a moment later. */
                    int found = 0;
                    for (; reason == SALTUS_UNSOLVED && moment < 2e-6 * h && !found; moment *= 10.0) found = elsewhere(m, t, moment, x);
                    if (!found) { m->message = why; return reason; }
                    t = m->v[TIME];
                    m->message = 0;
                    if (event) event(m, user);
                    continue;
                }
                to = t + part;
            } else if (status) return status;
            m->message = 0;
            moment = 1e-9 * h;
            fired = crossed(m);
            /* What crosses and comes back before the end: the step ends where it is beyond its edge. */
            double hair = 1e-9 * (to - t);
            for (int round = 0; round < 20 && m->touch < 0; round++) {
                double part = look_inside(m, t, to - t, x, y);
                if (part >= 1.0) break;
                memset(m->fired, 0, sizeof m->fired);
                if ((status = advance(m, t, part * (to - t), x, y))) return status;
                to = t + part * (to - t);
                fired = crossed(m);
            }
            /* What follows an instability has nothing to do with the model. */
            if (!m->slides && !m->rests && m->error > SALTUS_ERROR) { m->message = SALTUS_TOO_LONG; return SALTUS_STEP; }
            if (!fired && m->touch < 0 && (met = at_edge(m, t, to - t, x, y)) < 0) return SALTUS_UNSOLVED;
            int back = went_back(m);
            if (back >= 0) {
                /* It touched zero where the step begins. */
                memset(m->fired, 0, sizeof m->fired);
                m->touch = back;
                if ((status = NAME_derivatives(m, t, x, y))) return status;
            } else if (fired) {
                /* The end of the step is beyond the event: bisection of the step. What crosses within a billionth of the step
                   crosses at the same instant. */
                double a = 0.0, b = to - t;
                m->touch = -1;
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
                left = leave(m);
            } else t = to;
            m->v[TIME] = t;
            for (int i = 0; i < m->now->states; i++) {
                uint32_t slot = m->now->state[i].slot;
                m->greatest[slot] = state_size(m, i, x[i], m->v[slot]);
            }
            if (m->touch >= 0) m->fired[m->touch] = fired = 1;
            else settle(m);
            suit_states(m);
            if (!(states_suit(m, m->v, m->mode, m->signs) > 0.02)) { m->message = SALTUS_OTHER_STATES; return SALTUS_STATES; }
            if ((status = note_delays(m, 0))) return status;
        }
        if (fired || met || left || due <= t + 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3))
            if ((status = happen(m, h, event, user))) return status;
    }
    blend(m);
    return assertions(m, m->v);
}

/* The end of the run: what waits for terminal() happens. */
int NAME_finish(NAME *m) {
    if (TERMINAL == SALTUS_NONE) return SALTUS_OK;
    m->ending = 1;
    return event_at(m);
}

/* After the run, however it ended: external objects end, too. */
void NAME_end(NAME *m) {
#ifdef SALTUS_OBJECTS
    saltus_end(&m->functions);
#endif
    (void)m;
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
    "a delay reaches further back than DELAY_CAPACITY points, or a distribution holds more than FLOW_CAPACITY", "the equations have no mode that could be entered here",
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
    NAME_end(&m);
    if (status == SALTUS_TERMINATED) return 0;
    if (status) fprintf(stderr, "stopped at time %g: status %d: %s\n", m.v[TIME], status, m.message ? m.message : status_words[status]);
    return status;
}
#endif

#ifdef SALTUS_BENCH
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Other states for every evaluation, as an integrator has: SALTUS_POINTS of them, beside each other. */
#define SALTUS_POINTS 4

/* usage: model [number of evaluations a time]: for every line it reads it tells how long an evaluation of the derivatives took on
   average, in ns. */
int main(int argc, char **argv) {
    static NAME m;
    static double x[SALTUS_POINTS][N_STATES + 1], dx[N_STATES + 1];
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    if (NAME_start(&m)) return 1;
    NAME_get_states(&m, x[0]);
    for (int p = SALTUS_POINTS - 1; p >= 0; p--)
        for (int i = 0; i < N_STATES; i++) x[p][i] = x[0][i] + 1e-6 * p * (1.0 + fabs(x[0][i]));
    for (int c; (c = getchar()) != EOF;) {
        struct timespec a, b;
        int status = 0;
        if (c != '\n') continue;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (int i = 0; i < n; i++) status |= NAME_derivatives(&m, m.v[TIME], x[i % SALTUS_POINTS], dx);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        if (status) return 1;
        printf("%.17g\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n);
        fflush(stdout);
    }
    return 0;
}
#endif
