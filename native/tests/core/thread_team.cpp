#include <lyceum/core/thread_team.hpp>

#include <array>

#include "check.hpp"

using namespace lyceum;

void test_every_task_runs_once(size_t threads) {
    ThreadTeam team(threads);
    for (size_t count : {0, 1, 2, 7, 100}) {
        std::vector<std::atomic<int>> runs(count);
        team(count, [&](size_t task) { ++runs[task]; });
        for (const auto& n : runs) CHECK(n == 1);
    }
}

void test_an_exception_reaches_the_caller_and_the_team_goes_on(size_t threads) {
    ThreadTeam team(threads);
    for (size_t wrong : {0, 3, 9}) {
        std::string message;
        try {
            team(10, [&](size_t task) {
                if (task >= wrong) throw std::runtime_error("task failed");
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message == "task failed");
        test_every_task_runs_once(threads);
        std::atomic<int> sum{0};
        team(10, [&](size_t task) { sum += static_cast<int>(task); });
        CHECK(sum == 45);
    }
}

void test_calls_may_follow_each_other_before_helpers_have_woken(size_t threads) {
    ThreadTeam team(threads);
    for (int call = 0; call < 20'000; ++call) {
        std::array<int, 3> cells{};  // gone after the call: a helper that is late must not find it
        team(3, [&](size_t task) { cells[task] += call; });
        CHECK(cells[0] == call && cells[1] == call && cells[2] == call);
    }
}

int main() {
    for (size_t threads : {1, 2, 3}) {
        test_every_task_runs_once(threads);
        test_an_exception_reaches_the_caller_and_the_team_goes_on(threads);
        test_calls_may_follow_each_other_before_helpers_have_woken(threads);
    }
    return failures;
}
