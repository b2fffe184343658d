/* A condition without a function: a heated plate is turned off for good once a tabulated limit is passed, which is
   looked up after each step; a bouncing disturbance jumps its temperature at a state event. */
#include "saltus_solver.h"
#include <math.h>
#include <stdio.h>

struct plate {
    int on, jumps;
};

static int residual(double t, const double *x, const double *p, double *r, void *user) {
    struct plate *u = user;
    r[0] = p[0] - (u->on ? 10.0 : -0.5 * x[0]);
    return 0;
}
static void functions(double t, const double *x, const double *p, double *g, void *user) { g[0] = x[0] - 20; }
/* The limit by the number of jumps so far: a table, no function of the state with a zero to be found. */
static int over(double t, const double *x, const double *p, void *user) {
    static const double limit[] = {1e3, 1e3, 25};
    struct plate *u = user;
    return u->on && x[0] > limit[u->jumps < 2 ? u->jumps : 2];
}
static int event(double t, const unsigned char *values, int checked, double *x, double *xp, void *user) {
    struct plate *u = user;
    if (checked)
        u->on = 0, printf("t = %.6f: off at %.3f\n", t, x[0]);
    else if (values[0] && u->jumps < 2)
        u->jumps++, x[0] -= 15, printf("t = %.9f: cooled to %.3f\n", t, x[0]);
    return !u->on && x[0] < 1;
}

int main(void) {
    struct plate u = {1, 0};
    saltus_model m = {.size = 1, .functions = 1, .conditions = 1, .user = &u, .residual = residual};
    m.discontinuities = functions, m.check = over, m.event = event;
    double x[] = {0}, xp[] = {0}, atol[] = {1e-8};
    saltus *s = saltus_start(&m, 0, x, xp, 1e-8, atol);
    if (!s) return 1;
    double first = 0, second = 0;
    int why, seen = 0;
    while ((why = saltus_advance(s, 10)) >= 0)
        if (why == SALTUS_EVENT && ++seen <= 2) *(seen == 1 ? &first : &second) = saltus_time(s);
    if (why != SALTUS_STOP) return printf("%s\n", saltus_message(s)), 1;
    /* 20 at t = 2, 5 after the jump, 20 again at t = 3.5; then on to 25 and, at the end of some step beyond, off. */
    int good = fabs(first - 2) < 1e-6 && fabs(second - 3.5) < 1e-6 && !u.on && saltus_x(s)[0] < 5;
    saltus_free(s);
    return !good;
}
