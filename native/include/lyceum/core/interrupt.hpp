// Lets a long kernel be interrupted: it reports its work, and every few milliseconds `check` runs and may throw.
#pragma once
#include <cstddef>

namespace lyceum {

class InterruptPoll {
public:
    using Check = void (*)();
    explicit InterruptPoll(Check check = nullptr) : check_(check) {}

    // `work` in multiply-adds, or cells where a cell costs about as much as eight of them.
    void operator()(std::size_t work) {
        pending_ += work;
        if (pending_ < budget) return;
        pending_ = 0;
        if (check_) check_();
    }

private:
    static constexpr std::size_t budget = std::size_t{1} << 26;
    Check check_;
    std::size_t pending_ = 0;
};

}  // namespace lyceum
