"""What an exported model runs on, in plain Python: one small function per operation.

The source of these functions is copied into `model.py`, so that each stands alone: it may use
`math` and the functions of this file, nothing else. `runtime.js` has the same by the same names.
`x` is the row so far, a list of floats in which NaN is a missing cell and -1 an unknown category.
"""

import math


def read_cells(record, columns):
    """The cells of a record in the order of the columns: numbers, or codes of categories."""
    x = []
    for column in columns:
        name = column["name"]
        if name not in record:
            raise ValueError(f"the record has no column {name!r}")
        value = record[name]
        if value is None or value != value:
            x.append(math.nan)
        elif column["codes"] is not None:
            key = str(value).lower() if isinstance(value, bool) else str(value)
            if isinstance(value, float) and value.is_integer():
                key = str(int(value))
            x.append(float(column["codes"].get(key, -1)))
        elif isinstance(value, (int, float)):
            x.append(float(value))
        else:
            raise ValueError(f"column {name!r} is a number, not {value!r}")
    return x


def pick(x, p):
    """Columns in another order."""
    return [x[j] for j in p["columns"]]


def recode(x, p):
    """Codes to other codes or to numbers, and numbers to codes."""
    x = list(x)
    for j, kind, values in p["changes"]:
        cell = x[j]
        if cell != cell:
            continue
        if kind == "numbers to codes":
            x[j] = float(values.index(cell)) if cell in values else -1.0
        elif cell >= 0:
            x[j] = values[int(cell)]
        elif kind == "codes to numbers":
            x[j] = math.nan
    return x


def require(x, p):
    """Refuse missing and infinite cells where the model cannot take them."""
    for name, cell in zip(p["names"], x):
        if cell != cell and not p["takes_missing"]:
            raise ValueError(
                f"column {name!r} is missing, which this model cannot take"
            )
        if math.isinf(cell):
            raise ValueError(f"column {name!r} is infinite")
    return x


def fill(x, p):
    """Values for missing cells, and 0/1 columns that say where some were."""
    flags = [float(x[j] != x[j]) for j in p["flagged"]]
    filled = [v if cell != cell else cell for cell, v in zip(x, p["values"])]
    return filled + flags


def affine(x, p):
    """(x - center) / scale * gain + offset, kept within [low, high]."""
    out = []
    for j, cell in enumerate(x):
        value = (cell - p["center"][j]) / p["scale"][j]
        if p["gain"] is not None:
            value = value * p["gain"][j] + p["offset"][j]
        if p["low"] is not None and value == value:
            value = min(max(value, p["low"][j]), p["high"][j])
        out.append(value)
    return out


def expand(x, p):
    """One column per category from the `first` on; numbers (size 0) stay."""
    out = []
    for cell, (size, first) in zip([x[j] for j in p["columns"]], p["layout"]):
        if size == 0:
            out.append(cell)
        elif cell != cell:
            out.extend([math.nan] * size)
        else:
            out.extend([1.0 if int(cell) == first + k else 0.0 for k in range(size)])
    return out


def linear(x, p):
    """W x + b."""
    rows = zip(p["coef"], p["intercept"])
    return [b + sum(w * v for w, v in zip(row, x)) for row, b in rows]


def gaussians(x, p):
    """constant_k - |W_k (x - mean_k)|² / 2 of every class k: log densities times priors."""
    out = []
    for mean, rows, constant in zip(p["means"], p["whiten"], p["constant"]):
        d = [v - m for v, m in zip(x, mean)]
        units = [sum(w * v for w, v in zip(row, d)) for row in rows]
        square = sum(u * u for u in units)
        out.append(constant - square / 2)
    return out


def column_densities(x, p):
    """Σ_j ln p(x_j | k) + ln P(k): Gaussians of numbers, tables of categories; missing and unknown
    cells add nothing."""
    out = list(p["log_prior"])
    for j, means, half_precisions, peaks in p["gaussians"]:
        if x[j] == x[j]:
            for k in range(len(out)):
                d = x[j] - means[k]
                out[k] += peaks[k] - half_precisions[k] * (d * d)
    for j, table in p["tables"]:
        cell = x[j]
        if cell == cell and 0 <= cell < len(table):
            for k in range(len(out)):
                out[k] += table[int(cell)][k]
    return out


def tree_step(cell, tree, node):
    """The number of the child that a cell goes to; -1 if it stays at the node."""
    kind = tree["kind"][node]
    if kind == 1:
        return 0 if cell <= tree["threshold"][node] else 1
    start = tree["table"][node]
    if kind == 2:
        cuts = tree["cuts"][start : start + tree["n_children"][node] - 1]
        return sum(cut < cell for cut in cuts)
    known = 0 <= cell < tree["n_codes"][node]
    return tree["branches"][start + int(cell)] if known else -1


def tree_value(x, tree, node, weight, out):
    """Add the value of the leaf that x comes to; children may share a row with a missing cell."""
    while tree["kind"][node] != 0:
        cell = x[tree["feature"][node]]
        first = tree["child"][node]
        step = tree["missing"][node] if cell != cell else tree_step(cell, tree, node)
        if step < 0 and cell != cell:
            children = range(first, first + tree["n_children"][node])
            whole = sum(tree["weight"][c] for c in children)
            for c in children:
                if tree["weight"][c] > 0:
                    share = weight * (tree["weight"][c] / whole)
                    tree_value(x, tree, c, share, out)
            return
        if step < 0:
            break
        node = first + step
    for k, value in enumerate(tree["value"][node]):
        out[tree["column"] + k] += weight * value


def trees(x, p):
    """The sum of the values of all trees, from a start on."""
    out = list(p["start"])
    for tree in p["trees"]:
        tree_value(x, tree, 0, 1.0, out)
    return out


def kernel(x, p):
    """k(x_i, x) of every stored row x_i."""
    out = []
    for row in p["rows"]:
        if p["kind"] == "rbf":
            square = sum(d * d for d in [a - b for a, b in zip(row, x)])
            out.append(math.exp(-p["gamma"] * square))
            continue
        product = p["gamma"] * sum(a * b for a, b in zip(row, x)) + p["shift"]
        if p["kind"] == "polynomial":
            product = power(product, p["degree"])
        elif p["kind"] == "sigmoid":
            product = math.tanh(product)
        out.append(product)
    return out


def power(value, degree):
    """value ** degree, or NaN where Python would raise an error or turn to complex numbers."""
    try:
        return math.pow(value, degree)
    except (OverflowError, ValueError):
        return math.nan


def before(x, p):
    """Numbers in front of the others: the score 0 of the first of two classes."""
    return list(p["values"]) + list(x)


def cut(x, p):
    """Numbers to the codes of intervals that end at the cuts."""
    x = list(x)
    for j, cuts in enumerate(p["cuts"]):
        if cuts is not None and x[j] == x[j]:
            x[j] = float(sum(c < x[j] for c in cuts))
    return x


def branches(x, p):
    """The answers of several programs to the same cells, one after the other."""
    out = []
    for operations in p["branches"]:
        out.extend(run_operations(x, operations))
    return out


def vote(x, p):
    """1 for the largest, the first of equals, 0 for the others."""
    best = max(range(len(x)), key=lambda k: (x[k], -k))
    return [float(k == best) for k in range(len(x))]


def scatter(x, p):
    """The numbers in other columns, zeros between them."""
    out = [0.0] * p["size"]
    for j, value in zip(p["columns"], x):
        out[j] = value
    return out


def fuse(x, p):
    """What members say, `width` numbers each, by a rule of fusion."""
    width = p["width"]
    members = [x[i : i + width] for i in range(0, len(x), width)]
    columns = list(zip(*members))
    if p["rule"] == "median":
        upper = len(members) // 2
        lower = (len(members) - 1) // 2  # the same of an odd number
        ordered = [sorted(column) for column in columns]
        return [(column[lower] + column[upper]) / 2 for column in ordered]
    if p["rule"] == "minimum":
        out = [min(column) for column in columns]
        if width == 1 or sum(out) >= 2.2250738585072014e-308:
            return out
        return [sum(column) / len(column) for column in columns]
    if p["rule"] == "maximum":
        return [max(column) for column in columns]
    weights = p["weights"]
    if p["rule"] == "product":
        powers = [w * len(weights) for w in weights]
        if min(weights) == max(weights):
            powers = [1.0] * len(weights)
        out = [math.prod(v**w for v, w in zip(column, powers)) for column in columns]
        if sum(out) >= 2.2250738585072014e-308:
            return out
    return [sum(w * v for v, w in zip(column, weights)) for column in columns]


def distances(x, p):
    """The distance to every stored row."""
    if p["metric"] == "manhattan":
        return [sum(abs(a - b) for a, b in zip(row, x)) for row in p["rows"]]
    return [
        math.sqrt(sum(d * d for d in [a - b for a, b in zip(row, x)]))
        for row in p["rows"]
    ]


def nearest(x, p):
    """The shares of the votes of the k nearest rows, the first of equally near ones; of numbers
    their mean."""
    rows = sorted(range(len(x)), key=lambda i: (x[i], i))[: p["k"]]
    votes = neighbor_votes([x[i] for i in rows], p["votes"], p["bandwidth"])
    if not sum(votes) > 0:
        votes = [1.0] * len(rows)
    total = sum(votes)
    targets = [p["targets"][i] for i in rows]
    return [
        sum(v * t for v, t in zip(votes, column)) / total for column in zip(*targets)
    ]


def neighbor_votes(d, kind, bandwidth):
    """The votes of neighbors at ascending distances d."""
    if kind == "uniform":
        return [1.0] * len(d)
    if kind in ("distance", "inverse_square"):
        if d[0] == 0:
            return [float(v == 0) for v in d]
        return [(d[0] / v) ** (1 if kind == "distance" else 2) for v in d]
    width = bandwidth or d[-1] or 1.0
    if kind == "shifted_inverse_square":
        return [(width / (width + v)) ** 2 for v in d]
    factor = 0.5 if kind == "gaussian" else 1.0
    units = [v / width for v in d]
    return [math.exp(-factor * (u * u - units[0] * units[0])) for u in units]


def pairs(x, p):
    """Votes of machines that tell two classes apart; sums of scores, below a third, may break
    ties."""
    votes = [0.0] * p["size"]
    sums = [0.0] * p["size"]
    for score, (against, favored) in zip(x, p["machines"]):
        won = score > 0 or (score == 0 and not p["strict"])
        votes[favored if won else against] += 1.0
        sums[favored] += score
        sums[against] -= score
    if not p["breaks_ties"]:
        return votes
    return [v + s / (3.0 * (abs(s) + 1.0)) for v, s in zip(votes, sums)]


def couple(x, p):
    """Posteriors p of K classes from those of all pairs, x = P(second | first or second): p solves
    (Q + 1 1') y = 1 up to a factor, with Q_ii = sum of r_ji^2 and Q_ij = -r_ji r_ij."""
    size = p["size"]
    r = [[0.0] * size for _ in range(size)]
    for v, (i, j) in zip(x, p["pairs"]):
        r[i][j] = min(max(1.0 - v, p["least"]), 1.0 - p["least"])
        r[j][i] = min(max(v, p["least"]), 1.0 - p["least"])
    rows = [[1.0 - r[j][i] * r[i][j] for j in range(size)] for i in range(size)]
    for i in range(size):
        rows[i][i] = 1.0 + sum(r[j][i] ** 2 for j in range(size))
        rows[i].append(1.0)
    solution = eliminate(rows)
    total = sum(solution)
    known = [max(v / total, p["floor"]) for v in solution]
    return [v / sum(known) for v in known]


def eliminate(rows):
    """The solution of a system, its right side last in every row, whose matrix is positive
    definite: elimination needs no other order."""
    size = len(rows)
    for i in range(size):
        pivot = [v / rows[i][i] for v in rows[i]]
        for k in range(size):
            if k != i:
                factor = rows[k][i]
                rows[k] = [v - factor * q for v, q in zip(rows[k], pivot)]
        rows[i] = pivot
    return [row[-1] for row in rows]


def weighted_median(x, p):
    """The first number in rising order where the weights sum to half."""
    half = 0.5 * sum(p["weights"]) * (1.0 - 1e-12)
    reached = 0.0
    for i in sorted(range(len(x)), key=lambda i: (x[i], i)):
        reached += p["weights"][i]
        if reached >= half:
            break
    return [x[i]]


def cascade(x, p):
    """The posteriors of the first stage that is sure enough; others say which stage is next."""
    width = p["width"]
    stage = 0
    while True:
        answer = x[stage * width : (stage + 1) * width]
        best = max(range(width), key=lambda k: (answer[k], -k))
        onward = p["next"][stage][best]
        if answer[best] >= p["thresholds"][stage] or onward < 0:
            return answer
        stage = onward


def radial(x, p):
    """constant_j - h_j |x - center_j|^2 of every unit j."""
    out = []
    for center, half, constant in zip(p["centers"], p["halves"], p["constants"]):
        square = sum(d * d for d in [v - c for v, c in zip(x, center)])
        out.append(constant - half * square)
    return out


def mix(x, p):
    """The sum of g_j v_jk over j: the first numbers are shares, the others answers, each of
    `width` numbers."""
    n = p["n"]
    width = p["width"]
    return [sum(x[j] * x[n + j * width + k] for j in range(n)) for k in range(width)]


def sides(x, p):
    """The second of two classes where the score is at least 0, else the first."""
    return [0.0, 1.0] if x[0] >= 0 else [1.0, 0.0]


def activate(x, p):
    """A function of every number."""
    kind = p["function"]
    if kind == "sigmoid":
        return [logistic(v) for v in x]
    if kind == "log_sigmoid":
        return [min(v, 0.0) - math.log1p(math.exp(-abs(v))) for v in x]
    if kind == "tanh":
        return [math.tanh(v) for v in x]
    if kind == "relu":
        return [max(v, 0.0) for v in x]
    if kind == "exp":
        return [math.exp(min(v, 700.0)) for v in x]
    if kind == "sign":
        return [1.0 if v > 0 else -1.0 for v in x]
    raise ValueError(kind)


def logistic(v):
    """1 / (1 + exp(-v)), without overflow."""
    if v >= 0:
        return 1.0 / (1.0 + math.exp(-v))
    e = math.exp(v)
    return e / (1.0 + e)


def softmax(x, p):
    """exp(x_k) / Σ exp(x), from the largest on."""
    top = max(x)
    if top == -math.inf:
        return [1.0 / len(x)] * len(x)
    powers = [math.exp(v - top) for v in x]
    total = sum(powers)
    return [v / total for v in powers]


def shares(x, p):
    """Numbers over their sum; others where it is zero, if there are some."""
    total = sum(x)
    if "otherwise" in p and not total > 0:
        return list(p["otherwise"])
    return [v / total if total >= 2.2250738585072014e-308 else math.nan for v in x]


def run_operations(x, operations):
    for name, p in operations:
        x = OPERATIONS[name](x, p)
    return x


def decide_cells(x, program):
    """The answer for the cells of a row."""
    x = run_operations(x, program["operations"])
    if any(v != v for v in x):
        raise ValueError("the answer is no number: the cells are too far from all rows")
    if program["labels"] is None:
        return {"predicted": x[0]}
    scores = x[-len(program["labels"]) :]  # behind the posteriors, or these themselves
    best = max(range(len(scores)), key=lambda k: (scores[k], -k))
    answer = {"predicted": program["labels"][best]}
    if program["has_posteriors"]:
        answer["probabilities"] = dict(zip(map(str, program["labels"]), x))
    costs = program["costs"]
    if costs is not None:
        answer.update(minimum_risk(x, best, costs))
    return answer


def minimum_risk(x, best, costs):
    """The action of least expected loss, or doubt."""
    values = costs["values"]
    risks = [
        sum(p * row[a] for p, row in zip(x, values)) for a in range(len(values[0]))
    ]
    action = best if costs["zero_one"] else risks.index(min(risks))
    doubt = costs["doubt"]
    if doubt is not None:
        sure = x[action] > 1.0 - doubt if costs["zero_one"] else risks[action] < doubt
        if not sure:
            return {"action": costs["reject_label"], "risk": doubt, "rejected": True}
    rejected = not costs["names_class"][action]
    return {
        "action": costs["actions"][action],
        "risk": risks[action],
        "rejected": rejected,
    }


OPERATIONS = {
    function.__name__: function
    for function in (
        pick,
        recode,
        require,
        fill,
        affine,
        expand,
        linear,
        gaussians,
        column_densities,
        trees,
        kernel,
        before,
        cut,
        branches,
        vote,
        scatter,
        fuse,
        distances,
        nearest,
        pairs,
        couple,
        weighted_median,
        cascade,
        radial,
        mix,
        sides,
        activate,
        softmax,
        shares,
    )
}
