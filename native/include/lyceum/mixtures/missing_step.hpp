// A step of expectation-maximization for rows with missing cells, grouped by which cells are missing. With the
// columns o that are known and m that are missing, component k has the marginal N(mean_o, S_oo) of a row, and of its
// missing cells the conditional mean mean_m + G (x_o - mean_o) and covariance C:
//   G = S_mo S_oo^-1,   C = S_mm - G S_om.
// Responsibilities r and weights u are those of the marginal; the sums are of rows filled with conditional means,
// with C added to the scatter of every row. Columns without variance say nothing of others; a singular S_oo gets a
// ridge of a millionth of its diagonal. Cost: K (o^3/3 + m o^2) for a group, K (o^2 + m o + d^2/2) for a row.
#pragma once
#include <lyceum/core/ranked_squares.hpp>
#include <lyceum/mixtures/mixture_step.hpp>

namespace lyceum::mixtures {

struct Spreads {
    const double *mean, *matrix, *log_weight, *degrees;  // (K, d), (K, d, d) or (K, d), (K,), (K,) or null
    const double *peak, *log_shift;  // (d + 1, K): log density at the mean of j columns without log|S|/2; for `logs`
    size_t K, d;
    bool diagonal, shared;  // shared: all matrices are one

    double cell(size_t k, size_t a, size_t b) const {
        if (diagonal) return a == b ? matrix[k * d + a] : 0.0;
        return matrix[(k * d + a) * d + b];
    }
};

// What a group of rows needs of one component: Cholesky's L of S_oo in units of its diagonal, G and C.
struct Conditional {
    std::vector<double> L, unit, G, C;
    std::vector<size_t> used;  // columns that are known and vary
    double log_det = 0;

    void learn(const Spreads& at, size_t k, const std::vector<size_t>& there, const std::vector<size_t>& gone) {
        used.clear(), unit.clear(), log_det = 0;
        for (const size_t j : there)
            if (const double v = at.cell(k, j, j); v > 0) {
                used.push_back(j), unit.push_back(1.0 / std::sqrt(v));
                log_det += std::log(v);
            }
        const size_t o = used.size(), m = gone.size();
        L.assign(o * o, 0.0), G.assign(m * o, 0.0), C.assign(m * m, 0.0);
        if (at.diagonal) {
            for (size_t j = 0; j < o; ++j) L[j * o + j] = 1.0;
            for (size_t a = 0; a < m; ++a) C[a * m + a] = at.cell(k, gone[a], gone[a]);
            return;
        }
        if (!factor(at, k, 0.0)) factor(at, k, 1e-6);
        for (size_t j = 0; j < o; ++j) log_det += 2.0 * std::log(L[j * o + j]);
        for (size_t a = 0; a < m; ++a) {
            double* g = G.data() + a * o;
            for (size_t j = 0; j < o; ++j) g[j] = at.cell(k, gone[a], used[j]) * unit[j];
            forward(g);
            backward(g);
            for (size_t j = 0; j < o; ++j) g[j] *= unit[j];
            for (size_t b = 0; b < m; ++b) {
                double left = at.cell(k, gone[a], gone[b]);
                for (size_t j = 0; j < o; ++j) left -= g[j] * at.cell(k, used[j], gone[b]);
                C[a * m + b] = left;
            }
        }
    }

    bool factor(const Spreads& at, size_t k, double ridge) {
        const size_t o = used.size();
        for (size_t i = 0; i < o; ++i)
            for (size_t j = 0; j <= i; ++j) {
                double sum = at.cell(k, used[i], used[j]) * unit[i] * unit[j] + (i == j ? ridge : 0.0);
                for (size_t p = 0; p < j; ++p) sum -= L[i * o + p] * L[j * o + p];
                if (i == j && !(sum > unexplained) && ridge == 0.0) return false;
                L[i * o + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / L[j * o + j];
            }
        return true;
    }

    void forward(double* z) const {
        const size_t o = used.size();
        for (size_t i = 0; i < o; ++i) {
            for (size_t p = 0; p < i; ++p) z[i] -= L[i * o + p] * z[p];
            z[i] /= L[i * o + i];
        }
    }

    void backward(double* z) const {
        const size_t o = used.size();
        for (size_t i = o; i-- > 0;) {
            z[i] /= L[i * o + i];
            for (size_t p = 0; p < i; ++p) z[p] -= L[i * o + p] * z[i];
        }
    }
};

struct Groups {
    const std::int64_t *order, *starts;  // rows group by group, and where every group begins, one more at the end
    size_t count;
};

// Calls visit(group's conditionals, columns there, columns gone, row, its log joint densities, their u) row by row,
// and leave(...) behind every group.
template <class Visit, class Leave>
void each_missing_row(Matrix<const double> X, const Groups& groups, const Spreads& at, Visit visit, Leave leave,
                      InterruptPoll& poll) {
    const size_t K = at.K, d = at.d;
    std::vector<Conditional> parts(at.shared ? 1 : K);
    std::vector<size_t> there, gone;
    std::vector<double> a(K), u(K), z(d);
    for (size_t g = 0; g < groups.count; ++g) {
        const auto begin = static_cast<size_t>(groups.starts[g]), end = static_cast<size_t>(groups.starts[g + 1]);
        if (begin == end) continue;
        there.clear(), gone.clear();
        const double* first = X.row(static_cast<size_t>(groups.order[begin]));
        for (size_t j = 0; j < d; ++j) (std::isnan(first[j]) ? gone : there).push_back(j);
        for (size_t k = 0; k < parts.size(); ++k) parts[k].learn(at, k, there, gone);
        const double wide = static_cast<double>(there.size());
        for (size_t i = begin; i < end; ++i) {
            const auto row = static_cast<size_t>(groups.order[i]);
            const double* x = X.row(row);
            for (size_t k = 0; k < K; ++k) {
                const Conditional& part = parts[at.shared ? 0 : k];
                const size_t o = part.used.size();
                for (size_t j = 0; j < o; ++j) z[j] = (x[part.used[j]] - at.mean[k * d + part.used[j]]) * part.unit[j];
                part.forward(z.data());
                double q = 0;
                for (size_t j = 0; j < o; ++j) q += z[j] * z[j];
                const double start = at.log_weight[k] + at.peak[o * K + k] - 0.5 * part.log_det;
                if (at.degrees) {
                    const double v = at.degrees[k];
                    a[k] = start - 0.5 * (v + wide) * std::log1p(q / v), u[k] = (v + wide) / (v + q);
                } else {
                    a[k] = start - 0.5 * q, u[k] = 1.0;
                }
            }
            visit(parts, there, gone, row, a.data(), u.data());
        }
        leave(parts, there, gone);
        poll(K * d * d * (d / 3 + end - begin));
    }
}

// log weight_k + log p(x_o | k) of the grouped rows, into their rows of `joint` (n, K).
inline void missing_joint(Matrix<const double> X, const Groups& groups, const Spreads& at, double* joint,
                          InterruptPoll poll) {
    const auto visit = [&](auto&, auto&, auto&, size_t row, const double* a, const double*) {
        std::copy_n(a, at.K, joint + row * at.K);
    };
    each_missing_row(X, groups, at, visit, [](auto&, auto&, auto&) {}, poll);
}

// What every known cell takes off the log density of every component at its mean, into the rows of `terms` (n, K, d),
// and the rest of the log joint density, into those of `constant` (n, K): with e = x_o - mean_o and y = S_oo^-1 e, the
// part of column j in the squared distance q is e_j y_j. Cells that are missing or do not vary keep their value.
inline void missing_terms(Matrix<const double> X, const Groups& groups, const Spreads& at, double* terms,
                          double* constant, InterruptPoll poll) {
    const size_t K = at.K, d = at.d;
    std::vector<double> e(d), y(d);
    const auto visit = [&](auto& parts, auto& there, auto&, size_t row, const double*, const double*) {
        const double *x = X.row(row), wide = static_cast<double>(there.size());
        for (size_t k = 0; k < K; ++k) {
            const Conditional& part = parts[at.shared ? 0 : k];
            const size_t o = part.used.size();
            for (size_t j = 0; j < o; ++j) e[j] = (x[part.used[j]] - at.mean[k * d + part.used[j]]) * part.unit[j];
            std::copy_n(e.data(), o, y.data());
            part.forward(y.data());
            part.backward(y.data());
            double q = 0;
            for (size_t j = 0; j < o; ++j) q += e[j] * y[j];
            double share = 0.5;
            if (at.degrees) {
                const double v = at.degrees[k];
                share = q > 0 ? 0.5 * (v + wide) * std::log1p(q / v) / q : 0.0;
            }
            for (size_t j = 0; j < o; ++j) terms[(row * K + k) * d + part.used[j]] = -share * e[j] * y[j];
            constant[row * K + k] = at.log_weight[k] + at.peak[o * K + k] - 0.5 * part.log_det;
        }
    };
    each_missing_row(X, groups, at, visit, [](auto&, auto&, auto&) {}, poll);
}

// Sets the sums of the grouped rows and returns their sum of w log p(x).
inline double missing_step(Matrix<const double> X, const double* w, const Groups& groups, const Spreads& at,
                           const StepSums& sums, InterruptPoll poll) {
    const size_t K = at.K, d = at.d, cells = at.diagonal ? d : d * d, kinds = sums.pooled ? 1 : K;
    std::vector<double> R(K), group(K), filled(d), first(K * d), second(K * cells);
    std::fill_n(sums.rows, K, 0.0), std::fill_n(sums.weight, K, 0.0);
    if (sums.logs) std::fill_n(sums.logs, K, 0.0);
    double total = 0;
    const auto visit = [&](auto& parts, auto& there, auto& gone, size_t row, const double* a, const double* u) {
        const double wi = weight_of(w, row);
        if (!(wi > 0)) return;
        std::copy_n(a, K, R.data());
        double level = 0;
        responsibilities(R.data(), 1, K, &level);
        total += wi * level;
        const double* x = X.row(row);
        for (size_t k = 0; k < K; ++k) {
            const double r = wi * R[k], z = r * u[k];
            if (!(R[k] > negligible)) continue;
            const Conditional& part = parts[at.shared ? 0 : k];
            const size_t o = part.used.size();
            for (const size_t j : there) filled[j] = x[j] - at.mean[k * d + j];
            for (size_t m = 0; m < gone.size(); ++m) {
                double sum = 0;
                for (size_t j = 0; j < o; ++j) sum += part.G[m * o + j] * filled[part.used[j]];
                filled[gone[m]] = sum;
            }
            group[k] += r, sums.rows[k] += r, sums.weight[k] += z;
            if (sums.logs)
                sums.logs[k] += r * (std::log(u[k]) - u[k] + (at.degrees ? at.log_shift[there.size() * K + k] : 0.0));
            double *sum = first.data() + k * d, *square = second.data() + k * cells;
            for (size_t j = 0; j < d; ++j) sum[j] += z * filled[j];
            if (at.diagonal) {
                for (size_t j = 0; j < d; ++j) square[j] += z * filled[j] * filled[j];
                continue;
            }
            for (size_t p = 0; p < d; ++p) {
                const double scaled = z * filled[p];
                for (size_t j = 0; j <= p; ++j) square[p * d + j] += scaled * filled[j];
            }
        }
    };
    const auto leave = [&](auto& parts, auto&, auto& gone) {
        const size_t m = gone.size();
        for (size_t k = 0; k < K; ++k) {
            const Conditional& part = parts[at.shared ? 0 : k];
            double* square = second.data() + k * cells;
            for (size_t p = 0; p < m; ++p)
                for (size_t j = 0; j <= p; ++j) {
                    const double more = group[k] * part.C[p * m + j];
                    if (!at.diagonal) square[gone[p] * d + gone[j]] += more;
                    if (at.diagonal && p == j) square[gone[p]] += more;
                }
            group[k] = 0;
        }
    };
    each_missing_row(X, groups, at, visit, leave, poll);
    std::fill_n(sums.scatter, kinds * cells, 0.0);
    for (size_t k = 0; k < K; ++k) {
        const double weight = sums.weight[k], *sum = first.data() + k * d, *square = second.data() + k * cells;
        double* S = sums.scatter + (sums.pooled ? 0 : k * cells);
        for (size_t j = 0; j < d; ++j) sums.mean[k * d + j] = at.mean[k * d + j] + (weight > 0 ? sum[j] / weight : 0.0);
        if (!(weight > 0)) continue;
        for (size_t p = 0; p < d; ++p) {
            if (at.diagonal) S[p] += std::max(0.0, square[p] - sum[p] * sum[p] / weight);
            for (size_t j = 0; !at.diagonal && j <= p; ++j) {
                const double value = square[p * d + j] - sum[p] * sum[j] / weight;
                S[p * d + j] += p == j ? std::max(0.0, value) : value;
            }
        }
    }
    for (size_t k = 0; !at.diagonal && k < kinds; ++k)
        for (size_t p = 0; p < d; ++p)
            for (size_t j = 0; j < p; ++j) sums.scatter[(k * d + j) * d + p] = sums.scatter[(k * d + p) * d + j];
    return total;
}

}  // namespace lyceum::mixtures
