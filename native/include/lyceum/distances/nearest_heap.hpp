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

// A heap with the worst neighbour on top, in memory that belongs to the caller.
class NearestHeap {
public:
    NearestHeap(Neighbor* data, size_t k) : data_(data), k_(k) {}

    // Rows of a larger raw value cannot enter.
    double limit() const { return size_ < k_ ? std::numeric_limits<double>::infinity() : data_[0].raw; }

    bool offer(double raw, std::int64_t row) {
        const Neighbor one{raw, row};
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

    // In ascending order; places without a neighbour have an infinite value and row -1.
    void write(double* raw, std::int64_t* rows) {
        std::sort_heap(data_, data_ + size_);
        for (size_t i = 0; i < k_; ++i) {
            raw[i] = i < size_ ? data_[i].raw : std::numeric_limits<double>::infinity();
            rows[i] = i < size_ ? data_[i].row : -1;
        }
    }

private:
    Neighbor* data_;
    size_t k_, size_ = 0;
};

}  // namespace lyceum::distances
