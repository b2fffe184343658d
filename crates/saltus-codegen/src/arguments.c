/* An argument of external code: numbers, texts, how many, and the sizes of a matrix (a vector is a column). */
typedef struct { double *x; const char **s; void *p; size_t n; int rows, columns; } saltus_arg;
