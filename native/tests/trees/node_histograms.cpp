#include <lyceum/trees/grow/node_histograms.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// Columns of 5 and 3 codes and their missing codes; the root divides column 0 three ways, a missing cell in shares,
// and one of its children divides column 1 in two, a missing cell to its second.
const std::vector<std::int64_t> offsets{0, 6, 10};
const std::vector<std::int32_t> feature{0, -1, 1, -1, -1, -1}, child{1, -1, 4, -1, -1, -1},
    n_children{3, 0, 2, 0, 0, 0};
const std::vector<std::int64_t> table{0, 0, 6, 0, 0, 0};
const std::vector<std::int32_t> branches{1, 2, 2, 3, -1, every_child, 4, 5, 4, 5};
const std::vector<double> share{1, .5, .25, .25, .4, .6};
const std::vector<std::int32_t> slot{-1, 0, -1, -1, 1, 2};
const CodeCells cells{offsets.data(), 2};
const CodedTree tree{feature.data(),    table.data(), branches.data(), child.data(),
                     n_children.data(), share.data(), slot.data()};

// The weight with which a row comes to every slot, by the definition.
void descend(const std::int32_t* row, int node, double weight, double* to) {
    if (feature[node] < 0) {
        if (slot[node] >= 0) to[slot[node]] += weight;
        return;
    }
    const auto next = branches[table[node] + row[feature[node]]];
    if (next >= 0) descend(row, next, weight, to);
    if (next == every_child)
        for (int c = child[node]; c < child[node] + n_children[node]; ++c) descend(row, c, weight * share[c], to);
}

template <class Code>
void test_sums(size_t n, bool weighted) {
    Random random;
    const auto first = random.codes(n, 0, 6), second = random.codes(n, 0, 4), classes = random.codes(n, -1, 3);
    const auto y = random.normal<double>(n, 1e6);
    auto w = random.uniform(n);
    for (size_t i = 0; i < n; i += 5) w[i] = 0;
    std::vector<Code> codes(2 * n);
    for (size_t i = 0; i < n; ++i) codes[2 * i] = Code(first[i]), codes[2 * i + 1] = Code(second[i]);

    Doubles1 counts(3 * 10 * 4), sums(3 * 10 * 4), want_counts(3 * 10 * 4), want_sums(3 * 10 * 4);
    const double* weights = weighted ? w.data() : nullptr;
    node_histograms(matrix_of(codes, n, 2), cells, tree, ClassTarget{{classes.data(), 3}, true}, weights, 3,
                    counts.data(), InterruptPoll());
    const double center[] = {1e6, 1e6 + 1, 1e6 - 1};
    node_histograms(matrix_of(codes, n, 2), cells, tree, NumberTarget{y.data(), center}, weights, 3, sums.data(),
                    InterruptPoll());
    for (size_t i = 0; i < n; ++i) {
        const std::int32_t row[] = {first[i], second[i]};
        double to[3] = {};
        descend(row, 0, weighted ? w[i] : 1.0, to);
        for (int s = 0; s < 3; ++s)
            for (int j = 0; j < 2 && to[s] > 0; ++j) {
                const size_t cell = (s * 10 + offsets[j] + row[j]) * 4;
                const double z = y[i] - center[s], add[] = {to[s], to[s] * z, to[s] * z * z, 1};
                for (int c = 0; c < 4; ++c) want_sums[cell + c] += add[c];
                if (classes[i] >= 0) want_counts[cell + classes[i]] += to[s], want_counts[cell + 3] += 1;
            }
    }
    for (size_t i = 0; i < counts.size(); ++i) {
        CLOSE(counts[i], want_counts[i], 1e-12);
        CLOSE(sums[i], want_sums[i], 1e-12);
    }
}

template <class T>
void test_ranges(size_t n) {
    Random random;
    auto X = random.normal<T>(2 * n);
    std::vector<std::uint8_t> codes(2 * n);
    Doubles1 low(10, infinity), high(10, -infinity), least(10, infinity), most(10, -infinity);
    for (size_t i = 0; i < 2 * n; ++i) {
        codes[i] = X[i] > 0;
        if (i % 7 == 0) X[i] = T(nan_cell), codes[i] = i % 2 ? 3 : 5;
        const size_t at = offsets[i % 2] + codes[i];
        least[at] = std::fmin(least[at], double(X[i])), most[at] = std::fmax(most[at], double(X[i]));
    }
    bin_ranges(matrix_of(X, n, 2), codes.data(), cells, low.data(), high.data(), InterruptPoll());
    CHECK(low == least && high == most);
}

int main() {
    for (const size_t n : {0, 1, 300, 300001})
        for (const bool weighted : {false, true}) {
            test_sums<std::uint8_t>(n, weighted);
            test_sums<std::uint16_t>(n, weighted);
        }
    for (const size_t n : {0, 1, 300}) {
        test_ranges<float>(n);
        test_ranges<double>(n);
    }
    return failures;
}
