// Series for log, exp and sin; called a few hundred times per scene, so exactness on every machine matters more than speed.
#include "random.h"

namespace pointmap::scene_gen {

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1); frexp and ldexp are exact
  if (mantissa < 0.7071067811865476) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);  // |z| < 0.172: log m = 2 atanh z
  double sum = 0, power = z;
  for (int k = 1; k <= 17; k += 2, power *= z * z) sum += power / k;
  return 2 * sum + exponent * 0.6931471805599453;
}

double portable_exp(double x) {
  const double halves = std::floor(x / 0.6931471805599453 + 0.5);
  const double rest = x - halves * 0.6931471805599453;
  double sum = 1, term = 1;
  for (int k = 1; k <= 14; ++k) sum += (term *= rest / k);
  return std::ldexp(sum, static_cast<int>(halves));
}

double portable_sin(double radians) {
  const double turns = std::floor(radians / 6.283185307179586 + 0.5);
  const double x = radians - turns * 6.283185307179586;  // [-pi, pi]
  double sum = 0, term = x;
  for (int k = 1; k <= 27; k += 2) {
    sum += term;
    term *= -x * x / ((k + 1) * (k + 2));
  }
  return sum;
}

}  // namespace pointmap::scene_gen
