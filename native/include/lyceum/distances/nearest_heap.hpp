// The k smallest (raw value, row number) pairs seen so far.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <lyceum/core/views.hpp>

namespace lyceum::distances {

struct Neighbor {
    double raw;
    std::int64_t row;

    bool operator<(const Neighbor& other) const { return raw < other.raw || (raw == other.raw && row < other.row); }
};

// The k best, in memory that belongs to the caller: in ascending order while k is small, where moving a few entries
// costs less than a heap, else a heap with the worst neighbor on top.
class NearestHeap {
public:
    NearestHeap(Neighbor* data, size_t k) : data_(data), k_(k) {}

    // Rows of a larger raw value cannot enter.
    double limit() const {
        if (size_ < k_) return std::numeric_limits<double>::infinity();
        return data_[k_ <= most_sorted ? k_ - 1 : 0].raw;
    }

    bool offer(double raw, std::int64_t row) {
        const Neighbor one{raw, row};
        if (k_ <= most_sorted) return insert(one);
        if (size_ < k_) {
            data_[size_++] = one;
            std::push_heap(data_, data_ + size_);
            return true;
        }
        if (!(one < data_[0])) return false;
        std::pop_heap(data_, data_ + k_);
        data_[k_ - 1] = one;
        std::push_heap(data_, data_ + k_);
        return true;
    }

    // In ascending order; places without a neighbor have an infinite value and row -1.
    void write(double* raw, std::int64_t* rows) {
        if (k_ > most_sorted) std::sort_heap(data_, data_ + size_);
        for (size_t i = 0; i < k_; ++i) {
            raw[i] = i < size_ ? data_[i].raw : std::numeric_limits<double>::infinity();
            rows[i] = i < size_ ? data_[i].row : -1;
        }
    }

private:
    static constexpr size_t most_sorted = 16;

    bool insert(Neighbor one) {
        size_t at = size_;
        if (size_ == k_) {
            if (!(one < data_[k_ - 1])) return false;
            at = k_ - 1;
        } else {
            ++size_;
        }
        for (; at > 0 && one < data_[at - 1]; --at) data_[at] = data_[at - 1];
        data_[at] = one;
        return true;
    }

    Neighbor* data_;
    size_t k_, size_ = 0;
};

}  // namespace lyceum::distances
