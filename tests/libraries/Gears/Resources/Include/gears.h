#include <stddef.h>
double gears_ratio(const double *teeth, size_t n);
