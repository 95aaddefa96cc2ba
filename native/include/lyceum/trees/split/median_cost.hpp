// The sum of absolute deviations from the weighted median of a growing set of rows: two Fenwick trees over the ranks.
#pragma once
#include <bit>

#include <lyceum/trees/split/value_groups.hpp>

namespace lyceum::trees {

class MedianCost {
public:
    // Rows in groups of equal codes, in the order of the codes; rows of the code `missing` are the last group.
    void prepare(const NumberRow* rows, size_t m, const std::uint32_t* codes, std::uint32_t missing) {
        order_.resize(m);
        std::iota(order_.begin(), order_.end(), 0u);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return rows[a].y < rows[b].y; });
        rank_.resize(m);
        y_.resize(m);
        for (size_t r = 0; r < m; ++r) rank_[order_[r]] = static_cast<std::uint32_t>(r), y_[r] = rows[order_[r]].y;
        rows_ = rows;
        const std::uint64_t* sorted = sorted_by_code(codes, m, missing);
        start_.assign(1, 0);
        members_.resize(m);
        missing_start_ = m;
        for (size_t i = 0; i < m; ++i) {
            members_[i] = static_cast<std::uint32_t>(sorted[i]);
            if (i && sorted[i] >> 32 != sorted[i - 1] >> 32) start_.push_back(i);
            if (sorted[i] >> 32 == missing && missing_start_ == m) missing_start_ = i;
        }
        start_.push_back(m);
        weights_.assign(m + 1, 0.);
        sums_.assign(m + 1, 0.);
        clear();
    }

    void clear() {
        if (total_weight_ != 0. || dirty_) {
            std::fill(weights_.begin(), weights_.end(), 0.);
            std::fill(sums_.begin(), sums_.end(), 0.);
        }
        dirty_ = false;
        total_weight_ = total_sum_ = 0.;
    }

    void add_group(size_t g) { add(start_[g], start_[g + 1]); }
    void add_missing() { add(missing_start_, members_.size()); }
    double weight() const { return total_weight_; }

    // sum w |y - median|
    double cost() const {
        if (!(total_weight_ > 0.)) return 0.;
        const auto [rank, below_weight, below_sum] = find(total_weight_ / 2);
        const double median = y_[rank];
        return median * below_weight - below_sum + (total_sum_ - below_sum) - median * (total_weight_ - below_weight);
    }

    // Where just half of the weight is below, midway to the next: any point between has the same cost.
    double median() const {
        const double half = total_weight_ / 2;
        return y_[find(half * (1 - 1e-12)).rank] / 2 + y_[find(half * (1 + 1e-12)).rank] / 2;
    }

    double group_median(size_t g) const {
        std::vector<std::pair<double, double>> cells;
        double total = 0.;
        for (size_t i = start_[g]; i < start_[g + 1]; ++i) {
            cells.emplace_back(rows_[members_[i]].y, rows_[members_[i]].w);
            total += cells.back().second;
        }
        std::sort(cells.begin(), cells.end());
        double below = 0.;
        for (const auto& [y, w] : cells)
            if ((below += w) >= total / 2) return y;
        return cells.back().first;
    }

private:
    void add(size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) {
            const auto& row = rows_[members_[i]];
            total_weight_ += row.w;
            total_sum_ += row.w * row.y;
            for (size_t r = rank_[members_[i]] + 1; r < weights_.size(); r += r & (~r + 1)) {
                weights_[r] += row.w;
                sums_[r] += row.w * row.y;
            }
        }
        dirty_ = true;
    }

    struct Rank {
        size_t rank;
        double weight, sum;  // of the ranks before
    };

    // The first rank at which the weight so far reaches `wanted`.
    Rank find(double wanted) const {
        size_t at = 0;
        double weight = 0., sum = 0.;
        for (size_t step = std::bit_floor(weights_.size() - 1); step; step /= 2)
            if (at + step < weights_.size() && weight + weights_[at + step] < wanted) {
                at += step;
                weight += weights_[at];
                sum += sums_[at];
            }
        return {std::min(at, y_.size() - 1), weight, sum};
    }

    const NumberRow* rows_ = nullptr;
    std::vector<std::uint32_t> order_, rank_, members_;
    std::vector<size_t> start_;
    std::vector<double> y_, weights_, sums_;
    size_t missing_start_ = 0;
    double total_weight_ = 0., total_sum_ = 0.;
    bool dirty_ = false;
};

}  // namespace lyceum::trees
