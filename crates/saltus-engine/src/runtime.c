/* ---- what every exported model has in common: evaluation, events, one step ---- */

/* Why a call did not succeed. */
enum { SALTUS_OK = 0, SALTUS_UNSOLVED = 1, SALTUS_DOMAIN = 2, SALTUS_ASSERT = 3, SALTUS_EVENTS = 4, SALTUS_TERMINATED = 5 };

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

/* One entry of a Jacobian: row, column, slot, sign. */
typedef struct { int row, col; uint32_t slot; double sign; } saltus_entry;

/* Equations solved together. */
typedef struct {
    int n, linear, entries;
    const uint32_t *unknowns, *residuals;
    const saltus_entry *entry;
    const double *nominal;
    void (*residual)(double *v);
    void (*jacobian)(double *v);
} saltus_block;

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

/* Newton's method; one step if linear. The work arrays have n*n + 4n numbers. */
static int saltus_solve(const saltus_block *b, double *v, double *work) {
    int n = b->n;
    double *a = work, *z = a + n * n, *r = z + n, *trial = r + n, *rr = trial + n;
    double last = INFINITY;
    for (int i = 0; i < n; i++) { z[i] = v[b->unknowns[i]]; if (!isfinite(z[i])) z[i] = 0.0; }
    if (!saltus_evaluate(b, v, z, r)) return SALTUS_DOMAIN;
    for (int iteration = 0; iteration < 50; iteration++) {
        if (saltus_largest(n, r) == 0.0) return SALTUS_OK;
        b->jacobian(v);
        for (int i = 0; i < n * n; i++) a[i] = 0.0;
        for (int e = 0; e < b->entries; e++)
            a[b->entry[e].row * n + b->entry[e].col] += b->entry[e].sign * v[b->entry[e].slot];
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
                && (lambda * size < 1e-3 || saltus_largest(n, rr) < 10.0 * (old > 1e-300 ? old : 1e-300) || lambda < 0.05))
                break;
            lambda *= 0.5;
            if (lambda < 1e-4) return SALTUS_UNSOLVED;
        }
        for (int i = 0; i < n; i++) { z[i] = trial[i]; r[i] = rr[i]; }
        if (lambda == 1.0 && (size < 1e-9 || (size < 1e-6 && last < 1e-3) || (size < 1e-7 && size >= 0.5 * last)))
            return SALTUS_OK;
        last = size;
    }
    return SALTUS_UNSOLVED;
}

/* A relation: its truth value is held between events. kind 0..3: g < 0, g <= 0, g > 0, g >= 0; 4: floor(g).
   With `timed` it is slope*time + rest and switches exactly then. */
typedef struct { uint32_t g, var, slope, rest; int kind, timed; } saltus_relation;

/* A sampler. */
typedef struct { uint32_t slot, pre; double start, interval; } saltus_ticker;

/* A slot and the slot of its previous value. */
typedef struct { uint32_t slot, pre; } saltus_memory;

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
