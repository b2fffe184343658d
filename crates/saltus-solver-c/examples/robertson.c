/* A DAE with an analytic Jacobian: Robertson's kinetics with its conservation law. */
#include "saltus_solver.h"
#include <math.h>
#include <stdio.h>

static int residual(double t, const double *x, const double *p, double *r, void *user) {
    r[0] = p[0] + 0.04 * x[0] - 1e4 * x[1] * x[2];
    r[1] = p[1] - 0.04 * x[0] + 1e4 * x[1] * x[2] + 3e7 * x[1] * x[1];
    r[2] = x[0] + x[1] + x[2] - 1;
    return 0;
}
static int jacobian(double t, const double *x, const double *p, double cj, double *m, void *user) {
    m[0] = cj + 0.04, m[1] = -0.04, m[2] = 1; /* by columns */
    m[3] = -1e4 * x[2], m[4] = cj + 1e4 * x[2] + 6e7 * x[1], m[5] = 1;
    m[6] = -1e4 * x[1], m[7] = 1e4 * x[1], m[8] = 1;
    return 0;
}

int main(void) {
    const unsigned char differential[] = {1, 1, 0}, algebraic[] = {0, 0, 1};
    saltus_model m = {.size = 3, .residual = residual, .jacobian = jacobian};
    m.differential = differential, m.algebraic_equation = algebraic;
    double x[] = {1, 0, 0}, xp[] = {0, 0, 0}, atol[] = {1e-17, 1e-23, 1e-10};
    saltus *s = saltus_start(&m, 0, x, xp, 1e-8, atol);
    if (!s) return 1;
    int why;
    while ((why = saltus_advance(s, 1e11)) >= 0) {}
    if (why != SALTUS_STOP) return printf("%s\n", saltus_message(s)), 1;
    const double *y = saltus_x(s);
    printf("t = %g: %.9e %.9e %.12f\n", saltus_time(s), y[0], y[1], y[2]);
    int good = fabs(y[0] / 2.083340149701255e-8 - 1) < 1e-5 && fabs(y[1] / 8.333360770334713e-14 - 1) < 1e-5;
    saltus_free(s);
    return !good;
}
