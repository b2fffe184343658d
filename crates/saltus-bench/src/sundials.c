/* The problems of problems.rs on CVODE and IDA (SUNDIALS 6.4), with the same formulas and tolerances.
   Usage: sundials CASE RTOL REPETITIONS; prints one line: seconds steps evaluations jacobians kilobytes, then values. */
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

#define X(v) N_VGetArrayPointer(v)
static SUNContext ctx;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static long memory(const char *key) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kb = 0;
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key))) kb = atol(line + strlen(key) + 1);
    if (f) fclose(f);
    return kb;
}

typedef struct {
    long steps, evaluations, jacobians;
    int count;
    double *values;
} Outcome;

/* ---- Robertson */
static int rob_f(realtype t, N_Vector y, N_Vector d, void *u) {
    double *x = X(y), *f = X(d);
    f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    f[2] = 3e7 * x[1] * x[1];
    f[1] = -f[0] - f[2];
    return 0;
}
static int rob_j(realtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *u, N_Vector a, N_Vector b, N_Vector c) {
    double *x = X(y);
#define M(i, j) SM_ELEMENT_D(J, i, j)
    M(0, 0) = -0.04, M(0, 1) = 1e4 * x[2], M(0, 2) = 1e4 * x[1];
    M(2, 0) = 0, M(2, 1) = 6e7 * x[1], M(2, 2) = 0;
    for (int k = 0; k < 3; k++) M(1, k) = -M(0, k) - M(2, k);
    return 0;
}
static void rob_weights(double rtol, double *a) { a[0] = 1e-9 * rtol, a[1] = 1e-15 * rtol, a[2] = 1e-2 * rtol; }

static Outcome robertson(double rtol) {
    static double out[3];
    N_Vector y = N_VNew_Serial(3, ctx), atol = N_VNew_Serial(3, ctx);
    X(y)[0] = 1, X(y)[1] = 0, X(y)[2] = 0;
    rob_weights(rtol, X(atol));
    void *m = CVodeCreate(CV_BDF, ctx);
    CVodeInit(m, rob_f, 0, y);
    CVodeSVtolerances(m, rtol, atol);
    SUNMatrix A = SUNDenseMatrix(3, 3, ctx);
    SUNLinearSolver L = SUNLinSol_Dense(y, A, ctx);
    CVodeSetLinearSolver(m, L, A);
    CVodeSetJacFn(m, rob_j);
    CVodeSetMaxNumSteps(m, 1000000);
    CVodeSetStopTime(m, 1e11);
    realtype t;
    CVode(m, 1e11, y, &t, CV_NORMAL);
    Outcome o = {0, 0, 0, 3, out};
    memcpy(out, X(y), sizeof out);
    CVodeGetNumSteps(m, &o.steps), CVodeGetNumRhsEvals(m, &o.evaluations), CVodeGetNumJacEvals(m, &o.jacobians);
    CVodeFree(&m), SUNLinSolFree(L), SUNMatDestroy(A), N_VDestroy(y), N_VDestroy(atol);
    return o;
}

/* ---- Robertson with its conservation law, as a DAE */
static int rd_f(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *u) {
    double *x = X(y), *p = X(yp), *f = X(r);
    f[0] = p[0] + 0.04 * x[0] - 1e4 * x[1] * x[2];
    f[1] = p[1] - 0.04 * x[0] + 1e4 * x[1] * x[2] + 3e7 * x[1] * x[1];
    f[2] = x[0] + x[1] + x[2] - 1;
    return 0;
}
static int rd_j(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *u, N_Vector a,
                N_Vector b, N_Vector c) {
    double *x = X(y);
    M(0, 0) = cj + 0.04, M(0, 1) = -1e4 * x[2], M(0, 2) = -1e4 * x[1];
    M(1, 0) = -0.04, M(1, 1) = cj + 1e4 * x[2] + 6e7 * x[1], M(1, 2) = 1e4 * x[1];
    M(2, 0) = 1, M(2, 1) = 1, M(2, 2) = 1;
    return 0;
}
static Outcome robertson_dae(double rtol) {
    static double out[3];
    N_Vector y = N_VNew_Serial(3, ctx), yp = N_VNew_Serial(3, ctx), atol = N_VNew_Serial(3, ctx);
    X(y)[0] = 1, X(y)[1] = 0, X(y)[2] = 0;
    X(yp)[0] = -0.04, X(yp)[1] = 0.04, X(yp)[2] = 0;
    rob_weights(rtol, X(atol));
    void *m = IDACreate(ctx);
    IDAInit(m, rd_f, 0, y, yp);
    IDASVtolerances(m, rtol, atol);
    SUNMatrix A = SUNDenseMatrix(3, 3, ctx);
    SUNLinearSolver L = SUNLinSol_Dense(y, A, ctx);
    IDASetLinearSolver(m, L, A);
    IDASetJacFn(m, rd_j);
    IDASetMaxNumSteps(m, 1000000);
    IDASetStopTime(m, 1e11);
    realtype t;
    IDASolve(m, 1e11, &t, y, yp, IDA_NORMAL);
    Outcome o = {0, 0, 0, 3, out};
    memcpy(out, X(y), sizeof out);
    IDAGetNumSteps(m, &o.steps), IDAGetNumResEvals(m, &o.evaluations), IDAGetNumJacEvals(m, &o.jacobians);
    IDAFree(&m), SUNLinSolFree(L), SUNMatDestroy(A), N_VDestroy(y), N_VDestroy(yp), N_VDestroy(atol);
    return o;
}

/* ---- Reaction and diffusion on a square grid */
#define G 100
#define DIFF (0.02 * (G + 1) * (G + 1))
static int heat_f(realtype t, N_Vector y, N_Vector d, void *u) {
    double *x = X(y), *f = X(d), edge = 1 + 0.5 * sin(6 * t);
    for (int j = 0; j < G; j++)
        for (int i = 0; i < G; i++) {
            int k = j * G + i;
            double v = x[k], west = i ? x[k - 1] : edge, east = i < G - 1 ? x[k + 1] : 0;
            double south = j ? x[k - G] : 0, north = j < G - 1 ? x[k + G] : 0;
            f[k] = DIFF * (west + east + south + north - 4 * v) + 10 * v * v * (1 - v);
        }
    return 0;
}
static int heat_j(realtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *u, N_Vector a, N_Vector b, N_Vector c) {
    sunindextype *ptr = SM_INDEXPTRS_S(J), *row = SM_INDEXVALS_S(J), n = 0;
    double *v = SM_DATA_S(J), *x = X(y);
    for (int j = 0; j < G; j++)
        for (int i = 0; i < G; i++) {
            int k = j * G + i;
            ptr[k] = n;
            if (j) row[n] = k - G, v[n++] = DIFF;
            if (i) row[n] = k - 1, v[n++] = DIFF;
            row[n] = k, v[n++] = -4 * DIFF + 10 * x[k] * (2 - 3 * x[k]);
            if (i < G - 1) row[n] = k + 1, v[n++] = DIFF;
            if (j < G - 1) row[n] = k + G, v[n++] = DIFF;
        }
    ptr[G * G] = n;
    return 0;
}
static Outcome diffusion(double rtol) {
    static double out[G * G];
    N_Vector y = N_VNew_Serial(G * G, ctx);
    N_VConst(0, y);
    void *m = CVodeCreate(CV_BDF, ctx);
    CVodeInit(m, heat_f, 0, y);
    CVodeSStolerances(m, rtol, rtol);
    SUNMatrix A = SUNSparseMatrix(G * G, G * G, 5 * G * G, CSC_MAT, ctx);
    SUNLinearSolver L = SUNLinSol_KLU(y, A, ctx);
    SUNLinSol_KLUSetOrdering(L, 0);
    CVodeSetLinearSolver(m, L, A);
    CVodeSetJacFn(m, heat_j);
    CVodeSetMaxNumSteps(m, 1000000);
    CVodeSetStopTime(m, 1);
    realtype t;
    CVode(m, 1, y, &t, CV_NORMAL);
    Outcome o = {0, 0, 0, G * G, out};
    memcpy(out, X(y), sizeof out);
    CVodeGetNumSteps(m, &o.steps), CVodeGetNumRhsEvals(m, &o.evaluations), CVodeGetNumJacEvals(m, &o.jacobians);
    CVodeFree(&m), SUNLinSolFree(L), SUNMatDestroy(A), N_VDestroy(y);
    return o;
}

/* ---- A ladder of resistors, capacitors and diodes with cross connections */
#define N 1000
#define CROSS 37
static double diode(double v) {
    double a = v / 0.05;
    return 1e-6 * (a < 40 ? exp(a) - 1 : exp(40) * (a - 39) - 1);
}
static double diode_slope(double v) {
    double a = v / 0.05;
    return 1e-6 / 0.05 * (a < 40 ? exp(a) : exp(40));
}
static int circuit_f(realtype t, N_Vector y, N_Vector yp, N_Vector res, void *u) {
    double *v = X(y), *p = X(yp), *r = X(res), source = 5 * sin(6.283185307179586 * t);
    for (int i = 0; i < N; i++) {
        double in = (i ? v[i - 1] : source) - v[i], out = i < N - 1 ? v[i] - v[i + 1] : v[i];
        r[i] = out - in + 0.01 * v[i];
        if (i % 3 != 2) r[i] += 1e-3 * p[i];
        if (i % 5 == 0) r[i] += diode(v[i]);
    }
    for (int i = 0; i + CROSS < N; i += 10) {
        double c = 0.1 * (v[i] - v[i + CROSS]);
        r[i] += c, r[i + CROSS] -= c;
    }
    return 0;
}
static int circuit_j(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix J, void *u, N_Vector a,
                     N_Vector b, N_Vector c) {
    sunindextype *ptr = SM_INDEXPTRS_S(J), *row = SM_INDEXVALS_S(J), n = 0;
    double *v = SM_DATA_S(J), *x = X(y);
    for (int k = 0; k < N; k++) {
        int up = k >= CROSS && (k - CROSS) % 10 == 0, down = k % 10 == 0 && k + CROSS < N;
        double d = 2.01 + 0.1 * (up + down);
        if (k % 3 != 2) d += 1e-3 * cj;
        if (k % 5 == 0) d += diode_slope(x[k]);
        ptr[k] = n;
        if (up) row[n] = k - CROSS, v[n++] = -0.1;
        if (k) row[n] = k - 1, v[n++] = -1;
        row[n] = k, v[n++] = d;
        if (k < N - 1) row[n] = k + 1, v[n++] = -1;
        if (down) row[n] = k + CROSS, v[n++] = -0.1;
    }
    ptr[N] = n;
    return 0;
}
static Outcome circuit(double rtol) {
    static double out[N];
    N_Vector y = N_VNew_Serial(N, ctx), yp = N_VNew_Serial(N, ctx), id = N_VNew_Serial(N, ctx);
    N_VConst(0, y), N_VConst(0, yp);
    for (int i = 0; i < N; i++) X(id)[i] = i % 3 != 2;
    void *m = IDACreate(ctx);
    IDAInit(m, circuit_f, 0, y, yp);
    IDASStolerances(m, rtol, rtol);
    SUNMatrix A = SUNSparseMatrix(N, N, 6 * N, CSC_MAT, ctx);
    SUNLinearSolver L = SUNLinSol_KLU(y, A, ctx);
    SUNLinSol_KLUSetOrdering(L, 0);
    IDASetLinearSolver(m, L, A);
    IDASetJacFn(m, circuit_j);
    IDASetId(m, id);
    IDASetMaxNumSteps(m, 1000000);
    IDASetStopTime(m, 2);
    realtype t;
    IDASolve(m, 2, &t, y, yp, IDA_NORMAL);
    Outcome o = {0, 0, 0, N, out};
    memcpy(out, X(y), sizeof out);
    IDAGetNumSteps(m, &o.steps), IDAGetNumResEvals(m, &o.evaluations), IDAGetNumJacEvals(m, &o.jacobians);
    IDAFree(&m), SUNLinSolFree(L), SUNMatDestroy(A), N_VDestroy(y), N_VDestroy(yp), N_VDestroy(id);
    return o;
}

/* ---- A hundred jumps */
static int jumps_f(realtype t, N_Vector y, N_Vector d, void *u) {
    double *x = X(y), *f = X(d);
    f[0] = 1 + 0.5 * x[1];
    f[1] = -1000 * (x[1] - sin(x[2]));
    f[2] = 2 - x[2] * x[0];
    return 0;
}
static int jumps_j(realtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *u, N_Vector a, N_Vector b, N_Vector c) {
    double *x = X(y);
    M(0, 0) = 0, M(0, 1) = 0.5, M(0, 2) = 0;
    M(1, 0) = 0, M(1, 1) = -1000, M(1, 2) = 1000 * cos(x[2]);
    M(2, 0) = -x[2], M(2, 1) = 0, M(2, 2) = -x[0];
    return 0;
}
static int jumps_g(realtype t, N_Vector y, realtype *g, void *u) {
    g[0] = X(y)[0] - 1;
    return 0;
}
static Outcome jumps(double rtol) {
    static double out[3];
    N_Vector y = N_VNew_Serial(3, ctx);
    X(y)[0] = 0, X(y)[1] = 0, X(y)[2] = 1;
    void *m = CVodeCreate(CV_BDF, ctx);
    CVodeInit(m, jumps_f, 0, y);
    CVodeSStolerances(m, rtol, rtol);
    CVodeRootInit(m, 1, jumps_g);
    SUNMatrix A = SUNDenseMatrix(3, 3, ctx);
    SUNLinearSolver L = SUNLinSol_Dense(y, A, ctx);
    CVodeSetLinearSolver(m, L, A);
    CVodeSetJacFn(m, jumps_j);
    CVodeSetMaxNumSteps(m, 1000000);
    Outcome o = {0, 0, 0, 3, out};
    realtype t = 0;
    for (int k = 0; k < 100;) {
        if (CVode(m, 1e3, y, &t, CV_NORMAL) != CV_ROOT_RETURN) break;
        long s, e, j;
        CVodeGetNumSteps(m, &s), CVodeGetNumRhsEvals(m, &e), CVodeGetNumJacEvals(m, &j);
        o.steps += s, o.evaluations += e, o.jacobians += j;
        X(y)[0] = 0, X(y)[2] += 0.5;
        k++;
        CVodeReInit(m, t, y);
    }
    out[0] = t, out[1] = X(y)[1], out[2] = X(y)[2];
    CVodeFree(&m), SUNLinSolFree(L), SUNMatDestroy(A), N_VDestroy(y);
    return o;
}

int main(int argc, char **argv) {
    struct {
        const char *name;
        Outcome (*run)(double);
    } cases[] = {{"robertson", robertson}, {"robertson-dae", robertson_dae}, {"reaction-diffusion", diffusion},
                 {"circuit", circuit},     {"jumps", jumps}};
    if (argc < 4) return 2;
    SUNContext_Create(NULL, &ctx);
    double rtol = atof(argv[2]), best = 1e300;
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
        if (!strcmp(cases[c].name, argv[1])) {
            robertson(1e-4), robertson_dae(1e-4); /* pages of code are no workspace */
            long before = memory("VmRSS:");
            Outcome o;
            long peak = 0;
            for (int r = 0; r < atoi(argv[3]); r++) {
                double t = now();
                o = cases[c].run(rtol);
                t = now() - t;
                if (t < best) best = t;
                if (!peak) peak = memory("VmHWM:") - before;
            }
            printf("%.9e %ld %ld %ld %ld", best, o.steps, o.evaluations, o.jacobians, peak);
            for (int i = 0; i < o.count; i++) printf(" %.17g", o.values[i]);
            printf("\n");
            return 0;
        }
    return 2;
}
