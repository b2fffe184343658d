/* ---- functions of the model ---- */

#include <setjmp.h>

/* Numbers that arrays of functions may take together. */
#ifndef SALTUS_ARENA
#define SALTUS_ARENA 65536
#endif
#ifndef SALTUS_DEPTH
#define SALTUS_DEPTH 500
#endif
#define SALTUS_RANK 8

/* A number and its directional derivative. */
typedef struct { double v, d; } saltus_dual;

/* What functions work with: memory of their arrays, the way out of a failure and its reason, the last results. */
typedef struct saltus_functions {
    jmp_buf escape;
    const char *message;
    const double *args;
    double *out;
    size_t n, outs, top;
    int depth;
    double arena[SALTUS_ARENA];
    int valid[SALTUS_CALLED];
    double memo[SALTUS_MEMO];
#ifdef SALTUS_TEXT
    size_t text_top;
    char text[SALTUS_TEXT], reason[256];
#endif
#ifdef SALTUS_OBJECTS
    int objects;
    void *object[SALTUS_OBJECTS];
#endif
#ifdef SALTUS_GENERATORS
    int generators;
    double generator[SALTUS_GENERATORS][34]; /* number and state */
#endif
#ifdef SALTUS_FLOWS
    struct saltus_flow *flow;
#endif
} saltus_functions;

/* Text that a call has built goes with it, unless it gives text. */
#ifdef SALTUS_TEXT
#define SALTUS_MARK const size_t saltus_mark = c->text_top;
#define SALTUS_RELEASE c->text_top = saltus_mark;
#else
#define SALTUS_MARK
#define SALTUS_RELEASE
#endif

static inline double *saltus_room(saltus_functions *c, size_t n) {
    double *at = c->arena + c->top;
    if (n > SALTUS_ARENA - c->top) { c->message = "the arrays of functions need more memory: SALTUS_ARENA"; longjmp(c->escape, 1); }
    c->top += n;
    return at;
}
static inline void saltus_fail(saltus_functions *c, const char *message) {
    c->message = message;
    longjmp(c->escape, 1);
}
static inline int saltus_size(saltus_functions *c, double v) {
    if (!(v >= 0.0 && v <= 268435456.0)) saltus_fail(c, "a number is no size of an array");
    return (int)v;
}

/* The zero-based position of a subscript. */
static inline int saltus_at(saltus_functions *c, double i, int n) {
    if (!(i >= 1.0 && i <= (double)n && i == floor(i))) saltus_fail(c, "a subscript is out of range");
    return (int)i - 1;
}

/* How many values a:s:b has. */
static inline int saltus_range(saltus_functions *c, double a, double s, double b) {
    double q = (b - a) / s, m = fabs(q) > 1.0 ? fabs(q) : 1.0, n;
    if (s == 0.0 || !isfinite(s) || !isfinite(a) || !isfinite(b)) saltus_fail(c, "a range has no end");
    n = floor(q + 1e-10 * m) + 1.0;
    return n <= 0.0 ? 0 : saltus_size(c, n);
}

/* Whole numbers are divided as such. kind 0: div, 1: mod, 2: rem. */
static inline double saltus_division(saltus_functions *c, int kind, double a, double b) {
    double q;
    if (b == 0.0) saltus_fail(c, "division by zero");
    if (a == trunc(a) && b == trunc(b) && fabs(a) < 9e15 && fabs(b) < 9e15) {
        int64_t x = (int64_t)a, y = (int64_t)b, r = x % y;
        if (kind == 0) return (double)(x / y);
        if (kind == 1 && r != 0 && (r < 0) != (y < 0)) r += y;
        return (double)r;
    }
    q = kind == 1 ? floor(a / b) : trunc(a / b);
    return kind == 0 ? q : a - q * b;
}

/* Positions of a part of an array, by dimension. */
typedef struct { int rank, n[SALTUS_RANK], size[SALTUS_RANK], kept[SALTUS_RANK]; double *list[SALTUS_RANK]; } saltus_part;

static inline double *saltus_list(saltus_functions *c, saltus_part *p, int size, int n, int kept) {
    int k = p->rank++;
    p->n[k] = n; p->size[k] = size; p->kept[k] = kept;
    return p->list[k] = saltus_room(c, (size_t)n);
}
static inline void saltus_part_at(saltus_functions *c, saltus_part *p, int size, double i) {
    saltus_list(c, p, size, 1, 0)[0] = saltus_at(c, i, size);
}
static inline void saltus_part_all(saltus_functions *c, saltus_part *p, int size) {
    double *l = saltus_list(c, p, size, size, 1);
    for (int i = 0; i < size; i++) l[i] = i;
}
static inline void saltus_part_range(saltus_functions *c, saltus_part *p, int size, double a, double s, int n) {
    double *l = saltus_list(c, p, size, n, 1);
    for (int i = 0; i < n; i++) l[i] = saltus_at(c, a + i * s, size);
}
/* The number of positions, and the flat position of the k-th. */
static inline int saltus_part_count(const saltus_part *p) {
    int n = 1;
    for (int d = 0; d < p->rank; d++) n *= p->n[d];
    return n;
}
static inline int saltus_part_flat(const saltus_part *p, int k) {
    int at = 0, unit = 1;
    for (int d = p->rank - 1; d >= 0; d--) {
        at += (int)p->list[d][k % p->n[d]] * unit;
        unit *= p->size[d];
        k /= p->n[d];
    }
    return at;
}

static inline saltus_dual d_(double v, double d) { saltus_dual x; x.v = v; x.d = d; return x; }
static inline double d_times(double d, double factor) { return d == 0.0 ? 0.0 : d * factor; }
#define D_UNARY(name, value, slope) static inline saltus_dual d_##name(saltus_dual a) { double r = value; \
    return d_(r, a.d == 0.0 ? 0.0 : (slope) * a.d); }
#define D_STEP(name, value) static inline saltus_dual d_##name(saltus_dual a) { return d_(value, 0.0); }
D_UNARY(neg, -a.v, -1.0)
D_UNARY(fabs, fabs(a.v), a.v >= 0.0 ? 1.0 : -1.0)
D_UNARY(sqrt, sqrt(a.v), 1.0 / (2.0 * r))
D_UNARY(exp, exp(a.v), r)
D_UNARY(log, log(a.v), 1.0 / a.v)
D_UNARY(log10, log10(a.v), 0x1.bcb7b1526e50ep-2 / a.v)
D_UNARY(sin, sin(a.v), cos(a.v))
D_UNARY(cos, cos(a.v), -sin(a.v))
D_UNARY(tan, tan(a.v), 1.0 + r * r)
D_UNARY(asin, asin(a.v), 1.0 / sqrt(1.0 - a.v * a.v))
D_UNARY(acos, acos(a.v), -1.0 / sqrt(1.0 - a.v * a.v))
D_UNARY(atan, atan(a.v), 1.0 / (1.0 + a.v * a.v))
D_UNARY(sinh, sinh(a.v), cosh(a.v))
D_UNARY(cosh, cosh(a.v), sinh(a.v))
D_UNARY(tanh, tanh(a.v), 1.0 - r * r)
D_STEP(not, (double)(a.v == 0.0))
D_STEP(sign, saltus_sign(a.v))
D_STEP(floor, floor(a.v))
D_STEP(ceil, ceil(a.v))
D_STEP(trunc, trunc(a.v))
static inline saltus_dual d_add(saltus_dual a, saltus_dual b) { return d_(a.v + b.v, a.d + b.d); }
static inline saltus_dual d_sub(saltus_dual a, saltus_dual b) { return d_(a.v - b.v, a.d - b.d); }
static inline saltus_dual d_mul(saltus_dual a, saltus_dual b) { return d_(a.v * b.v, d_times(a.d, b.v) + d_times(b.d, a.v)); }
static inline saltus_dual d_div(saltus_dual a, saltus_dual b) {
    double v = a.v / b.v, rise = a.d - d_times(b.d, v);
    return d_(v, rise == 0.0 ? 0.0 : rise / b.v);
}
static inline saltus_dual d_pow(saltus_dual a, saltus_dual b) {
    double v = saltus_pow(a.v, b.v);
    double left = a.d == 0.0 ? 0.0 : b.v * saltus_pow(a.v, b.v - 1.0) * a.d;
    double right = b.d == 0.0 || a.v <= 0.0 ? 0.0 : v * log(a.v) * b.d;
    return d_(v, left + right);
}
static inline saltus_dual d_atan2(saltus_dual a, saltus_dual b) {
    return d_(atan2(a.v, b.v), a.d == 0.0 && b.d == 0.0 ? 0.0 : (b.v * a.d - a.v * b.d) / (a.v * a.v + b.v * b.v));
}
static inline saltus_dual d_min(saltus_dual a, saltus_dual b) { return b.v < a.v ? b : a; }
static inline saltus_dual d_max(saltus_dual a, saltus_dual b) { return b.v > a.v ? b : a; }
static inline saltus_dual d_division(saltus_functions *c, int kind, saltus_dual a, saltus_dual b) {
    saltus_dual q;
    if (a.d == 0.0 && b.d == 0.0) return d_(saltus_division(c, kind, a.v, b.v), 0.0);
    if (b.v == 0.0) saltus_fail(c, "division by zero");
    q = d_div(a, b);
    q = kind == 1 ? d_floor(q) : d_trunc(q);
    return kind == 0 ? q : d_sub(a, d_mul(q, b));
}
static inline double r_(double v, double d) { (void)d; return v; }
static inline double r_add(double a, double b) { return a + b; }
static inline double r_sub(double a, double b) { return a - b; }
static inline double r_mul(double a, double b) { return a * b; }
static inline double r_neg(double a) { return -a; }
static inline double r_value(double a) { return a; }
static inline double d_value(saltus_dual a) { return a.v; }

/* Runs f unless something in it fails. */
static int saltus_try(saltus_functions *c, void (*f)(saltus_functions *c)) {
    if (setjmp(c->escape)) return 1;
    f(c);
    return 0;
}
typedef size_t (*saltus_flat)(saltus_functions *c, const double *args, size_t n, double *out, size_t outs);
/* How the derivatives of a function at (x, dx) change along (x', dx'), n numbers each: by its tangent, which knows of Reals
   only; by differences where the function is another one at this very point. */
static inline void saltus_second(saltus_functions *c, saltus_flat tangent, saltus_flat plain, const unsigned char *real, size_t n,
                                 const unsigned char *result, size_t outs, double *room) {
    const double *at = c->args, *along = c->args + 2 * n;
    double *y = room + 4 * n, *first = y + outs, *sides[2];
    double *out = c->out;
    size_t m = 0, k = 0, i, wanted = c->outs;
    int side;
    sides[0] = first + outs;
    sides[1] = sides[0] + outs;
    for (side = 0; side < 2; side++) {
        const double *from = side ? along : at;
        for (i = 0; i < n; i++) room[m++] = from[i];
        for (i = 0; i < n; i++) if (real[i]) room[m++] = from[n + i];
    }
    (void)tangent(c, room, m / 2, y, outs);
    (void)plain(c, at, n, first, outs);
    for (side = 0; side < 2; side++) {
        double h = side ? 1e-5 : -1e-5;
        for (i = 0; i < 2 * n; i++) room[i] = at[i] + h * along[i];
        (void)plain(c, room, n, sides[side], outs);
    }
    for (i = 0; i < outs && i < wanted; i++) {
        double d = result[i] ? y[k++] : 0.0, near = (sides[1][i] - sides[0][i]) / (2.0 * 1e-5);
        double wrong = 1e-2 * (fabs(d) + fabs(near)) + 1e-7 * fabs(first[i]);
        out[i] = near - near == 0.0 && !(fabs(d - near) <= wrong) ? near : d;
    }
}
static inline int saltus_same(const double *key, const double *args, const double *dargs, size_t n) {
    return memcmp(key, args, n * sizeof *key) == 0 && (!dargs || memcmp(key + n, dargs, n * sizeof *key) == 0);
}
/* Output `out` of a call whose arguments are in `key`, the last results being kept behind them. */
static inline double saltus_result(saltus_functions *c, int k, void (*f)(saltus_functions *c), double *key, const double *args,
                                   const double *dargs, size_t n, size_t outs, uint32_t out) {
    size_t all = dargs ? 2 * n : n;
    if (!c->valid[k] || !saltus_same(key, args, dargs, n)) {
        memcpy(key, args, n * sizeof *key);
        if (dargs) memcpy(key + n, dargs, n * sizeof *key);
        c->args = key; c->n = all; c->out = key + all; c->outs = outs; c->top = 0; c->depth = 0;
        SALTUS_MARK
        c->valid[k] = !saltus_try(c, f);
        if (!c->valid[k]) { SALTUS_RELEASE return NAN; }
    }
    return key[all + out];
}
/* The same of what has effects: at one event it is called once with the same arguments, as long as these are not too many, and at the
   next one anew. */
static inline double saltus_effect(saltus_functions *c, int k, void (*f)(saltus_functions *c), double *key, const double *args,
                                   const double *dargs, size_t n, size_t outs, uint32_t out) {
    double *first = key;
    for (int i = 0; i < SALTUS_EFFECTS; i++, key += (dargs ? 2 * n : n) + outs)
        if (!c->valid[k + i] || saltus_same(key, args, dargs, n)) return saltus_result(c, k + i, f, key, args, dargs, n, outs, out);
    return saltus_result(c, k, f, first, args, dargs, n, outs, out);
}
static inline void saltus_forget(saltus_functions *c) { for (int k = SALTUS_PURE; k < SALTUS_CALLED; k++) c->valid[k] = 0; }
