// Buffers that a thread keeps between calls, aligned for vectors; `Tag` tells apart those alive at the same time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace lyceum {

template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
    bool operator==(const AlignedAllocator&) const { return true; }
};

// Contents are unspecified.
template <class Tag, class T>
T* scratch(std::size_t count) {
    thread_local std::vector<T, AlignedAllocator<T>> buffer;
    if (buffer.size() < count) buffer.resize(count);
    return buffer.data();
}

template <class Tag, class T>
T* zeroed(std::size_t count) {
    T* buffer = scratch<Tag, T>(count);
    std::fill_n(buffer, count, T{});
    return buffer;
}

}  // namespace lyceum
