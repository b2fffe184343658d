/* Saltus: F(t, x, x') = 0 of index 1 with state conditions, for callers in C.
 *
 * Fill a saltus_model, call saltus_start, then saltus_advance until it says SALTUS_STOP:
 *
 *     saltus_model m = { .size = 2, .residual = f, .user = &parameters };
 *     saltus *s = saltus_start(&m, 0.0, x, xp, rtol, atol);
 *     while (saltus_advance(s, 10.0) >= 0) { ... saltus_x(s) ... }
 *     saltus_free(s);
 *
 * The model is locked: between events its branches do not depend on the arguments but on what the last event callback
 * stored. Link with -lsaltus_solver_c (and -lm -lpthread -ldl for the static library). */
#ifndef SALTUS_SOLVER_H
#define SALTUS_SOLVER_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SALTUS_STEP = 0, SALTUS_EVENT = 1, SALTUS_STOP = -1, SALTUS_FAILED = -2 };

typedef struct saltus_model {
    size_t size;       /* unknowns and equations */
    size_t functions;  /* discontinuity functions */
    size_t conditions; /* state conditions */
    void *user;        /* handed to every callback */

    /* r = F(t, x, xp). 0: fine; 1: outside the domain (the step is cut); 2: stop. Required. */
    int (*residual)(double t, const double *x, const double *xp, double *r, void *user);
    /* Entries of dF/dx + cj dF/dx' in the order of the pattern, or column-major if there is none. May be NULL. */
    int (*jacobian)(double t, const double *x, const double *xp, double cj, double *values, void *user);
    /* Compressed columns with ascending rows: size + 1 starts, then rows. NULL: full. */
    const size_t *column_starts;
    const size_t *rows;
    /* Per unknown 1 if its derivative occurs, per equation 1 if none occurs in it. NULL: all differential. */
    const unsigned char *differential;
    const unsigned char *algebraic_equation;

    /* g = g(t, x, xp), positive means true. Needed if functions > 0. */
    void (*discontinuities)(double t, const double *x, const double *xp, double *g, void *user);
    /* The value (0 or 1) of condition k, positive[i] telling whether g[i] is. NULL: condition k is g[k] > 0. */
    int (*condition)(size_t k, const unsigned char *positive, void *user);
    /* Conditions without a function, asked after each step; nonzero calls event. May be NULL. */
    int (*check)(double t, const double *x, const double *xp, void *user);
    /* Lock the new mode given all conditions' values; x and xp may be changed. Nonzero: end here. May be NULL. */
    int (*event)(double t, const unsigned char *values, int checked, double *x, double *xp, void *user);
} saltus_model;

typedef struct saltus saltus;

/* Finds consistent values (x of algebraic and x' of differential unknowns are guesses) and starts.
 * atol: one per unknown. NULL on failure. The model and what it points to must outlive the solver. */
saltus *saltus_start(const saltus_model *model, double t, const double *x, const double *xp, double rtol,
                     const double *atol);
/* One step, ended early by the first event in it; never past tstop. */
int saltus_advance(saltus *s, double tstop);
double saltus_time(const saltus *s);
const double *saltus_x(const saltus *s);
const double *saltus_xp(const saltus *s);
/* Accepted steps, evaluations of the residual, Jacobians, factorizations. */
void saltus_counts(const saltus *s, size_t counts[4]);
/* Why saltus_advance said SALTUS_FAILED. */
const char *saltus_message(const saltus *s);
void saltus_free(saltus *s);

#ifdef __cplusplus
}
#endif
#endif
