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

function kernel(x, p) {
  return p.rows.map((row) => {
    let sum = 0;
    if (p.kind === "rbf") {
      for (let j = 0; j < row.length; j++) sum += (row[j] - x[j]) ** 2;
      return Math.exp(-p.gamma * sum);
    }
    for (let j = 0; j < row.length; j++) sum += row[j] * x[j];
    sum = p.gamma * sum + p.shift;
    if (p.kind === "polynomial") return sum ** p.degree;
    return p.kind === "sigmoid" ? Math.tanh(sum) : sum;
  });
}

function before(x, p) {
  return p.values.concat(x);
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
  return x.map((v) => v / total);
}

function run_operations(x, list) {
  for (const [name, p] of list) x = operations[name](x, p);
  return x;
}

function decide_cells(x, program) {
  x = run_operations(x, program.operations);
  if (program.labels === null) return { predicted: x[0] };
  let best = 0;
  for (let k = 1; k < x.length; k++) if (x[k] > x[best]) best = k;
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
