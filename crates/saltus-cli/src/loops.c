/* The functions of loops.mo. For each number it reads, of a function, it tells the processor time of one call in seconds and the
   result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double assign(int n, double a) {
    double *x = malloc(n * sizeof *x), y = 0;
    for (int i = 1; i <= n; i++) x[i - 1] = a * i + 1 / (a + i);
    for (int i = 1; i <= n; i++) y = y + x[i - 1] * x[i - 1];
    free(x);
    return y;
}

static double recurrence(int n, double a) {
    double *x = malloc(n * sizeof *x), y = 0;
    x[0] = a;
    for (int i = 2; i <= n; i++) {
        if (x[i - 2] > 1) x[i - 1] = x[i - 2] - 0.75;
        else x[i - 1] = x[i - 2] + a;
    }
    int k = n;
    while (k > 1) {
        y = y + x[k - 1] * x[k - 2];
        k = k - 1;
    }
    free(x);
    return y;
}

static double vectors(int n, double a) {
    double *x = malloc(n * sizeof *x), *z = malloc(n * sizeof *z), s = 0, p = 0;
    for (int i = 1; i <= n; i++) x[i - 1] = a * i;
    for (int i = 0; i < n; i++) z[i] = 2 * x[i] + x[i] * x[i];
    for (int i = 0; i < n; i++) s += z[i];
    for (int i = 0; i < n; i++) p += z[i] * x[i];
    free(x);
    free(z);
    return s + p;
}

int main(int argc, char **argv) {
    double (*f[])(int, double) = {assign, recurrence, vectors};
    int n = argc > 1 ? atoi(argv[1]) : 1000000, k;
    while (scanf("%d", &k) == 1 && k >= 0 && k < 3) {
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        double y = f[k](n, 0.37);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        printf("%.17g %.17g\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9, y);
        fflush(stdout);
    }
    return 0;
}
