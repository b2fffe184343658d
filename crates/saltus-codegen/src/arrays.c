
/* Arrays of NUM, row by row. */
typedef struct { int rank, n[SALTUS_RANK]; NUM *at; } T_array;

static inline size_t T_count(T_array a) {
    size_t n = 1;
    for (int i = 0; i < a.rank; i++) n *= (size_t)a.n[i];
    return n;
}
static inline T_array T_room(saltus_functions *c, T_array a) {
    a.at = (NUM *)(void *)saltus_room(c, T_count(a) * (sizeof(NUM) / sizeof(double)));
    return a;
}
static inline T_array T_empty(int rank) {
    T_array a;
    memset(&a, 0, sizeof a);
    a.rank = rank;
    return a;
}
static inline T_array T_vector(saltus_functions *c, int n) { T_array a = T_empty(1); a.n[0] = n; return T_room(c, a); }
static inline T_array T_matrix(saltus_functions *c, int m, int n) {
    T_array a = T_empty(2);
    a.n[0] = m; a.n[1] = n;
    return T_room(c, a);
}
static inline T_array T_one(saltus_functions *c, NUM v) { T_array a = T_room(c, T_empty(0)); a.at[0] = v; return a; }
static inline T_array T_fill(saltus_functions *c, T_array a, NUM v) {
    a = T_room(c, a);
    for (size_t i = 0; i < T_count(a); i++) a.at[i] = v;
    return a;
}
static inline T_array T_copy(saltus_functions *c, T_array a) {
    T_array b = T_room(c, a);
    memcpy(b.at, a.at, T_count(a) * sizeof(NUM));
    return b;
}
static inline void T_same(saltus_functions *c, T_array a, T_array b) {
    if (a.rank != b.rank || memcmp(a.n, b.n, (size_t)a.rank * sizeof(int)) != 0) saltus_fail(c, "sizes of arrays do not fit");
}
/* The array gets new elements; with `free` its sizes may change, and what was allocated since `mark` is moved down. */
static inline void T_set(saltus_functions *c, T_array *a, T_array v, const int *free, size_t mark) {
    if (a->rank != v.rank) saltus_fail(c, "an array is assigned a value of another size");
    for (int i = 0; i < v.rank; i++)
        if (a->n[i] != v.n[i] && !(free && free[i])) saltus_fail(c, "an array is assigned a value of another size");
    size_t n = T_count(v);
    if (T_count(*a) == n && a->at) {
        memmove(a->at, v.at, n * sizeof(NUM));
        c->top = mark;
    } else {
        NUM *to = (NUM *)(void *)(c->arena + mark);
        c->top = mark;
        (void)saltus_room(c, n * (sizeof(NUM) / sizeof(double)));
        memmove(to, v.at, n * sizeof(NUM));
        v.at = to;
    }
    if (T_count(*a) == n && a->at) { NUM *at = a->at; *a = v; a->at = at; } else *a = v;
}
static inline NUM *T_place(saltus_functions *c, T_array a, int rank, const double *i) {
    int at = 0;
    if (a.rank != rank) saltus_fail(c, "a subscript is missing");
    for (int d = 0; d < rank; d++) at = at * a.n[d] + saltus_at(c, i[d], a.n[d]);
    return a.at + at;
}
static inline NUM *T_at1(saltus_functions *c, T_array a, double i) { return a.at + saltus_at(c, i, a.n[0]); }
static inline NUM *T_at2(saltus_functions *c, T_array a, double i, double j) {
    int r = saltus_at(c, i, a.n[0]);
    return a.at + r * a.n[1] + saltus_at(c, j, a.n[1]);
}
static inline void T_part_over(saltus_functions *c, saltus_part *p, int size, T_array v) {
    int n = (int)T_count(v);
    double *l = saltus_list(c, p, size, n, 1);
    for (int i = 0; i < n; i++) l[i] = saltus_at(c, T_value(v.at[i]), size);
}
static inline T_array T_kept(const saltus_part *p) {
    T_array a = T_empty(0);
    for (int d = 0; d < p->rank; d++) if (p->kept[d]) a.n[a.rank++] = p->n[d];
    return a;
}
static inline T_array T_pick(saltus_functions *c, T_array a, const saltus_part *p) {
    T_array r = T_room(c, T_kept(p));
    int n = saltus_part_count(p);
    if (a.rank != p->rank) saltus_fail(c, "the number of subscripts does not fit the array");
    for (int k = 0; k < n; k++) r.at[k] = a.at[saltus_part_flat(p, k)];
    return r;
}
static inline void T_put(saltus_functions *c, T_array a, const saltus_part *p, T_array v) {
    int n = saltus_part_count(p);
    if (a.rank != p->rank) saltus_fail(c, "the number of subscripts does not fit the array");
    if (!(v.rank == 0 && n == 1)) T_same(c, T_kept(p), v);
    for (int k = 0; k < n; k++) a.at[saltus_part_flat(p, k)] = v.at[k];
}
static inline NUM T_dot(int n, const NUM *a, int da, const NUM *b, int db) {
    NUM s;
    if (n == 0) return T_(0.0, 0.0);
    s = T_mul(a[0], b[0]);
    for (int i = 1; i < n; i++) s = T_add(s, T_mul(a[i * da], b[i * db]));
    return s;
}
static inline T_array T_product(saltus_functions *c, T_array a, T_array b) {
    int m = a.rank == 2 ? a.n[0] : 1, k = a.rank == 2 ? a.n[1] : a.n[0], n = b.rank == 2 ? b.n[1] : 1;
    T_array r = T_empty(0);
    if (a.rank < 1 || a.rank > 2 || b.rank < 1 || b.rank > 2 || k != b.n[0]) saltus_fail(c, "a product of arrays that do not fit");
    if (a.rank == 2) r.n[r.rank++] = m;
    if (b.rank == 2) r.n[r.rank++] = n;
    r = T_room(c, r);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) r.at[i * n + j] = T_dot(k, a.at + i * k, 1, b.at + j, n);
    return r;
}
static inline T_array T_transpose(saltus_functions *c, T_array a) {
    if (a.rank != 2) saltus_fail(c, "a matrix is needed");
    T_array r = T_matrix(c, a.n[1], a.n[0]);
    for (int j = 0; j < a.n[1]; j++)
        for (int i = 0; i < a.n[0]; i++) r.at[j * a.n[0] + i] = a.at[i * a.n[1] + j];
    return r;
}
static inline T_array T_diagonal(saltus_functions *c, T_array v) {
    int n = (int)T_count(v);
    T_array r = T_matrix(c, n, n);
    for (int i = 0; i < n * n; i++) r.at[i] = T_(0.0, 0.0);
    for (int i = 0; i < n; i++) r.at[i * n + i] = v.at[i];
    return r;
}
static inline T_array T_identity(saltus_functions *c, int n) {
    T_array r = T_matrix(c, n, n);
    for (int i = 0; i < n * n; i++) r.at[i] = T_(i % (n + 1) == 0 ? 1.0 : 0.0, 0.0);
    return r;
}
static inline T_array T_repeat(saltus_functions *c, T_array v, int rank, const int *n) {
    T_array r = T_empty(rank + v.rank);
    if (r.rank > SALTUS_RANK) saltus_fail(c, "an array of too many dimensions");
    for (int i = 0; i < rank; i++) r.n[i] = n[i];
    for (int i = 0; i < v.rank; i++) r.n[rank + i] = v.n[i];
    r = T_room(c, r);
    size_t part = T_count(v), all = T_count(r);
    for (size_t i = 0; part && i < all; i++) r.at[i] = v.at[i % part];
    return r;
}
static inline T_array T_promote(saltus_functions *c, T_array a, int rank) {
    if (rank > SALTUS_RANK) saltus_fail(c, "an array of too many dimensions");
    while (a.rank < rank) a.n[a.rank++] = 1;
    return a;
}
static inline T_array T_as_vector(saltus_functions *c, T_array a) {
    int many = 0;
    T_array r = T_empty(1);
    for (int i = 0; i < a.rank; i++) many += a.n[i] > 1;
    if (many > 1) saltus_fail(c, "an array is no vector");
    r.n[0] = (int)T_count(a);
    r.at = a.at;
    return r;
}
static inline T_array T_as_matrix(saltus_functions *c, T_array a) {
    a = T_promote(c, a, 2);
    for (int i = 2; i < a.rank; i++) if (a.n[i] != 1) saltus_fail(c, "an array is no matrix");
    a.rank = 2;
    return a;
}
static inline T_array T_outer(saltus_functions *c, T_array a, T_array b) {
    int m = (int)T_count(a), n = (int)T_count(b);
    T_array r = T_matrix(c, m, n);
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) r.at[i * n + j] = T_mul(a.at[i], b.at[j]);
    return r;
}
static inline T_array T_symmetric(saltus_functions *c, T_array a) {
    if (a.rank != 2 || a.n[0] != a.n[1]) saltus_fail(c, "symmetric needs a square matrix");
    T_array r = T_copy(c, a);
    for (int i = 0; i < a.n[0]; i++) for (int j = 0; j < i; j++) r.at[i * a.n[0] + j] = a.at[j * a.n[0] + i];
    return r;
}
static inline T_array T_cross(saltus_functions *c, T_array a, T_array b) {
    if (T_count(a) != 3 || T_count(b) != 3) saltus_fail(c, "cross needs vectors of size 3");
    T_array r = T_vector(c, 3);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r.at[i] = T_sub(T_mul(a.at[j], b.at[k]), T_mul(a.at[k], b.at[j]));
    }
    return r;
}
static inline T_array T_skew(saltus_functions *c, T_array a) {
    if (T_count(a) != 3) saltus_fail(c, "skew needs a vector of size 3");
    T_array r = T_matrix(c, 3, 3);
    r.at[0] = r.at[4] = r.at[8] = T_(0.0, 0.0);
    r.at[1] = T_neg(a.at[2]); r.at[2] = a.at[1]; r.at[3] = a.at[2];
    r.at[5] = T_neg(a.at[0]); r.at[6] = T_neg(a.at[1]); r.at[7] = a.at[0];
    return r;
}
static inline T_array T_power(saltus_functions *c, T_array a, double p) {
    if (a.rank != 2 || a.n[0] != a.n[1] || !(p >= 0.0) || p != floor(p) || p > 1e6)
        saltus_fail(c, "a power needs a square matrix and a whole exponent that is not negative");
    if (p == 0.0) return T_identity(c, a.n[0]);
    T_array r = a;
    int begun = 0;
    for (long k = (long)p; k > 0;) {
        if (k & 1) { r = begun ? T_product(c, r, a) : a; begun = 1; }
        k >>= 1;
        if (k > 0) a = T_product(c, a, a);
    }
    return r;
}
static inline T_array T_linspace(saltus_functions *c, NUM a, NUM b, int n) {
    if (n < 2) saltus_fail(c, "linspace needs at least two points");
    T_array r = T_vector(c, n);
    NUM step = T_sub(b, a);
    for (int i = 0; i < n; i++) r.at[i] = i + 1 == n ? b : T_add(a, T_mul(step, T_((double)i / (double)(n - 1), 0.0)));
    return r;
}
static inline T_array T_cat(saltus_functions *c, int k, int rank, int parts, const T_array *p) {
    T_array r = T_promote(c, p[0], rank), q;
    size_t outer = 1, inner = 1, at = 0;
    for (int i = 1; i < parts; i++) {
        q = T_promote(c, p[i], rank);
        for (int d = 0; d < rank; d++) if (d != k && q.n[d] != r.n[d]) saltus_fail(c, "arrays that do not fit cannot be joined");
        r.n[k] += q.n[k];
    }
    r = T_room(c, r);
    for (int d = 0; d < k; d++) outer *= (size_t)r.n[d];
    for (int d = k + 1; d < rank; d++) inner *= (size_t)r.n[d];
    for (size_t o = 0; o < outer; o++)
        for (int i = 0; i < parts; i++) {
            q = T_promote(c, p[i], rank);
            size_t chunk = (size_t)q.n[k] * inner;
            for (size_t j = 0; j < chunk; j++) r.at[at++] = q.at[o * chunk + j];
        }
    return r;
}
