/* ---- ModelicaStrings: positions count characters from 1 ---- */

#include <stdlib.h>

/* The next character, and whether one begins here. */
static inline const char *saltus_next(const char *s) {
    if (*s) s++;
    while ((*s & 0xc0) == 0x80) s++;
    return s;
}
/* The place of a character, from 1; the end of the text if it is beyond. */
static inline const char *saltus_character(const char *s, double at) {
    for (double k = 1.0; k < floor(at) && *s; k += 1.0) s = saltus_next(s);
    return s;
}
static inline double saltus_characters(const char *from, const char *to) {
    double n = 0.0;
    for (; from < to; from++) n += (*from & 0xc0) != 0x80;
    return n;
}
static inline int saltus_digit(char x) { return x >= '0' && x <= '9'; }
static inline int saltus_letter_of(char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z'); }
static inline const char *saltus_blank(const char *s) { while (*s == ' ' || (*s >= '\t' && *s <= '\r')) s++; return s; }
static inline const char *saltus_digits(const char *s) { while (saltus_digit(*s)) s++; return s; }

/* The bytes up to `to` as text. */
static inline double saltus_cut(saltus_functions *c, const char *from, const char *to) {
    size_t n = (size_t)(to - from);
    char *copy = saltus_bytes(c, n + 1);
    memcpy(copy, from, n);
    copy[n] = 0;
    return saltus_keep(c, copy, "");
}
static inline double saltus_ModelicaStrings_length(saltus_functions *c, saltus_arg *a) {
    (void)c;
    return saltus_characters(a[0].s[0], a[0].s[0] + strlen(a[0].s[0]));
}
static inline double saltus_ModelicaStrings_substring(saltus_functions *c, saltus_arg *a) {
    double from = fmax(a[1].x[0], 1.0), to = fmax(a[2].x[0], 0.0);
    const char *s = saltus_character(a[0].s[0], from), *end = saltus_character(a[0].s[0], to + 1.0);
    return end > s ? saltus_cut(c, s, end) : saltus_keep(c, "", "");
}
/* Less, Equal, Greater. */
static inline double saltus_ModelicaStrings_compare(saltus_functions *c, saltus_arg *a) {
    const char *x = a[0].s[0], *y = a[1].s[0];
    (void)c;
    for (;; x++, y++) {
        int p = (unsigned char)*x, q = (unsigned char)*y;
        if (a[2].x[0] == 0.0) { if (p >= 'A' && p <= 'Z') p += 32; if (q >= 'A' && q <= 'Z') q += 32; }
        if (p != q) return p < q ? 1.0 : 3.0;
        if (!p) return 2.0;
    }
}
/* Where a number begins after blanks, or none with a sign that is not allowed. */
static inline const char *saltus_sign_of(const char *s, int is_unsigned) {
    if (*s != '+' && *s != '-') return s;
    return is_unsigned ? 0 : s + 1;
}
/* What was found up to `end`, if anything: the next position and the value. */
static inline double saltus_scanned(saltus_arg *a, int next, const char *end, double value) {
    a[next].x[0] = end ? saltus_characters(a[0].s[0], end) + 1.0 : a[1].x[0];
    a[next + 1].x[0] = end ? value : 0.0;
    return 0.0;
}
static inline double saltus_ModelicaStrings_scanReal(saltus_functions *c, saltus_arg *a) {
    const char *begin = saltus_blank(saltus_character(a[0].s[0], a[1].x[0])), *s = saltus_sign_of(begin, a[2].x[0] != 0.0), *end = 0;
    (void)c;
    if (s) {
        const char *whole = saltus_digits(s), *part = *whole == '.' ? saltus_digits(whole + 1) : whole;
        if (whole > s || part > whole + 1) end = part;
    }
    if (end && (*end == 'e' || *end == 'E')) {
        const char *power = saltus_sign_of(end + 1, 0), *after = saltus_digits(power);
        if (after > power) end = after;
    }
    return saltus_scanned(a, 3, end, end ? strtod(begin, 0) : 0.0);
}
static inline double saltus_ModelicaStrings_scanInteger(saltus_functions *c, saltus_arg *a) {
    const char *begin = saltus_blank(saltus_character(a[0].s[0], a[1].x[0])), *s = saltus_sign_of(begin, a[2].x[0] != 0.0), *end = 0;
    double value = 0.0;
    (void)c;
    if (s) {
        end = saltus_digits(s);
        value = end > s ? strtod(begin, 0) : 0.0;
        if (end == s || (*end && strchr(".eE", *end)) || value > 2147483647.0 || value < -2147483648.0) end = 0;
    }
    return saltus_scanned(a, 3, end, value);
}
static inline double saltus_ModelicaStrings_scanString(saltus_functions *c, saltus_arg *a) {
    const char *s = saltus_blank(saltus_character(a[0].s[0], a[1].x[0])), *end = 0;
    char *text = saltus_bytes(c, strlen(s) + 1), *to = text;
    if (*s == '"')
        for (s++; *s; s++) {
            if (*s == '"') { end = s + 1; break; }
            if (*s == '\\' && s[1] == '"') s++;
            *to++ = *s;
        }
    *to = 0;
    saltus_scanned(a, 2, end, 0.0);
    a[3].s[0] = end ? text : "";
    return 0.0;
}
static inline double saltus_ModelicaStrings_scanIdentifier(saltus_functions *c, saltus_arg *a) {
    const char *begin = saltus_blank(saltus_character(a[0].s[0], a[1].x[0])), *end = begin;
    char *text = saltus_bytes(c, strlen(begin) + 1);
    if (saltus_letter_of(*begin)) while (saltus_letter_of(*end) || saltus_digit(*end) || *end == '_') end++;
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = 0;
    saltus_scanned(a, 2, end > begin ? end : 0, 0.0);
    a[3].s[0] = text;
    return 0.0;
}
static inline double saltus_ModelicaStrings_skipWhiteSpace(saltus_functions *c, saltus_arg *a) {
    (void)c;
    return saltus_characters(a[0].s[0], saltus_blank(saltus_character(a[0].s[0], a[1].x[0]))) + 1.0;
}
/* The hash of Arash Partow. */
static inline double saltus_ModelicaStrings_hashString(saltus_functions *c, saltus_arg *a) {
    uint32_t h = 0xaaaaaaaau;
    (void)c;
    for (size_t i = 0; a[0].s[0][i]; i++) {
        uint32_t b = (unsigned char)a[0].s[0][i];
        h ^= i % 2 == 0 ? (h << 7) ^ b * (h >> 3) : ~((h << 11) + (b ^ (h >> 5)));
    }
    return h >= 2147483648u ? (double)h - 4294967296.0 : (double)h;
}
