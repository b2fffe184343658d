
/* ---- modes, all of them listed ---- */

static void set_mode(NAME *m, int k) { m->mode = k; m->now = &modes[k]; }
static int first_mode(const NAME *m, int k) { (void)m; return modes[k].first; }
static int mode_known(const NAME *m, int k) { (void)m; return modes[k].known; }
static const saltus_restart *restart_of(NAME *m, int k) { (void)m; return &restarts[k]; }

/* The conditions of a mode take the values it has them with. */
static void set_conditions(NAME *m, int k) {
    for (int i = 0; i < modes[k].conditions; i++) m->v[modes[k].condition[i].slot] = modes[k].condition[i].pre;
}

/* Whether conditions of mode `to` depend on what they guard as it is entered from another; how many may be changed in search of
   another mode (of a mode without a solution any), and which. */
static int searched(const NAME *m, int to, int from) { (void)m; return modes[to].searched[from] != 0; }
static int neighbours(const NAME *m, int to, int from) {
    const uint32_t *guards = guard_lists[modes[to].searched[from]];
    (void)m;
    return guards ? (int)guards[0] : modes[to].known ? 0 : modes[to].conditions;
}
static uint32_t neighbour(const NAME *m, int to, int from, int k) {
    const uint32_t *guards = guard_lists[modes[to].searched[from]];
    (void)m;
    return guards ? guards[k + 1] : modes[to].condition[k].slot;
}
static void begin_search(NAME *m) { (void)m; }
static void forget_modes(NAME *m) { (void)m; }

/* The mode that the conditions call for, with the states it is entered with; -1 if there is none. */
static int mode_now(NAME *m) {
    for (int k = 0; k < N_KEYS; k++) {
        int same = 1;
        for (int i = 0; i < modes[k].conditions; i++)
            same &= (m->v[modes[k].condition[i].slot] != 0.0) == (modes[k].condition[i].pre != 0);
        if (same) return k;
    }
    return -1;
}
