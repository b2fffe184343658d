/* ---- what spatialDistribution carries ---- */

/* Points that one distribution may hold. */
#ifndef FLOW_CAPACITY
#define FLOW_CAPACITY 10000
#endif

/* Values over positions s = y - x of the matter that moves, in ascending order: place, value, and how a point belongs to the one
   before it. Points are numbered from `base` on; a reader has passed the jump that begins with point `behind`. */
enum { FLOW_SMOOTH = 0, FLOW_KINK = 1, FLOW_JUMP = 2 };
typedef struct saltus_flow {
    double s[FLOW_CAPACITY], v[FLOW_CAPACITY];
    unsigned char joint[FLOW_CAPACITY];
    long base, behind[2];
    int first, count, positive, full, passed[2];
    double origin, time, moved, speed;
} saltus_flow;

static inline int flow_at(const saltus_flow *p, int k) { return (p->first + k) % FLOW_CAPACITY; }
static inline int flow_same(double a, double b) { return fabs(a - b) <= 1e-13 * fmax(fmax(fabs(a), fabs(b)), 1e-3); }
static inline int flow_jumps(const saltus_flow *p, int k) { return k > 0 && k < p->count && p->joint[flow_at(p, k)] == FLOW_JUMP; }

static void flow_push(saltus_flow *p, int up, double s, double v, int joint) {
    if (p->count == FLOW_CAPACITY) { p->full = 1; return; }
    if (!up) { p->first = (p->first + FLOW_CAPACITY - 1) % FLOW_CAPACITY; p->base--; }
    int at = flow_at(p, up ? p->count : 0);
    p->count++;
    p->s[at] = s;
    p->v[at] = v;
    p->joint[at] = (unsigned char)joint;
}

/* Adds a value at the upper end or the lower one; an event may make it jump or bend there. */
static void flow_write(saltus_flow *p, int up, double s, double v, int event) {
    if (!p->count) { flow_push(p, 1, s, v, FLOW_SMOOTH); return; }
    int last = flow_at(p, up ? p->count - 1 : 0), here = flow_same(s, p->s[last]);
    int apart = fabs(v - p->v[last]) > 1e-9 * fmax(fmax(fabs(v), fabs(p->v[last])), 1e-6);
    if (!here && (s < p->s[last]) == up) return; /* the flow stands still, within errors */
    if (here && !(event && apart)) {
        p->v[last] = v;
        if (event && p->joint[last] == FLOW_SMOOTH) p->joint[last] = FLOW_KINK;
        return;
    }
    /* Several jumps at one place are one. */
    if (here && (up ? p->joint[last] == FLOW_JUMP : flow_jumps(p, 1))) { p->v[last] = v; return; }
    if (here) s = p->s[last];
    if (here && !up) p->joint[last] = FLOW_JUMP;
    flow_push(p, up, s, v, here && up ? FLOW_JUMP : FLOW_SMOOTH);
}

/* The points from *a to before *b are the piece that a reader is in. Reader 0 moves up, reader 1 down. */
static void flow_piece(const saltus_flow *p, int reader, int *a, int *b) {
    long at = p->behind[reader] - p->base;
    *a = 0;
    *b = p->count;
    if (!reader) {
        int from = p->passed[0] && at > 0 ? (int)at : 0;
        *a = from;
        for (int k = from + 1; k < p->count; k++) if (flow_jumps(p, k)) { *b = k; break; }
    } else {
        int to = p->passed[1] && at < p->count ? (int)(at > 0 ? at : 0) : p->count;
        *b = to;
        for (int k = to - 1; k > 0; k--) if (flow_jumps(p, k)) { *a = k; break; }
    }
    if (*b < 1) *b = 1;
    if (*a > *b - 1) *a = *b - 1;
}

/* Value or slope at s of the points from a to before b: through the six nearest of the same smooth piece; beyond an end along its
   slope. */
static double flow_value(const saltus_flow *p, double s, int a, int b, int slope) {
    double x[6], c[6], v, dv = 0.0;
    int low = a, high = b, n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (p->s[flow_at(p, mid)] <= s) low = mid + 1; else high = mid;
    }
    int left = low > a ? low - 1 : a, right = low < b ? low : b - 1;
    if (left == right) {
        if (low == a && right + 1 < b) right++;
        else if (left > a) left--;
    }
    if (left == right) return slope ? 0.0 : p->v[flow_at(p, left)];
    double least = p->s[flow_at(p, left)], most = p->s[flow_at(p, right)], middle = 0.5 * (least + most), at = fmin(fmax(s, least), most);
    while (right - left + 1 < 6) {
        int more_left = left > a && p->joint[flow_at(p, left)] == FLOW_SMOOTH;
        int more_right = right + 1 < b && p->joint[flow_at(p, right)] == FLOW_SMOOTH;
        if (!more_left && !more_right) break;
        if (!more_right || (more_left && middle - p->s[flow_at(p, left - 1)] <= p->s[flow_at(p, right + 1)] - middle)) left--;
        else right++;
    }
    n = right - left + 1;
    for (int k = 0; k < n; k++) { x[k] = p->s[flow_at(p, left + k)]; c[k] = p->v[flow_at(p, left + k)]; }
    for (int j = 1; j < n; j++)
        for (int k = n - 1; k >= j; k--) c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - j]);
    v = c[n - 1];
    for (int k = n - 2; k >= 0; k--) { dv = dv * (at - x[k]) + v; v = v * (at - x[k]) + c[k]; }
    return slope ? dv : v + (s - at) * dv;
}

/* What is read at one end for x, or its slope. */
static double saltus_flow_read(const saltus_flow *p, int reader, double x, int slope) {
    int a, b;
    flow_piece(p, reader, &a, &b);
    double v = flow_value(p, reader - (x - p->origin), a, b, slope);
    return slope ? -v : v;
}

/* How far the jump ahead of the outlet is (negative once it has arrived); its point. */
static double flow_distance(const saltus_flow *p, double x, int *jump) {
    int a, b, reader = p->positive != 0;
    double s = reader - (x - p->origin);
    flow_piece(p, reader, &a, &b);
    *jump = reader ? a : b;
    if (!flow_jumps(p, *jump)) return INFINITY;
    double at = p->s[flow_at(p, *jump)];
    return reader ? s - at : at - s;
}

/* The outlet goes past jumps that it has reached. */
static void flow_arrive(saltus_flow *p, double x) {
    int jump, reader = p->positive != 0;
    double s = reader - (x - p->origin);
    for (;;) {
        double distance = flow_distance(p, x, &jump);
        if (!(distance < 0.0) && !(isfinite(distance) && flow_same(s, p->s[flow_at(p, jump)]))) return;
        p->passed[reader] = 1;
        p->behind[reader] = p->base + jump;
    }
}

/* Takes note of the present inflows; 0 if there is no room. */
static int flow_note(saltus_flow *p, double t, double in0, double in1, double x, int forward, int event) {
    if (isnan(p->time)) { p->origin = x; p->positive = forward; p->time = t; p->moved = p->speed = 0.0; }
    double moved = x - p->origin;
    if (forward != p->positive) {
        /* The flow turns: what was the outlet takes in, and what was beyond it has flowed out. */
        int a, b, up = p->positive;
        double s = up ? 1.0 - moved : -moved;
        flow_piece(p, up, &a, &b);
        double v = flow_value(p, s, a, b, 0);
        while (p->count > 1 && (up ? p->s[flow_at(p, p->count - 1)] >= s : p->s[flow_at(p, 0)] <= s)) {
            if (!up) { p->first = flow_at(p, 1); p->base++; }
            p->count--;
        }
        flow_write(p, up, s, v, 0);
        p->positive = forward;
        p->passed[forward] = 0;
    }
    flow_write(p, !p->positive, p->positive ? -moved : 1.0 - moved, p->positive ? in0 : in1, event);
    if (t > p->time) { p->speed = (moved - p->moved) / (t - p->time); p->moved = moved; p->time = t; }
    /* What has flowed out is forgotten, but for a few points. */
    while (p->count > 6 && (p->positive ? p->s[flow_at(p, p->count - 6)] > 1.0 - moved : p->s[flow_at(p, 5)] < -moved)) {
        if (!p->positive) { p->first = flow_at(p, 1); p->base++; }
        p->count--;
    }
    return !p->full;
}

/* Begins with points (place, value, joint). */
static void flow_begin(saltus_flow *p, const double *points, int n) {
    p->base = p->first = p->count = p->full = p->passed[0] = p->passed[1] = 0;
    p->positive = 1;
    p->time = NAN;
    p->origin = p->moved = p->speed = 0.0;
    for (int k = 0; k < n; k++) flow_push(p, 1, points[3 * k], points[3 * k + 1], (int)points[3 * k + 2]);
}

