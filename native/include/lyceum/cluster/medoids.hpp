// k-medoids on the matrix of all distances: BUILD, which adds the best medoid one after another, and swaps of a medoid
// and another row, made as soon as they lower the loss sum_i w_i min_m D[m, i] (FasterPAM; Schubert and Rousseeuw
// 2021). The change of the loss by row c in place of each medoid takes one pass over the distances of c:
//   sum_i w_i min(D[c,i] - d1_i, 0), and per nearest medoid the sum of w_i (min(max(D[c,i], d1_i), d2_i) - d2_i)
// on top of what the loss gains by removing it, sum_i w_i (d2_i - d1_i). Rows are kept in order of their nearest
// medoid, so that these are sums over stretches. Cost: n per candidate, n^2 per round of all candidates.
#pragma once
#include <algorithm>
#include <lyceum/core/interrupt.hpp>
#include <lyceum/core/thread_team.hpp>
#include <lyceum/core/views.hpp>
#include <vector>

namespace lyceum::cluster {

template <class T>
class Medoids {
public:
    Medoids(Matrix<const T> D, const double* w, size_t k, size_t threads, InterruptPoll poll)
        : D_(D), n_(D.rows), k_(k), team_(threads), poll_(poll), w_(n_), first_(n_), second_(n_), d1_(n_), d2_(n_) {
        for (size_t i = 0; i < n_; ++i) w_[i] = weight_of(w, i);
    }

    // The medoids one after another, each the row that lowers the loss most.
    void build(std::int64_t* medoids) {
        std::vector<double> nearest(n_, std::numeric_limits<double>::infinity()), gain(n_);
        std::vector<bool> taken(n_);
        const size_t step = 64;
        for (size_t m = 0; m < k_; ++m) {
            team_((n_ + step - 1) / step, [&](size_t task) {
                for (size_t c = task * step; c < std::min(n_, (task + 1) * step); ++c) {
                    const T* row = D_.row(c);
                    double sum = 0;
                    if (m == 0)
                        for (size_t i = 0; i < n_; ++i) sum += w_[i] * static_cast<double>(row[i]);
                    else
#pragma omp simd reduction(+ : sum)
                        for (size_t i = 0; i < n_; ++i)
                            sum += w_[i] * std::min(static_cast<double>(row[i]) - nearest[i], 0.);
                    gain[c] = sum;
                }
            });
            poll_(n_ * n_);
            size_t best = n_;
            for (size_t c = 0; c < n_; ++c)
                if (!taken[c] && (best == n_ || gain[c] < gain[best])) best = c;
            taken[best] = true, medoids[m] = static_cast<std::int64_t>(best);
            for (size_t i = 0; i < n_; ++i) nearest[i] = std::min(nearest[i], static_cast<double>(D_.row(best)[i]));
        }
    }

    // Swaps until none lowers the loss, or for `most` rounds; returns the rounds. `losses` grows by one per round.
    size_t swap(std::int64_t* medoids, size_t most, std::vector<double>& losses) {
        medoid_.assign(medoids, medoids + k_);
        is_medoid_.assign(n_, false);
        for (const auto m : medoid_) is_medoid_[static_cast<size_t>(m)] = true;
        assign();
        losses.push_back(loss());
        size_t rounds = 0, since = 0;  // candidates since the last swap
        for (size_t c = 0; rounds < most && k_ < n_ && since < n_;) {
            // A few candidates at once; the first that helps is taken, and those after it are looked at again.
            const size_t batch = std::min(std::min(n_ - c, n_ - since), team_.size() == 1 ? 1 : 8 * team_.size());
            changes_.resize(batch);
            team_(batch, [&](size_t b) { changes_[b] = change(c + b); });
            size_t b = 0;
            while (b < batch && !(changes_[b].loss < -1e-12 * loss_)) ++b;
            if (b < batch) {
                exchange(changes_[b].medoid, c + b);
                since = 0, c += b + 1;
            } else {
                since += batch, c += batch;
            }
            poll_(batch * n_ * 4);
            if (c == n_) c = 0, ++rounds, losses.push_back(loss());
        }
        if (rounds < most && since) ++rounds;
        losses.push_back(loss());
        std::copy(medoid_.begin(), medoid_.end(), medoids);
        return rounds;
    }

private:
    struct Change {
        double loss = 0;
        size_t medoid = 0;
    };

    double loss() {
        loss_ = 0;
        for (size_t i = 0; i < n_; ++i) loss_ += w_[i] * static_cast<double>(d1_[i]);
        return loss_;
    }

    // The nearest and the second nearest medoid of row i.
    void look(size_t i) {
        size_t one = 0, two = k_;
        for (size_t m = 1; m < k_; ++m) {
            const T d = to(m, i);
            if (d < to(one, i))
                two = one, one = m;
            else if (two == k_ || d < to(two, i))
                two = m;
        }
        first_[i] = one, d1_[i] = to(one, i);
        second_[i] = two, d2_[i] = two == k_ ? std::numeric_limits<T>::max() : to(two, i);
    }
    T to(size_t m, size_t i) const { return D_.row(static_cast<size_t>(medoid_[m]))[i]; }

    void assign() {
        for (size_t i = 0; i < n_; ++i) look(i);
        arrange();
    }

    // Rows in order of their nearest medoid, and what removing every medoid costs.
    void arrange() {
        starts_.assign(k_ + 1, 0), removal_.assign(k_, 0);
        for (size_t i = 0; i < n_; ++i) ++starts_[first_[i] + 1];
        for (size_t m = 0; m < k_; ++m) starts_[m + 1] += starts_[m];
        order_.resize(n_), near_.resize(n_), next_.resize(n_), weight_.resize(n_);
        auto place = starts_;
        for (size_t i = 0; i < n_; ++i) {
            const size_t at = place[first_[i]]++;
            order_[at] = static_cast<std::uint32_t>(i);
            near_[at] = d1_[i], next_[at] = d2_[i], weight_[at] = w_[i];
            if (k_ > 1) removal_[first_[i]] += w_[i] * (static_cast<double>(d2_[i]) - static_cast<double>(d1_[i]));
        }
        loss();
    }

    // The best medoid to put row c in the place of.
    Change change(size_t c) const {
        if (is_medoid_[c]) return {};
        const T* row = D_.row(c);
        if (k_ == 1) {
            double sum = 0;
            for (size_t i = 0; i < n_; ++i) sum += w_[i] * (static_cast<double>(row[i]) - static_cast<double>(d1_[i]));
            return {sum, 0};
        }
        thread_local std::vector<T> values;
        values.resize(n_);
        for (size_t at = 0; at < n_; ++at) values[at] = row[order_[at]];
        double added = 0;
        Change best;
        best.loss = std::numeric_limits<double>::infinity();
        for (size_t m = 0; m < k_; ++m) {
            double taken = 0, moved = 0;
#pragma omp simd reduction(+ : taken, moved)
            for (size_t at = starts_[m]; at < starts_[m + 1]; ++at) {
                const T value = values[at], near = near_[at], next = next_[at];
                taken += weight_[at] * static_cast<double>(std::min(value - near, T{0}));
                moved += weight_[at] * static_cast<double>(std::min(std::max(value, near), next) - next);
            }
            added += taken;
            if (removal_[m] + moved < best.loss) best = {removal_[m] + moved, m};
        }
        best.loss += added;
        return best;
    }

    void exchange(size_t m, size_t c) {
        is_medoid_[static_cast<size_t>(medoid_[m])] = false, is_medoid_[c] = true;
        medoid_[m] = static_cast<std::int64_t>(c);
        const T* row = D_.row(c);
        for (size_t i = 0; i < n_; ++i) {
            if (first_[i] == m || second_[i] == m)
                look(i);
            else if (row[i] < d1_[i])
                second_[i] = first_[i], d2_[i] = d1_[i], first_[i] = m, d1_[i] = row[i];
            else if (row[i] < d2_[i])
                second_[i] = m, d2_[i] = row[i];
        }
        arrange();
    }

    Matrix<const T> D_;
    size_t n_, k_;
    ThreadTeam team_;
    InterruptPoll poll_;
    std::vector<double> w_;
    std::vector<size_t> first_, second_;  // of every row
    std::vector<T> d1_, d2_;
    std::vector<std::int64_t> medoid_;
    std::vector<bool> is_medoid_;
    std::vector<size_t> starts_;
    std::vector<std::uint32_t> order_;
    std::vector<T> near_, next_;  // d1, d2 and w in that order
    std::vector<double> weight_, removal_;
    std::vector<Change> changes_;
    double loss_ = 0;
};

}  // namespace lyceum::cluster
