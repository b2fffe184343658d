/* ---- external code ---- */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf saltus_way_out;
static char saltus_reason[1024];
static inline void ModelicaMessage(const char *s) { fputs(s, stderr); fputc('\n', stderr); }
static inline void ModelicaWarning(const char *s) { fputs("warning: ", stderr); ModelicaMessage(s); }
static inline void ModelicaError(const char *s) { snprintf(saltus_reason, sizeof saltus_reason, "%s", s); longjmp(saltus_way_out, 1); }
static inline void ModelicaVFormatMessage(const char *s, va_list a) { vfprintf(stderr, s, a); fputc('\n', stderr); }
static inline void ModelicaVFormatWarning(const char *s, va_list a) { fputs("warning: ", stderr); ModelicaVFormatMessage(s, a); }
static inline void ModelicaVFormatError(const char *s, va_list a) { vsnprintf(saltus_reason, sizeof saltus_reason, s, a); longjmp(saltus_way_out, 1); }
static inline void ModelicaFormatMessage(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatMessage(s, a); va_end(a); }
static inline void ModelicaFormatWarning(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatWarning(s, a); va_end(a); }
static inline void ModelicaFormatError(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatError(s, a); va_end(a); }
static inline char *ModelicaAllocateStringWithErrorReturn(size_t n) { return calloc(n + 1, 1); }
static inline char *ModelicaAllocateString(size_t n) { char *s = calloc(n + 1, 1); if (!s) ModelicaError("out of memory"); return s; }
static inline char *ModelicaDuplicateStringWithErrorReturn(const char *t) { char *s = malloc(strlen(t) + 1); return s ? strcpy(s, t) : 0; }
static inline char *ModelicaDuplicateString(const char *t) { return strcpy(ModelicaAllocateString(strlen(t)), t); }

/* Runs code that may end by ModelicaError; why it did. */
static inline const char *saltus_guarded(const char *(*f)(saltus_arg *a, saltus_arg *r), saltus_arg *a, saltus_arg *r) {
    if (setjmp(saltus_way_out)) return saltus_reason;
    return f(a, r);
}

#ifdef SALTUS_OBJECTS
/* External objects have the numbers that they had when the file was written, in the order in which they are made. */
static inline double saltus_made(saltus_functions *c, void *p) {
    if (c->objects == SALTUS_OBJECTS) saltus_fail(c, "an external object is made while the model runs");
    c->object[c->objects] = p;
    return saltus_handles[c->objects++];
}
static inline int saltus_run(saltus_functions *c, void (*f)(saltus_functions *c), const double *args, size_t n) {
    double given = 0.0;
    c->args = args; c->n = n; c->out = &given; c->outs = 1; c->top = 0; c->depth = 0;
    return saltus_try(c, f);
}
static inline void *saltus_pointer(saltus_functions *c, double handle) {
    for (int k = 0; k < c->objects; k++) if (saltus_handles[k] == handle) return c->object[k];
    saltus_fail(c, "the external object does not exist (not constructed yet, or destroyed)");
    return 0;
}
#endif
