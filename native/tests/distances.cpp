#include <lyceum/distances/leaf_tree.hpp>
#include <lyceum/distances/nearest_euclidean.hpp>
#include <lyceum/distances/pairwise.hpp>
#include <lyceum/distances/sparse_pairs.hpp>
#include <numeric>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::distances;

struct Lists {
    Doubles1 raw;
    std::vector<std::int64_t> rows;
    Lists(size_t n, size_t k) : raw(n * k), rows(n * k) {}
    NearestOutput out() { return {raw.data(), rows.data()}; }
    bool operator==(const Lists& other) const { return raw == other.raw && rows == other.rows; }
};

template <class T, class Space>
Lists by_sorting(const Space& space, Matrix<const T> X, Matrix<const T> Y, size_t k) {
    Doubles1 raw(X.rows * Y.rows);
    pairwise(space, X, Y, raw.data(), InterruptPoll());
    Lists lists(X.rows, k);
    for (size_t i = 0; i < X.rows; ++i) {
        std::vector<Neighbor> all;
        for (size_t j = 0; j < Y.rows; ++j) all.push_back({raw[i * Y.rows + j], std::int64_t(j)});
        std::sort(all.begin(), all.end());
        for (size_t j = 0; j < k; ++j) {
            lists.raw[i * k + j] = j < all.size() ? all[j].raw : std::numeric_limits<double>::infinity();
            lists.rows[i * k + j] = j < all.size() ? all[j].row : -1;
        }
    }
    return lists;
}

template <class T, class Space>
void test_all_pairs_are_one_pair_at_a_time(const Space& space, size_t n, size_t m, size_t d) {
    Random random;
    const auto x = random.template normal<T>(n * d), y = random.template normal<T>(m * d);
    const auto X = matrix_of(x, n, d), Y = matrix_of(y, m, d);
    Doubles1 raw(n * m);
    pairwise(space, X, Y, raw.data(), InterruptPoll());
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) CLOSE(raw[i * m + j], raw_value(space, X.row(i), Y.row(j), d), 1e-13);
    Lists lists(n, 3);
    nearest(space, X, Y, {3}, lists.out(), InterruptPoll());
    CHECK(lists == by_sorting(space, X, Y, 3));
}

// `grid`: cells are rounded, so that many distances are equal; the last row lies far away, so that the filter's error
// grows while it runs.
template <class T>
void test_filter_and_tree_change_nothing(size_t n, size_t m, size_t d, size_t k, double offset, double scale,
                                         bool grid = false) {
    Random random;
    auto x = random.template normal<T>(n * d, offset, scale), y = random.template normal<T>(m * d, offset, scale);
    if (grid) {
        for (auto* cells : {&x, &y})
            for (auto& cell : *cells) cell = std::round(cell);
        std::fill(y.end() - d, y.end(), T(1e4));
    }
    const auto X = matrix_of(x, n, d), Y = matrix_of(y, m, d);
    const Lists want = by_sorting(SquaredDifferences{}, X, Y, k);
    Lists filtered(n, k), in_tree(n, k);
    EuclideanNearest<T>(X, Y, {k}, InterruptPoll())(filtered.out());
    CHECK(filtered == want);
    const Doubles1 queries(x.begin(), x.end()), rows(y.begin(), y.end());
    std::vector<std::int64_t> order(m);
    std::iota(order.begin(), order.end(), 0);
    InterruptPoll poll;
    density::leaf_order(matrix_of(rows, m, d), order.data(), 0, m, density::leaf_rows, poll);
    Doubles1 Z(m * d);
    for (size_t i = 0; i < m; ++i) std::copy_n(rows.data() + size_t(order[i]) * d, d, Z.data() + i * d);
    const LeafTree tree(matrix_of(Z, m, d), order.data());
    tree.nearest(SquaredDifferences{}, matrix_of(queries, n, d), {k}, in_tree.out(), InterruptPoll());
    for (size_t i = 0; i < n; ++i) {
        size_t within = 0;
        tree.within(SquaredDifferences{}, queries.data() + i * d, want.raw[i * k + k / 2],
                    [&](double, auto) { ++within; });
        CHECK(within >= std::min(m, k / 2 + 1));
    }
    CHECK(in_tree == want);
}

template <class Space>
void test_sparse_rows_are_dense_rows(const Space& space) {
    const Doubles1 x{0, 2, 0, -1, 0, 0, 0, 0}, y{0, 0, 3, -1, 1, 0, 0, 5};
    const std::vector<std::int32_t> x_ptr{0, 2, 2}, x_at{1, 3}, y_ptr{0, 2, 4}, y_at{2, 3, 0, 3};
    const Doubles1 x_data{2, -1}, y_data{3, -1, 1, 5};
    Doubles1 dense(4), sparse(4);
    pairwise(space, matrix_of(x, 2, 4), matrix_of(y, 2, 4), dense.data(), InterruptPoll());
    const SparseRows<double> A{x_ptr.data(), x_at.data(), x_data.data(), 2},
        B{y_ptr.data(), y_at.data(), y_data.data(), 2};
    sparse_pairwise(space, A, B, sparse.data(), InterruptPoll());
    CHECK(dense == sparse);
    Lists lists(2, 2);
    sparse_nearest(space, A, B, {2}, lists.out(), InterruptPoll());
    CHECK(lists == by_sorting(space, matrix_of(x, 2, 4), matrix_of(y, 2, 4), 2));
    // five queries, which are bounded by products first where differences are squared
    const std::vector<std::int32_t> many_ptr{0, 2, 2, 4, 6, 8}, many_at{1, 3, 2, 3, 0, 3, 1, 3};
    const Doubles1 many_data{2, -1, 3, -1, 1, 5, 2, -1},
        many{0, 2, 0, -1, 0, 0, 0, 0, 0, 0, 3, -1, 1, 0, 0, 5, 0, 2, 0, -1};
    const SparseRows<double> C{many_ptr.data(), many_at.data(), many_data.data(), 5};
    Lists of_many(5, 2);
    sparse_nearest(space, C, C, {2}, of_many.out(), InterruptPoll());
    CHECK(of_many == by_sorting(space, matrix_of(many, 5, 4), matrix_of(many, 5, 4), 2));
}

void test_missing_cells_are_passed_over() {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    const Doubles1 x{0.25, missing, 1}, y{0.75, 3, 2, missing, 3, missing}, weight{1, 5, 3};
    const std::vector<std::uint8_t> matched{0, 1, 1};
    Doubles1 raw(2);
    pairwise(KnownColumns{weight.data(), matched.data()}, matrix_of(x, 1, 3), matrix_of(y, 2, 3), raw.data(),
             InterruptPoll());
    CLOSE(raw[0], (0.5 + 3) / 4, 1e-15);
    CHECK(raw[1] == std::numeric_limits<double>::infinity());
}

void test_a_query_leaves_its_own_row_out() {
    const Doubles1 x{0, 0, 5};
    const std::vector<std::int64_t> skip{10, 11, 12};
    Lists lists(3, 2);
    EuclideanNearest<double>(matrix_of(x, 3, 1), matrix_of(x, 3, 1), {2, 10, skip.data()},
                             InterruptPoll())(lists.out());
    CHECK((lists.rows == std::vector<std::int64_t>{11, 12, 10, 12, 10, 11}));
}

int main() {
    for (const size_t n : {1, 13, 50})
        for (const size_t m : {1, 7, 100})
            for (const size_t d : {1, 5}) {
                test_all_pairs_are_one_pair_at_a_time<float>(SquaredDifferences{}, n, m, d);
                test_all_pairs_are_one_pair_at_a_time<double>(AbsoluteDifferences{}, n, m, d);
                test_all_pairs_are_one_pair_at_a_time<double>(LargestDifference{}, n, m, d);
                test_all_pairs_are_one_pair_at_a_time<double>(PowersOfDifferences(2.5), n, m, d);
                test_all_pairs_are_one_pair_at_a_time<float>(Mismatches{}, n, m, d);
                test_all_pairs_are_one_pair_at_a_time<double>(SetDifference{}, n, m, d);
            }
    for (const size_t m : {1, 40, 5000})
        for (const size_t d : {1, 3, 20})
            for (const double offset : {0., 1e6}) {
                test_filter_and_tree_change_nothing<float>(31, m, d, 5, offset, 1);
                test_filter_and_tree_change_nothing<double>(31, m, d, 5, offset, 1e-3);
                test_filter_and_tree_change_nothing<double>(25, m, d, 40, offset, 1e12);
            }
    for (const size_t k : {1, 8, 12, 17, 150}) {
        test_filter_and_tree_change_nothing<float>(53, 3000, 3, k, 0, 4, true);
        test_filter_and_tree_change_nothing<double>(53, 700, 30, k, 10, 1, true);
    }
    test_sparse_rows_are_dense_rows(SquaredDifferences{});
    test_sparse_rows_are_dense_rows(AbsoluteDifferences{});
    test_sparse_rows_are_dense_rows(Mismatches{});
    test_sparse_rows_are_dense_rows(SetDifference{});
    test_missing_cells_are_passed_over();
    test_a_query_leaves_its_own_row_out();
    return failures;
}
