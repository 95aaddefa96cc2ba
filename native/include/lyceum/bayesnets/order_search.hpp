// The order of the variables under which the best known families score most. In an order, every variable takes the
// best of its families whose parents all come before it; one variable at a time moves to its best place until no move
// gains, then some are moved at random and the search goes on from there (M. Teyssier and D. Koller, "Ordering-based
// search", UAI 2005; the moves of J. I. Alonso-Barba, L. delaOssa and J. M. Puerta, 2011).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lyceum/core/hash_uniform.hpp>
#include <lyceum/core/interrupt.hpp>
#include <numeric>
#include <vector>

namespace lyceum::bayesnets {

struct KnownFamily {
    double score;
    std::int32_t number;              // as it came
    const std::int32_t *begin, *end;  // its parents, ascending
};

// The families of every variable, the best first, without those of which a part scores as much.
class KnownFamilies {
public:
    explicit KnownFamilies(size_t variables) : of_(variables) {}

    void add(std::int32_t child, const KnownFamily& family) { of_[child].push_back(family); }

    void finish(InterruptPoll& poll) {
        std::vector<KnownFamily> kept;
        for (auto& families : of_) {
            std::stable_sort(families.begin(), families.end(), [](const auto& a, const auto& b) {
                return a.score != b.score ? a.score > b.score : a.end - a.begin < b.end - b.begin;
            });
            kept.clear();
            for (const auto& family : families) {
                const auto part = [&](const KnownFamily& better) {
                    return std::includes(family.begin, family.end, better.begin, better.end);
                };
                poll(kept.size() + 1);
                if (std::none_of(kept.begin(), kept.end(), part)) kept.push_back(family);
            }
            families = kept;
        }
    }

    // The best family whose parents are all in `before`, or null.
    const KnownFamily* best(size_t child, const std::vector<char>& before) const {
        for (const auto& family : of_[child])
            if (std::all_of(family.begin, family.end, [&](std::int32_t u) { return before[u]; })) return &family;
        return nullptr;
    }

    size_t variables() const { return of_.size(); }

private:
    std::vector<std::vector<KnownFamily>> of_;
};

class OrderSearch {
public:
    OrderSearch(const KnownFamilies& families, std::uint64_t seed, InterruptPoll poll)
        : families_(families), seed_(seed), poll_(poll), before_(families.variables()) {}

    // Improves the order in place; `kicks` times some variables are moved at random before it is improved again.
    double run(std::vector<std::int32_t>& order, size_t kicks) {
        double best = improve(order);
        for (size_t k = 0; k < kicks && order.size() > 2; ++k) {
            auto other = order;
            for (size_t i = 0; i < moved_at_random; ++i) {
                const size_t from = draw(order.size()), to = draw(order.size());
                const std::int32_t v = other[from];
                other.erase(other.begin() + from);
                other.insert(other.begin() + to, v);
            }
            const double score = improve(other);
            if (score < best) continue;
            best = score;
            order = other;
        }
        return best;
    }

private:
    static constexpr size_t moved_at_random = 3;
    static constexpr double impossible = -1e100;  // a variable without a family whose parents come before it
    static constexpr double rounding = 1e-10;

    double score(size_t v) const {
        const KnownFamily* family = families_.best(v, before_);
        return family ? family->score : impossible;
    }

    size_t draw(size_t n) {
        double u;
        hash_uniform(draws_++, seed_, &u, 1);
        return std::min(n - 1, size_t(u * double(n)));
    }

    // Every variable in turn to its best place, until none gains.
    double improve(std::vector<std::int32_t>& order) {
        const size_t n = order.size();
        std::vector<std::int32_t> turn(n);
        std::iota(turn.begin(), turn.end(), 0);
        for (size_t i = n; i > 1; --i) std::swap(turn[i - 1], turn[draw(i)]);
        double total = 0;
        for (size_t since = 0, i = 0; since < n; i = (i + 1) % n) {
            since = move(order, turn[i], total) ? 0 : since + 1;
            poll_(64 * n);
        }
        return total;
    }

    // With v at place i of the others, those before i are without it and those from i on may have it as a parent.
    bool move(std::vector<std::int32_t>& order, std::int32_t v, double& total) {
        const size_t n = order.size(), now = std::find(order.begin(), order.end(), v) - order.begin();
        order.erase(order.begin() + now);
        place_.assign(n, 0.0);
        std::fill(before_.begin(), before_.end(), 0);
        double with_v = 0, behind = 0;
        for (size_t i = 0; i < n; ++i) {
            before_[v] = 0;
            place_[i] += behind + score(v);
            if (i + 1 == n) break;
            const std::int32_t other = order[i];
            const double without = score(other);
            before_[v] = 1;
            const double with = score(other);
            behind += without - with;  // of all from i on the sum with v is added below
            with_v += with;
            before_[other] = 1;
        }
        size_t to = now;
        for (size_t i = 0; i < n; ++i)
            if (place_[i] > place_[to]) to = i;
        if (place_[to] - place_[now] <= rounding * std::abs(place_[now] + with_v)) to = now;
        total = place_[to] + with_v;
        order.insert(order.begin() + to, v);
        return to != now;
    }

    const KnownFamilies& families_;
    std::uint64_t seed_;
    InterruptPoll poll_;
    std::vector<char> before_;
    std::vector<double> place_;
    std::int64_t draws_ = 0;
};

}  // namespace lyceum::bayesnets
