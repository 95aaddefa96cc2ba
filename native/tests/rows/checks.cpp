#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/core/vector_math.hpp>
#include <lyceum/rows/breaks_in_quotes.hpp>
#include <lyceum/rows/first_nonfinite.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::rows;

template <class T>
void test_first_bad_cell_is_found() {
    for (const size_t size : {0, 1, 7, 4096, 10001}) {
        std::vector<T> x(size, std::numeric_limits<T>::max());
        CHECK(first_nonfinite(x.data(), size, false, InterruptPoll()) == -1);
        for (const double bad : {nan_cell, infinity, -infinity}) {
            if (!size) continue;
            x[size - 1] = static_cast<T>(bad);
            const auto last = static_cast<std::int64_t>(size - 1);
            CHECK(first_nonfinite(x.data(), size, false, InterruptPoll()) == last);
            CHECK(first_nonfinite(x.data(), size, true, InterruptPoll()) == (bad != bad ? -1 : last));
        }
    }
}

bool has_breaks_in_quotes(const std::string& text) {
    return breaks_in_quotes(reinterpret_cast<const TextByte*>(text.data()), text.size(), ',', '"', InterruptPoll());
}

void test_line_breaks_in_quotes_are_found_wherever_they_stand() {
    for (size_t before = 0; before < 200; ++before) {
        const std::string rows = std::string(before, 'a') + "\n", more(before, 'b');
        CHECK(!has_breaks_in_quotes(rows + "\"a,b\",\"\",\"say \"\"no\"\"\"\r\n\"c\",1" + more));
        CHECK(has_breaks_in_quotes(rows + "1,\"a" + more + "\nb\",2\n"));
        CHECK(has_breaks_in_quotes(rows + "1,\"\"\"" + more + "\rb\",2\n"));
        CHECK(has_breaks_in_quotes(rows + "5\",\"a\nb\",6\"\n" + more));  // quotes of plain cells
        CHECK(has_breaks_in_quotes(rows + "1, \"a\"\n" + more));
        CHECK(has_breaks_in_quotes("\"a\nb\"" + rows) && !has_breaks_in_quotes("\"a\"\n" + rows));
        CHECK(!has_breaks_in_quotes(rows + more));
    }
    const std::string many(3 << 20, 'a');
    CHECK(has_breaks_in_quotes(many + ",\"a\nb\"") && !has_breaks_in_quotes(many + ",\"a\"\n"));
    CHECK(!has_breaks_in_quotes(many));
}

void test_uniforms_lie_in_the_half_open_unit_interval() {
    Doubles1 out(100'000);
    hash_uniform(-50, 3, out.data(), out.size());
    double mean = 0;
    for (const double u : out) {
        CHECK(u > 0 && u <= 1);
        mean += u / static_cast<double>(out.size());
    }
    CLOSE(mean, .5, 5e-3);
}

void test_elementary_functions_are_within_two_ulp() {
    Random random;
    for (const double u : random.uniform(20'000)) {
        for (const double x : {700 * (2 * u - 1), 2 * u - 1, 1e-9 * u}) {
            CHECK(std::abs(vexp(splat(x))[0] - std::exp(x)) <= 2 * 2.3e-16 * std::exp(x));
            const double t = std::exp(x);
            CHECK(std::abs(vlog(splat(t))[0] - std::log(t)) <= 2 * 2.3e-16 * std::abs(std::log(t)) + 1e-300);
            CHECK(std::abs(vlog1p(splat(u * t / (1 + t)))[0] - std::log1p(u * t / (1 + t))) <=
                  3 * 2.3e-16 * std::log1p(u * t / (1 + t)));
        }
    }
    CHECK(vexp(splat(-infinity))[0] == 0 && vexp(splat(infinity))[0] == infinity && vexp(splat(1e4))[0] == infinity);
    CHECK(vexp(splat(0.))[0] == 1 && vlog(splat(1.))[0] == 0 && vlog(splat(0.))[0] == -infinity);
    CHECK(std::isnan(vexp(splat(nan_cell))[0]) && std::isnan(vlog(splat(nan_cell))[0]));
}

int main() {
    test_first_bad_cell_is_found<float>();
    test_first_bad_cell_is_found<double>();
    test_line_breaks_in_quotes_are_found_wherever_they_stand();
    test_uniforms_lie_in_the_half_open_unit_interval();
    test_elementary_functions_are_within_two_ulp();
    return failures;
}
