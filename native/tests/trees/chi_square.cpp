#include <lyceum/trees/chi_square.hpp>

#include "check.hpp"

using namespace lyceum;
using namespace lyceum::trees;

// The tail Q(k/2, x/2) to 17 digits, by arithmetic of 40.
void test_known_tails() {
    const struct {
        double x, degrees, tail;
    } known[] = {
        {3.841458820694124, 1, 0.050000000000000057},
        {5.991464547107979, 2, 0.050000000000000074},
        {3.547, 2, 0.16973786543797017},  // outlook against play
        {18.307038053275146, 10, 0.050000000000000007},
        {0.001, 1, 0.97477287936996039},
        {1e-8, 1, 0.99992021154405269},
        {0.5, 3, 0.91889141165467586},
        {10, 30, 0.99977374632382324},
        {100, 99, 0.45295851132093137},
        {124.342, 100, 0.050000715769971768},
        {150, 99, 0.00072044539571696292},
        {1000, 999, 0.48513148927490147},
        {40, 1, 2.539628589470865e-10},
        {700, 1, 2.9902269751246203e-154},
    };
    for (const auto& one : known) CLOSE(chi_square_tail(one.x, one.degrees) / one.tail, 1, 1e-11);
}

void test_closed_forms() {
    for (const double x : {0.01, 0.7, 1.9, 2.1, 6., 50., 600.}) {
        CLOSE(chi_square_tail(x, 1) / std::erfc(std::sqrt(x / 2)), 1, 1e-12);
        CLOSE(chi_square_tail(x, 2) / std::exp(-x / 2), 1, 1e-12);
        CLOSE(chi_square_tail(x, 4) / (std::exp(-x / 2) * (1 + x / 2)), 1, 1e-12);
    }
}

void test_the_tail_falls_from_one_to_nothing() {
    for (const double degrees : {1., 2., 3., 17., 400.}) {
        CHECK(chi_square_tail(0, degrees) == 1);
        CHECK(chi_square_tail(-1, degrees) == 1);
        CHECK(chi_square_tail(1e5, degrees) < 1e-300);
        double before = 1;
        for (double x = 0.05; x < 3 * degrees + 20; x += 0.05) {
            const double tail = chi_square_tail(x, degrees);
            CHECK(tail >= 0 && tail <= before + 1e-13);
            before = tail;
        }
    }
}

void test_branches_against_classes() {
    const Doubles1 sunny{2, 0, 3}, overcast{4, 0, 0}, rainy{3, 0, 2}, none{0, 0, 0};  // a class that no row has
    CLOSE(independence({sunny.data(), overcast.data(), rainy.data()}, 3), std::exp(-266. / 150), 1e-13);
    CLOSE(independence({sunny.data(), none.data(), overcast.data(), rainy.data()}, 3), std::exp(-266. / 150), 1e-13);
    CHECK(independence({sunny.data(), none.data()}, 3) == 1);
    CHECK(independence({overcast.data(), overcast.data()}, 3) == 1);
    CHECK(independence({sunny.data(), sunny.data()}, 3) == 1);
}

int main() {
    test_branches_against_classes();
    test_known_tails();
    test_closed_forms();
    test_the_tail_falls_from_one_to_nothing();
    return failures;
}
