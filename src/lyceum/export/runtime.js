// What an exported model runs on: the functions of runtime.py by the same names. `x` is the row so
// far; NaN is a missing cell, -1 an unknown category.

function read_cells(record, columns) {
  return columns.map(({ name, codes }) => {
    if (!(name in record)) throw new Error(`the record has no column '${name}'`);
    const value = record[name];
    if (value === null || value === undefined || Number.isNaN(value)) return NaN;
    if (codes !== null) {
      const code = codes[String(value)];
      return code === undefined || !Object.hasOwn(codes, String(value)) ? -1 : code;
    }
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return Number(value);
    throw new Error(`column '${name}' is a number, not ${JSON.stringify(value)}`);
  });
}

function pick(x, p) {
  return p.columns.map((j) => x[j]);
}

function recode(x, p) {
  const out = x.slice();
  for (const [j, kind, values] of p.changes) {
    const cell = out[j];
    if (Number.isNaN(cell)) continue;
    if (kind === "numbers to codes") out[j] = values.indexOf(cell);
    else if (cell >= 0) out[j] = values[cell];
    else if (kind === "codes to numbers") out[j] = NaN;
  }
  return out;
}

function require(x, p) {
  p.names.forEach((name, j) => {
    if (Number.isNaN(x[j])) {
      if (!p.takes_missing) {
        throw new Error(`column '${name}' is missing, which this model cannot take`);
      }
    } else if (!Number.isFinite(x[j])) throw new Error(`column '${name}' is infinite`);
  });
  return x;
}

function fill(x, p) {
  const flags = p.flagged.map((j) => (Number.isNaN(x[j]) ? 1 : 0));
  return x.map((cell, j) => (Number.isNaN(cell) ? p.values[j] : cell)).concat(flags);
}

function affine(x, p) {
  return x.map((cell, j) => {
    let value = (cell - p.center[j]) / p.scale[j];
    if (p.gain !== null) value = value * p.gain[j] + p.offset[j];
    if (p.low !== null) value = Math.min(Math.max(value, p.low[j]), p.high[j]);
    return value;
  });
}

function expand(x, p) {
  const out = [];
  p.columns.forEach((j, i) => {
    const [size, first] = p.layout[i];
    if (size === 0) out.push(x[j]);
    else {
      for (let k = 0; k < size; k++) {
        out.push(Number.isNaN(x[j]) ? NaN : Number(Math.trunc(x[j]) === first + k));
      }
    }
  });
  return out;
}

function linear(x, p) {
  return p.coef.map((row, k) => {
    let sum = 0;
    for (let j = 0; j < row.length; j++) sum += row[j] * x[j];
    return p.intercept[k] + sum;
  });
}

function gaussians(x, p) {
  return p.means.map((mean, k) => {
    let square = 0;
    for (const row of p.whiten[k]) {
      let part = 0;
      for (let j = 0; j < row.length; j++) part += row[j] * (x[j] - mean[j]);
      square += part * part;
    }
    return p.constant[k] - square / 2;
  });
}

function column_densities(x, p) {
  const out = p.log_prior.slice();
  for (const [j, means, halves, peaks] of p.gaussians) {
    if (Number.isNaN(x[j])) continue;
    for (let k = 0; k < out.length; k++) out[k] += peaks[k] - halves[k] * (x[j] - means[k]) ** 2;
  }
  for (const [j, table] of p.tables) {
    if (!(x[j] >= 0 && x[j] < table.length)) continue;
    for (let k = 0; k < out.length; k++) out[k] += table[Math.trunc(x[j])][k];
  }
  return out;
}

function tree_step(cell, tree, node) {
  const kind = tree.kind[node];
  if (kind === 1) return cell <= tree.threshold[node] ? 0 : 1;
  const start = tree.table[node];
  if (kind === 2) {
    let step = 0;
    while (step < tree.n_children[node] - 1 && tree.cuts[start + step] < cell) step++;
    return step;
  }
  const known = cell >= 0 && cell < tree.n_codes[node];
  return known ? tree.branches[start + Math.trunc(cell)] : -1;
}

function tree_value(x, tree, node, weight, out) {
  while (tree.kind[node] !== 0) {
    const cell = x[tree.feature[node]];
    const first = tree.child[node];
    const step = Number.isNaN(cell) ? tree.missing[node] : tree_step(cell, tree, node);
    if (step < 0 && Number.isNaN(cell)) {
      let whole = 0;
      for (let c = first; c < first + tree.n_children[node]; c++) whole += tree.weight[c];
      for (let c = first; c < first + tree.n_children[node]; c++) {
        if (tree.weight[c] > 0) tree_value(x, tree, c, weight * (tree.weight[c] / whole), out);
      }
      return;
    }
    if (step < 0) break;
    node = first + step;
  }
  tree.value[node].forEach((value, k) => { out[tree.column + k] += weight * value; });
}

function trees(x, p) {
  const out = p.start.slice();
  for (const tree of p.trees) tree_value(x, tree, 0, 1, out);
  return out;
}

function power(value, degree) {
  return value ** degree;
}

function kernel(x, p) {
  return p.rows.map((row) => {
    let sum = 0;
    if (p.kind === "rbf") {
      for (let j = 0; j < row.length; j++) sum += (row[j] - x[j]) ** 2;
      return Math.exp(-p.gamma * sum);
    }
    for (let j = 0; j < row.length; j++) sum += row[j] * x[j];
    sum = p.gamma * sum + p.shift;
    if (p.kind === "polynomial") return power(sum, p.degree);
    return p.kind === "sigmoid" ? Math.tanh(sum) : sum;
  });
}

function before(x, p) {
  return p.values.concat(x);
}

function cut(x, p) {
  return x.map((cell, j) => {
    const cuts = p.cuts[j];
    return cuts === null || Number.isNaN(cell) ? cell : cuts.filter((c) => c < cell).length;
  });
}

function branches(x, p) {
  return p.branches.flatMap((list) => run_operations(x, list));
}

function vote(x, p) {
  let best = 0;
  for (let k = 1; k < x.length; k++) if (x[k] > x[best]) best = k;
  return x.map((_, k) => (k === best ? 1 : 0));
}

function scatter(x, p) {
  const out = new Array(p.size).fill(0);
  p.columns.forEach((j, i) => { out[j] = x[i]; });
  return out;
}

function fuse(x, p) {
  const members = [];
  for (let i = 0; i < x.length; i += p.width) members.push(x.slice(i, i + p.width));
  const columns = members[0].map((_, k) => members.map((member) => member[k]));
  if (p.rule === "median") {
    const middle = Math.floor(members.length / 2);
    return columns.map((column) => {
      const ordered = column.slice().sort((a, b) => a - b);
      return members.length % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
    });
  }
  if (p.rule === "minimum") {
    const out = columns.map((column) => Math.min(...column));
    if (p.width === 1 || out.reduce((a, b) => a + b, 0) >= 2.2250738585072014e-308) return out;
    return columns.map((column) => column.reduce((a, b) => a + b, 0) / column.length);
  }
  if (p.rule === "maximum") return columns.map((column) => Math.max(...column));
  const weights = p.weights;
  if (p.rule === "product") {
    const equal = Math.min(...weights) === Math.max(...weights);
    const powers = weights.map((w) => (equal ? 1 : w * weights.length));
    const out = columns.map((column) => column.reduce((a, v, l) => a * v ** powers[l], 1));
    if (out.reduce((a, b) => a + b, 0) >= 2.2250738585072014e-308) return out;
  }
  return columns.map((column) => column.reduce((sum, v, l) => sum + weights[l] * v, 0));
}

function distances(x, p) {
  return p.rows.map((row) => {
    let sum = 0;
    for (let j = 0; j < row.length; j++) {
      sum += p.metric === "manhattan" ? Math.abs(row[j] - x[j]) : (row[j] - x[j]) ** 2;
    }
    return p.metric === "manhattan" ? sum : Math.sqrt(sum);
  });
}

function nearest(x, p) {
  const rows = x.map((_, i) => i).sort((a, b) => x[a] - x[b] || a - b).slice(0, p.k);
  let votes = neighbor_votes(rows.map((i) => x[i]), p.votes, p.bandwidth);
  if (!(votes.reduce((a, b) => a + b, 0) > 0)) votes = rows.map(() => 1);
  const total = votes.reduce((a, b) => a + b, 0);
  return p.targets[0].map((_, k) =>
    rows.reduce((sum, i, l) => sum + votes[l] * p.targets[i][k], 0) / total);
}

function neighbor_votes(d, kind, bandwidth) {
  if (kind === "uniform") return d.map(() => 1);
  if (kind === "distance" || kind === "inverse_square") {
    if (d[0] === 0) return d.map((v) => (v === 0 ? 1 : 0));
    return d.map((v) => (d[0] / v) ** (kind === "distance" ? 1 : 2));
  }
  const width = bandwidth || d[d.length - 1] || 1;
  if (kind === "shifted_inverse_square") return d.map((v) => (width / (width + v)) ** 2);
  const factor = kind === "gaussian" ? 0.5 : 1;
  return d.map((v) => Math.exp(-factor * ((v / width) ** 2 - (d[0] / width) ** 2)));
}

function pairs(x, p) {
  const votes = new Array(p.size).fill(0);
  const sums = new Array(p.size).fill(0);
  p.machines.forEach(([against, favored], i) => {
    const won = x[i] > 0 || (x[i] === 0 && !p.strict);
    votes[won ? favored : against] += 1;
    sums[favored] += x[i];
    sums[against] -= x[i];
  });
  if (!p.breaks_ties) return votes;
  return votes.map((v, k) => v + sums[k] / (3 * (Math.abs(sums[k]) + 1)));
}

function couple(x, p) {
  const indices = [...Array(p.size).keys()];
  const r = indices.map(() => new Array(p.size).fill(0));
  p.pairs.forEach(([i, j], l) => {
    r[i][j] = Math.min(Math.max(1 - x[l], p.least), 1 - p.least);
    r[j][i] = Math.min(Math.max(x[l], p.least), 1 - p.least);
  });
  const rows = indices.map((i) => [...indices.map((j) => 1 - r[j][i] * r[i][j]), 1]);
  for (const i of indices) rows[i][i] = 1 + indices.reduce((sum, j) => sum + r[j][i] ** 2, 0);
  for (const i of indices) {
    const pivot = rows[i].map((v) => v / rows[i][i]);
    for (const k of indices) {
      const factor = rows[k][i];
      if (k !== i) rows[k] = rows[k].map((v, l) => v - factor * pivot[l]);
    }
    rows[i] = pivot;
  }
  const total = rows.reduce((sum, row) => sum + row[p.size], 0);
  const known = rows.map((row) => Math.max(row[p.size] / total, p.floor));
  const all = known.reduce((a, b) => a + b, 0);
  return known.map((v) => v / all);
}

function weighted_median(x, p) {
  const half = 0.5 * p.weights.reduce((a, b) => a + b, 0) * (1 - 1e-12);
  const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b] || a - b);
  let reached = 0;
  return [x[order.find((i) => (reached += p.weights[i]) >= half)]];
}

function cascade(x, p) {
  for (let stage = 0; ;) {
    const answer = x.slice(stage * p.width, (stage + 1) * p.width);
    let best = 0;
    for (let k = 1; k < p.width; k++) if (answer[k] > answer[best]) best = k;
    const onward = p.next[stage][best];
    if (answer[best] >= p.thresholds[stage] || onward < 0) return answer;
    stage = onward;
  }
}

function radial(x, p) {
  return p.centers.map((center, j) => {
    const square = center.reduce((sum, c, i) => sum + (x[i] - c) ** 2, 0);
    return p.constants[j] - p.halves[j] * square;
  });
}

function mix(x, p) {
  return [...Array(p.width).keys()].map((k) => {
    let sum = 0;
    for (let j = 0; j < p.n; j++) sum += x[j] * x[p.n + j * p.width + k];
    return sum;
  });
}

function sides(x, p) {
  return x[0] >= 0 ? [0, 1] : [1, 0];
}

function activate(x, p) {
  const functions = {
    sigmoid: logistic,
    log_sigmoid: (v) => Math.min(v, 0) - Math.log1p(Math.exp(-Math.abs(v))),
    tanh: Math.tanh,
    relu: (v) => Math.max(v, 0),
    exp: (v) => Math.exp(Math.min(v, 700)),
    sign: (v) => (v > 0 ? 1 : -1),
  };
  return x.map(functions[p.function]);
}

function logistic(v) {
  if (v >= 0) return 1 / (1 + Math.exp(-v));
  const e = Math.exp(v);
  return e / (1 + e);
}

function softmax(x, p) {
  const top = Math.max(...x);
  if (top === -Infinity) return x.map(() => 1 / x.length);
  const powers = x.map((v) => Math.exp(v - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((v) => v / total);
}

function shares(x, p) {
  const total = x.reduce((a, b) => a + b, 0);
  if ("otherwise" in p && !(total > 0)) return p.otherwise.slice();
  return x.map((v) => (total >= 2.2250738585072014e-308 ? v / total : NaN));
}

function run_operations(x, list) {
  for (const [name, p] of list) x = operations[name](x, p);
  return x;
}

function decide_cells(x, program) {
  x = run_operations(x, program.operations);
  if (x.some(Number.isNaN)) {
    throw new Error("the answer is no number: the cells are too far from all rows");
  }
  if (program.labels === null) return { predicted: x[0] };
  const scores = x.slice(-program.labels.length);
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k] > scores[best]) best = k;
  const answer = { predicted: program.labels[best] };
  if (program.has_posteriors) {
    answer.probabilities = Object.fromEntries(program.labels.map((label, k) => [String(label), x[k]]));
  }
  if (program.costs !== null) Object.assign(answer, minimum_risk(x, best, program.costs));
  return answer;
}

function minimum_risk(x, best, costs) {
  const risks = costs.values[0].map((_, a) => x.reduce((sum, p, k) => sum + p * costs.values[k][a], 0));
  let action = best;
  if (!costs.zero_one) {
    action = 0;
    for (let a = 1; a < risks.length; a++) if (risks[a] < risks[action]) action = a;
  }
  if (costs.doubt !== null) {
    const sure = costs.zero_one ? x[action] > 1 - costs.doubt : risks[action] < costs.doubt;
    if (!sure) return { action: costs.reject_label, risk: costs.doubt, rejected: true };
  }
  return { action: costs.actions[action], risk: risks[action], rejected: !costs.names_class[action] };
}
