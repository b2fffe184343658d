/* ---- the library's impure random generators: states by their number, as they were when the file was written ---- */

#ifndef SALTUS_NO_STDIO
#include <time.h>
#endif

static inline double *saltus_generator(saltus_functions *c, double id) {
    for (int k = 0; k < c->generators; k++) if (c->generator[k][0] == id) return c->generator[k] + 1;
    return 0;
}
static inline double saltus_ModelicaRandom_setInternalState_xorshift1024star(saltus_functions *c, saltus_arg *a) {
    double *s = saltus_generator(c, a[2].x[0]);
    if (a[0].n < 33) saltus_fail(c, "the state of a random generator has another size");
    if (!s) {
        if (c->generators == SALTUS_GENERATORS) saltus_fail(c, "there are too many random generators: SALTUS_GENERATORS");
        c->generator[c->generators][0] = a[2].x[0];
        s = c->generator[c->generators++] + 1;
    }
    memcpy(s, a[0].x, 33 * sizeof *s);
    return 0.0;
}
static inline double saltus_ModelicaRandom_impureRandom_xorshift1024star(saltus_functions *c, saltus_arg *a) {
    double *s = saltus_generator(c, a[0].x[0]), next[33];
    if (!s) saltus_fail(c, "the impure random generator is used before initializeImpureRandom");
    double drawn = saltus_xorshift1024star(s, next);
    memcpy(s, next, sizeof next);
    return drawn;
}
static inline double saltus_ModelicaRandom_automaticGlobalSeed(saltus_functions *c, saltus_arg *a) {
    (void)a;
#ifdef SALTUS_NO_STDIO
    saltus_fail(c, "there is no clock in this program (SALTUS_NO_STDIO)");
    return 0.0;
#else
    (void)c;
    uint64_t x = ((uint64_t)time(0) << 20 ^ (uint64_t)clock()) * 0x9e3779b97f4a7c15u;
    return (double)(x >> 33);
#endif
}
