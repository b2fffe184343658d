/* ---- what every exported model has in common: evaluation, events, one step ---- */

/* Why a call did not succeed. */
enum { SALTUS_OK = 0, SALTUS_UNSOLVED = 1, SALTUS_DOMAIN = 2, SALTUS_ASSERT = 3, SALTUS_EVENTS = 4, SALTUS_TERMINATED = 5,
       SALTUS_HISTORY = 6 /* a delay reaches further back than DELAY_CAPACITY points */,
       SALTUS_MODE = 7 /* a mode that cannot be entered */,
       SALTUS_IMPULSE = 8 /* an impulse stands in an equation where it is not linear: it has no meaning */,
       SALTUS_ZENO = 9 /* infinitely many events in a finite time */,
       SALTUS_STATES = 10 /* the states that were chosen no longer determine the others */,
       SALTUS_STEP = 11 /* steps too long for an explicit method */ };
#define SALTUS_NONE 0xffffffffu

/* Solves a[n][n] x = b in place by elimination with row pivoting; b becomes x. */
static int saltus_lu(int n, double *a, double *b) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        if (!(fabs(a[p * n + k]) > 0.0)) return SALTUS_UNSOLVED;
        if (p != k) {
            for (int j = k; j < n; j++) { double t = a[k * n + j]; a[k * n + j] = a[p * n + j]; a[p * n + j] = t; }
            double t = b[k]; b[k] = b[p]; b[p] = t;
        }
        for (int i = k + 1; i < n; i++) {
            double f = a[i * n + k] / a[k * n + k];
            if (f == 0.0) continue;
            for (int j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
    return SALTUS_OK;
}

/* The same for several right sides: the factors take the place of a, then each b becomes its x. */
static int saltus_factor(int n, double *a, int *pivot) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        pivot[k] = p;
        if (!(fabs(a[p * n + k]) > 0.0)) return SALTUS_UNSOLVED;
        for (int j = 0; j < n && p != k; j++) { double t = a[k * n + j]; a[k * n + j] = a[p * n + j]; a[p * n + j] = t; }
        for (int i = k + 1; i < n; i++) {
            double f = a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n && f != 0.0; j++) a[i * n + j] -= f * a[k * n + j];
        }
    }
    return SALTUS_OK;
}
static void saltus_back(int n, const double *a, const int *pivot, double *b) {
    for (int k = 0; k < n; k++) { double t = b[k]; b[k] = b[pivot[k]]; b[pivot[k]] = t; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) b[i] -= a[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* Equations up to this number are looked at where they are singular. */
#define SALTUS_SINGULAR 200

/* One entry of a Jacobian: row, column, slot, sign. */
typedef struct { int row, col; uint32_t slot; double sign; } saltus_entry;

/* Equations solved together, and how if that fails. On torn unknowns the others are assigned one after the other; their slopes
   must not grow too far. */
typedef struct saltus_block {
    int n, linear, entries, slopes;
    const uint32_t *unknowns, *residuals;
    const saltus_entry *entry;
    const double *nominal;
    void (*residual)(double *v);
    void (*jacobian)(double *v);
    const uint32_t *slope;
    const struct saltus_block *otherwise;
} saltus_block;

/* The Jacobian at the present values; 0 if it cannot be used. */
static int saltus_matrix(const saltus_block *b, double *v, double *a) {
    int n = b->n;
    b->jacobian(v);
    for (int i = 0; i < b->slopes; i++)
        if (!(fabs(v[b->slope[i]]) <= 1e7)) return 0;
    for (int i = 0; i < n * n; i++) a[i] = 0.0;
    for (int e = 0; e < b->entries; e++)
        a[b->entry[e].row * n + b->entry[e].col] += b->entry[e].sign * v[b->entry[e].slot];
    return 1;
}

static int saltus_evaluate(const saltus_block *b, double *v, const double *z, double *r) {
    int fine = 1;
    for (int i = 0; i < b->n; i++) v[b->unknowns[i]] = z[i];
    b->residual(v);
    for (int i = 0; i < b->n; i++) { r[i] = v[b->residuals[i]]; fine &= isfinite(r[i]) != 0; }
    return fine;
}

static double saltus_largest(int n, const double *r) {
    double m = 0.0;
    for (int i = 0; i < n; i++) if (fabs(r[i]) > m) m = fabs(r[i]);
    return m;
}

/* Newton's method; one step if linear. With `strict` every step makes the residual smaller. The work array has n*n + 4n
   numbers. */
static int saltus_newton(const saltus_block *b, double *v, double *work, int strict) {
    int n = b->n;
    double *a = work, *z = a + n * n, *r = z + n, *trial = r + n, *rr = trial + n;
    double last = INFINITY;
    for (int i = 0; i < n; i++) { z[i] = v[b->unknowns[i]]; if (!isfinite(z[i])) z[i] = 0.0; }
    if (!saltus_evaluate(b, v, z, r)) return SALTUS_DOMAIN;
    for (int iteration = 0; iteration < (strict ? 200 : 50); iteration++) {
        if (saltus_largest(n, r) == 0.0) return SALTUS_OK;
        if (!saltus_matrix(b, v, a)) return SALTUS_UNSOLVED;
        double old = saltus_largest(n, r), size = 0.0, lambda = 1.0;
        if (saltus_lu(n, a, r)) return SALTUS_UNSOLVED;
        for (int i = 0; i < n; i++) {
            double s = fabs(r[i]) / (fabs(z[i]) + 1e-3 * b->nominal[i]);
            if (!isfinite(r[i])) return SALTUS_UNSOLVED;
            if (s > size) size = s;
        }
        if (b->linear) {
            for (int i = 0; i < n; i++) z[i] -= r[i];
            return saltus_evaluate(b, v, z, r) ? SALTUS_OK : SALTUS_DOMAIN;
        }
        for (;;) {
            for (int i = 0; i < n; i++) trial[i] = z[i] - lambda * r[i];
            if (saltus_evaluate(b, v, trial, rr)
                && (strict ? size < 1e-9 || saltus_largest(n, rr) < (1.0 - 0.1 * lambda) * old
                           : lambda * size < 1e-3 || saltus_largest(n, rr) < 10.0 * (old > 1e-300 ? old : 1e-300)
                                 || lambda < 0.05))
                break;
            lambda *= 0.5;
            if (lambda < (strict ? 1e-9 : 1e-4)) return SALTUS_UNSOLVED;
        }
        for (int i = 0; i < n; i++) { z[i] = trial[i]; r[i] = rr[i]; }
        if (lambda == 1.0 && (size < 1e-9 || (size < 1e-6 && last < 1e-3) || (size < 1e-7 && size >= 0.5 * last)))
            return SALTUS_OK;
        last = size;
    }
    return SALTUS_UNSOLVED;
}

/* Where the Jacobian is singular but the equations agree, what they leave open stays as it is: steps of least size, by the singular
   values (one-sided rotations, Hestenes 1958). Takes 2n*n + 5n numbers, of which those for the guess stay. */
static int saltus_singular(const saltus_block *b, double *v, double *work) {
    int n = b->n;
    double *a = work, *z = a + n * n, *r = z + n, *size = r + n, *x = size + n, *w = x + 2 * n;
    for (int i = 0; i < n; i++) z[i] = v[b->unknowns[i]];
    for (int iteration = 0; iteration < 12; iteration++) {
        double worst = 0.0, most = 0.0;
        int rank = 0, moving = 1;
        if (!saltus_evaluate(b, v, z, r) || !saltus_matrix(b, v, a)) return SALTUS_UNSOLVED;
        for (int j = 0; j < n; j++) size[j] = fmax(fabs(z[j]), b->nominal[j]);
        for (int i = 0; i < n; i++) {
            double big = 0.0;
            for (int j = 0; j < n; j++) { a[i * n + j] *= size[j]; if (fabs(a[i * n + j]) > big) big = fabs(a[i * n + j]); }
            for (int j = 0; j < n && big > 0.0; j++) a[i * n + j] /= big;
            if (big > 0.0) r[i] /= big;
            if (!(fabs(r[i]) <= worst)) worst = fabs(r[i]);
        }
        if (worst <= 1e-11) return SALTUS_OK;
        for (int i = 0; i < n * n; i++) w[i] = i % (n + 1) == 0;
        for (int sweep = 0; sweep < 40 && moving; sweep++) {
            moving = 0;
            for (int p = 0; p < n; p++)
                for (int q = p + 1; q < n; q++) {
                    double pp = 0.0, qq = 0.0, pq = 0.0;
                    for (int i = 0; i < n; i++) {
                        pp += a[i * n + p] * a[i * n + p];
                        qq += a[i * n + q] * a[i * n + q];
                        pq += a[i * n + p] * a[i * n + q];
                    }
                    if (!(fabs(pq) > 1e-15 * sqrt(pp * qq))) continue;
                    moving = 1;
                    double c = (qq - pp) / (2.0 * pq), t = (c < 0.0 ? -1.0 : 1.0) / (fabs(c) + sqrt(1.0 + c * c)), d = 1.0 / sqrt(1.0 + t * t);
                    for (int k = 0; k < 2; k++)
                        for (int i = 0; i < n; i++) {
                            double *e = (k ? w : a) + i * n, left = e[p];
                            e[p] = d * (left - t * e[q]);
                            e[q] = d * (t * left + e[q]);
                        }
                }
        }
        for (int j = 0; j < n; j++) {
            x[j] = 0.0;
            for (int i = 0; i < n; i++) x[j] += a[i * n + j] * a[i * n + j];
            if (x[j] > most) most = x[j];
        }
        for (int j = 0; j < n; j++) {
            double along = 0.0;
            if (!(x[j] > 1e-22 * most)) continue;
            rank++;
            for (int i = 0; i < n; i++) along += a[i * n + j] * r[i];
            for (int i = 0; i < n; i++) z[i] -= size[i] * w[i * n + j] * along / x[j];
        }
        if (rank == n && iteration == 0) return SALTUS_UNSOLVED; /* regular: something else is wrong */
    }
    return SALTUS_UNSOLVED;
}

/* The torn unknowns, else all of them, else with care, else where they are singular; each from the same guess, which is kept behind
   n*n + 4n numbers. */
static int saltus_solve(const saltus_block *b, double *v, double *work) {
    const saltus_block *all = b->otherwise ? b->otherwise : b;
    double *guess = work + all->n * (all->n + 4);
    int status;
    for (int i = 0; i < all->n; i++) guess[i] = v[all->unknowns[i]];
    for (int attempt = b->otherwise ? 0 : 1; ; attempt++) {
        if (!(status = saltus_newton(attempt ? all : b, v, work, attempt == 2))) return status;
        for (int i = 0; i < all->n; i++) v[all->unknowns[i]] = guess[i];
        if (attempt < 2) continue;
        if (all->n > SALTUS_SINGULAR || !saltus_singular(all, v, work)) return all->n > SALTUS_SINGULAR ? status : SALTUS_OK;
        for (int i = 0; i < all->n; i++) v[all->unknowns[i]] = guess[i];
        return status;
    }
}

/* The past of a delayed signal. */
#ifndef DELAY_CAPACITY
#define DELAY_CAPACITY 10000
#endif
typedef struct { double t[DELAY_CAPACITY], x[DELAY_CAPACITY], reach, lock; int first, count; } saltus_line;

/* The first jump after time t that is on its way. */
static double saltus_jump(const saltus_line *l, double t) {
    for (int k = 1; k < l->count; k++) {
        int i = (l->first + k - 1) % DELAY_CAPACITY, j = (l->first + k) % DELAY_CAPACITY;
        double size = fabs(l->x[i]) > fabs(l->x[j]) ? fabs(l->x[i]) : fabs(l->x[j]);
        if (l->t[j] > t && l->t[i] == l->t[j] && fabs(l->x[j] - l->x[i]) > 1e-12 * size) return l->t[j];
    }
    return INFINITY;
}

/* The signal at time t: where it jumped, the value after the jump, unless that has not arrived (`lock`); before the start, the
   first one. */
static double saltus_delayed(const saltus_line *l, double t) {
    int low = 0, high = l->count;
    if (t < l->t[l->first]) t = l->t[l->first];
    int before = t >= l->lock;
    if (before) t = l->lock;
    while (low < high) {
        int mid = (low + high) / 2;
        double at = l->t[(l->first + mid) % DELAY_CAPACITY];
        if (before ? at < t : at <= t) low = mid + 1; else high = mid;
    }
    if (before) return l->x[(l->first + low) % DELAY_CAPACITY];
    int i = (l->first + low - 1) % DELAY_CAPACITY, j = (l->first + low) % DELAY_CAPACITY;
    if (low == l->count) return l->x[i];
    return l->x[i] + (l->x[j] - l->x[i]) * (t - l->t[i]) / (l->t[j] - l->t[i]);
}

/* Notes a point; 0 if there is no room. */
static int saltus_note(saltus_line *l, double t, double x, double delay) {
    if (delay > l->reach) l->reach = delay;
    while (l->count > 2 && l->t[(l->first + 1) % DELAY_CAPACITY] < t - l->reach * 2.0 - 1e-12) {
        l->first = (l->first + 1) % DELAY_CAPACITY;
        l->count--;
    }
    if (l->count == DELAY_CAPACITY) return 0;
    int at = (l->first + l->count++) % DELAY_CAPACITY;
    l->t[at] = t;
    l->x[at] = x;
    if (l->lock == INFINITY) l->lock = saltus_jump(l, t - 1e-300 - 0.5 * fabs(t) * 2.2e-16);
    return 1;
}

/* A delay: where its result, the signal and its length are. */
typedef struct { uint32_t out, value, length; } saltus_delay;

/* A relation: its truth value is held between events. kind 0..3: g < 0, g <= 0, g > 0, g >= 0; 4: floor(g).
   With `timed` it is slope*time + rest and switches exactly then. What is larger than `finest` is told from zero; `least` is the
   smallest size that g is taken to have. */
typedef struct { uint32_t g, var, slope, rest; int kind, timed; double finest, least; } saltus_relation;

/* A surface that the solution slides on: the relation that leads, the share of its second side, how firmly it holds now and held at
   best. */
typedef struct { int lead; double share, hold, firmest; } saltus_surface;

/* A sampler. */
typedef struct { uint32_t slot, pre; double start, interval; } saltus_ticker;

/* A slot and the slot of its previous value. */
typedef struct { uint32_t slot, pre; } saltus_memory;

/* A mode: whether it has a solution; its states, discrete variables that constraints read, conditions (slot, value), all its
   continuous values; which relations are watched; which of its conditions depend on what they guard as it is entered from each
   mode (0: none); which derivatives of what order the states are, counted down, and their sizes; the same of what is reset, -1
   where it is a state or unknown. The same mode may have several choices of states, `first` among them is the one it is entered
   with. */
typedef struct {
    int known, states, latent, conditions, cells, first;
    const saltus_memory *state, *late, *condition;
    const uint32_t *cell;
    const unsigned char *active;
    const unsigned short *searched;
    const int *stage, *target;
    const double *nominal;
} saltus_mode;

/* What decides the values on entry to a mode: equations i differentiated c[i] times, variables j with highest derivative d[j];
   per stage the slots of the derivatives of order d - s and of the equations differentiated c - s times. Equations and
   variables are in the order of a block triangular form, whose blocks begin at block[k]; entries are sorted by equation. Products
   of variables in an equation leave impulses of both without a meaning. A push is how a relation follows a variable. */
typedef struct { int equation, a, b; } saltus_product;
typedef struct {
    int n, stages, entries, blocks, products, pushes;
    const int *c, *d, *block;
    const saltus_entry *entry;
    const uint32_t *value, *level;
    const saltus_product *product;
    const saltus_entry *push;
    void (*evaluate)(double *v);
    void (*evaluate_pushes)(double *v);
} saltus_restart;

/* What the impulses of an entry do to relation i: of the highest order alone. */
static double saltus_push(const saltus_restart *b, const double *v, const double *impulse, int i) {
    int order = 0;
    double sum = 0.0;
    for (int e = 0; e < b->pushes; e++) {
        const saltus_entry *x = &b->push[e];
        for (int s = b->d[x->col] + 1; x->row == i && s <= b->stages; s++) {
            double size = impulse[(s - 1) * b->n + x->col];
            if (size == 0.0 || s - b->d[x->col] < order) continue;
            if (s - b->d[x->col] > order) { order = s - b->d[x->col]; sum = 0.0; }
            sum += size * x->sign * v[x->slot];
        }
    }
    return sum;
}

/* A matrix that a choice of states rests on, its rows eliminated in order. */
typedef struct { int rows, columns, entries; const uint32_t *pivot; const saltus_entry *entry; } saltus_watch;

/* The least pivot relative to its row; -1 if one has changed its sign (0: not known yet). */
static double saltus_suits(const saltus_watch *w, const double *v, double *a, signed char *sign) {
    int n = w->columns;
    double least = 1.0;
    for (int i = 0; i < w->rows * n; i++) a[i] = 0.0;
    for (int e = 0; e < w->entries; e++) a[w->entry[e].row * n + w->entry[e].col] += w->entry[e].sign * v[w->entry[e].slot];
    for (int i = 0; i < w->rows; i++) {
        double big = 0.0, pivot;
        for (int k = 0; k < i; k++) {
            double f = a[i * n + w->pivot[k]];
            for (int j = 0; j < n && f != 0.0; j++) a[i * n + j] -= f * a[k * n + j];
        }
        for (int j = 0; j < n; j++) if (fabs(a[i * n + j]) > big) big = fabs(a[i * n + j]);
        pivot = a[i * n + w->pivot[i]];
        if (!(fabs(pivot) > 0.0)) return 0.0;
        if (fabs(pivot) / big < least) least = fabs(pivot) / big;
        if (sign && sign[i] * pivot < 0.0) return -1.0;
        if (sign) sign[i] = pivot < 0.0 ? -1 : 1;
        for (int j = 0; j < n; j++) a[i * n + j] /= pivot;
    }
    return least;
}

/* Solves the equations of a restart block by block; r becomes the solution. The matrix a has room for the largest block. */
static int saltus_triangular(const saltus_restart *b, const double *v, double *a, double *r) {
    int e = 0;
    for (int k = 0; k < b->blocks; k++) {
        int first = b->block[k], n = b->block[k + 1] - first;
        for (int i = 0; i < n * n; i++) a[i] = 0.0;
        for (; e < b->entries && b->entry[e].row < first + n; e++) {
            const saltus_entry *x = &b->entry[e];
            double w = x->sign * v[x->slot];
            if (x->col < first) r[x->row] -= w * r[x->col];
            else a[(x->row - first) * n + x->col - first] += w;
        }
        if (saltus_lu(n, a, r + first)) return SALTUS_UNSOLVED;
    }
    return SALTUS_OK;
}

/* Right limits from left limits, stage by stage, and the impulses of the variables: s - d times integrated ones of stage s. */
static int saltus_enter(const saltus_restart *b, double *v, double *work, double *impulse) {
    int n = b->n;
    double *r = work, *u = r + n, *left = u + n, *size = left + n, *a = size + n;
    for (int s = b->stages; s >= 1; s--) {
        const uint32_t *value = b->value + (s - 1) * n, *level = b->level + (s - 1) * n;
        int done = 0;
        for (int j = 0; j < n; j++) u[j] = left[j] = value[j] == SALTUS_NONE ? 0.0 : v[value[j]];
        for (int iteration = 0; iteration < 40 && !done; iteration++) {
            double bad = 0.0, step = 0.0;
            int small = 1;
            b->evaluate(v);
            for (int i = 0; i < n; i++) r[i] = size[i] = 0.0;
            for (int e = 0; e < b->entries; e++) {
                int i = b->entry[e].row, j = b->entry[e].col;
                double w = b->entry[e].sign * v[b->entry[e].slot], z = fabs(w * (fabs(u[j]) + 1e-3));
                if (b->c[i] < s) r[i] += w * (u[j] - left[j]);
                if (z > size[i]) size[i] = z;
            }
            for (int i = 0; i < n; i++) {
                if (b->c[i] >= s) r[i] = v[level[i]];
                if (!isfinite(r[i])) return SALTUS_DOMAIN;
                if (fabs(r[i]) / (size[i] + 1e-30) > bad) bad = fabs(r[i]) / (size[i] + 1e-30);
                small &= fabs(r[i]) < 1e-300;
            }
            if (bad <= 1e-13 || small) { done = 1; break; }
            if (saltus_triangular(b, v, a, r)) {
                if (bad < 1e-8) { done = 1; break; }
                return SALTUS_MODE;
            }
            for (int j = 0; j < n; j++) {
                if (!isfinite(r[j])) return SALTUS_MODE;
                u[j] -= r[j];
                if (fabs(r[j]) / (fabs(u[j]) + 1e-6) > step) step = fabs(r[j]) / (fabs(u[j]) + 1e-6);
                if (value[j] != SALTUS_NONE) v[value[j]] = u[j];
            }
            if (step < 1e-14 || (iteration > 3 && step < 1e-11)) done = 1;
        }
        if (!done) return SALTUS_MODE;
        /* Jumps as small as the errors of the integration project these: no impulse made them. */
        int jumped = 0;
        for (int j = 0; j < n; j++)
            jumped |= b->d[j] >= s && fabs(u[j] - left[j]) > 1e-6 * (fabs(u[j]) > fabs(left[j]) ? fabs(u[j]) : fabs(left[j]));
        for (int j = 0; j < n; j++) {
            double change = b->d[j] >= s ? u[j] - left[j] : u[j], size = fabs(left[j]) > 1.0 ? fabs(left[j]) : 1.0;
            impulse[(s - 1) * n + j] = jumped && b->d[j] < s && fabs(u[j]) > 1e-9 ? u[j] : 0.0;
            left[j] = jumped && fabs(change) > 1e-9 * size;
        }
        for (int k = 0; k < b->products; k++)
            if (b->c[b->product[k].equation] < s && left[b->product[k].a] != 0.0 && left[b->product[k].b] != 0.0) return SALTUS_IMPULSE;
    }
    return SALTUS_OK;
}

static double saltus_plain(int kind, double g) {
    switch (kind) {
    case 0: return g < 0.0;
    case 1: return g <= 0.0;
    case 2: return g > 0.0;
    case 3: return g >= 0.0;
    default: return floor(g);
    }
}

/* Of a relation of time: its value now, and when it changes next. */
static double saltus_switch(int kind, double a, double b, double t, double *next) {
    double tiny = 1e-13 * (fabs(t) > 1e-3 ? fabs(t) : 1e-3);
    *next = INFINITY;
    if (kind < 4) {
        if (a == 0.0 || !isfinite(a) || !isfinite(b)) return saltus_plain(kind, b);
        double at = -b / a, after = (double)((a > 0.0) == (kind >= 2));
        if (t >= at - tiny) return after;
        *next = at;
        return 1.0 - after;
    }
    if (a == 0.0 || !isfinite(a) || !isfinite(b)) return floor(b);
    double g = a * t + b, near = round(g);
    double here = fabs(g - near) <= fabs(a) * tiny + 1e-13 * fabs(g) ? near : g;
    if (a > 0.0) {
        double k = floor(here);
        *next = (k + 1.0 - b) / a;
        return k;
    } else {
        double k = here == near ? near - 1.0 : ceil(here) - 1.0;
        *next = (k - b) / a;
        return k;
    }
}
