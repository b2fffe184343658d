/* ---- files, messages and the machine around ---- */

#ifndef SALTUS_NO_STDIO
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#endif

/* Where text goes that no file is named for: a program that prints numbers keeps these apart. */
#ifdef SALTUS_NO_STDIO
#define SALTUS_FILES saltus_fail(c, "files and messages are not part of this program (SALTUS_NO_STDIO)")
#else
#define SALTUS_FILES (void)0
#ifndef SALTUS_OUT
#ifdef SALTUS_MAIN
#define SALTUS_OUT stderr
#else
#define SALTUS_OUT stdout
#endif
#endif
#endif

static inline double saltus_ModelicaError(saltus_functions *c, saltus_arg *a) { saltus_say(c, a[0].s[0], ""); return 0.0; }

#ifdef SALTUS_NO_STDIO
#define SALTUS_FILE(name) static inline double saltus_##name(saltus_functions *c, saltus_arg *a) { (void)a; SALTUS_FILES; return 0.0; }
SALTUS_FILE(ModelicaInternal_print) SALTUS_FILE(ModelicaInternal_readLine) SALTUS_FILE(ModelicaInternal_readFile)
SALTUS_FILE(ModelicaInternal_countLines) SALTUS_FILE(ModelicaInternal_stat) SALTUS_FILE(ModelicaInternal_rename)
SALTUS_FILE(ModelicaInternal_removeFile) SALTUS_FILE(ModelicaInternal_copyFile) SALTUS_FILE(ModelicaInternal_temporaryFileName)
SALTUS_FILE(ModelicaInternal_getenv) SALTUS_FILE(ModelicaInternal_getTime) SALTUS_FILE(ModelicaStreams_closeFile)
SALTUS_FILE(ModelicaWarning) SALTUS_FILE(ModelicaMessage) SALTUS_FILE(system)
SALTUS_FILE(ModelicaIO_readMatrixSizes) SALTUS_FILE(ModelicaIO_readRealMatrix) SALTUS_FILE(ModelicaIO_writeRealMatrix)
#else
static inline FILE *saltus_open(saltus_functions *c, const char *name, const char *how) {
    FILE *f = fopen(name, how);
    if (!f) saltus_say(c, "a file cannot be opened: ", name);
    return f;
}
/* One line, without its end, or as much of it as there is room for; its length, or -1 at the end of the file. */
static inline long saltus_line_of(FILE *f, char *to, size_t room) {
    long n = 0;
    int x = fgetc(f), was = 0;
    if (x == EOF) return -1;
    for (; x != EOF && x != '\n'; was = x, x = fgetc(f), n++) if (to && (size_t)n < room) to[n] = (char)x;
    if (was == '\r') n--;
    if (to) to[(size_t)n < room ? (size_t)n : room] = 0;
    return n;
}
static inline double saltus_ModelicaInternal_print(saltus_functions *c, saltus_arg *a) {
    FILE *f = *a[1].s[0] ? saltus_open(c, a[1].s[0], "a") : SALTUS_OUT;
    fputs(a[0].s[0], f);
    fputc('\n', f);
    if (*a[1].s[0]) fclose(f); else fflush(f);
    return 0.0;
}
static inline double saltus_ModelicaMessage(saltus_functions *c, saltus_arg *a) { (void)c; fprintf(SALTUS_OUT, "%s\n", a[0].s[0]); return 0.0; }
static inline double saltus_ModelicaWarning(saltus_functions *c, saltus_arg *a) { (void)c; fprintf(stderr, "warning: %s\n", a[0].s[0]); return 0.0; }
static inline double saltus_ModelicaInternal_countLines(saltus_functions *c, saltus_arg *a) {
    FILE *f = saltus_open(c, a[0].s[0], "rb");
    double n = 0.0;
    while (saltus_line_of(f, 0, 0) >= 0) n += 1.0;
    fclose(f);
    return n;
}
static inline double saltus_ModelicaInternal_readLine(saltus_functions *c, saltus_arg *a) {
    FILE *f = saltus_open(c, a[0].s[0], "rb");
    char *line = saltus_bytes(c, SALTUS_TEXT);
    long found = -1;
    line[0] = 0;
    for (double k = 1.0; k <= a[1].x[0] && (found = saltus_line_of(f, line, SALTUS_TEXT - 1)) >= 0;) k += 1.0;
    fclose(f);
    if (found >= (long)SALTUS_TEXT) saltus_fail(c, "the text of functions needs more memory: SALTUS_TEXT");
    a[2].x[0] = found < 0;
    return saltus_keep(c, found < 0 ? "" : line, "");
}
static inline double saltus_ModelicaInternal_readFile(saltus_functions *c, saltus_arg *a) {
    FILE *f = saltus_open(c, a[0].s[0], "rb");
    size_t k = 0;
    for (; k < a[1].n; k++) {
        fpos_t here;
        long n = fgetpos(f, &here) ? -1 : saltus_line_of(f, 0, 0);
        if (n < 0) break;
        char *line = n < SALTUS_TEXT ? saltus_bytes(c, (size_t)n + 1) : 0;
        if (!line) { fclose(f); saltus_fail(c, "the text of functions needs more memory: SALTUS_TEXT"); }
        fsetpos(f, &here);
        saltus_line_of(f, line, (size_t)n);
        a[1].s[k] = line;
    }
    int more = saltus_line_of(f, 0, 0) >= 0;
    fclose(f);
    if (k < a[1].n || more) saltus_say(c, "a file has another number of lines: ", a[0].s[0]);
    return 0.0;
}
/* 1: there is none, 2: a file, 3: a folder (nothing can be read of it). */
static inline double saltus_ModelicaInternal_stat(saltus_functions *c, saltus_arg *a) {
    FILE *f = fopen(a[0].s[0], "rb");
    (void)c;
    if (!f) return 1.0;
    (void)fgetc(f);
    int folder = ferror(f) != 0;
    fclose(f);
    return folder ? 3.0 : 2.0;
}
static inline double saltus_ModelicaInternal_removeFile(saltus_functions *c, saltus_arg *a) {
    if (remove(a[0].s[0])) saltus_say(c, "a file cannot be removed: ", a[0].s[0]);
    return 0.0;
}
static inline double saltus_ModelicaInternal_rename(saltus_functions *c, saltus_arg *a) {
    if (rename(a[0].s[0], a[1].s[0])) saltus_say(c, "a file cannot be renamed: ", a[0].s[0]);
    return 0.0;
}
static inline double saltus_ModelicaInternal_copyFile(saltus_functions *c, saltus_arg *a) {
    FILE *from = saltus_open(c, a[0].s[0], "rb"), *to = fopen(a[1].s[0], "wb");
    if (!to) { fclose(from); saltus_say(c, "a file cannot be opened: ", a[1].s[0]); }
    for (int x; (x = fgetc(from)) != EOF;) fputc(x, to);
    fclose(from);
    if (fclose(to)) saltus_say(c, "a file cannot be written: ", a[1].s[0]);
    return 0.0;
}
/* A name that no file has. */
static inline double saltus_ModelicaInternal_temporaryFileName(saltus_functions *c, saltus_arg *a) {
    char name[64];
    (void)a;
    for (unsigned k = (unsigned)clock();; k++) {
        snprintf(name, sizeof name, "saltus-%lx-%x.tmp", (unsigned long)time(0), k);
        FILE *f = fopen(name, "rb");
        if (!f) break;
        fclose(f);
    }
    return saltus_keep(c, name, "");
}
static inline double saltus_ModelicaInternal_getenv(saltus_functions *c, saltus_arg *a) {
    const char *value = getenv(a[0].s[0]);
    (void)c;
    a[2].s[0] = value ? value : "";
    a[3].x[0] = value != 0;
    return 0.0;
}
/* Universal time, to the second. */
static inline double saltus_ModelicaInternal_getTime(saltus_functions *c, saltus_arg *a) {
    time_t now = time(0);
    struct tm *t = gmtime(&now);
    if (!t) saltus_fail(c, "this machine does not know the time");
    const int parts[7] = {0, t->tm_sec, t->tm_min, t->tm_hour, t->tm_mday, t->tm_mon + 1, t->tm_year + 1900};
    for (int i = 0; i < 7; i++) a[i].x[0] = parts[i];
    return 0.0;
}
static inline double saltus_ModelicaStreams_closeFile(saltus_functions *c, saltus_arg *a) { (void)c; (void)a; return 0.0; }
static inline double saltus_system(saltus_functions *c, saltus_arg *a) { (void)c; return system(a[0].s[0]); }

/* A matrix of a file by its name: the library's text format, or MATLAB's of level 4. With `to` its elements, row by row. */
static inline void saltus_sizes_fit(saltus_functions *c, FILE *f, const double *size, size_t n) {
    if (size[0] * size[1] == (double)n) return;
    fclose(f);
    saltus_fail(c, "a matrix in a file has another size");
}
static inline int saltus_text_matrix(saltus_functions *c, FILE *f, const char *name, double *size, double *to, size_t n) {
    char line[512], found[256];
    unsigned rows, columns;
    int after = 0;
    if (!fgets(line, sizeof line, f) || !strstr(line, "#1")) return 0;
    while (fscanf(f, " %511s", line) == 1) {
        if (line[0] == '#') { while (after != '\n' && after != EOF) after = fgetc(f); after = 0; continue; }
        if (strcmp(line, "double") && strcmp(line, "float")) continue;
        if (fscanf(f, " %255[^( ] ( %u , %u )", found, &rows, &columns) != 3 || strcmp(found, name)) continue;
        size[0] = rows;
        size[1] = columns;
        if (!to) return 1;
        saltus_sizes_fit(c, f, size, n);
        for (size_t k = 0; k < n; k++) {
            int x = fgetc(f);
            while (x == ' ' || x == ',' || x == ';' || x == '#' || (x >= '\t' && x <= '\r')) {
                while (x == '#' && after != '\n' && after != EOF) after = fgetc(f);
                after = 0;
                x = fgetc(f);
            }
            ungetc(x, f);
            if (fscanf(f, "%lf", &to[k]) != 1) return 0;
        }
        return 1;
    }
    return 0;
}
static inline long saltus_word_of(FILE *f) {
    unsigned long w = 0;
    for (int k = 0; k < 4; k++) w |= (unsigned long)(fgetc(f) & 255) << 8 * k;
    return w > 0x7fffffffu ? -1 : (long)w;
}
static inline int saltus_mat_matrix(saltus_functions *c, FILE *f, const char *name, double *size, double *to, size_t n) {
    static const int widths[6] = {8, 4, 4, 2, 2, 1};
    char found[256];
    for (;;) {
        long head[5];
        for (int k = 0; k < 5; k++) head[k] = saltus_word_of(f);
        long kind = head[0] / 10 % 10;
        if (feof(f) || head[0] < 0 || head[0] > 999 || kind > 5 || head[1] < 0 || head[2] < 0 || head[4] < 1 || head[4] > 255) return 0;
        if (fread(found, 1, (size_t)head[4], f) != (size_t)head[4]) return 0;
        found[head[4]] = 0;
        if (strcmp(found, name)) {
            if (fseek(f, head[1] * head[2] * widths[kind] * (head[3] ? 2 : 1), SEEK_CUR)) return 0;
            continue;
        }
        size[0] = (double)head[1];
        size[1] = (double)head[2];
        if (!to) return 1;
        saltus_sizes_fit(c, f, size, n);
        for (size_t k = 0; k < n; k++) {
            uint64_t w = 0;
            float single;
            uint32_t half;
            double x;
            for (int b = 0; b < widths[kind]; b++) { int byte = fgetc(f); if (byte == EOF) return 0; w |= (uint64_t)byte << 8 * b; }
            half = (uint32_t)w;
            memcpy(&x, &w, sizeof x);
            memcpy(&single, &half, sizeof single);
            if (kind == 1) x = single;
            if (kind == 2) x = w > 0x7fffffffu ? (double)w - 4294967296.0 : (double)w;
            if (kind == 3) x = w > 0x7fffu ? (double)w - 65536.0 : (double)w;
            if (kind > 3) x = (double)w;
            to[k % (size_t)head[1] * (size_t)head[2] + k / (size_t)head[1]] = x;
        }
        return 1;
    }
}
static inline double saltus_matrix_of(saltus_functions *c, saltus_arg *a, double *size, double *to, size_t n) {
    const char *name = a[0].s[0], *end = strrchr(name, '.');
    int mat = end && (!strcmp(end, ".mat") || !strcmp(end, ".MAT"));
    FILE *f = saltus_open(c, name, "rb");
    int fine = mat ? saltus_mat_matrix(c, f, a[1].s[0], size, to, n) : saltus_text_matrix(c, f, a[1].s[0], size, to, n);
    fclose(f);
    if (!fine) saltus_say(c, "there is no such matrix in text or of MATLAB level 4: ", a[1].s[0]);
    return 0.0;
}
static inline double saltus_ModelicaIO_readMatrixSizes(saltus_functions *c, saltus_arg *a) { return saltus_matrix_of(c, a, a[2].x, 0, 0); }
static inline double saltus_ModelicaIO_readRealMatrix(saltus_functions *c, saltus_arg *a) {
    double size[2];
    return saltus_matrix_of(c, a, size, a[2].x, a[2].n);
}
static inline double saltus_ModelicaIO_writeRealMatrix(saltus_functions *c, saltus_arg *a) {
    FILE *f = saltus_open(c, a[0].s[0], a[5].x[0] != 0.0 ? "ab" : "wb");
    const unsigned head[5] = {0, (unsigned)a[2].rows, (unsigned)a[2].columns, 0, (unsigned)strlen(a[1].s[0]) + 1};
    for (int k = 0; k < 5; k++) for (int b = 0; b < 4; b++) fputc((int)(head[k] >> 8 * b & 255), f);
    fwrite(a[1].s[0], 1, head[4], f);
    for (int j = 0; j < a[2].columns; j++)
        for (int i = 0; i < a[2].rows; i++) {
            uint64_t w;
            memcpy(&w, &a[2].x[i * a[2].columns + j], sizeof w);
            for (int b = 0; b < 8; b++) fputc((int)(w >> 8 * b & 255), f);
        }
    if (fclose(f)) saltus_say(c, "a file cannot be written: ", a[0].s[0]);
    return 1.0;
}
#endif
