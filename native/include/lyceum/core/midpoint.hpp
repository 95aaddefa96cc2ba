// The midpoint of two numbers that never rounds up to the larger one: a threshold between neighbors must part them.
#pragma once
#include <limits>

namespace lyceum {

// low + (high - low) / 2, by halves where the difference overflows; low where no number lies between.
inline double midpoint(double low, double high) {
    const double gap = high - low;
    const double middle = gap <= std::numeric_limits<double>::max() ? low + gap / 2 : low / 2 + high / 2;
    return middle < high ? middle : low;
}

}  // namespace lyceum
