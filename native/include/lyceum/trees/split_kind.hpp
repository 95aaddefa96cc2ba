// What a node of a tree asks of a cell.
#pragma once
#include <cstdint>

namespace lyceum::trees {

enum class SplitKind : std::uint8_t { leaf, threshold, intervals, categories, groups };

}  // namespace lyceum::trees
