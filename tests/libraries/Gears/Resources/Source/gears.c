#include "gears.h"
double gears_ratio(const double *teeth, size_t n) { return n == 2 ? teeth[1] / teeth[0] : 0; }
