/* Discontinuity functions under logic: a vessel is filled; its relief valve opens when the pressure exceeds 5 OR the
   temperature exceeds 400, and closes when the pressure falls below 3 AND the temperature below 390. */
#include "saltus_solver.h"
#include <math.h>
#include <stdio.h>

struct vessel {
    int open;
};

static int residual(double t, const double *x, const double *p, double *r, void *user) {
    struct vessel *v = user;
    r[0] = p[0] - (v->open ? 1 - x[0] : 1);            /* pressure */
    r[1] = p[1] - (2 * x[0] - 0.02 * (x[1] - 300));    /* temperature */
    return 0;
}
static void functions(double t, const double *x, const double *p, double *g, void *user) {
    g[0] = x[0] - 5, g[1] = x[1] - 400, g[2] = 3 - x[0], g[3] = 390 - x[1];
}
static int condition(size_t k, const unsigned char *g, void *user) {
    struct vessel *v = user;
    return v->open ? !(g[2] && g[3]) : g[0] || g[1];
}
static int event(double t, const unsigned char *values, int checked, double *x, double *xp, void *user) {
    struct vessel *v = user;
    v->open = values[0];
    printf("t = %.9f: the valve %s\n", t, v->open ? "opens" : "closes");
    return 0;
}

int main(void) {
    struct vessel v = {0};
    saltus_model m = {.size = 2, .functions = 4, .conditions = 1, .user = &v, .residual = residual};
    m.discontinuities = functions, m.condition = condition, m.event = event;
    double x[] = {1, 300}, xp[] = {0, 0}, atol[] = {1e-9, 1e-7};
    saltus *s = saltus_start(&m, 0, x, xp, 1e-9, atol);
    if (!s) return 1;
    double times[8] = {0};
    int events = 0, why;
    while ((why = saltus_advance(s, 12)) >= 0)
        if (why == SALTUS_EVENT && events < 8) times[events++] = saltus_time(s);
    if (why != SALTUS_STOP) return printf("%s\n", saltus_message(s)), 1;
    /* Filling from 1 at rate 1: open at t = 4; then p = 1 + 4 exp(-(t - 4)) reaches 3 at t = 4 + ln 2;
       then filling again from 3 for 2 time units. */
    double exact[] = {4, 4 + log(2), 6 + log(2), 6 + 2 * log(2), 8 + 2 * log(2), 8 + 3 * log(2)};
    int good = events >= 6;
    for (int k = 0; k < 6; k++) good &= fabs(times[k] - exact[k]) < 1e-6;
    saltus_free(s);
    return !good;
}
