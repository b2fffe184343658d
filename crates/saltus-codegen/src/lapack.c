/* ---- linear algebra: small dense matrices, row by row; factors have the layout of LAPACK ---- */

static inline int saltus_letter(const saltus_arg *a, const char *list) { return a->s[0][0] && strchr(list, a->s[0][0]) != 0; }
static inline void saltus_fits(saltus_functions *c, int fits) { if (!fits) saltus_fail(c, "the sizes of the matrices do not fit"); }

/* LU factors of a (m x n) and the rows that were exchanged, from 1; the number of the first pivot that is zero. */
static inline int saltus_lapack_lu(double *a, int m, int n, double *pivots) {
    int info = 0;
    for (int k = 0; k < m && k < n; k++) {
        int p = k;
        for (int i = k; i < m; i++) if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        pivots[k] = p + 1.0;
        for (int j = 0; j < n && p != k; j++) { double t = a[k * n + j]; a[k * n + j] = a[p * n + j]; a[p * n + j] = t; }
        if (a[k * n + k] == 0.0) { if (!info) info = k + 1; continue; }
        for (int i = k + 1; i < m; i++) {
            double f = a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n && f != 0.0; j++) a[i * n + j] -= f * a[k * n + j];
        }
    }
    return info;
}
static inline void saltus_lapack_swap(double *b, int columns, int i, int p) {
    for (int j = 0; j < columns && i != p; j++) { double t = b[i * columns + j]; b[i * columns + j] = b[p * columns + j]; b[p * columns + j] = t; }
}
static inline void saltus_lapack_back(saltus_functions *c, const double *a, int n, const double *pivots, double *b, int columns, int transposed) {
    for (int i = 0; i < n; i++) saltus_fits(c, pivots[i] >= 1.0 && pivots[i] <= n);
    for (int i = 0; i < n && !transposed; i++) saltus_lapack_swap(b, columns, i, (int)pivots[i] - 1);
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < n; i++) {
            double s = 0.0;
            for (int k = 0; k < i; k++) s += (transposed ? a[k * n + i] : a[i * n + k]) * b[k * columns + j];
            b[i * columns + j] -= s;
            if (transposed) b[i * columns + j] /= a[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double s = 0.0;
            for (int k = i + 1; k < n; k++) s += (transposed ? a[k * n + i] : a[i * n + k]) * b[k * columns + j];
            b[i * columns + j] -= s;
            if (!transposed) b[i * columns + j] /= a[i * n + i];
        }
    }
    for (int i = n - 1; i >= 0 && transposed; i--) saltus_lapack_swap(b, columns, i, (int)pivots[i] - 1);
}
static inline double saltus_dgesv(saltus_functions *c, saltus_arg *a) {
    int n = a[2].rows;
    saltus_fits(c, a[2].columns == n && a[5].rows == n && (int)a[4].n >= n);
    a[7].x[0] = saltus_lapack_lu(a[2].x, n, n, a[4].x);
    if (a[7].x[0] == 0.0) saltus_lapack_back(c, a[2].x, n, a[4].x, a[5].x, a[5].columns, 0);
    return 0.0;
}
static inline double saltus_dgetrf(saltus_functions *c, saltus_arg *a) {
    int k = a[2].rows < a[2].columns ? a[2].rows : a[2].columns;
    saltus_fits(c, (int)a[4].n >= k);
    a[5].x[0] = saltus_lapack_lu(a[2].x, a[2].rows, a[2].columns, a[4].x);
    return 0.0;
}
static inline double saltus_dgetrs(saltus_functions *c, saltus_arg *a) {
    int n = a[3].rows;
    saltus_fits(c, a[3].columns == n && (int)a[5].n >= n && a[6].rows == n);
    saltus_lapack_back(c, a[3].x, n, a[5].x, a[6].x, a[6].columns, saltus_letter(&a[0], "TtCc"));
    a[8].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dgetri(saltus_functions *c, saltus_arg *a) {
    int n = a[1].rows;
    double *inverse;
    saltus_fits(c, a[1].columns == n && (int)a[3].n >= n);
    a[6].x[0] = 0.0;
    for (int i = n - 1; i >= 0; i--) if (a[1].x[i * (n + 1)] == 0.0) a[6].x[0] = i + 1.0;
    if (a[6].x[0] != 0.0) return 0.0;
    inverse = saltus_room(c, (size_t)n * (size_t)n);
    for (int i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
    saltus_lapack_back(c, a[1].x, n, a[3].x, inverse, n, 0);
    memcpy(a[1].x, inverse, (size_t)n * (size_t)n * sizeof *inverse);
    return 0.0;
}
/* A system whose matrix was put together. */
static inline void saltus_lapack_solve(saltus_functions *c, double *x, int n, saltus_arg *b, saltus_arg *info) {
    double *pivots = saltus_room(c, (size_t)n);
    saltus_fits(c, b->rows == n);
    info->x[0] = saltus_lapack_lu(x, n, n, pivots);
    if (info->x[0] == 0.0) saltus_lapack_back(c, x, n, pivots, b->x, b->columns, 0);
}
static inline double saltus_dgtsv(saltus_functions *c, saltus_arg *a) {
    int n = (int)a[3].n;
    double *x = saltus_room(c, (size_t)n * (size_t)n);
    saltus_fits(c, (int)a[2].n + 1 >= n && (int)a[4].n + 1 >= n);
    for (int i = 0; i < n * n; i++) x[i] = 0.0;
    for (int i = 0; i < n; i++) {
        x[i * (n + 1)] = a[3].x[i];
        if (i + 1 < n) { x[(i + 1) * n + i] = a[2].x[i]; x[i * n + i + 1] = a[4].x[i]; }
    }
    saltus_lapack_solve(c, x, n, &a[5], &a[7]);
    return 0.0;
}
static inline double saltus_dgbsv(saltus_functions *c, saltus_arg *a) {
    int n = (int)a[0].x[0], kl = (int)a[1].x[0], ku = (int)a[2].x[0];
    double *x;
    saltus_fits(c, n >= 0 && a[4].columns == n && a[4].rows >= 2 * kl + ku + 1);
    x = saltus_room(c, (size_t)n * (size_t)n);
    for (int i = 0; i < n * n; i++) x[i] = 0.0;
    for (int j = 0; j < n; j++)
        for (int i = j > ku ? j - ku : 0; i <= j + kl && i < n; i++) x[i * n + j] = a[4].x[(kl + ku + i - j) * n + j];
    saltus_lapack_solve(c, x, n, &a[7], &a[9]);
    return 0.0;
}
static inline double saltus_lapack_norm(const double *x, int m, int n, const saltus_arg *kind) {
    double most = 0.0, sum;
    int rows = saltus_letter(kind, "Ii"), columns = saltus_letter(kind, "1Oo"), squares = saltus_letter(kind, "FfEe");
    if (!rows && !columns) {
        for (int i = 0; i < m * n; i++) most = squares ? most + x[i] * x[i] : fabs(x[i]) > most ? fabs(x[i]) : most;
        return squares ? sqrt(most) : most;
    }
    for (int i = 0; i < (rows ? m : n); i++) {
        sum = 0.0;
        for (int j = 0; j < (rows ? n : m); j++) sum += fabs(rows ? x[i * n + j] : x[j * n + i]);
        if (sum > most) most = sum;
    }
    return most;
}
static inline double saltus_dlange(saltus_functions *c, saltus_arg *a) {
    (void)c;
    return saltus_lapack_norm(a[3].x, a[3].rows, a[3].columns, &a[0]);
}
static inline double saltus_dgecon(saltus_functions *c, saltus_arg *a) {
    int n = a[2].rows, singular = 0;
    double *inverse = saltus_room(c, (size_t)n * (size_t)n), *same = saltus_room(c, (size_t)n);
    saltus_fits(c, a[2].columns == n);
    for (int i = 0; i < n; i++) { same[i] = i + 1.0; singular |= a[2].x[i * (n + 1)] == 0.0; }
    a[8].x[0] = 0.0;
    a[5].x[0] = n == 0 ? 1.0 : 0.0;
    if (n == 0 || singular) return 0.0;
    for (int i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
    saltus_lapack_back(c, a[2].x, n, same, inverse, n, 0);
    a[5].x[0] = 1.0 / (a[4].x[0] * saltus_lapack_norm(inverse, n, n, &a[0]));
    return 0.0;
}
static inline double saltus_dpotrf(saltus_functions *c, saltus_arg *a) {
    int n = a[2].rows, upper = saltus_letter(&a[0], "Uu");
    double *x = a[2].x;
#define AT(i, j) x[upper ? (j) * n + (i) : (i) * n + (j)]
    saltus_fits(c, a[2].columns == n);
    a[4].x[0] = 0.0;
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        for (int k = 0; k < j; k++) s += AT(j, k) * AT(j, k);
        s = AT(j, j) - s;
        if (!(s > 0.0)) { a[4].x[0] = j + 1.0; break; }
        AT(j, j) = sqrt(s);
        for (int i = j + 1; i < n; i++) {
            s = 0.0;
            for (int k = 0; k < j; k++) s += AT(i, k) * AT(j, k);
            AT(i, j) = (AT(i, j) - s) / AT(j, j);
        }
    }
#undef AT
    return 0.0;
}
/* Applies I - tau v v' (v in column `from` of f below row r, its first element 1) to the rows r.. of x from column `first` on. */
static inline void saltus_lapack_reflect(double *x, int m, int n, int first, int r, double tau, const double *f, int width, int from) {
    for (int j = first; j < n; j++) {
        double s = 0.0;
        for (int i = r + 1; i < m; i++) s += f[i * width + from] * x[i * n + j];
        s = x[r * n + j] + s;
        x[r * n + j] -= tau * s;
        for (int i = r + 1; i < m; i++) x[i * n + j] -= tau * s * f[i * width + from];
    }
}
static inline void saltus_lapack_qr(double *a, int m, int n, double *taus, double *order) {
    for (int j = 0; j < n && order; j++) order[j] = j + 1.0;
    for (int k = 0; k < m && k < n; k++) {
        double tail = 0.0, head, beta, most = -1.0;
        int p = k;
        for (int j = k; j < n && order; j++) {
            double s = 0.0;
            for (int i = k; i < m; i++) s += a[i * n + j] * a[i * n + j];
            if (s > most) { most = s; p = j; }
        }
        if (p != k) {
            double t = order[k];
            order[k] = order[p];
            order[p] = t;
            for (int i = 0; i < m; i++) { t = a[i * n + k]; a[i * n + k] = a[i * n + p]; a[i * n + p] = t; }
        }
        for (int i = k + 1; i < m; i++) tail += a[i * n + k] * a[i * n + k];
        head = a[k * n + k];
        taus[k] = 0.0;
        if (tail == 0.0) continue;
        beta = head < 0.0 ? sqrt(head * head + tail) : -sqrt(head * head + tail);
        taus[k] = (beta - head) / beta;
        for (int i = k + 1; i < m; i++) a[i * n + k] /= head - beta;
        saltus_lapack_reflect(a, m, n, k + 1, k, taus[k], a, n, k);
        a[k * n + k] = beta;
    }
}
static inline double saltus_dgeqrf(saltus_functions *c, saltus_arg *a) {
    int m = a[2].rows, n = a[2].columns;
    saltus_fits(c, (int)a[4].n >= (m < n ? m : n));
    saltus_lapack_qr(a[2].x, m, n, a[4].x, 0);
    a[7].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dgeqp3(saltus_functions *c, saltus_arg *a) {
    int m = a[2].rows, n = a[2].columns;
    saltus_fits(c, (int)a[4].n >= n && (int)a[5].n >= (m < n ? m : n));
    saltus_lapack_qr(a[2].x, m, n, a[5].x, a[4].x);
    a[8].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dorgqr(saltus_functions *c, saltus_arg *a) {
    int m = a[3].rows, n = a[3].columns;
    double *q = saltus_room(c, (size_t)m * (size_t)n);
    saltus_fits(c, (int)a[5].n <= n && (int)a[5].n <= m);
    for (int i = 0; i < m * n; i++) q[i] = i / n == i % n;
    for (int k = (int)a[5].n - 1; k >= 0; k--) saltus_lapack_reflect(q, m, n, 0, k, a[5].x[k], a[3].x, n, k);
    memcpy(a[3].x, q, (size_t)m * (size_t)n * sizeof *q);
    a[8].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dormqr(saltus_functions *c, saltus_arg *a) {
    int left = saltus_letter(&a[0], "Ll"), trans = saltus_letter(&a[1], "TtCc") == left, count = (int)a[7].n;
    int rows = left ? a[8].rows : a[8].columns, columns = left ? a[8].columns : a[8].rows;
    double *x = saltus_room(c, a[8].n);
    saltus_fits(c, count <= a[5].columns && rows <= a[5].rows && count <= rows);
    for (int i = 0; i < rows; i++) for (int j = 0; j < columns; j++) x[i * columns + j] = left ? a[8].x[i * columns + j] : a[8].x[j * rows + i];
    for (int s = 0; s < count; s++) {
        int k = trans ? s : count - 1 - s;
        saltus_lapack_reflect(x, rows, columns, 0, k, a[7].x[k], a[5].x, a[5].columns, k);
    }
    for (int i = 0; i < rows; i++) for (int j = 0; j < columns; j++) *(left ? &a[8].x[i * columns + j] : &a[8].x[j * rows + i]) = x[i * columns + j];
    a[12].x[0] = 0.0;
    return 0.0;
}
/* Singular values (descending) and vectors of x (m x n, m >= n): u (m x m, columns) and v (n x n, columns), by rotations of the
   columns until they are orthogonal (Hestenes 1958). */
static inline void saltus_lapack_jacobi(const double *x, int m, int n, double *u, double *sigma, double *v) {
    double eps = 1e-15;
    for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) u[i * m + j] = j < n ? x[i * n + j] : 0.0;
    for (int i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0, turned = 1; sweep < 60 && turned; sweep++) {
        turned = 0;
        for (int p = 0; p < n; p++) for (int q = p + 1; q < n; q++) {
            double a = 0.0, b = 0.0, d = 0.0;
            for (int i = 0; i < m; i++) { a += u[i * m + p] * u[i * m + p]; b += u[i * m + q] * u[i * m + q]; d += u[i * m + p] * u[i * m + q]; }
            if (fabs(d) <= eps * sqrt(a * b) || d == 0.0) continue;
            turned = 1;
            double z = (b - a) / (2.0 * d), t = (z < 0.0 ? -1.0 : 1.0) / (fabs(z) + sqrt(1.0 + z * z)), co = 1.0 / sqrt(1.0 + t * t), si = co * t;
            for (int i = 0; i < m; i++) { double e = u[i * m + p], f = u[i * m + q]; u[i * m + p] = co * e - si * f; u[i * m + q] = si * e + co * f; }
            for (int i = 0; i < n; i++) { double e = v[i * n + p], f = v[i * n + q]; v[i * n + p] = co * e - si * f; v[i * n + q] = si * e + co * f; }
        }
    }
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        for (int i = 0; i < m; i++) s += u[i * m + j] * u[i * m + j];
        sigma[j] = sqrt(s);
    }
    for (int j = 0; j < n; j++) {
        int p = j;
        for (int k = j; k < n; k++) if (sigma[k] > sigma[p]) p = k;
        double t = sigma[j]; sigma[j] = sigma[p]; sigma[p] = t;
        for (int i = 0; i < m; i++) { t = u[i * m + j]; u[i * m + j] = u[i * m + p]; u[i * m + p] = t; }
        for (int i = 0; i < n; i++) { t = v[i * n + j]; v[i * n + j] = v[i * n + p]; v[i * n + p] = t; }
    }
    /* Columns of length one; where there is none, one that is orthogonal to all before it. */
    for (int j = 0; j < m; j++) {
        if (j < n && sigma[j] > 1e-14 * sigma[0]) { for (int i = 0; i < m; i++) u[i * m + j] /= sigma[j]; continue; }
        for (int e = 0; e < m; e++) {
            double s = 0.0;
            for (int i = 0; i < m; i++) u[i * m + j] = i == e;
            for (int again = 0; again < 2; again++) for (int k = 0; k < j; k++) {
                double d = 0.0;
                for (int i = 0; i < m; i++) d += u[i * m + k] * u[i * m + j];
                for (int i = 0; i < m; i++) u[i * m + j] -= d * u[i * m + k];
            }
            for (int i = 0; i < m; i++) s += u[i * m + j] * u[i * m + j];
            if (s > 0.25 / m) { for (int i = 0; i < m; i++) u[i * m + j] /= sqrt(s); break; }
        }
    }
}
/* The same for any sizes: u (m x m), v (n x n), both by columns. */
static inline void saltus_lapack_svd(saltus_functions *c, const double *x, int m, int n, double *u, double *sigma, double *v) {
    if (m >= n) { saltus_lapack_jacobi(x, m, n, u, sigma, v); return; }
    double *t = saltus_room(c, (size_t)m * (size_t)n);
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) t[i * m + j] = x[j * n + i];
    saltus_lapack_jacobi(t, n, m, v, sigma, u);
}
static inline double saltus_lapack_values(saltus_functions *c, saltus_arg *a, int x, int s) {
    int m = a[x].rows, n = a[x].columns;
    double *u = saltus_room(c, (size_t)m * (size_t)m), *v = saltus_room(c, (size_t)n * (size_t)n);
    saltus_fits(c, (int)a[s].n >= (m < n ? m : n));
    a[13].x[0] = 0.0;
    for (size_t i = 0; i < a[x].n; i++) if (!isfinite(a[x].x[i])) a[13].x[0] = 1.0;
    if (a[13].x[0] != 0.0) return 0.0;
    saltus_lapack_svd(c, a[x].x, m, n, u, a[s].x, v);
    if (!saltus_letter(&a[0], "Aa")) return 0.0;
    saltus_fits(c, (int)a[s + 1].n >= m * m && (int)a[s + 3].n >= n * n);
    memcpy(a[s + 1].x, u, (size_t)m * (size_t)m * sizeof *u);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[s + 3].x[i * n + j] = v[j * n + i];
    return 0.0;
}
static inline double saltus_dgesvd(saltus_functions *c, saltus_arg *a) { return saltus_lapack_values(c, a, 4, 6); }
static inline double saltus_dgesdd(saltus_functions *c, saltus_arg *a) { return saltus_lapack_values(c, a, 3, 5); }

/* Least squares, or the least solution, through singular values above rcond times the largest; their number. */
static inline int saltus_lapack_least(saltus_functions *c, saltus_arg *a, saltus_arg *b, double rcond, saltus_arg *info) {
    int m = a->rows, n = a->columns, k = m < n ? m : n, rank = 0, w = b->columns;
    double *u = saltus_room(c, (size_t)m * (size_t)m), *v = saltus_room(c, (size_t)n * (size_t)n), *s = saltus_room(c, (size_t)k + 1);
    double *y = saltus_room(c, (size_t)n + 1), cut = 2.220446049250313e-16 * (m > n ? m : n);
    saltus_fits(c, b->rows >= m && b->rows >= n);
    s[0] = 0.0;
    saltus_lapack_svd(c, a->x, m, n, u, s, v);
    if (rcond > cut) cut = rcond;
    while (rank < k && s[rank] > cut * s[0]) rank++;
    for (int j = 0; j < w; j++) {
        double left = 0.0;
        for (int i = 0; i < n; i++) y[i] = 0.0;
        for (int q = 0; q < rank; q++) {
            double d = 0.0;
            for (int i = 0; i < m; i++) d += u[i * m + q] * b->x[i * w + j];
            for (int i = 0; i < n; i++) y[i] += v[i * n + q] * d / s[q];
        }
        for (int i = 0; i < m; i++) {
            double e = -b->x[i * w + j];
            for (int q = 0; q < n; q++) e += a->x[i * n + q] * y[q];
            left += e * e;
        }
        for (int i = 0; i < b->rows; i++) b->x[i * w + j] = i < n ? y[i] : i == n ? sqrt(left) : 0.0;
    }
    info->x[0] = 0.0;
    return rank;
}
static inline double saltus_dgels(saltus_functions *c, saltus_arg *a) { saltus_lapack_least(c, &a[4], &a[6], 0.0, &a[10]); return 0.0; }
static inline double saltus_dgelsy(saltus_functions *c, saltus_arg *a) {
    a[9].x[0] = saltus_lapack_least(c, &a[3], &a[5], a[8].x[0], &a[12]);
    return 0.0;
}

/* Reflects at the plane across v (m numbers): rows and columns from `at` on of t, columns of q. */
static inline void saltus_lapack_mirror(double *t, double *q, int n, int at, int m, const double *v) {
    double size = 0.0;
    for (int k = 0; k < m; k++) size += v[k] * v[k];
    if (!(size > 0.0)) return;
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        for (int k = 0; k < m; k++) s += v[k] * t[(at + k) * n + j];
        for (int k = 0; k < m; k++) t[(at + k) * n + j] -= 2.0 * s / size * v[k];
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) {
            double *row = (side ? q : t) + i * n + at, s = 0.0;
            for (int k = 0; k < m; k++) s += v[k] * row[k];
            for (int k = 0; k < m; k++) row[k] -= 2.0 * s / size * v[k];
        }
}
/* The same so that the numbers x (m of them) become a multiple of the first unit vector. */
static inline void saltus_lapack_turn(double *t, double *q, int n, int at, int m, double *x) {
    double size = 0.0;
    for (int k = 0; k < m; k++) size = hypot(size, x[k]);
    x[0] += x[0] < 0.0 ? -size : size;
    saltus_lapack_mirror(t, q, n, at, m, x);
}

/* Splits the block of two at k if its eigenvalues are real, else makes its diagonal elements equal. */
static inline void saltus_lapack_standardize(double *t, double *q, int n, int k) {
    double a = t[k * n + k], b = t[k * n + k + 1], c = t[(k + 1) * n + k], d = t[(k + 1) * n + k + 1], p = 0.5 * (a - d), root = p * p + b * c;
    double cosine, sine, sum = b + c, size = hypot(b + c, a - d);
    if (c == 0.0) return;
    if (root >= 0.0) {
        double e = p + (p < 0.0 ? -sqrt(root) : sqrt(root));
        cosine = e / hypot(e, c);
        sine = c / hypot(e, c);
    } else {
        if (!(size > 0.0) || a == d) return;
        cosine = sqrt(0.5 * (1.0 + fabs(sum) / size));
        sine = (sum < 0.0 ? 1.0 : -1.0) * p / (size * cosine);
    }
    for (int j = 0; j < n; j++) {
        double x = t[k * n + j], y = t[(k + 1) * n + j];
        t[k * n + j] = cosine * x + sine * y;
        t[(k + 1) * n + j] = cosine * y - sine * x;
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) {
            double *row = (side ? q : t) + i * n + k, x = row[0], y = row[1];
            row[0] = cosine * x + sine * y;
            row[1] = cosine * y - sine * x;
        }
    if (root >= 0.0) t[(k + 1) * n + k] = 0.0;
    else t[k * n + k] = t[(k + 1) * n + k + 1] = 0.5 * (t[k * n + k] + t[(k + 1) * n + k + 1]);
}

/* The real Schur form: t becomes q' t q, triangular but for blocks of two with complex eigenvalues (Francis' double shifts, Golub and
   Van Loan 2013, section 7.5). Nonzero if it does not converge. */
static inline int saltus_lapack_schur(double *t, double *q, int n, double *x) {
    double norm = 0.0;
    for (int i = 0; i < n * n; i++) { q[i] = i % (n + 1) == 0; norm = fmax(norm, fabs(t[i])); if (!isfinite(t[i])) return 1; }
    for (int k = 0; k + 2 < n; k++) {
        for (int i = k + 1; i < n; i++) x[i - k - 1] = t[i * n + k];
        saltus_lapack_turn(t, q, n, k + 1, n - k - 1, x);
        for (int i = k + 2; i < n; i++) t[i * n + k] = 0.0;
    }
    for (int high = n - 1, rounds = 0; high > 0;) {
        int low = high;
        for (; low > 0; low--) {
            double size = fabs(t[low * n + low]) + fabs(t[(low - 1) * n + low - 1]);
            if (fabs(t[low * n + low - 1]) <= 2.3e-16 * (size > 0.0 ? size : norm)) { t[low * n + low - 1] = 0.0; break; }
        }
        if (low == high) { high--; rounds = 0; continue; }
        if (low == high - 1) {
            saltus_lapack_standardize(t, q, n, low);
            high -= 2;
            rounds = 0;
            continue;
        }
        if (++rounds > 100) return 1;
        double s = t[high * n + high] + t[(high - 1) * n + high - 1];
        double d = t[high * n + high] * t[(high - 1) * n + high - 1] - t[high * n + high - 1] * t[(high - 1) * n + high];
        if (rounds % 10 == 0) { double w = fabs(t[high * n + high - 1]) + fabs(t[(high - 1) * n + high - 2]); s = 1.5 * w; d = w * w; }
        const double *l = t + low * n + low;
        x[0] = l[0] * l[0] + l[1] * l[n] - s * l[0] + d;
        x[1] = l[n] * (l[0] + l[n + 1] - s);
        x[2] = l[n] * l[2 * n + 1];
        for (int k = low; k < high; k++) {
            int m = k + 2 <= high ? 3 : 2;
            saltus_lapack_turn(t, q, n, k, m, x);
            for (int i = k + 1; k > low && i < k + m; i++) t[i * n + k - 1] = 0.0;
            for (int i = 0; i < 3 && k + 1 + i <= high; i++) x[i] = t[(k + 1 + i) * n + k];
        }
    }
    return 0;
}

static inline void saltus_divide(double *re, double *im, double a, double b, double least) {
    double size = hypot(a, b);
    if (size < least) { a = least; b = 0.0; size = least; }
    double x = (*re * (a / size) + *im * (b / size)) / size, y = (*im * (a / size) - *re * (b / size)) / size;
    *re = x;
    *im = y;
}

/* The eigenvector of the eigenvalue at place k of a Schur form, by substitution, times q; y has 2n numbers, v becomes real and
   imaginary parts. */
static inline void saltus_lapack_vector(const double *t, const double *q, int n, int k, double re, double im, double *y, double *v) {
    double norm = 1e-300, size = 0.0, big = -1.0, cosine = 1.0, sine = 0.0, *z = y + n;
    int last = im != 0.0 ? k + 1 : k;
    for (int i = 0; i < n * n; i++) norm = fmax(norm, fabs(t[i]));
    for (int i = 0; i < 2 * n; i++) y[i] = 0.0;
    y[k] = 1.0;
    if (last > k) { y[k] = t[k * n + last]; y[last] = re - t[k * n + k]; z[last] = im; }
    for (int i = k - 1; i >= 0; i--) {
        int two = i > 0 && t[i * n + i - 1] != 0.0, first = two ? i - 1 : i;
        double r[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
        for (int e = first; e <= i; e++)
            for (int j = i + 1; j <= last; j++) { r[e - first][0] -= t[e * n + j] * y[j]; r[e - first][1] -= t[e * n + j] * z[j]; }
        if (!two) {
            y[i] = r[0][0];
            z[i] = r[0][1];
            saltus_divide(&y[i], &z[i], t[i * n + i] - re, -im, 2.3e-16 * norm);
            continue;
        }
        /* Cramer's rule. */
        double a = t[first * n + first] - re, b = t[first * n + i], c = t[i * n + first], d = t[i * n + i] - re;
        double det_re = a * d - im * im - b * c, det_im = -im * (a + d);
        y[first] = r[0][0] * d + r[0][1] * im - b * r[1][0];
        z[first] = r[0][1] * d - r[0][0] * im - b * r[1][1];
        y[i] = r[1][0] * a + r[1][1] * im - c * r[0][0];
        z[i] = r[1][1] * a - r[1][0] * im - c * r[0][1];
        for (int e = first; e <= i; e++) saltus_divide(&y[e], &z[e], det_re, det_im, 5e-32 * norm * norm);
        i--;
    }
    for (int i = 0; i < n; i++) {
        v[i] = v[n + i] = 0.0;
        for (int j = 0; j <= last; j++) { v[i] += q[i * n + j] * y[j]; v[n + i] += q[i * n + j] * z[j]; }
        double length = hypot(v[i], v[n + i]);
        size = hypot(size, length);
        /* The largest component becomes real. */
        if (im != 0.0 && length > big && length > 0.0) { big = length; cosine = v[i] / length; sine = -v[n + i] / length; }
    }
    for (int i = 0; i < n; i++) {
        double a = v[i], b = v[n + i];
        v[i] = (a * cosine - b * sine) / size;
        v[n + i] = (a * sine + b * cosine) / size;
    }
}

/* Eigenvalues and, if asked for, right eigenvectors; of pairs the positive imaginary part first, vectors as real and imaginary
   part. */
static inline double saltus_dgeev(saltus_functions *c, saltus_arg *a) {
    int n = (int)a[3].rows;
    saltus_fits(c, (int)a[3].columns == n && a[5].n >= (size_t)n && a[6].n >= (size_t)n);
    double *t = saltus_room(c, (size_t)(2 * n * n + 5 * n + 3)), *q = t + n * n, *x = q + n * n, *y = x + n + 3, *v = y + 2 * n;
    int vectors = saltus_letter(&a[1], "Vv");
    if (vectors) saltus_fits(c, a[9].n >= (size_t)(n * n));
    memcpy(t, a[3].x, (size_t)(n * n) * sizeof *t);
    a[13].x[0] = saltus_lapack_schur(t, q, n, x);
    for (int k = 0; k < n && a[13].x[0] == 0.0; k++) {
        int two = k + 1 < n && t[(k + 1) * n + k] != 0.0;
        double re = t[k * n + k], im = 0.0;
        if (two) {
            double p = 0.5 * (re - t[(k + 1) * n + k + 1]);
            im = sqrt(fmax(-(p * p + t[k * n + k + 1] * t[(k + 1) * n + k]), 0.0));
            re -= p;
        }
        if (vectors) saltus_lapack_vector(t, q, n, k, re, im, y, v);
        for (int i = 0; i < n && vectors; i++) { a[9].x[i * n + k] = v[i]; if (two) a[9].x[i * n + k + 1] = v[n + i]; }
        a[5].x[k] = re;
        a[6].x[k] = im;
        if (two) { k++; a[5].x[k] = re; a[6].x[k] = -im; }
    }
    return 0.0;
}
