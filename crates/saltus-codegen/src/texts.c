/* ---- text ---- */

/* Text is known by its number: 0 and up for what was known before the run, below zero for what was built since, by its place.
   Equal texts have equal numbers. */
static inline const char *saltus_words(const saltus_functions *c, double h) {
    if (h < 0.0) return c->text + (size_t)(-h - 1.0);
    return h < (double)SALTUS_TEXTS ? saltus_texts[(size_t)h] : "";
}
/* The number of two texts put together. */
static inline double saltus_keep(saltus_functions *c, const char *a, const char *b) {
    size_t m = strlen(a), n = m + strlen(b) + 1, at;
    char *text = c->text + c->text_top;
    if (n > SALTUS_TEXT - c->text_top) saltus_fail(c, "the text of functions needs more memory: SALTUS_TEXT");
    memmove(text, a, m);
    memmove(text + m, b, n - m);
    for (at = 0; at < SALTUS_TEXTS; at++) if (strcmp(saltus_texts[at], text) == 0) return (double)at;
    for (at = 0; at < c->text_top; at += strlen(c->text + at) + 1) if (strcmp(c->text + at, text) == 0) return -(double)at - 1.0;
    c->text_top += n;
    return -(double)at - 1.0;
}
static inline double saltus_join(saltus_functions *c, double a, double b) { return saltus_keep(c, saltus_words(c, a), saltus_words(c, b)); }
/* -1, 0 or 1 by the order of two texts. */
static inline double saltus_order(const saltus_functions *c, double a, double b) {
    int d = strcmp(saltus_words(c, a), saltus_words(c, b));
    return (double)((d > 0) - (d < 0));
}
/* Ends the call with words that outlive it. */
static inline void saltus_say(saltus_functions *c, const char *a, const char *b) {
    snprintf(c->reason, sizeof c->reason, "%s%s", a, b);
    saltus_fail(c, c->reason);
}
/* Room for n bytes until the call ends. */
static inline char *saltus_bytes(saltus_functions *c, size_t n) { return (char *)(void *)saltus_room(c, n / sizeof(double) + 1); }
/* Text with blanks up to a width in characters, on the right if `left` justified. */
static inline double saltus_pad(saltus_functions *c, const char *s, int width, int left) {
    char room[1024];
    int n = 0, blanks, bytes = (int)strlen(s);
    for (const char *p = s; *p; p++) n += (*p & 0xc0) != 0x80;
    blanks = width > n ? width - n : 0;
    if (blanks + bytes >= (int)sizeof room) saltus_fail(c, "a number takes too much room as text");
    memset(room, ' ', (size_t)(blanks + bytes));
    memcpy(room + (left ? 0 : blanks), s, (size_t)bytes);
    room[blanks + bytes] = 0;
    return saltus_keep(c, room, "");
}
/* String(x, …). kind 0: Real, 1: Integer, 2: Boolean, 3: String. */
static inline double saltus_string(saltus_functions *c, int kind, double x, double width, double left, double digits) {
    char room[512];
    int least = width > 0.0 ? (int)(width < 1000.0 ? width : 1000.0) : 0;
    int places = digits > 1.0 ? (int)(digits < 100.0 ? digits : 100.0) : 1;
    const char *s = room;
    if (kind == 2) s = x != 0.0 ? "true" : "false";
    else if (kind == 3) s = saltus_words(c, x);
    else if (x != x) s = "nan";
    else if (kind) snprintf(room, sizeof room, "%.0f", x);
    else snprintf(room, sizeof room, "%.*g", places, x);
    return saltus_pad(c, s, least, left != 0.0);
}
/* One number through a C format, with or without the leading %; other text is kept. */
static inline double saltus_format(saltus_functions *c, double x, double f) {
    char form[64], before[256], room[1024];
    const char *s = saltus_words(c, f), *percent = strchr(s, '%');
    size_t n = percent ? (size_t)(percent - s) : 0, k = 0, left;
    if (n >= sizeof before) saltus_fail(c, "a number format is too long");
    memcpy(before, s, n);
    before[n] = 0;
    if (percent) s = percent + 1;
    form[k++] = '%';
    while (*s && strchr("-+ #0123456789.", *s) && k < 40) { if (*s != '#') form[k++] = *s; s++; }
    while (*s == 'l' || *s == 'h' || *s == 'L') s++;
    left = sizeof room - n;
    memcpy(room, before, n);
    if (*s && strchr("xXo", *s)) {
        form[k++] = 'l'; form[k++] = 'l'; form[k++] = *s; form[k] = 0;
        snprintf(room + n, left, form, (long long)x);
    } else if (*s && strchr("diufFeEgG", *s)) {
        if (strchr("diu", *s)) { form[k] = 0; if (strchr(form, '.')) *strchr(form, '.') = 0; k = strlen(form); form[k++] = '.'; form[k++] = '0'; form[k++] = 'f'; }
        else form[k++] = *s;
        form[k] = 0;
        snprintf(room + n, left, form, *s == 'u' ? fabs(x) : x);
    } else saltus_fail(c, "this is no number format");
    return saltus_keep(c, room, s + 1);
}
