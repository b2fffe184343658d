/* What a compiler for Modelica would make of ten_equations.mo: the equations sorted and solved, RK4 around them. */
#include <stdio.h>

static const double m = 1, k = 10, d = 0.1;
static double f1, f2, f3, a1, a2, e;

static void derivatives(const double *s, double *ds) {
  f1 = -k * s[0] - d * s[1];
  f2 = k * (s[2] - s[0]) + d * (s[3] - s[1]);
  f3 = -k * s[2] - d * s[3];
  a1 = (f1 + f2) / m;
  a2 = (f3 - f2) / m;
  e = m / 2 * (s[1] * s[1] + s[3] * s[3]) + k / 2 * (s[0] * s[0] + s[2] * s[2] + (s[2] - s[0]) * (s[2] - s[0]));
  ds[0] = s[1];
  ds[1] = a1;
  ds[2] = s[3];
  ds[3] = a2;
}

int main(void) {
  double s[4] = {1, 0, 0, 0}, k1[4], k2[4], k3[4], k4[4], p[4];
  const int n = 500;
  const double h = 1.0 / n;
  printf("time,x1,v1,x2,v2,f1,f2,f3,a1,a2,e\n");
  for (int i = 0;; i++) {
    derivatives(s, k1);
    printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", i * h, s[0], s[1], s[2], s[3], f1, f2,
           f3, a1, a2, e);
    if (i == n) return 0;
    for (int j = 0; j < 4; j++) p[j] = s[j] + h / 2 * k1[j];
    derivatives(p, k2);
    for (int j = 0; j < 4; j++) p[j] = s[j] + h / 2 * k2[j];
    derivatives(p, k3);
    for (int j = 0; j < 4; j++) p[j] = s[j] + h * k3[j];
    derivatives(p, k4);
    for (int j = 0; j < 4; j++) s[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
  }
}
