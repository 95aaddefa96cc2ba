#include "trees/grow_several.hpp"

#include <utility>

using lyceum::trees::SeveralTargets;

std::unique_ptr<lyceum::trees::AnyGrower> grower_of_several(const SeveralTargets& target,
                                                            const lyceum::trees::TreeColumns& columns,
                                                            const lyceum::trees::TreeRules& rules,
                                                            std::vector<lyceum::trees::ClassRow> rows) {
    return std::make_unique<lyceum::trees::TreeGrower<SeveralTargets>>(target, columns, rules, std::move(rows));
}
