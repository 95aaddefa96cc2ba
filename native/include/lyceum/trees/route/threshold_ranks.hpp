// The ranks of cells among the thresholds of a forest.
#pragma once
#include <bit>
#include <limits>
#include <lyceum/trees/route/tree_walk.hpp>
#include <vector>

namespace lyceum::trees {

// The rank of a cell: how many thresholds are below it.
//
// The range of the thresholds is divided into bins of one width; the bin of a cell bounds its rank, and the few
// thresholds of the bin are bisected. The number of the bin is monotone in the cell in spite of rounding, so that ranks
// are exact.
template <class T>
class ThresholdRanks {
public:
    ThresholdRanks() = default;
    explicit ThresholdRanks(const std::vector<double>& thresholds) : cuts_(thresholds.size()) {
        std::transform(thresholds.begin(), thresholds.end(), cuts_.begin(), cut_of<T>);
        const auto finite = [](T cut) { return std::isfinite(cut); };
        const auto first = std::find_if(cuts_.begin(), cuts_.end(), finite);
        const auto last = std::find_if(cuts_.rbegin(), cuts_.rend(), finite);
        const size_t count = std::min(max_bins, 2 * std::bit_ceil(cuts_.size() + 1));
        last_ = static_cast<T>(count - 1);
        if (first != cuts_.end()) {
            origin_ = *first;
            per_width_ = static_cast<T>(count) / (*last - *first);
        }
        starts_.assign(count + 1, 0);
        for (const T cut : cuts_) starts_[static_cast<size_t>(bin_of(cut)) + 1] += 1;
        const auto most = static_cast<unsigned>(*std::max_element(starts_.begin(), starts_.end()));
        for (size_t c = 1; c <= count; ++c) starts_[c] += starts_[c - 1];
        half_ = static_cast<std::int32_t>(std::bit_ceil(most + 1) / 2);
        cuts_.resize(cuts_.size() + 2 * static_cast<size_t>(half_), std::numeric_limits<T>::infinity());
    }

    template <size_t Count>
    void of(const T* cells, std::int32_t* ranks) const {
        for (size_t i = 0; i < Count; ++i) ranks[i] = bin_of(cells[i]);
        for (size_t i = 0; i < Count; ++i) ranks[i] = starts_[static_cast<size_t>(ranks[i])];
        for (std::int32_t half = half_; half > 0; half /= 2) {
            const T* middle = cuts_.data() + half - 1;
            for (size_t i = 0; i < Count; ++i) {
                std::int32_t below = middle[ranks[i]] < cells[i];
                // neither a jump, which would often be guessed wrong, nor a gather, which some processors do slowly
                asm("" : "+r"(below));
                ranks[i] += -below & half;
            }
        }
    }

private:
    static constexpr size_t max_bins = 4096;

    // NaN and all below the first threshold are in bin 0.
    std::int32_t bin_of(T x) const {
        const T position = (x - origin_) * per_width_;
        const T above = position > 0 ? position : T{0};
        return static_cast<std::int32_t>(above < last_ ? above : last_);
    }

    std::vector<T> cuts_;               // ascending, then infinities
    std::vector<std::int32_t> starts_;  // thresholds below each bin
    T origin_ = 0, per_width_ = 0, last_ = 0;
    std::int32_t half_ = 0;
};

}  // namespace lyceum::trees
