/* ---- the real Fourier transform, for any length ---- */

/* The sums over x[k] exp(-2 pi i jk/n), read with a stride, as pairs; `room` has 2n numbers. */
static void saltus_fourier(const double *x, int stride, int n, double *out, double *room) {
    int p = 2;
    if (n <= 1) { if (n == 1) { out[0] = x[0]; out[1] = 0.0; } return; }
    while (p * p <= n && n % p) p++;
    if (n % p) p = n;
    int m = n / p;
    for (int r = 0; r < p; r++) saltus_fourier(x + r * stride, stride * p, m, room + 2 * r * m, out + 2 * r * m);
    for (int j = 0; j < n; j++) {
        double re = 0.0, im = 0.0;
        for (int r = 0; r < p; r++) {
            const double *part = room + 2 * (r * m + j % m);
            double angle = -6.283185307179586 * (double)((long long)r * j % n) / n, s = sin(angle), co = cos(angle);
            double a = re + part[0] * co - part[1] * s, b = im + part[0] * s + part[1] * co;
            re = a;
            im = b;
        }
        out[2 * j] = re;
        out[2 * j + 1] = im;
    }
}
/* Amplitudes and phases; 0 if done, 1 for an odd length. A line is divided by the number of lines, as in the library. */
static inline double saltus_ModelicaFFT_kiss_fftr(saltus_functions *c, saltus_arg *a) {
    int n = (int)a[0].n, lines = n / 2 + 1;
    if (n % 2 || n == 0) return 1.0;
    if ((int)a[4].n != lines || (int)a[5].n != lines) saltus_fail(c, "the sizes of the spectrum do not fit");
    double *f = saltus_room(c, 4 * (size_t)n);
    saltus_fourier(a[0].x, 1, n, f, f + 2 * n);
    for (int k = 0; k < lines; k++) {
        a[4].x[k] = hypot(f[2 * k], f[2 * k + 1]) / lines;
        a[5].x[k] = atan2(f[2 * k + 1], f[2 * k]);
    }
    return 0.0;
}
