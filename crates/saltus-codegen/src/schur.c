/* ---- Schur forms, generalized eigenvalues and what rests on them ---- */

static inline double *saltus_zeros(saltus_functions *c, int n) {
    double *x = saltus_room(c, (size_t)n);
    for (int i = 0; i < n; i++) x[i] = 0.0;
    return x;
}
static inline double *saltus_copied(saltus_functions *c, const double *x, int n) { return (double *)memcpy(saltus_room(c, (size_t)n), x, (size_t)n * sizeof *x); }
static inline double *saltus_identity_of(saltus_functions *c, int n) {
    double *x = saltus_zeros(c, n * n);
    for (int i = 0; i < n; i++) x[i * (n + 1)] = 1.0;
    return x;
}
static inline double *saltus_turned(saltus_functions *c, const double *x, int m, int n) {
    double *t = saltus_room(c, (size_t)(m * n));
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) t[j * m + i] = x[i * n + j];
    return t;
}
/* a (m x k) times b (k x n). */
static inline double *saltus_times(saltus_functions *c, const double *a, const double *b, int m, int k, int n) {
    double *r = saltus_zeros(c, m * n);
    for (int i = 0; i < m; i++) for (int l = 0; l < k; l++) for (int j = 0; j < n; j++) r[i * n + j] += a[i * k + l] * b[l * n + j];
    return r;
}
static inline double *saltus_square(saltus_functions *c, const saltus_arg *a) {
    saltus_fits(c, a->rows == a->columns);
    return saltus_copied(c, a->x, (int)a->n);
}
static inline void saltus_give(saltus_functions *c, saltus_arg *a, const double *x, int n) {
    saltus_fits(c, (int)a->n == n);
    memcpy(a->x, x, (size_t)n * sizeof *x);
}
/* The largest sum of a column. */
static inline double saltus_norm1(const double *x, int n) {
    double most = 0.0;
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        for (int i = 0; i < n; i++) s += fabs(x[i * n + j]);
        if (s > most) most = s;
    }
    return most;
}
static inline double saltus_least_singular(saltus_functions *c, const double *x, int n) {
    double *u = saltus_room(c, (size_t)(n * n)), *v = saltus_room(c, (size_t)(n * n)), *s = saltus_zeros(c, n + 1);
    saltus_lapack_svd(c, x, n, n, u, s, v);
    return n ? s[n - 1] : 0.0;
}
/* op(A) X = alpha B or X op(A) = alpha B with a triangular A. */
static inline double saltus_dtrsm(saltus_functions *c, saltus_arg *a) {
    int left = saltus_letter(&a[0], "Ll"), upper = saltus_letter(&a[1], "Uu"), trans = saltus_letter(&a[2], "TtCc"), unit = saltus_letter(&a[3], "Uu");
    int n = a[7].rows, width = left ? a[9].columns : a[9].rows, turned = trans == left, lower = upper == turned;
    double *t = saltus_square(c, &a[7]), *x = left ? saltus_copied(c, a[9].x, (int)a[9].n) : saltus_turned(c, a[9].x, a[9].rows, a[9].columns);
    saltus_fits(c, (left ? a[9].rows : a[9].columns) == n);
    if (turned) t = saltus_turned(c, t, n, n);
    for (int i = 0; i < n && unit; i++) t[i * (n + 1)] = 1.0;
    for (int j = 0; j < width; j++)
        for (int s = 0; s < n; s++) {
            int i = lower ? s : n - 1 - s;
            double sum = 0.0;
            for (int k = lower ? 0 : i + 1; k < (lower ? i : n); k++) sum += t[i * n + k] * x[k * width + j];
            x[i * width + j] = (a[6].x[0] * x[i * width + j] - sum) / t[i * (n + 1)];
        }
    saltus_give(c, &a[9], left ? x : saltus_turned(c, x, n, width), (int)a[9].n);
    return 0.0;
}
/* The Hessenberg form, with its reflectors below it. */
static inline double saltus_dgehrd(saltus_functions *c, saltus_arg *a) {
    int n = a[3].rows;
    double *x = a[3].x;
    saltus_fits(c, a[3].columns == n && (int)a[5].n + 1 >= n);
    for (size_t i = 0; i < a[5].n; i++) a[5].x[i] = 0.0;
    for (int k = 0; k + 1 < n; k++) {
        double tail = 0.0, head = x[(k + 1) * n + k], beta, tau;
        for (int i = k + 2; i < n; i++) tail += x[i * n + k] * x[i * n + k];
        if (tail == 0.0) continue;
        beta = head < 0.0 ? sqrt(head * head + tail) : -sqrt(head * head + tail);
        a[5].x[k] = tau = (beta - head) / beta;
        for (int i = k + 2; i < n; i++) x[i * n + k] /= head - beta;
        saltus_lapack_reflect(x, n, n, k + 1, k + 1, tau, x, n, k);
        for (int i = 0; i < n; i++) {
            double s = x[i * n + k + 1];
            for (int j = k + 2; j < n; j++) s += x[j * n + k] * x[i * n + j];
            x[i * n + k + 1] -= tau * s;
            for (int j = k + 2; j < n; j++) x[i * n + j] -= tau * s * x[j * n + k];
        }
        x[(k + 1) * n + k] = beta;
    }
    a[8].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dorghr(saltus_functions *c, saltus_arg *a) {
    int n = a[3].rows;
    saltus_fits(c, a[3].columns == n && (int)a[5].n + 1 >= n);
    double *q = saltus_identity_of(c, n);
    for (int k = n - 2; k >= 0; k--) saltus_lapack_reflect(q, n, n, 0, k + 1, a[5].x[k], a[3].x, n, k);
    saltus_give(c, &a[3], q, n * n);
    a[8].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dormhr(saltus_functions *c, saltus_arg *a) {
    int left = saltus_letter(&a[0], "Ll"), trans = saltus_letter(&a[1], "TtCc") == left, count = (int)a[8].n;
    int rows = left ? a[9].rows : a[9].columns, columns = left ? a[9].columns : a[9].rows;
    double *x = left ? saltus_copied(c, a[9].x, (int)a[9].n) : saltus_turned(c, a[9].x, a[9].rows, a[9].columns);
    saltus_fits(c, count <= a[6].columns && rows <= a[6].rows);
    for (int s = 0; s < count; s++) {
        int k = trans ? s : count - 1 - s;
        if (k + 1 < rows) saltus_lapack_reflect(x, rows, columns, 0, k + 1, a[8].x[k], a[6].x, a[6].columns, k);
    }
    saltus_give(c, &a[9], left ? x : saltus_turned(c, x, rows, columns), (int)a[9].n);
    a[13].x[0] = 0.0;
    return 0.0;
}
/* The pseudoinverse (n x m) of x (m x n), with singular values below rcond times the largest dropped; the rank. */
static inline double *saltus_pinv(saltus_functions *c, const double *x, int m, int n, double rcond, int *rank) {
    int k = m < n ? m : n;
    double *u = saltus_room(c, (size_t)(m * m)), *v = saltus_room(c, (size_t)(n * n)), *s = saltus_zeros(c, k + 1), *r = saltus_zeros(c, n * m);
    saltus_lapack_svd(c, x, m, n, u, s, v);
    rcond = fmax(rcond, 2.220446049250313e-16 * (m > n ? m : n)) * s[0];
    for (*rank = 0; *rank < k && s[*rank] > rcond; ++*rank)
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) r[i * m + j] += v[i * n + *rank] * u[j * m + *rank] / s[*rank];
    return r;
}
/* The least |c - A x| with B x = d. */
static inline double saltus_dgglse(saltus_functions *c, saltus_arg *a) {
    int m = a[3].rows, n = a[3].columns, p = a[5].rows, rank, other;
    double size = 1e-300, rest = 1e-300;
    saltus_fits(c, a[5].columns == n && a[7].rows == m && a[8].rows == p && (int)a[9].n == n);
    double *pb = saltus_pinv(c, a[5].x, p, n, 0.0, &rank), *x = saltus_times(c, pb, a[8].x, n, p, 1), *z = saltus_times(c, pb, a[5].x, n, p, n);
    for (int i = 0; i < n * n; i++) z[i] = (i % (n + 1) == 0) - z[i];
    double *az = saltus_times(c, a[3].x, z, m, n, n), *ax = saltus_times(c, a[3].x, x, m, n, 1);
    for (int i = 0; i < m * n; i++) { size = fmax(size, fabs(a[3].x[i])); rest = fmax(rest, fabs(az[i])); }
    for (int i = 0; i < m; i++) ax[i] = a[7].x[i] - ax[i];
    double *step = saltus_times(c, saltus_pinv(c, az, m, n, 1e-13 * size / rest, &other), ax, n, m, 1);
    for (int i = 0; i < n; i++) a[9].x[i] = x[i] + step[i];
    a[12].x[0] = rank < p;
    return 0.0;
}
/* op(A) X + sign X op(B) = C, as one linear system. */
static inline double saltus_dtrsyl(saltus_functions *c, saltus_arg *a) {
    int m = a[5].rows, n = a[7].rows;
    double *l = saltus_square(c, &a[5]), *r = saltus_square(c, &a[7]), *big, *pivots;
    saltus_fits(c, a[9].rows == m && a[9].columns == n && m * n <= 4096);
    if (saltus_letter(&a[0], "TtCc")) l = saltus_turned(c, l, m, m);
    if (saltus_letter(&a[1], "TtCc")) r = saltus_turned(c, r, n, n);
    big = saltus_zeros(c, m * n * m * n);
    pivots = saltus_zeros(c, m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double *row = big + (i * n + j) * m * n;
            for (int k = 0; k < m; k++) row[k * n + j] += l[i * m + k];
            for (int k = 0; k < n; k++) row[i * n + k] += a[2].x[0] * r[k * n + j];
        }
    int bad = saltus_lapack_lu(big, m * n, m * n, pivots);
    if (!bad) saltus_lapack_back(c, big, m * n, pivots, a[9].x, 1, 0);
    a[11].x[0] = 1.0;
    a[12].x[0] = bad != 0;
    return 0.0;
}
static inline double saltus_dgesvx(saltus_functions *c, saltus_arg *a) {
    int n = a[4].rows, trans = saltus_letter(&a[1], "TtCc"), bad;
    double *f = saltus_square(c, &a[4]), *pivots = saltus_zeros(c, n), *inverse = saltus_identity_of(c, n), rcond = n == 0;
    saltus_fits(c, a[12].rows == n);
    bad = saltus_lapack_lu(f, n, n, pivots);
    if (!bad && n) {
        saltus_lapack_back(c, f, n, pivots, inverse, n, 0);
        if (trans) rcond = saltus_norm1(saltus_turned(c, a[4].x, n, n), n) * saltus_norm1(saltus_turned(c, inverse, n, n), n);
        else rcond = saltus_norm1(a[4].x, n) * saltus_norm1(inverse, n);
        rcond = 1.0 / rcond;
        saltus_give(c, &a[14], a[12].x, (int)a[12].n);
        saltus_lapack_back(c, f, n, pivots, a[14].x, a[14].columns, trans);
    }
    a[16].x[0] = rcond;
    a[21].x[0] = !bad && n && rcond < 1.11e-16 ? n + 1.0 : bad;
    return 0.0;
}

/* The size of the block at k of a quasi-triangular matrix. */
static inline int saltus_block_size(const double *t, int n, int k) { return k + 1 < n && t[(k + 1) * n + k] != 0.0 ? 2 : 1; }
static inline void saltus_lapack_diagonal(const double *t, int n, double *re, double *im) {
    for (int k = 0; k < n; k += saltus_block_size(t, n, k)) {
        re[k] = t[k * (n + 1)];
        im[k] = 0.0;
        if (saltus_block_size(t, n, k) == 1) continue;
        double p = 0.5 * (re[k] - t[(k + 1) * (n + 1)]), root = sqrt(fmax(-(p * p + t[k * n + k + 1] * t[(k + 1) * n + k]), 0.0));
        re[k] -= p;
        re[k + 1] = re[k];
        im[k] = root;
        im[k + 1] = -root;
    }
}
/* Writes eigenvalues of a Schur form. */
static inline void saltus_lapack_spectrum(saltus_functions *c, const double *t, int n, saltus_arg *re, saltus_arg *im) {
    saltus_fits(c, (int)re->n == n && (int)im->n == n);
    saltus_lapack_diagonal(t, n, re->x, im->x);
}
/* The Schur form t, z of x; nonzero if it does not converge. */
static inline int saltus_lapack_form(saltus_functions *c, const double *x, int n, double **t, double **z) {
    *t = saltus_copied(c, x, n * n);
    *z = saltus_room(c, (size_t)(n * n));
    return saltus_lapack_schur(*t, *z, n, saltus_room(c, (size_t)n + 3));
}
static inline double saltus_dgees(saltus_functions *c, saltus_arg *a) {
    int n = a[4].rows;
    double *t, *z;
    if (saltus_letter(&a[1], "Ss")) saltus_fail(c, "not supported yet: dgees with sorted eigenvalues");
    saltus_fits(c, a[4].columns == n);
    if ((a[14].x[0] = saltus_lapack_form(c, a[4].x, n, &t, &z)) != 0.0) return 0.0;
    saltus_give(c, &a[4], t, n * n);
    a[6].x[0] = 0.0;
    saltus_lapack_spectrum(c, t, n, &a[7], &a[8]);
    saltus_give(c, &a[9], z, n * n);
    return 0.0;
}
static inline double saltus_dhseqr(saltus_functions *c, saltus_arg *a) {
    int n = a[5].rows;
    double *t, *z;
    saltus_fits(c, a[5].columns == n);
    if ((a[13].x[0] = saltus_lapack_form(c, a[5].x, n, &t, &z)) != 0.0) return 0.0;
    saltus_lapack_spectrum(c, t, n, &a[7], &a[8]);
    if (!saltus_letter(&a[0], "Ss")) return 0.0;
    saltus_give(c, &a[5], t, n * n);
    if (saltus_letter(&a[1], "VvIi")) saltus_fits(c, a[9].rows == n && a[9].columns == n);
    if (saltus_letter(&a[1], "Vv")) saltus_give(c, &a[9], saltus_times(c, a[9].x, z, n, n, n), n * n);
    if (saltus_letter(&a[1], "Ii")) saltus_give(c, &a[9], z, n * n);
    return 0.0;
}
/* For the diagonal blocks A (size p, at k) and B (size q, behind it) of t, with C beside A: X with A X - X B = C into x, and the factors
   of that system if asked for. Nonzero if there is none. */
static inline int saltus_lapack_sylvester(saltus_functions *c, const double *t, int n, int k, int p, int q, double *x, double **factors, double **order) {
    double *big = saltus_zeros(c, p * q * p * q), *pivots = saltus_zeros(c, p * q);
    for (int i = 0; i < p; i++)
        for (int j = 0; j < q; j++) {
            double *row = big + (i * q + j) * p * q;
            for (int r = 0; r < p; r++) row[r * q + j] += t[(k + i) * n + k + r];
            for (int r = 0; r < q; r++) row[i * q + r] -= t[(k + p + r) * n + k + p + j];
            x[i * q + j] = t[(k + i) * n + k + p + j];
        }
    if (saltus_lapack_lu(big, p * q, p * q, pivots)) return 1;
    saltus_lapack_back(c, big, p * q, pivots, x, 1, 0);
    if (factors) { *factors = big; *order = pivots; }
    return 0;
}
/* Exchanges the blocks of sizes p and q at k and k + p (Bai and Demmel 1993): what belongs to the second is spanned by [-X; I]. */
static inline int saltus_lapack_exchange(saltus_functions *c, double *t, double *z, int n, int k, int p, int q) {
    double x[4], basis[4][2], v[4];
    if (saltus_lapack_sylvester(c, t, n, k, p, q, x, 0, 0)) return 1;
    for (int i = 0; i < p + q; i++) for (int j = 0; j < q; j++) basis[i][j] = i < p ? -x[i * q + j] : i - p == j;
    for (int j = 0; j < q; j++) {
        int m = p + q - j;
        double size = 0.0;
        for (int i = 0; i < m; i++) { v[i] = basis[j + i][j]; size += v[i] * v[i]; }
        v[0] += v[0] < 0.0 ? -sqrt(size) : sqrt(size);
        size = 0.0;
        for (int i = 0; i < m; i++) size += v[i] * v[i];
        for (int e = j; e < q; e++) {
            double s = 0.0;
            for (int i = 0; i < m; i++) s += v[i] * basis[j + i][e];
            for (int i = 0; i < m; i++) basis[j + i][e] -= 2.0 * s / size * v[i];
        }
        saltus_lapack_mirror(t, z, n, k + j, m, v);
    }
    for (int i = k + q; i < k + p + q; i++) for (int j = k; j < k + q; j++) t[i * n + j] = 0.0;
    if (q == 2) saltus_lapack_standardize(t, z, n, k);
    if (p == 2) saltus_lapack_standardize(t, z, n, k + q);
    return 0;
}
/* Moves the selected eigenvalues to the upper left; how many there are, or -1. */
static inline int saltus_lapack_reorder(saltus_functions *c, double *t, double *z, int n, const double *select) {
    double *sizes = saltus_zeros(c, n + 1), *wanted = saltus_zeros(c, n + 1);
    int blocks = 0, done = 0, count = 0;
    for (int k = 0; k < n; k += (int)sizes[blocks - 1]) {
        int size = saltus_block_size(t, n, k);
        wanted[blocks] = select[k] != 0.0 || (size == 2 && select[k + 1] != 0.0);
        sizes[blocks++] = size;
    }
    for (int i = 0; i < blocks; i++) {
        if (wanted[i] == 0.0) continue;
        for (int j = i - 1; j >= done; j--) {
            int k = 0;
            for (int b = 0; b < j; b++) k += (int)sizes[b];
            if (saltus_lapack_exchange(c, t, z, n, k, (int)sizes[j], (int)sizes[j + 1])) return -1;
            double s = sizes[j]; sizes[j] = sizes[j + 1]; sizes[j + 1] = s;
            wanted[j + 1] = wanted[j];
            wanted[j] = 1.0;
        }
        count += (int)sizes[done++];
    }
    return count;
}
static inline double saltus_dtrsen(saltus_functions *c, saltus_arg *a) {
    int n = a[4].rows, m;
    double *t = saltus_square(c, &a[4]), *z = saltus_square(c, &a[6]), s = 1.0, sep;
    saltus_fits(c, a[6].rows == n && (int)a[2].n >= n);
    m = saltus_lapack_reorder(c, t, z, n, a[2].x);
    a[17].x[0] = m < 0;
    if (m < 0) return 0.0;
    saltus_give(c, &a[4], t, n * n);
    if (saltus_letter(&a[1], "Vv")) saltus_give(c, &a[6], z, n * n);
    saltus_lapack_spectrum(c, t, n, &a[8], &a[9]);
    a[10].x[0] = m;
    if (saltus_letter(&a[0], "Nn")) return 0.0;
    /* How well they are separated from the others. */
    sep = saltus_norm1(t, n);
    if (m > 0 && m < n) {
        int size = m * (n - m);
        double *x = saltus_room(c, (size_t)size), *big, *pivots, *inverse = 0, square = 0.0;
        if (size > 4096) saltus_fail(c, "not supported yet: condition numbers of so many eigenvalues");
        s = sep = 0.0;
        if (!saltus_lapack_sylvester(c, t, n, 0, m, n - m, x, &big, &pivots)) {
            for (int i = 0; i < size; i++) square += x[i] * x[i];
            inverse = saltus_identity_of(c, size);
            saltus_lapack_back(c, big, size, pivots, inverse, size, 0);
            s = 1.0 / sqrt(1.0 + square);
            sep = 1.0 / saltus_norm1(inverse, size);
        }
    }
    if (saltus_letter(&a[0], "EeBb")) a[11].x[0] = s;
    if (saltus_letter(&a[0], "VvBb")) a[12].x[0] = sep;
    return 0.0;
}

/* Eigenvalues and right eigenvectors (n x n; pairs as real and imaginary part). */
static inline int saltus_lapack_eigen(saltus_functions *c, const double *x, int n, double *re, double *im, double *vectors) {
    double *t, *z, *y = saltus_room(c, 2 * (size_t)n), *v = saltus_room(c, 2 * (size_t)n);
    if (saltus_lapack_form(c, x, n, &t, &z)) return 1;
    saltus_lapack_diagonal(t, n, re, im);
    for (int k = 0; k < n; k += saltus_block_size(t, n, k)) {
        saltus_lapack_vector(t, z, n, k, re[k], im[k], y, v);
        for (int i = 0; i < n; i++) { vectors[i * n + k] = v[i]; if (im[k] != 0.0) vectors[i * n + k + 1] = v[n + i]; }
    }
    return 0;
}
/* The second column of each pair changes its sign. */
static inline void saltus_conjugate(double *v, int n, const double *im) {
    for (int j = 0; j < n; j++) for (int i = 0; i < n && im[j] < 0.0; i++) v[i * n + j] = -v[i * n + j];
}
/* Right or left eigenvectors, their eigenvalues in a given order. */
static inline double *saltus_lapack_vectors(saltus_functions *c, const double *x, int n, int left, const double *want_re, const double *want_im) {
    double *re = saltus_zeros(c, n), *im = saltus_zeros(c, n), *v = saltus_zeros(c, n * n), *used = saltus_zeros(c, n), *out = saltus_zeros(c, n * n);
    if (saltus_lapack_eigen(c, left ? saltus_turned(c, x, n, n) : x, n, re, im, v)) return 0;
    for (int k = 0, pair; k < n; k += 1 + pair) {
        double least = INFINITY;
        int best = k;
        pair = want_im[k] != 0.0 && k + 1 < n;
        for (int j = 0; j < n; j++) {
            double far = hypot(re[j] - want_re[k], fabs(im[j]) - fabs(want_im[k]));
            if (used[j] != 0.0 || im[j] < 0.0 || (pair && im[j] == 0.0) || !(far < least)) continue;
            least = far;
            best = j;
        }
        for (int e = 0; e <= pair; e++) {
            int from = best + e < n ? best + e : n - 1;
            used[from] = 1.0;
            for (int i = 0; i < n; i++) out[i * n + k + e] = v[i * n + from];
        }
    }
    if (left) saltus_conjugate(out, n, want_im);
    return out;
}
/* The largest component of each vector gets the size |re| + |im| = 1. */
static inline void saltus_scale_largest(double *v, int n, const double *im) {
    for (int k = 0, two; k < n; k += 1 + two) {
        double most = 0.0;
        two = im[k] != 0.0 && k + 1 < n;
        for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i * n + k]) + (two ? fabs(v[i * n + k + 1]) : 0.0));
        for (int i = 0; i < n && most > 0.0; i++) { v[i * n + k] /= most; if (two) v[i * n + k + 1] /= most; }
    }
}
static inline double saltus_dtrevc(saltus_functions *c, saltus_arg *a) {
    int n = a[4].rows;
    double *t = saltus_square(c, &a[4]), *re = saltus_zeros(c, n), *im = saltus_zeros(c, n);
    saltus_lapack_diagonal(t, n, re, im);
    a[13].x[0] = 0.0;
    for (int left = 1; left >= 0; left--) {
        int at = left ? 6 : 8;
        if (!saltus_letter(&a[0], left ? "BbLl" : "BbRr")) continue;
        double *v = saltus_lapack_vectors(c, t, n, left, re, im);
        if (!v) { a[13].x[0] = 1.0; return 0.0; }
        saltus_fits(c, a[at].rows == n && a[at].columns == n);
        if (saltus_letter(&a[1], "Bb")) v = saltus_times(c, a[at].x, v, n, n, n);
        saltus_scale_largest(v, n, im);
        saltus_give(c, &a[at], v, n * n);
    }
    return 0.0;
}

/* Complex vectors: n real parts, then n imaginary ones. The k-th eigenvector; of a pair the first. */
static inline double *saltus_column_of(saltus_functions *c, const double *v, int n, const double *im, int k) {
    double *x = saltus_zeros(c, 2 * n);
    if (im[k] < 0.0) k--;
    for (int i = 0; i < n; i++) { x[i] = v[i * n + k]; if (im[k] != 0.0) x[n + i] = v[i * n + k + 1]; }
    return x;
}
static inline double saltus_length_of(const double *v, int n) {
    double s = 0.0;
    for (int i = 0; i < 2 * n; i++) s += v[i] * v[i];
    return sqrt(s);
}
static inline void saltus_dot_of(const double *u, const double *v, int n, double *re, double *im) {
    *re = *im = 0.0;
    for (int i = 0; i < n; i++) { *re += u[i] * v[i] + u[n + i] * v[n + i]; *im += u[i] * v[n + i] - u[n + i] * v[i]; }
}
static inline double *saltus_image(saltus_functions *c, const double *a, const double *v, int n) {
    double *x = saltus_zeros(c, 2 * n);
    for (int e = 0; e < 2; e++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[e * n + i] += a[i * n + j] * v[e * n + j];
    return x;
}
/* An orthonormal basis (2n x 2n - 2) of what is orthogonal to a complex vector. */
static inline double *saltus_complement(saltus_functions *c, const double *v, int n) {
    int m = 2 * n;
    double *span = saltus_room(c, 2 * (size_t)m), *q = saltus_identity_of(c, m), *w = saltus_room(c, (size_t)m), *out = saltus_room(c, (size_t)(m * (m - 2)));
    for (int i = 0; i < n; i++) { span[i] = v[i]; span[n + i] = v[n + i]; span[m + i] = -v[n + i]; span[m + n + i] = v[i]; }
    for (int j = 0; j < 2; j++) {
        double size = 0.0;
        for (int i = 0; i < m; i++) w[i] = i < j ? 0.0 : span[j * m + i];
        for (int i = j; i < m; i++) size += w[i] * w[i];
        w[j] += w[j] < 0.0 ? -sqrt(size) : sqrt(size);
        size = 0.0;
        for (int i = j; i < m; i++) size += w[i] * w[i];
        if (size == 0.0) continue;
        for (int e = j; e < 2; e++) {
            double s = 0.0;
            for (int i = j; i < m; i++) s += w[i] * span[e * m + i];
            for (int i = j; i < m; i++) span[e * m + i] -= 2.0 * s / size * w[i];
        }
        for (int i = 0; i < m; i++) {
            double s = 0.0;
            for (int k = j; k < m; k++) s += w[k] * q[i * m + k];
            for (int k = j; k < m; k++) q[i * m + k] -= 2.0 * s / size * w[k];
        }
    }
    for (int i = 0; i < m; i++) for (int j = 2; j < m; j++) out[i * (m - 2) + j - 2] = q[i * m + j];
    return out;
}
/* x + a + ib on (re, im), x alone if there is none. */
static inline double *saltus_embedded(saltus_functions *c, const double *x, int n, double a, double b) {
    int m = 2 * n;
    double *r = saltus_zeros(c, m * m);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n && x; j++) r[i * m + j] = r[(n + i) * m + n + j] = x[i * n + j];
        r[i * m + i] += a;
        r[(n + i) * m + n + i] += a;
        r[i * m + n + i] -= b;
        r[(n + i) * m + i] += b;
    }
    return r;
}
/* left' x right, between complements. */
static inline double *saltus_between(saltus_functions *c, const double *left, const double *x, const double *right, int n) {
    int m = 2 * n;
    return saltus_times(c, saltus_turned(c, left, m, m - 2), saltus_times(c, x, right, m, m, m - 2), m - 2, m, m - 2);
}
/* How far an eigenvalue is from the rest of the spectrum: the smallest singular value of x - lambda on what is orthogonal to its vector. */
static inline double saltus_separation(saltus_functions *c, const double *x, int n, double re, double im, const double *v) {
    if (n == 1) return fabs(re);
    double *z = saltus_complement(c, v, n);
    return saltus_least_singular(c, saltus_between(c, z, saltus_embedded(c, x, n, -re, -im), z, n), 2 * n - 2);
}
static inline double saltus_dgeevx(saltus_functions *c, saltus_arg *a) {
    int n = a[5].rows;
    double *x = saltus_square(c, &a[5]), *t, *z, *re = saltus_zeros(c, n), *im = saltus_zeros(c, n), *right = saltus_zeros(c, n * n), *left = 0;
    int bad = saltus_lapack_form(c, x, n, &t, &z) || saltus_lapack_eigen(c, x, n, re, im, right) || !(left = saltus_lapack_vectors(c, x, n, 1, re, im));
    a[22].x[0] = bad;
    if (bad) return 0.0;
    saltus_fits(c, (int)a[15].n == n && (int)a[17].n == n && (int)a[18].n == n);
    for (int k = 0; k < n; k++) {
        size_t mark = c->top;
        double *u = saltus_column_of(c, left, n, im, k), *v = saltus_column_of(c, right, n, im, k), p, q;
        saltus_dot_of(u, v, n, &p, &q);
        a[17].x[k] = hypot(p, q) / (saltus_length_of(u, n) * saltus_length_of(v, n));
        a[18].x[k] = saltus_separation(c, x, n, re[k], fabs(im[k]), v);
        a[15].x[k] = 1.0;
        c->top = mark;
    }
    saltus_give(c, &a[5], t, n * n);
    saltus_give(c, &a[7], re, n);
    saltus_give(c, &a[8], im, n);
    saltus_give(c, &a[9], left, n * n);
    saltus_give(c, &a[11], right, n * n);
    a[13].x[0] = 1.0;
    a[14].x[0] = n;
    a[16].x[0] = saltus_norm1(x, n);
    return 0.0;
}

/* inverse(a - shift b) b for the first of some shifts that leaves it well conditioned. */
static inline double *saltus_inverted(saltus_functions *c, const double *a, const double *b, int n, double *shift) {
    static const double factors[5] = {0.0, 0.7312, -1.1937, 2.3914, -0.3127};
    double ratio = saltus_norm1(a, n) / saltus_norm1(b, n), best = INFINITY, *found = saltus_room(c, (size_t)(n * n));
    if (!(ratio > 0.0 && isfinite(ratio))) ratio = 1.0;
    for (int k = 0; k < 5; k++) {
        size_t mark = c->top;
        double *f = saltus_room(c, (size_t)(n * n)), *pivots = saltus_zeros(c, n), *inverse = saltus_identity_of(c, n), norm, condition;
        for (int i = 0; i < n * n; i++) f[i] = a[i] - factors[k] * ratio * b[i];
        norm = saltus_norm1(f, n);
        if (!saltus_lapack_lu(f, n, n, pivots)) {
            saltus_lapack_back(c, f, n, pivots, inverse, n, 0);
            condition = norm * saltus_norm1(inverse, n);
            if (isfinite(condition) && (best == INFINITY || condition < 0.1 * best)) {
                best = condition;
                *shift = factors[k] * ratio;
                memcpy(found, saltus_times(c, inverse, b, n, n, n), (size_t)(n * n) * sizeof *found);
            }
        }
        c->top = mark;
    }
    return best < 4503599627370496.0 ? found : 0;
}
/* The conditions of an eigenvalue of a x = lambda b x with its vectors, and of these. */
static inline void saltus_pencil_conditions(saltus_functions *c, const double *const *ab, int n, const double *u, const double *v, double *value, double *space) {
    const double *w[2] = {saltus_image(c, ab[0], v, n), saltus_image(c, ab[1], v, n)}, *q;
    double corner[2][2], size = 0.0, re, im, length = saltus_length_of(v, n);
    for (int e = 0; e < 2; e++) { saltus_dot_of(u, w[e], n, &re, &im); size = hypot(size, hypot(re, im)); }
    *value = size / (saltus_length_of(u, n) * length);
    q = saltus_length_of(w[0], n) >= saltus_length_of(w[1], n) ? w[0] : w[1];
    for (int e = 0; e < 2; e++) {
        double scale = 1.0 / (saltus_length_of(q, n) * length);
        saltus_dot_of(q, w[e], n, &re, &im);
        corner[e][0] = re * scale;
        corner[e][1] = im * scale;
    }
    if (n == 1) { *space = hypot(hypot(corner[0][0], corner[0][1]), hypot(corner[1][0], corner[1][1])); return; }
    int m = 2 * n - 2;
    double *beside = saltus_complement(c, q, n), *z = saltus_complement(c, v, n), *map = saltus_zeros(c, 4 * m * m);
    double *turn = saltus_between(c, z, saltus_embedded(c, 0, n, 0.0, 1.0), z, n);
    for (int e = 0; e < 2; e++) {
        double *rest = saltus_between(c, beside, saltus_embedded(c, ab[e], n, 0.0, 0.0), z, n);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                map[(e * m + i) * 2 * m + j] = -corner[e][1] * turn[i * m + j] + (i == j ? corner[e][0] : 0.0);
                map[(e * m + i) * 2 * m + m + j] = -rest[j * m + i];
            }
    }
    *space = saltus_least_singular(c, map, 2 * m);
}
/* The upper left part of size n as a matrix, and back into one of all sizes. */
static inline double *saltus_leading(saltus_functions *c, const saltus_arg *a, int n) {
    double *x = saltus_room(c, (size_t)(n * n));
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * n + j] = a->x[i * a->columns + j];
    return x;
}
static inline void saltus_give_leading(saltus_functions *c, saltus_arg *a, const double *x, int n, int columns) {
    saltus_fits(c, columns == 1 ? (int)a->n >= n : a->rows >= n && a->columns >= n);
    for (size_t i = 0; i < a->n; i++) a->x[i] = 0.0;
    for (int i = 0; i < n; i++) for (int j = 0; j < columns; j++) a->x[columns == 1 ? i : i * a->columns + j] = x[i * columns + j];
}
/* Generalized eigenvalues: the places of n, A, B, alpha, the vectors and their condition numbers if any, and info. */
static inline double saltus_generalized(saltus_functions *c, saltus_arg *a, int size, int pa, int pb, int alpha, int left_at, int right_at, int conditions, int info) {
    int n = (int)fmax(a[size].x[0], 0.0);
    double shift = 0.0, *re, *im, *right, *left, *results, *x, *y, *k = 0, zero;
    saltus_fits(c, a[pa].rows == a[pa].columns && a[pb].rows == a[pb].columns && a[pb].rows >= a[pa].rows);
    if (n > a[pa].rows) n = a[pa].rows;
    x = saltus_leading(c, &a[pa], n);
    y = saltus_leading(c, &a[pb], n);
    re = saltus_zeros(c, n);
    im = saltus_zeros(c, n);
    right = saltus_zeros(c, n * n);
    left = saltus_zeros(c, n * n);
    results = saltus_zeros(c, 3 * n);
    a[info].x[0] = 1.0;
    if (n > 0) {
        if (!(k = saltus_inverted(c, x, y, n, &shift)) || saltus_lapack_eigen(c, k, n, re, im, right)) return 0.0;
        /* The transposed pencil is inverted on the other side: its eigenvalues are the same, its vectors not. */
        double *f = saltus_room(c, (size_t)(n * n)), *pivots = saltus_zeros(c, n), *turned = saltus_turned(c, y, n, n);
        for (int i = 0; i < n * n; i++) f[i] = x[i] - shift * y[i];
        f = saltus_turned(c, f, n, n);
        (void)saltus_lapack_lu(f, n, n, pivots);
        saltus_lapack_back(c, f, n, pivots, turned, n, 0);
        if (!(left = saltus_lapack_vectors(c, turned, n, 0, re, im))) return 0.0;
        zero = 1e2 * 2.220446049250313e-16 * n * saltus_norm1(k, n);
        for (int i = 0; i < n; i++) {
            double square = re[i] * re[i] + im[i] * im[i], *r = results + i;
            r[0] = 1.0; r[n] = 0.0; r[2 * n] = 0.0;
            if (sqrt(square) <= zero) continue;
            if (im[i] == 0.0) { r[0] = (re[i] < 0.0 ? -1.0 : 1.0) * (1.0 + shift * re[i]); r[2 * n] = fabs(re[i]); continue; }
            /* The part with the positive imaginary part comes first. */
            r[0] = shift + re[i] / square; r[n] = im[i] / square; r[2 * n] = 1.0;
        }
        saltus_conjugate(right, n, im);
        saltus_scale_largest(right, n, im);
        saltus_scale_largest(left, n, im);
    }
    if (conditions) {
        const double *const ab[2] = {x, y};
        double *values = saltus_zeros(c, 2 * n);
        for (int i = 0; i < n; i++) {
            size_t mark = c->top;
            saltus_pencil_conditions(c, ab, n, saltus_column_of(c, left, n, im, i), saltus_column_of(c, right, n, im, i), &values[i], &values[n + i]);
            c->top = mark;
        }
        for (int e = 0; e < 2; e++) saltus_give_leading(c, &a[conditions + e], values + e * n, n, 1);
    }
    for (int e = 0; e < 3; e++) saltus_give_leading(c, &a[alpha + e], results + e * n, n, 1);
    if (left_at) { saltus_give_leading(c, &a[left_at], left, n, n); saltus_give_leading(c, &a[right_at], right, n, n); }
    a[info].x[0] = 0.0;
    return 0.0;
}
static inline double saltus_dggev(saltus_functions *c, saltus_arg *a) { return saltus_generalized(c, a, 2, 3, 5, 7, 10, 12, 0, 16); }
static inline double saltus_dggevx(saltus_functions *c, saltus_arg *a) { return saltus_generalized(c, a, 4, 5, 7, 9, 12, 14, 22, 28); }
static inline double saltus_dhgeqz(saltus_functions *c, saltus_arg *a) { return saltus_generalized(c, a, 3, 6, 8, 10, 0, 0, 0, 19); }
