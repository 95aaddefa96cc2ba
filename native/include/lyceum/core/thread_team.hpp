// A few threads that live as long as one call: a tree is grown in some hundred short steps, each waiting for the last.
// They begin and end inside the call, so that a fork finds none. What a task computes must not depend on its thread.
// An exception of a task is thrown again in the calling thread, after all tasks that had begun.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace lyceum {

class Team {
public:
    explicit Team(std::size_t size) {
        for (std::size_t i = 1; i < size; ++i) helpers_.emplace_back([this] { serve(); });
    }
    ~Team() {
        stop_ = true;
        start_.fetch_add(1, std::memory_order_release);
        start_.notify_all();
        for (auto& helper : helpers_) helper.join();
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::size_t size() const { return helpers_.size() + 1; }

    // work(0) ... work(count - 1), each once; returns when all are done. After an exception no further task begins.
    template <class Work>
    void operator()(std::size_t count, const Work& work) {
        if (helpers_.empty() || count < 2) {
            for (std::size_t task = 0; task < count; ++task) work(task);
            return;
        }
        work_ = &work;
        call_ = [](const void* object, std::size_t task) { (*static_cast<const Work*>(object))(task); };
        count_ = count;
        next_.store(0, std::memory_order_relaxed);
        busy_.store(helpers_.size(), std::memory_order_relaxed);
        start_.fetch_add(1, std::memory_order_release);
        start_.notify_all();
        run();
        for (std::size_t left; (left = busy_.load(std::memory_order_acquire)) != 0;) wait_for(busy_, left);
        if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    void run() noexcept {
        try {
            for (std::size_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) call_(work_, task);
        } catch (...) {
            next_.store(count_, std::memory_order_relaxed);
            if (!failed_.exchange(true)) error_ = std::current_exception();
        }
    }

    void serve() {
        for (unsigned seen = 0;; ++seen) {
            wait_for(start_, seen);
            if (stop_) return;
            run();
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
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
    void (*call_)(const void*, std::size_t) = nullptr;
    std::size_t count_ = 0;
    std::atomic<std::size_t> next_{0}, busy_{0};
    std::atomic<unsigned> start_{0};
    std::atomic<bool> stop_{false}, failed_{false};
    std::exception_ptr error_;  // the first of a call, while failed_
    std::vector<std::thread> helpers_;
};

}  // namespace lyceum
