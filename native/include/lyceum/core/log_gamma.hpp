// The logarithm of |gamma|, for use by several threads: the C library's lgamma writes the sign to a global.
#pragma once
#include <cmath>

namespace lyceum {

inline double log_gamma(double x) {
#if defined(__GLIBC__) || defined(__APPLE__)
    int sign = 0;
    return ::lgamma_r(x, &sign);
#else
    return std::lgamma(x);
#endif
}

}  // namespace lyceum
