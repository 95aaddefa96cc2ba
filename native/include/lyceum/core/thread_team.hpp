// A few threads that live as long as one call: a tree is grown in some hundred short steps, each waiting for the last.
// They begin and end inside the call, so that a fork finds none. What a task computes must not depend on its thread.
// An exception of a task is thrown again in the calling thread, after all tasks that had begun.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace lyceum {

class ThreadTeam {
public:
    // Where the machine refuses another thread, the team has those that it got: an exception here would destroy threads
    // that run, which ends the process.
    explicit ThreadTeam(std::size_t size) {
        if (size > 1) helpers_.reserve(size - 1);
        try {
            for (std::size_t i = 1; i < size; ++i) helpers_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
        }
    }
    ~ThreadTeam() {
        stop_ = true;
        start_.fetch_add(1, std::memory_order_release);
        start_.notify_all();
        for (auto& helper : helpers_) helper.join();
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    std::size_t size() const { return helpers_.size() + 1; }

    // work(0) ... work(count - 1), each once; returns when all are done. After an exception no further task begins. A
    // helper that is late is not waited for, only a task that it has begun: on a busy machine the caller does the rest.
    template <class Work>
    void operator()(std::size_t count, const Work& work) {
        each(count, &work, [](const void* object, std::size_t task) { (*static_cast<const Work*>(object))(task); });
    }

private:
    using Call = void (*)(const void* work, std::size_t task);

    // Not a template, and not inlined: the code of a work is compiled once, whether one thread does it or many.
    [[gnu::noinline]] void each(std::size_t count, const void* work, Call call) {
        if (helpers_.empty() || count < 2) {
            for (std::size_t task = 0; task < count; ++task) call(work, task);
            return;
        }
        work_ = work;
        call_ = call;
        constexpr std::size_t most = std::uint32_t(-1);
        for (first_ = 0; first_ < count; first_ += most) share(std::min(most, count - first_));
    }

    void share(std::size_t count) {
        done_.store(0, std::memory_order_relaxed);
        ticket_.store(std::uint64_t(count) << 32, std::memory_order_release);
        start_.fetch_add(1, std::memory_order_release);
        start_.notify_all();
        run();
        for (std::size_t done; (done = done_.load(std::memory_order_acquire)) != count;) wait_for(done_, done);
        if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    // The number of tasks and of the next one are one value: whoever takes a ticket has a task of the work that is
    // there now, and that work stays until the task is done.
    void run() noexcept {
        for (auto ticket = ticket_.load(std::memory_order_acquire);;) {
            const std::uint64_t count = ticket >> 32, task = ticket & std::uint32_t(-1);
            if (task >= count) return;
            if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
            try {
                if (!failed_.load(std::memory_order_relaxed)) call_(work_, first_ + task);
            } catch (...) {
                if (!failed_.exchange(true)) error_ = std::current_exception();
            }
            if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) done_.notify_all();
            ticket = ticket_.load(std::memory_order_acquire);
        }
    }

    void serve() {
        for (unsigned seen = 0;;) {
            wait_for(start_, seen);
            seen = start_.load(std::memory_order_acquire);
            if (stop_) return;
            run();
        }
    }

    // Until the value is another: steps follow within microseconds, so that sleeping at once would cost more.
    template <class T>
    static void wait_for(const std::atomic<T>& value, T old) {
        for (int spin = 0; spin < 4096; ++spin) {
            if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        value.wait(old, std::memory_order_acquire);
    }

    const void* work_ = nullptr;
    Call call_ = nullptr;
    std::size_t first_ = 0;  // the task that ticket 0 stands for
    std::atomic<std::uint64_t> ticket_{0};
    std::atomic<std::size_t> done_{0};
    std::atomic<unsigned> start_{0};
    std::atomic<bool> stop_{false}, failed_{false};
    std::exception_ptr error_;  // the first of a call, while failed_
    std::vector<std::thread> helpers_;
};

}  // namespace lyceum
