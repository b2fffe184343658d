/* ---- tables of one and two abscissas and of time ---- */

/* kind: 1 one abscissa, 2 two abscissas, 3 time. smoothness and extrapolation are numbered as in the standard library. Of one
   abscissa and of time, each column has the n values and, if it is cubic, the slopes at the left and at the right end of each
   of the n - 1 segments; of two, each node has its value, the slopes along x and y and the mixed one. */
typedef struct {
    int kind, smoothness, extrapolation, n, m, columns, events;
    const double *x, *y, *data, *event;
    double start, shift;
} saltus_table;

/* Value, first and second derivative. */
typedef struct { double v, d, s; } saltus_jet;

static inline saltus_jet saltus_jet_of(double v, double d, double s) { saltus_jet j; j.v = v; j.d = d; j.s = s; return j; }

static inline const saltus_table *saltus_table_of(saltus_functions *c, double handle, int kind);

/* The number of abscissas that are at most u, or below it. */
static inline int saltus_below(const double *x, int n, double u, int strictly) {
    int low = 0, high = n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (strictly ? x[mid] < u : x[mid] <= u) low = mid + 1; else high = mid;
    }
    return low;
}
static inline int saltus_clamp(int i, int low, int high) { return i < low ? low : i > high ? high : i; }

/* In segment i, which may be left on either side. */
static inline saltus_jet saltus_segment(const saltus_table *t, const double *y, int i, double u) {
    double x0 = t->x[i], x1 = t->x[i + 1], y0 = y[i], y1 = y[i + 1], h = x1 - x0, s = u - x0, m;
    if (h <= 0.0) return saltus_jet_of(y1, 0.0, 0.0);
    if (t->smoothness == 3) return saltus_jet_of(y0, 0.0, 0.0);
    m = (y1 - y0) / h;
    if (t->smoothness == 1) return saltus_jet_of(u == x1 ? y1 : y0 + m * s, m, 0.0);
    double d0 = y[t->n + i], d1 = y[2 * t->n - 1 + i];
    double c2 = (3.0 * m - 2.0 * d0 - d1) / h, c3 = (d0 + d1 - 2.0 * m) / (h * h);
    double v = u == x1 ? y1 : y0 + s * (d0 + s * (c2 + s * c3));
    return saltus_jet_of(v, d0 + s * (2.0 * c2 + s * 3.0 * c3), 2.0 * c2 + 6.0 * c3 * s);
}

/* The value of a column at u; `left` takes the limit from the left at a point of the table. */
static inline saltus_jet saltus_column(saltus_functions *c, const saltus_table *t, double column, double u, int left) {
    int n = t->n, i;
    if (!(column >= 1.0 && (int)column <= t->columns)) saltus_fail(c, "a table has fewer columns");
    const double *y = t->data + ((size_t)column - 1) * (size_t)(t->smoothness == 1 || t->smoothness == 3 ? n : 3 * n - 2);
    if (n == 1) return saltus_jet_of(y[0], 0.0, 0.0);
    double a = t->x[0], b = t->x[n - 1];
    if (u != u) return saltus_jet_of(u, u, u);
    if (t->extrapolation == 3 && b > a && (u < a || u > b || (u == b && !left))) {
        double period = b - a;
        u -= period * floor((u - a) / period);
        u = u < a ? a : u > b ? b : u;
        if (left && u == a) u = b;
    }
    if (u < a || u > b) {
        double end = u < a ? a : b;
        saltus_jet j;
        if (u < a) for (i = 0; i < n - 2 && t->x[i + 1] <= t->x[i];) i++;
        else for (i = n - 2; i > 0 && t->x[i + 1] <= t->x[i];) i--;
        if (t->x[i + 1] <= t->x[i]) i = 0;
        j = saltus_segment(t, y, i, end);
        if (t->smoothness == 3) j.v = u > b ? y[n - 1] : y[0];
        if (t->extrapolation == 4) saltus_fail(c, "outside a table");
        if (t->extrapolation == 1) return saltus_jet_of(j.v, 0.0, 0.0);
        return saltus_jet_of(j.v + j.d * (u - end), j.d, 0.0);
    }
    if (u == b && !left && (t->smoothness == 3 || t->x[n - 2] == b)) return saltus_jet_of(y[n - 1], 0.0, 0.0);
    if (left) {
        i = saltus_clamp(saltus_below(t->x, n, u, 1), 1, n - 1) - 1;
        while (i + 2 < n && t->x[i + 1] <= t->x[i]) i++;
        if (u == a && t->smoothness == 3 && t->extrapolation != 3) return saltus_jet_of(y[0], 0.0, 0.0);
    } else {
        i = saltus_clamp(saltus_below(t->x, n, u, 0), 1, n - 1) - 1;
        while (i > 0 && t->x[i + 1] <= t->x[i]) i--;
    }
    return saltus_segment(t, y, i, u);
}

/* A directional derivative by central differences. */
static inline double saltus_difference(saltus_functions *c, double (*f)(saltus_functions *, const double *), const double *a,
                                       const double *d, size_t n) {
    double size = 0.0, along = 0.0, h, up[8], down[8];
    for (size_t i = 0; i < n; i++) { size = saltus_max(size, fabs(a[i])); along = saltus_max(along, fabs(d[i])); }
    if (along == 0.0 || n > 8) return 0.0;
    h = 1e-6 * (1.0 + saltus_min(size, 1e6)) / saltus_max(along, 1e-300);
    for (size_t i = 0; i < n; i++) { up[i] = a[i] + h * d[i]; down[i] = a[i] - h * d[i]; }
    return (f(c, up) - f(c, down)) / (2.0 * h);
}

static inline saltus_jet saltus_jet1(saltus_functions *c, const double *a) {
    return saltus_column(c, saltus_table_of(c, a[0], 1), a[1], a[2], 0);
}
static inline double CombiTable1D_getValue(saltus_functions *c, const double *a) { return saltus_jet1(c, a).v; }
static inline double CombiTable1D_getValue_der(saltus_functions *c, const double *a, const double *d) {
    return saltus_jet1(c, a).d * d[2];
}
static inline double CombiTable1D_getDerValue(saltus_functions *c, const double *a) { return saltus_jet1(c, a).d * a[3]; }
static inline double CombiTable1D_getDerValue_der(saltus_functions *c, const double *a, const double *d) {
    saltus_jet j = saltus_jet1(c, a);
    return j.s * d[2] * a[3] + j.d * d[3];
}
static inline double CombiTable1D_getDer2Value(saltus_functions *c, const double *a) {
    saltus_jet j = saltus_jet1(c, a);
    return j.s * (a[3] * a[3]) + j.d * a[4];
}
static inline double CombiTable1D_minimumAbscissa(saltus_functions *c, const double *a) { return saltus_table_of(c, a[0], 1)->x[0]; }
static inline double CombiTable1D_maximumAbscissa(saltus_functions *c, const double *a) {
    const saltus_table *t = saltus_table_of(c, a[0], 1);
    return t->x[t->n - 1];
}

static inline saltus_jet saltus_jet_time(saltus_functions *c, const double *a) {
    const saltus_table *t = saltus_table_of(c, a[0], 3);
    int left = a[2] == a[3];
    if (!(a[1] >= 1.0 && (int)a[1] <= t->columns)) saltus_fail(c, "a table has fewer columns");
    if (a[2] < t->start || (left && a[2] == t->start)) return saltus_jet_of(0.0, 0.0, 0.0);
    return saltus_column(c, t, a[1], a[2] - t->shift, left);
}
static inline double CombiTimeTable_getValue(saltus_functions *c, const double *a) { return saltus_jet_time(c, a).v; }
static inline double CombiTimeTable_getValue_der(saltus_functions *c, const double *a, const double *d) {
    return saltus_jet_time(c, a).d * d[2];
}
static inline double CombiTimeTable_getDerValue(saltus_functions *c, const double *a) { return saltus_jet_time(c, a).d * a[5]; }
static inline double CombiTimeTable_getDerValue_der(saltus_functions *c, const double *a, const double *d) {
    saltus_jet j = saltus_jet_time(c, a);
    return j.s * d[2] * a[5] + j.d * d[5];
}
static inline double CombiTimeTable_getDer2Value(saltus_functions *c, const double *a) {
    saltus_jet j = saltus_jet_time(c, a);
    return j.s * (a[5] * a[5]) + j.d * a[6];
}
static inline double CombiTimeTable_minimumTime(saltus_functions *c, const double *a) { return saltus_table_of(c, a[0], 3)->x[0]; }
static inline double CombiTimeTable_maximumTime(saltus_functions *c, const double *a) {
    const saltus_table *t = saltus_table_of(c, a[0], 3);
    return t->x[t->n - 1];
}
static inline double CombiTimeTable_nextTimeEvent(saltus_functions *c, const double *a) {
    const saltus_table *t = saltus_table_of(c, a[0], 3);
    const double never = 0x1.fffffffffffffp1023, first = t->x[0], last = t->x[t->n - 1], now = a[1], u = now - t->shift;
    const double eps = 1e-13 * (1.0 + fabs(now));
    if (t->events < 0) return never;
    if (now < t->start) return t->start;
    if (t->extrapolation == 3 && last > first) {
        double period = last - first, k = floor((u - first) / period);
        for (int round = 0; round < 3; round++, k += 1.0)
            for (int i = 0; i < t->events; i++) {
                double at = t->event[i] + k * period + t->shift;
                if (at > now + eps) return at;
            }
        return never;
    }
    for (int i = 0; i < t->events; i++)
        if (t->event[i] > u + eps) return t->event[i] + t->shift;
    return never;
}

/* What a node counts along one axis, with two derivatives; slope: its slope instead of its value. */
typedef struct { int at, slope; double w[3]; } saltus_weight;

static inline saltus_weight saltus_weight_of(int at, int slope, double v, double d, double s) {
    saltus_weight w;
    w.at = at; w.slope = slope; w.w[0] = v; w.w[1] = d; w.w[2] = s;
    return w;
}
static inline int saltus_weights(saltus_functions *c, const saltus_table *table, const double *x, int n, double u, saltus_weight *w) {
    if (n == 1) { w[0] = saltus_weight_of(0, 0, 1.0, 0.0, 0.0); return 1; }
    double a = x[0], b = x[n - 1];
    if (table->extrapolation == 3) {
        u -= (b - a) * floor((u - a) / (b - a));
        u = u < a ? a : u > b ? b : u;
    }
    int outside = u < a || u > b, end = u < a ? 0 : n - 1;
    if (outside && table->extrapolation == 4) saltus_fail(c, "outside a table");
    if (outside && (table->extrapolation == 1 || table->smoothness == 3)) {
        w[0] = saltus_weight_of(end, 0, 1.0, 0.0, 0.0);
        return 1;
    }
    int i = saltus_clamp(saltus_below(x, n, u, 0), 1, n - 1) - 1;
    double h = x[i + 1] - x[i], s = u - x[i], t = s / h, r = 1.0 - t;
    if (table->smoothness == 3) { w[0] = saltus_weight_of(u == b ? n - 1 : i, 0, 1.0, 0.0, 0.0); return 1; }
    if (table->smoothness == 1) {
        w[0] = saltus_weight_of(i, 0, 1.0 - t, -1.0 / h, 0.0);
        w[1] = saltus_weight_of(i + 1, 0, t, 1.0 / h, 0.0);
        return 2;
    }
    if (outside) {
        w[0] = saltus_weight_of(end, 0, 1.0, 0.0, 0.0);
        w[1] = saltus_weight_of(end, 1, u - x[end], 1.0, 0.0);
        return 2;
    }
    w[0] = saltus_weight_of(i, 0, (1.0 + 2.0 * t) * (r * r), 6.0 * t * (t - 1.0) / h, (12.0 * t - 6.0) / (h * h));
    w[1] = saltus_weight_of(i + 1, 0, t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / h, (6.0 - 12.0 * t) / (h * h));
    w[2] = saltus_weight_of(i, 1, h * t * (r * r), (1.0 - t) * (1.0 - 3.0 * t), (6.0 * t - 4.0) / h);
    w[3] = saltus_weight_of(i + 1, 1, h * t * t * (t - 1.0), t * (3.0 * t - 2.0), (6.0 * t - 2.0) / h);
    return 4;
}
/* f, f_x, f_y, f_xx, f_xy, f_yy */
static inline void saltus_jet2(saltus_functions *c, const double *a, double *out) {
    static const int p[6] = {0, 1, 0, 2, 1, 0}, q[6] = {0, 0, 1, 0, 1, 2};
    const saltus_table *t = saltus_table_of(c, a[0], 2);
    saltus_weight x[4], y[4];
    int ny = saltus_weights(c, t, t->y, t->m, a[2], y), nx = saltus_weights(c, t, t->x, t->n, a[1], x);
    for (int k = 0; k < 6; k++) out[k] = 0.0;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            double f = t->data[4 * (x[i].at * t->m + y[j].at) + x[i].slope + 2 * y[j].slope];
            for (int k = 0; k < 6; k++) out[k] += f * x[i].w[p[k]] * y[j].w[q[k]];
        }
}
static inline double CombiTable2D_getValue(saltus_functions *c, const double *a) {
    double j[6];
    saltus_jet2(c, a, j);
    return j[0];
}
static inline double CombiTable2D_getValue_der(saltus_functions *c, const double *a, const double *d) {
    double j[6];
    saltus_jet2(c, a, j);
    return j[1] * d[1] + j[2] * d[2];
}
static inline double CombiTable2D_getDerValue(saltus_functions *c, const double *a) {
    double j[6];
    saltus_jet2(c, a, j);
    return j[1] * a[3] + j[2] * a[4];
}
static inline double CombiTable2D_getDerValue_der(saltus_functions *c, const double *a, const double *d) {
    double j[6];
    saltus_jet2(c, a, j);
    return (j[3] * d[1] + j[4] * d[2]) * a[3] + (j[4] * d[1] + j[5] * d[2]) * a[4] + j[1] * d[3] + j[2] * d[4];
}
static inline double CombiTable2D_getDer2Value(saltus_functions *c, const double *a) {
    double j[6], u = a[3], v = a[4];
    saltus_jet2(c, a, j);
    return j[3] * u * u + 2.0 * j[4] * u * v + j[5] * v * v + j[1] * a[5] + j[2] * a[6];
}
