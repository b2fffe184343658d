/* ---- random generators: Vigna's xorshift family; states are pairs of 32-bit integers, the low word first ---- */

static uint64_t saltus_word(const double *s) {
    return (uint64_t)(uint32_t)(int64_t)s[0] | (uint64_t)(uint32_t)(int64_t)s[1] << 32;
}
static void saltus_pair(uint64_t w, double *s) {
    for (int k = 0; k < 2; k++, w >>= 32) {
        double x = (double)(uint32_t)w;
        s[k] = x >= 2147483648.0 ? x - 4294967296.0 : x;
    }
}
/* A number in (0, 1). */
static double saltus_unit(uint64_t x) {
    double s = x >> 63 ? -(double)(~x + 1) : (double)x;
    return s * 0x1p-64 + 0.5;
}
static inline double saltus_xorshift64star(const double *in, double *out) {
    uint64_t x = saltus_word(in);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x *= 2685821657736338717u;
    saltus_pair(x, out);
    return saltus_unit(x);
}
static inline double saltus_xorshift128plus(const double *in, double *out) {
    uint64_t a = saltus_word(in), b = saltus_word(in + 2);
    a ^= a << 23;
    a = (a ^ b ^ (a >> 17) ^ (b >> 26)) + b;
    saltus_pair(b, out);
    saltus_pair(a, out + 2);
    return saltus_unit(a);
}
static inline double saltus_xorshift1024star(const double *in, double *out) {
    int p = (int)in[32] & 15, q = (p + 1) & 15;
    uint64_t a = saltus_word(in + 2 * q), b = saltus_word(in + 2 * p);
    a ^= a << 31;
    a = (a ^ (a >> 11)) ^ (b ^ (b >> 30));
    memcpy(out, in, 32 * sizeof *in);
    for (int k = 0; k < 16; k++) saltus_pair(saltus_word(in + 2 * k), out + 2 * k);
    saltus_pair(a, out + 2 * q);
    out[32] = q;
    return saltus_unit(a * 1181783497276652981u);
}
