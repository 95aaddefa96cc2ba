#include <lyceum/cluster/linkage_centroid.hpp>
#include <lyceum/cluster/linkage_matrix.hpp>
#include <lyceum/cluster/linkage_ward.hpp>
#include <lyceum/cluster/spanning_tree_boruvka.hpp>
#include <lyceum/cluster/spanning_tree_prim.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::cluster;

struct Tree {
    std::vector<std::int64_t> a, b;
    Doubles1 height;
    explicit Tree(size_t n) : a(n ? n - 1 : 0), b(a.size()), height(a.size()) {}
    Merges out() { return {a.data(), b.data(), height.data()}; }
};

Doubles1 squares_of(const Doubles1& X, size_t n, size_t d) {
    Doubles1 D;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = i + 1; j < n; ++j)
            D.push_back(distances::raw_value(distances::SquaredDifferences{}, &X[i * d], &X[j * d], d));
    return D;
}

// Merges in plain loops over a full matrix.
template <class Rule>
Doubles1 plain_heights(const Doubles1& condensed, size_t n) {
    std::vector<Doubles1> D(n, Doubles1(n));
    for (size_t i = 0, at = 0; i < n; ++i)
        for (size_t j = i + 1; j < n; ++j) D[i][j] = D[j][i] = condensed[at++];
    Doubles1 size(n, 1), heights;
    std::vector<bool> live(n, true);
    for (size_t t = 0; t + 1 < n; ++t) {
        size_t a = n, b = n;
        for (size_t i = 0; i < n; ++i)
            for (size_t j = i + 1; j < n; ++j)
                if (live[i] && live[j] && (a == n || D[i][j] < D[a][b])) a = i, b = j;
        const Parts parts{size[a], size[b], D[a][b]};
        heights.push_back(D[a][b]);
        for (size_t x = 0; x < n; ++x)
            if (live[x] && x != a && x != b) D[a][x] = D[x][a] = Rule::join(parts, D[a][x], D[b][x], size[x]);
        size[a] += size[b], live[b] = false;
    }
    return heights;
}

template <class Rule>
void test_merges_are_those_of_plain_loops(size_t n, size_t d) {
    Random random;
    const auto X = random.normal<double>(n * d);
    auto D = squares_of(X, n, d);
    const auto want = plain_heights<Rule>(D, n);
    Tree tree(n);
    MatrixLinkage<double, Rule>(D.data(), n, nullptr, 2, InterruptPoll())(tree.out());
    for (size_t t = 0; t + 1 < n; ++t) CLOSE(tree.height[t], want[t], 1e-9);
}

void test_spanning_trees_agree(size_t n, size_t d, bool cores) {
    Random random;
    auto X = random.normal<double>(n * d);
    for (auto& x : X) x = std::round(x * 8) / 8;  // ties and equal rows
    const auto core = random.uniform(n);
    const double* given = cores ? core.data() : nullptr;
    const distances::SquaredDifferences space;
    Tree prim(n), boruvka(n);
    PrimTree(space, matrix_of(X, n, d), given, 2, InterruptPoll())(prim.out());
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    InterruptPoll poll;
    density::leaf_order(matrix_of(X, n, d), order.data(), 0, n, density::leaf_rows, poll);
    Doubles1 Z;
    for (const auto row : order) Z.insert(Z.end(), &X[row * d], &X[row * d] + d);
    BoruvkaTree(space, matrix_of(Z, n, d), order.data(), given, 2, InterruptPoll())(boruvka.out());
    auto D = squares_of(X, n, d);
    if (cores)
        for (size_t i = 0, at = 0; i < n; ++i)
            for (size_t j = i + 1; j < n; ++j, ++at) D[at] = std::max(D[at], std::max(core[i], core[j]));
    auto want = plain_heights<Single>(D, n);
    std::sort(want.begin(), want.end());
    std::sort(prim.height.begin(), prim.height.end());
    std::sort(boruvka.height.begin(), boruvka.height.end());
    CHECK(prim.height == want);
    CHECK(boruvka.height == want);
}

void test_ward_of_points_is_ward_of_distances(size_t n, size_t d) {
    Random random;
    const auto X = random.normal<double>(n * d, 1e4);
    const auto sizes = random.uniform(n);
    auto D = squares_of(X, n, d);
    for (size_t i = 0, at = 0; i < n; ++i)
        for (size_t j = i + 1; j < n; ++j) D[at++] *= 2 * sizes[i] * sizes[j] / (sizes[i] + sizes[j]);
    Tree points(n), matrix(n);
    WardPoints(matrix_of(X, n, d), sizes.data(), 2, InterruptPoll())(points.out());
    MatrixLinkage<double, Ward>(D.data(), n, sizes.data(), 1, InterruptPoll())(matrix.out());
    std::sort(points.height.begin(), points.height.end());
    for (size_t t = 0; t + 1 < n; ++t) CLOSE(points.height[t], matrix.height[t], 1e-7);
}

void test_centroids_of_points_are_centroids_of_distances(size_t n, size_t d) {
    Random random;
    const auto X = random.normal<double>(n * d, 1e2);
    const auto sizes = random.uniform(n);
    auto D = squares_of(X, n, d);
    Tree points(n), matrix(n), alone(n);
    CentroidPoints(matrix_of(X, n, d), sizes.data(), 2, InterruptPoll())(points.out());
    CentroidPoints(matrix_of(X, n, d), sizes.data(), 1, InterruptPoll())(alone.out());
    MatrixLinkage<double, Centroid>(D.data(), n, sizes.data(), 1, InterruptPoll())(matrix.out());
    CHECK(points.a == alone.a && points.b == alone.b && points.height == alone.height);
    for (size_t t = 0; t + 1 < n; ++t) CLOSE(points.height[t], matrix.height[t], 1e-7);
}

void test_equal_points_have_centroids_too() {
    const Doubles1 X(100 * 2, 3.);
    Tree tree(100);
    CentroidPoints(matrix_of(X, 100, 2), nullptr, 1, InterruptPoll())(tree.out());
    CHECK(tree.height == Doubles1(99, 0.));
}

void test_infinite_distances_are_merged_last() {
    Doubles1 D{1, infinity, infinity, infinity, infinity, 2};
    Tree tree(4);
    MatrixLinkage<double, Complete>(D.data(), 4, nullptr, 1, InterruptPoll())(tree.out());
    CHECK(tree.height[0] == 1 && tree.height[1] == 2 && tree.height[2] == infinity);
}

int main() {
    for (const size_t n : {2, 3, 40, 90}) {
        test_merges_are_those_of_plain_loops<Single>(n, 3);
        test_merges_are_those_of_plain_loops<Complete>(n, 3);
        test_merges_are_those_of_plain_loops<Average>(n, 3);
        test_merges_are_those_of_plain_loops<Centroid>(n, 2);
        test_merges_are_those_of_plain_loops<Weighted>(n, 2);
        test_merges_are_those_of_plain_loops<Median>(n, 2);
        test_merges_are_those_of_plain_loops<Ward>(n, 3);
        test_spanning_trees_agree(n, 2, n % 2);
        test_spanning_trees_agree(n, 5, true);
        test_ward_of_points_is_ward_of_distances(n, 3);
    }
    test_merges_are_those_of_plain_loops<Average>(300, 2);  // compacts
    test_spanning_trees_agree(200, 2, true);
    test_ward_of_points_is_ward_of_distances(400, 4);
    for (const size_t n : {2, 3, 40, 90, 700}) test_centroids_of_points_are_centroids_of_distances(n, 3);
    test_equal_points_have_centroids_too();
    test_infinite_distances_are_merged_last();
    return failures;
}
