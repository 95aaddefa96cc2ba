// Whether a line break may stand inside of a quoted cell of CSV text; if none does, every line break ends a row.
// A quote that opens a cell follows a separator or a line break, or is the second of two in a quoted cell. Another
// one is a plain character of its cell, so that quotes cannot be counted: the answer is then "it may".
// Cost: one read of the text, 64 bytes at a time; up to the first quote by memchr.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/views.hpp>

namespace lyceum::rows {

using TextByte = std::uint8_t;
inline constexpr size_t text_block = 64;

// Bit i says whether byte i is `wanted`.
inline std::uint64_t bits_equal(const TextByte* text, TextByte wanted) {
    std::uint64_t bits = 0;
#if defined(__SSE2__)
    typedef char Bytes __attribute__((vector_size(16)));
    const Bytes all = static_cast<char>(wanted) - Bytes{};
    for (size_t i = 0; i < text_block; i += 16) {
        Bytes bytes;
        std::memcpy(&bytes, text + i, sizeof bytes);
        bits |= static_cast<std::uint64_t>(static_cast<unsigned>(__builtin_ia32_pmovmskb128(bytes == all))) << i;
    }
#else
    for (size_t i = 0; i < text_block; ++i) bits |= static_cast<std::uint64_t>(text[i] == wanted) << i;
#endif
    return bits;
}

// Bit i of the result is the sum modulo 2 of bits 0 to i.
inline std::uint64_t prefix_parity(std::uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

class QuoteState {
public:
    QuoteState(TextByte separator, TextByte quote) : separator_(separator), quote_(quote) {}

    // What comes next follows this byte, outside of any quoted cell.
    void start_after(TextByte byte) { may_open_ = byte == '\n' || byte == '\r' || byte == separator_; }

    // Whether this block may have a line break in a quoted cell, seen what came before.
    bool found_in(const TextByte* text) {
        const std::uint64_t quotes = bits_equal(text, quote_);
        const std::uint64_t breaks = bits_equal(text, '\n') | bits_equal(text, '\r');
        const std::uint64_t inside = prefix_parity(quotes) ^ (open_ ? ~std::uint64_t{0} : 0);
        const std::uint64_t before_opening = quotes | breaks | bits_equal(text, separator_);
        const std::uint64_t allowed = before_opening << 1 | (may_open_ ? 1 : 0);
        open_ = inside >> 63;
        may_open_ = before_opening >> 63;
        return (breaks & inside) | (quotes & inside & ~allowed);
    }

private:
    TextByte separator_, quote_;
    bool open_ = false;     // whether a quoted cell goes on
    bool may_open_ = true;  // whether a quote may open a cell here
};

// The place of the first quote, or `count`.
inline size_t first_quote(const TextByte* text, size_t count, TextByte quote, InterruptPoll& poll) {
    constexpr size_t step = size_t{1} << 20;
    for (size_t begin = 0; begin < count; begin += step) {
        const size_t length = std::min(step, count - begin);
        if (const void* found = std::memchr(text + begin, quote, length))
            return static_cast<size_t>(static_cast<const TextByte*>(found) - text);
        poll(length);
    }
    return count;
}

inline bool breaks_in_quotes(const TextByte* text, size_t count, TextByte separator, TextByte quote,
                             InterruptPoll poll) {
    size_t begin = first_quote(text, count, quote, poll);
    if (begin == count) return false;
    QuoteState state(separator, quote);
    if (begin) state.start_after(text[begin - 1]);
    for (; begin + text_block <= count; begin += text_block) {
        if (state.found_in(text + begin)) return true;
        poll(text_block);
    }
    TextByte last[text_block] = {};
    if (begin < count) std::memcpy(last, text + begin, count - begin);
    return state.found_in(last);
}

}  // namespace lyceum::rows
