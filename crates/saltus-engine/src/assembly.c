
/* ---- modes, put together from parts ---- */

static int holds(const double *v, const short *list) {
    for (int i = 1; i <= list[0]; i++)
        if ((v[conditions[list[i] / 2].slot] != 0.0) != list[i] % 2) return 0;
    return 1;
}

/* The parts that stand in the mode that the conditions call for, and which conditions that rests on (2: not on this one). */
static int present_parts(const double *v, short *list, unsigned char *key) {
    int n = 0;
    memset(key, 2, N_CONDITIONS);
    for (int p = 0; p < N_PARTS; p++)
        for (int c = 0; c < parts[p].cubes; c++) {
            const short *cube = parts[p].cube[c];
            if (!holds(v, cube)) continue;
            if (n == N_PRESENT) return -1;
            list[n++] = (short)p;
            for (int i = 1; i <= cube[0]; i++) key[cube[i] / 2] = (unsigned char)(cube[i] % 2);
            break;
        }
    return n;
}

/* Parts in an order in which each reads what stands before it; 0 if they do not use every equation once, or some variable twice or
   not at all. */
static int order_parts(NAME *m, const short *list, int n, int all) {
    saltus_assembly *a = &m->assembly;
    unsigned char used[N_EQUATIONS + 1] = {0}, done[N_PRESENT + 1] = {0};
    int placed = 0, moved = 1;
    for (int j = 0; j < N_VARS; j++) a->owner[j] = -1;
    for (int k = 0; k < n; k++) {
        const saltus_part *p = &parts[list[k]];
        for (int i = 0; i < p->n; i++) {
            if (used[p->equation[i]]++ || a->owner[p->var[i]] >= 0) return 0;
            a->owner[p->var[i]] = (short)k;
        }
    }
    for (int e = 0; e < N_EQUATIONS; e++)
        if (all && equation_holds[e] && !used[e] && holds(m->v, equation_holds[e])) return 0;
    while (moved) {
        moved = 0;
        for (int k = 0; k < n; k++) {
            const saltus_part *p = &parts[list[k]];
            int ready = !done[k];
            for (int i = 0; i < p->reads && ready; i++) {
                int from = a->owner[p->read[i]];
                if (from < 0) return 0;
                ready = done[from];
            }
            if (!ready) continue;
            done[k] = 1;
            moved = 1;
            a->order[placed++] = list[k];
        }
    }
    a->parts = placed;
    return placed == n;
}

/* Who writes a slot among the units of the present mode. Continuous units come first in the list. */
static void visit(NAME *m, saltus_visit *s, int k) {
    saltus_assembly *a = &m->assembly;
    const saltus_unit *u = &units[a->unit[k]];
    s->low[k] = s->index[k] = ++s->counter;
    s->stack[s->top++] = (short)k;
    s->on[k] = 1;
    for (int i = 0; i < u->reads; i++) {
        int w = a->writer[u->read[i]];
        if (w < 0 || !s->in[w]) continue;
        if (!s->index[w]) { visit(m, s, w); if (s->low[w] < s->low[k]) s->low[k] = s->low[w]; }
        else if (s->on[w] && s->index[w] < s->low[k]) s->low[k] = s->index[w];
    }
    if (s->low[k] != s->index[k]) return;
    int first = s->found, w;
    do { w = s->stack[--s->top]; s->on[w] = 0; s->out[s->found++] = (short)w; } while (w != k);
    for (int i = first; i < s->found; i++) s->size[i] = (short)(s->found - first);
    /* In the given order inside a loop. */
    for (int i = first + 1; i < s->found; i++)
        for (int j = i; j > first && s->out[j] < s->out[j - 1]; j--) { short t = s->out[j]; s->out[j] = s->out[j - 1]; s->out[j - 1] = t; }
}

/* The order of continuous and discrete units at events, loops together, and what of it is known before any equation is solved
   anew. */
static void order_events(NAME *m) {
    saltus_assembly *a = &m->assembly;
    saltus_visit *s = &m->visit;
    memset(s, 0, sizeof *s);
    for (int i = 0; i < N_VALUES; i++) a->writer[i] = -1;
    a->units = 0;
    for (int k = 0; k < a->parts; k++)
        for (int i = 0; i < parts[a->order[k]].units; i++) a->unit[a->units++] = (short)(parts[a->order[k]].unit + i);
    a->continuous = a->units;
    for (int i = 0; i < N_DISCRETE_UNITS; i++) a->unit[a->units++] = (short)i;
    for (int k = 0; k < a->units; k++)
        for (int i = 0; i < units[a->unit[k]].writes; i++) a->writer[units[a->unit[k]].write[i]] = (short)k;
    memset(s->in, 1, sizeof s->in);
    for (int k = 0; k < a->units; k++) if (!s->index[k]) visit(m, s, k);
    for (int k = 0; k < a->units; k++) { a->event[k] = s->out[k]; a->size[k] = s->size[k]; }
    memset(a->touched, 0, sizeof a->touched);
    for (int k = 0; k < a->units; k += a->size[k]) {
        int discrete = 1, some = 0, late = 0, varies = 0;
        for (int i = k; i < k + a->size[k]; i++) {
            const saltus_unit *u = &units[a->unit[a->event[i]]];
            if (a->event[i] < a->continuous) discrete = 0; else some = 1;
            varies |= u->varies;
            for (int j = 0; j < u->reads; j++) late |= a->touched[u->read[j]];
        }
        for (int i = k; i < k + a->size[k]; i++) {
            const saltus_unit *u = &units[a->unit[a->event[i]]];
            a->early[i] = discrete && !late;
            for (int j = 0; j < u->writes && !a->early[i] && (discrete || late || some || varies); j++) a->touched[u->write[j]] = 1;
        }
    }
    /* Discrete units of a loop in the order of what they read of each other. */
    for (int k = 0; k < a->units; k += a->size[k]) {
        if (a->size[k] == 1) continue;
        memset(s, 0, sizeof *s);
        for (int i = k; i < k + a->size[k]; i++) s->in[a->event[i]] = a->event[i] >= a->continuous;
        for (int i = k; i < k + a->size[k]; i++) if (s->in[a->event[i]] && !s->index[a->event[i]]) visit(m, s, a->event[i]);
        int at = k + a->size[k] - s->found;
        for (int i = 0; i < s->found; i++) a->event[at + i] = s->out[i];
    }
}

/* Puts mode k together. */
static void set_mode(NAME *m, int k) {
    saltus_assembly *a = &m->assembly;
    saltus_mode *now = &a->mode;
    m->mode = k;
    m->now = now;
    if (a->made == k) return;
    a->made = k;
    a->restart_made = 0;
    memset(now, 0, sizeof *now);
    now->state = a->state; now->late = a->late; now->cell = a->cell; now->active = a->active;
    now->stage = a->stage; now->target = a->target; now->nominal = a->nominal;
    now->first = k;
    if (k < 0 || !a->known[k] || !order_parts(m, a->list[k], a->count[k], 0)) { a->parts = a->units = a->continuous = 0; return; }
    now->known = 1;
    for (int j = 0; j < N_VARS; j++) a->column[j] = -1;
    int n = 0;
    for (int i = 0; i < a->parts; i++) {
        const saltus_part *p = &parts[a->order[i]];
        for (int j = 0; j < p->n; j++) { a->column[p->var[j]] = (short)n; a->highest[n++] = p->d[j]; }
        for (int j = 0; j < p->states; j++) {
            a->state[now->states] = p->state[j];
            a->stage[now->states] = p->stage[j];
            a->nominal[now->states++] = p->nominal[j];
        }
        for (int j = 0; j < p->cells; j++) a->cell[now->cells++] = p->cell[j];
        for (int j = 0; j < p->latent; j++) a->late[now->latent++] = p->late[j];
    }
    for (int i = 0; i < N_RELATIONS; i++) {
        a->active[i] = !relations[i].timed;
        for (int j = 1; j <= relation_reads[i][0]; j++) a->active[i] &= a->column[relation_reads[i][j]] >= 0;
    }
    for (int i = 0; i < N_RESETS; i++) {
        int j = reset_vars[i], state = 0;
        for (int s = 0; j >= 0 && s < now->states; s++) state |= a->state[s].slot == var_slots[j][0];
        a->target[i] = j < 0 || state || a->column[j] < 0 ? -1 : a->highest[a->column[j]];
    }
    order_events(m);
    for (int c = 0; c < N_CONDITIONS; c++) {
        int w = a->writer[conditions[c].slot], early = 0;
        for (int i = 0; i < a->units; i++) early |= a->event[i] == w && a->early[i];
        for (int j = 1; j <= conditions[c].reads[0]; j++) early &= a->column[conditions[c].reads[j]] >= 0;
        a->guarded[c] = conditions[c].memoryless && !early;
    }
}

static void evaluate_restart(double *v) {
    NAME *m = (NAME *)(void *)v;
    for (int k = 0; k < m->assembly.parts; k++) parts[m->assembly.order[k]].evaluate(v);
}

/* The restart equations of mode k, which becomes the present one. */
static const saltus_restart *restart_of(NAME *m, int k) {
    saltus_assembly *a = &m->assembly;
    saltus_restart *b = &a->restart;
    set_mode(m, k);
    if (a->restart_made) return b;
    a->restart_made = 1;
    memset(b, 0, sizeof *b);
    b->c = a->c; b->d = a->highest; b->block = a->block; b->entry = a->entry; b->value = a->value; b->level = a->level;
    b->product = a->product; b->push = a->push; b->evaluate = evaluate_restart; b->evaluate_pushes = evaluate_pushes;
    for (int i = 0; i < a->parts; i++) {
        const saltus_part *p = &parts[a->order[i]];
        for (int j = 0; j < p->n; j++) if (p->c[j] > b->stages) b->stages = p->c[j];
        b->n += p->n;
    }
    if (!b->stages) return b;
    int row = 0;
    for (int i = 0; i < b->n * b->stages; i++) a->value[i] = a->level[i] = SALTUS_NONE;
    for (int i = 0; i < a->parts; i++) {
        const saltus_part *p = &parts[a->order[i]];
        for (int j = 0; j < p->blocks; j++) a->block[b->blocks++] = row + p->block[j];
        for (int j = 0; j < p->n; j++) {
            a->c[row + j] = p->c[j];
            for (int s = 1; s <= p->d[j] && s <= b->stages; s++) a->value[(s - 1) * b->n + row + j] = var_slots[p->var[j]][p->d[j] - s];
            for (int s = 1; s <= p->c[j]; s++) a->level[(s - 1) * b->n + row + j] = p->level[j][p->c[j] - s];
        }
        for (int e = 0; e < p->entries; e++) {
            const saltus_part_entry *x = &p->entry[e];
            int col = a->column[x->var];
            if (col < 0 || a->highest[col] != x->order + p->c[x->row]) continue;
            saltus_entry *to = &a->entry[b->entries++];
            to->row = row + x->row; to->col = col; to->slot = x->slot; to->sign = x->sign;
        }
        for (int e = 0; e < p->products; e++) {
            const saltus_part_product *x = &p->product[e];
            int u = a->column[x->a], w = a->column[x->b];
            if (u < 0 || w < 0 || a->highest[u] != x->order_a + p->c[x->row] || a->highest[w] != x->order_b + p->c[x->row]) continue;
            saltus_product *to = &a->product[b->products++];
            to->equation = row + x->row; to->a = u; to->b = w;
        }
        row += p->n;
    }
    a->block[b->blocks] = b->n;
    for (int e = 0; e < N_PUSHES; e++) {
        int col = a->column[all_pushes[e].col];
        if (col < 0 || a->highest[col] >= b->stages || !a->active[all_pushes[e].row]) continue;
        a->push[b->pushes] = all_pushes[e];
        a->push[b->pushes++].col = col;
    }
    return b;
}

/* The mode that the conditions call for; -1 if there are too many to remember. */
static int mode_now(NAME *m) {
    saltus_assembly *a = &m->assembly;
    unsigned char key[N_CONDITIONS + 1];
    short list[N_PRESENT + 1];
    int n = present_parts(m->v, list, key);
    for (int k = 0; k < a->keys; k++)
        if (n >= 0 && a->known[k] && a->count[k] == n && !memcmp(a->list[k], list, (size_t)n * sizeof *list)) return k;
    unsigned char all[N_CONDITIONS + 1];
    for (int c = 0; c < N_CONDITIONS; c++) all[c] = m->v[conditions[c].slot] != 0.0;
    for (int k = 0; k < a->keys; k++)
        if (!a->known[k] && !memcmp(a->key[k], all, N_CONDITIONS)) return k;
    if (a->keys == N_KEYS) { m->message = "more modes at one instant than SALTUS_KEYS"; return -1; }
    int k = a->keys++;
    /* Whether it can be put together; the present one stays as it was. */
    a->known[k] = n >= 0 && order_parts(m, list, n, 1);
    memcpy(a->key[k], a->known[k] ? key : all, N_CONDITIONS);
    a->count[k] = (short)(n < 0 ? 0 : n);
    memcpy(a->list[k], list, (size_t)a->count[k] * sizeof *list);
    int present = m->mode;
    a->made = -2;
    if (present >= 0) set_mode(m, present);
    return k;
}

static int first_mode(const NAME *m, int k) { (void)m; return k; }
static int mode_known(const NAME *m, int k) { return m->assembly.known[k]; }

static void set_conditions(NAME *m, int k) {
    for (int c = 0; c < N_CONDITIONS; c++)
        if (m->assembly.key[k][c] < 2) m->v[conditions[c].slot] = m->assembly.key[k][c];
}

/* Before a search: which conditions depend on what they guard, by the mode that is left. */
static void begin_search(NAME *m) { memcpy(m->assembly.guarding, m->assembly.guarded, sizeof m->assembly.guarding); }
static int neighbours(const NAME *m, int to, int from) {
    int n = 0;
    (void)from;
    for (int c = 0; c < N_CONDITIONS; c++) n += m->assembly.key[to][c] < 2 && (m->assembly.guarding[c] || !m->assembly.known[to]);
    return n;
}
static uint32_t neighbour(const NAME *m, int to, int from, int k) {
    (void)from;
    for (int c = 0; c < N_CONDITIONS; c++)
        if (m->assembly.key[to][c] < 2 && (m->assembly.guarding[c] || !m->assembly.known[to]) && k-- == 0) return conditions[c].slot;
    return 0;
}
static int searched(const NAME *m, int to, int from) { return neighbours(m, to, from) > 0; }

/* Modes that were tried at other instants need not be remembered. */
static void forget_modes(NAME *m) {
    saltus_assembly *a = &m->assembly;
    int k = m->mode;
    if (a->keys < N_KEYS / 2) return;
    if (k) {
        memcpy(a->key[0], a->key[k], sizeof a->key[0]);
        memcpy(a->list[0], a->list[k], sizeof a->list[0]);
        a->count[0] = a->count[k];
        a->known[0] = a->known[k];
    }
    a->keys = 1;
    a->made = -2;
    set_mode(m, 0);
}

static int solve_mixed(NAME *m, const mixed_loop *b);

static int loop_continuous(NAME *m, double *v) {
    const saltus_assembly *a = &m->assembly;
    int status;
    for (int i = a->loop; i < a->loop + a->size[a->loop]; i++)
        if (a->event[i] < a->continuous && (status = units[a->unit[a->event[i]]].run(m, v))) return status;
    return SALTUS_OK;
}
static int loop_discrete(NAME *m, double *v) {
    const saltus_assembly *a = &m->assembly;
    int status;
    for (int i = a->loop; i < a->loop + a->size[a->loop]; i++)
        if (a->event[i] >= a->continuous && (status = units[a->unit[a->event[i]]].run(m, v))) return status;
    return SALTUS_OK;
}

/* A loop through units k and following. */
static int run_loop(NAME *m, int k) {
    saltus_assembly *a = &m->assembly;
    mixed_loop b = {0, 0, 0, a->slot, a->bit, a->unknown, loop_continuous, loop_discrete};
    a->loop = k;
    for (int i = k; i < k + a->size[k]; i++) {
        const saltus_unit *u = &units[a->unit[a->event[i]]];
        for (int j = 0; j < u->writes; j++) {
            if (a->event[i] < a->continuous) a->unknown[b.unknowns++] = u->write[j];
            else a->slot[b.slots++] = u->write[j];
        }
        if (u->bit != SALTUS_NONE) a->bit[b.bits++] = u->bit;
    }
    return solve_mixed(m, &b);
}

/* Everything continuous, given time, states and held relations. */
static int continuous_steps(NAME *m, double *v) {
    const saltus_assembly *a = &m->assembly;
    int status;
    if (!m->now->known) return SALTUS_MODE;
    for (int k = 0; k < a->continuous; k++) if ((status = units[a->unit[k]].run(m, v))) return status;
    return SALTUS_OK;
}
/* The same with the discrete part. */
static int event_steps(NAME *m, double *v) {
    const saltus_assembly *a = &m->assembly;
    int status;
    if (!m->now->known) return SALTUS_MODE;
    for (int k = 0; k < a->units; k += a->size[k]) {
        const saltus_unit *u = &units[a->unit[a->event[k]]];
        if ((status = a->size[k] > 1 || u->self ? run_loop(m, k) : u->run(m, v))) return status;
    }
    return SALTUS_OK;
}
/* What of it is known before any equation is solved anew. */
static int guard_steps(NAME *m, double *v) {
    const saltus_assembly *a = &m->assembly;
    int status;
    for (int k = 0; k < a->units; k += a->size[k]) {
        const saltus_unit *u = &units[a->unit[a->event[k]]];
        if (a->early[k] && (status = a->size[k] > 1 || u->self ? run_loop(m, k) : u->run(m, v))) return status;
    }
    return SALTUS_OK;
}
static int kind_steps(NAME *m, double *v, int kind) {
    const saltus_assembly *a = &m->assembly;
    int status;
    for (int k = 0; k < a->units; k++)
        if (units[a->unit[a->event[k]]].kind == kind && (status = units[a->unit[a->event[k]]].run(m, v))) return status;
    return SALTUS_OK;
}
/* Discrete values without memory; when-equations alone: of a mode that ends they keep what it was. */
static int definition_steps(NAME *m, double *v) { return kind_steps(m, v, 1); }
static int when_steps(NAME *m, double *v) { return kind_steps(m, v, 2); }

/* No equations are known to depend on each other, and no choice of states rests on values. */
static int singular(NAME *m, double *v) { (void)m; (void)v; return 0; }
static double states_suit(NAME *m, double *v, int mode, signed char *signs) {
    (void)m; (void)v; (void)mode; (void)signs; (void)&saltus_suits;
    return 1.0;
}
