// Vectors in large pages: trees read rows from all over a table, and with small pages most of the time would be spent
// on address translation.
#pragma once
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lyceum {

template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}
    T* allocate(std::size_t n) {
        constexpr std::size_t page = std::size_t{1} << 21;
        const std::size_t bytes = n * sizeof(T), align = bytes < page ? 64 : page;
        void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
        if (!memory) throw std::bad_alloc();
#if defined(__linux__)
        if (bytes >= page) madvise(memory, (bytes + align - 1) / align * align, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* p, std::size_t) { std::free(p); }
    bool operator==(const LargePages&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace lyceum
