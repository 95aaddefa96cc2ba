// Decisions over posteriors: the only thing that the page computes. One pass over the rows gives the
// confusion table, the cost and what the error–reject curve needs; up to a million rows in a frame.

/** @typedef {{ y: Float64Array, weight: Float64Array | null, posteriors: Float64Array[] }} Sample */
/** @typedef {{ loss: number[][], doubt: number | null, priors: number[], trained: number[] }} Point */

const BINS = 400; // of the risk, for the error–reject curve

/**
 * Whether every mistake costs 1; then decisions are made by the posteriors themselves, as
 * `lyceum.decision.minimum_risk` makes them.
 * @param {number[][]} loss
 */
function isZeroOne(loss) {
  return loss.every((row, i) => row.length === loss.length && row.every((cost, j) => cost === (i === j ? 0 : 1)));
}

/**
 * The decisions of least risk: argmin_a Σ_k λ[k, a] P(k|x), doubt where that is not below θ. Other
 * class shares change posteriors to P(k|x) π'_k / π_k and weigh rows alike.
 * @param {Sample} sample
 * @param {Point} point
 */
export function decide(sample, { loss, doubt, priors, trained }) {
  const { y, weight, posteriors } = sample;
  const nClasses = posteriors.length;
  const nActions = loss[0].length;
  const ratio = Float64Array.from(priors, (share, k) => share / trained[k]);
  const isShifted = ratio.some((each) => Math.abs(each - 1) > 1e-12);
  const zeroOne = isZeroOne(loss);
  const costs = Float64Array.from(loss.flat());
  const most = Math.max(...costs, 1e-300);
  const threshold = doubt === null ? Infinity : doubt;
  const confusion = new Float64Array(nClasses * (nActions + 1));
  const accepted = new Float64Array(BINS + 1); // weights and errors by the risk of a row
  const wrong = new Float64Array(BINS + 1);
  const best = nClasses === 2 && nActions === 2 ? bestOfTwo(posteriors, costs, ratio) : bestOfMany(posteriors, costs, ratio, nActions);
  const answer = { action: 0, risk: 0, posterior: 0 };
  let total = 0;
  let cost = 0;
  for (let i = 0; i < y.length; i += 1) {
    const k = y[i];
    best(i, zeroOne, answer);
    const { action, risk } = answer;
    const w = (weight ? weight[i] : 1) * (isShifted ? ratio[k] : 1);
    const bin = Math.min(BINS, Math.max(0, (risk / most) * BINS)) | 0;
    accepted[bin] += w;
    if (action !== k) wrong[bin] += w;
    const isSure = doubt === null || (zeroOne ? answer.posterior > 1 - threshold : risk < threshold);
    confusion[k * (nActions + 1) + (isSure ? action : nActions)] += w;
    cost += w * (isSure ? costs[k * nActions + action] : threshold);
    total += w;
  }
  return { ...tally(confusion, nClasses, nActions, total), cost: cost / total, total, curve: rejectCurve(accepted, wrong, total, most) };
}

/** @typedef {{ action: number, risk: number, posterior: number }} Best */

/**
 * The best action of a row, of two classes and two actions.
 * @param {Float64Array[]} posteriors
 * @param {Float64Array} costs
 * @param {Float64Array} ratio
 */
function bestOfTwo([first, second], [c00, c01, c10, c11], [r0, r1]) {
  return (/** @type {number} */ i, /** @type {boolean} */ zeroOne, /** @type {Best} */ answer) => {
    let p = first[i] * r0;
    let q = second[i] * r1;
    if (r0 !== r1) {
      const sum = p + q;
      p /= sum;
      q /= sum;
    }
    const ofFirst = c00 * p + c10 * q;
    const ofSecond = c01 * p + c11 * q;
    const isSecond = zeroOne ? q > p : ofSecond < ofFirst;
    answer.action = isSecond ? 1 : 0;
    answer.risk = isSecond ? ofSecond : ofFirst;
    answer.posterior = isSecond ? q : p;
  };
}

/**
 * The same for any number of them.
 * @param {Float64Array[]} posteriors
 * @param {Float64Array} costs
 * @param {Float64Array} ratio
 * @param {number} nActions
 */
function bestOfMany(posteriors, costs, ratio, nActions) {
  const nClasses = posteriors.length;
  const p = new Float64Array(nClasses);
  const isShifted = ratio.some((each) => Math.abs(each - 1) > 1e-12);
  return (/** @type {number} */ i, /** @type {boolean} */ zeroOne, /** @type {Best} */ answer) => {
    let sum = 0;
    for (let c = 0; c < nClasses; c += 1) {
      p[c] = posteriors[c][i] * (isShifted ? ratio[c] : 1);
      sum += p[c];
    }
    if (isShifted) for (let c = 0; c < nClasses; c += 1) p[c] /= sum;
    let best = 0;
    let least = Infinity;
    for (let a = 0; a < nActions; a += 1) {
      let risk = 0;
      for (let c = 0; c < nClasses; c += 1) risk += costs[c * nActions + a] * p[c];
      if (a === 0 || (zeroOne ? p[a] > p[best] : risk < least)) {
        best = a;
        least = risk;
      }
    }
    answer.action = best;
    answer.risk = least;
    answer.posterior = p[best];
  };
}

/**
 * @param {Float64Array} confusion
 * @param {number} nClasses
 * @param {number} nActions
 * @param {number} total
 */
function tally(confusion, nClasses, nActions, total) {
  let rejected = 0;
  let errors = 0;
  const table = [];
  for (let k = 0; k < nClasses; k += 1) {
    const row = Array.from(confusion.subarray(k * (nActions + 1), (k + 1) * (nActions + 1)));
    rejected += row[nActions];
    errors += row.slice(0, nActions).reduce((sum, n, a) => sum + (a === k ? 0 : n), 0);
    table.push(row);
  }
  const made = total - rejected;
  return { confusion: table, rejectRate: rejected / total, error: made > 0 ? errors / made : null };
}

/**
 * The error among the rows that are accepted, by the share that is not: the rows of highest risk go
 * first.
 * @param {Float64Array} accepted
 * @param {Float64Array} wrong
 * @param {number} total
 * @param {number} most
 */
function rejectCurve(accepted, wrong, total, most) {
  const rejectRate = [];
  const error = [];
  const doubt = [];
  let n = 0;
  let errors = 0;
  for (let bin = 0; bin <= BINS; bin += 1) {
    if (!accepted[bin]) continue;
    n += accepted[bin];
    errors += wrong[bin];
    rejectRate.push(1 - n / total);
    error.push(errors / n);
    doubt.push(((bin + 1) / BINS) * most);
  }
  return { rejectRate: rejectRate.reverse(), error: error.reverse(), doubt: doubt.reverse() };
}

/**
 * Counts by threshold of the first class, made once per learner: the cost of every threshold is then
 * a sum of two numbers.
 * @param {Sample} sample two classes
 */
export function byThreshold({ y, weight, posteriors: [p] }) {
  const n = 200;
  const first = new Float64Array(n + 2);
  const second = new Float64Array(n + 2);
  for (let i = 0; i < y.length; i += 1) {
    const bin = Math.min(n, Math.floor(p[i] * n));
    const w = weight ? weight[i] : 1;
    if (y[i] === 0) first[bin] += w;
    else second[bin] += w;
  }
  return { n, first, second };
}

/**
 * The mean cost when the first class is the answer from every threshold on.
 * @param {ReturnType<typeof byThreshold>} counts
 * @param {Point} point
 */
export function costByThreshold({ n, first, second }, { loss, priors, trained }) {
  const weights = priors.map((share, k) => share / trained[k]);
  const total = weights[0] * sumOf(first) + weights[1] * sumOf(second);
  let missed = 0; // rows of the first class below the threshold
  let alarms = sumOf(second);
  const right = sumOf(first);
  const thresholds = [];
  const costs = [];
  for (let bin = 0; bin <= n; bin += 1) {
    const ofFirst = weights[0] * (missed * loss[0][1] + (right - missed) * loss[0][0]);
    const ofSecond = weights[1] * (alarms * loss[1][0] + (sumOf(second) - alarms) * loss[1][1]);
    thresholds.push(bin / n);
    costs.push((ofFirst + ofSecond) / total);
    missed += first[bin];
    alarms -= second[bin];
  }
  return { thresholds, costs };
}

/** @param {Float64Array} values */
function sumOf(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/**
 * The threshold of the first class, in its posterior of training, that these costs and shares ask for.
 * @param {Point} point
 */
export function theoreticalThreshold({ loss, priors, trained }) {
  const alarm = (loss[1][0] - loss[1][1]) * (priors[1] / trained[1]);
  const miss = (loss[0][1] - loss[0][0]) * (priors[0] / trained[0]);
  return alarm / (alarm + miss);
}
