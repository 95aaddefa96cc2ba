// Trees of several outputs are compiled in a file of their own: beside them, the search of splits for one output was
// inlined less, and took a quarter longer.
#pragma once
#include <memory>
#include <vector>

#include <lyceum/trees/grow/tree_grower.hpp>
#include <lyceum/trees/several_targets.hpp>

std::unique_ptr<lyceum::trees::AnyGrower> grower_of_several(const lyceum::trees::SeveralTargets& target,
                                                            const lyceum::trees::TreeColumns& columns,
                                                            const lyceum::trees::TreeRules& rules,
                                                            std::vector<lyceum::trees::ClassRow> rows);
