// What the model says to a row: decision, posterior, the change that alters it, and why.

import { bars } from "../../base/charts/bars.js";
import { h, s } from "../../base/dom.js";
import { breakable, numberText, percentText, tableOf } from "../../base/parts.js";

const FIRST = 8; // columns of an explanation that are seen at once

/** @param {any} answer */
export function decisionText(answer) {
  const decided = answer.action ?? answer.predicted;
  const label = typeof decided === "number" ? numberText(decided) : String(decided);
  const share = answer.probabilities?.[String(decided)];
  return share === undefined ? label : `${label}, ${percentText(share)}`;
}

/**
 * @param {any} answer
 * @param {number} index
 * @param {number} nRows
 * @param {import("../ask.js").AskedRows} rows
 * @param {() => import("../../base/server.js").Loaded<any>} changes
 */
export function answerCard(answer, index, nRows, rows, changes) {
  const title = nRows > 1 ? `Row ${index + 1}: ` : "";
  return h(
    "section",
    { class: "card", "aria-label": `Answer to row ${index + 1}` },
    h("h2", {}, title, decisionText(answer)),
    answer.risk === undefined ? null : h("p", {}, `expected cost ${numberText(answer.risk)}${answer.rejected ? ", rejected" : ""}`),
    answer.warnings.map((/** @type {any} */ { column, warning, range }) =>
      h("p", { class: "warning" }, `${column}: ${warning}${range ? `, ${numberText(range[0])} to ${numberText(range[1])}` : ""}`),
    ),
    posterior(answer),
    answer.probabilities ? () => smallestChange(changes(), index, rows) : null,
    why(answer, index),
    detail(answer),
  );
}

/** @param {any} answer */
function posterior(answer) {
  if (!answer.probabilities) return null;
  const decided = String(answer.action ?? answer.predicted);
  const shares = Object.entries(answer.probabilities).map(([name, share]) => ({
    name,
    value: Number(share),
    text: percentText(Number(share)),
    class: name === decided ? "" : "quiet",
  }));
  return bars(shares, { title: "Posterior", valueLabel: "probability", most: 1, width: 420 });
}

/**
 * @param {import("../../base/server.js").Loaded<any>} changes
 * @param {number} index
 * @param {import("../ask.js").AskedRows} rows
 */
function smallestChange({ value, error, loading }, index, rows) {
  if (error) return null; // the answer says the same
  if (loading || !value) return h("p", { class: "waiting" }, "Looking for the smallest change …");
  const altered = value.changes[index];
  if (!altered) return h("p", {}, "No change of one or two columns was found that alters this.");
  const cells = Object.entries(altered.columns).map(([name, cell]) => `${name} = ${typeof cell === "number" ? numberText(cell, 6) : cell}`);
  const take = () => rows.set(rows.all().map((row, other) => (other === index ? { ...row, ...altered.columns } : row)));
  return h(
    "p",
    { class: "change" },
    `It would be ${altered.action} with ${cells.join(" and ")}. `,
    h("button", { type: "button", class: "quiet", onclick: take }, "Change it so"),
  );
}

/**
 * @param {any} answer
 * @param {number} index
 */
function why(answer, index) {
  if (!answer.contributions) return null;
  const most = Math.max(1e-300, ...answer.contributions.map((/** @type {any} */ part) => Math.abs(part.adds)));
  const lines = answer.contributions.map((/** @type {any} */ part) => [
    breakable(part.column),
    part.value === null ? "(missing)" : valueText(part.value),
    h("span", { class: "adds" }, bar(part.adds / most), numberText(part.adds)),
  ]);
  const heads = ["column", "value", answer.unit];
  const rest = lines.slice(FIRST);
  return [
    h("h3", {}, "Why"),
    h("p", { class: "soft" }, `${unitText(answer)}: ${numberText(answer.base)} before any column, ${numberText(answer.score)} with all`),
    tableOf("What every column adds", heads, lines.slice(0, FIRST)),
    rest.length ? h("details", { id: `more-columns-${index}` }, h("summary", {}, `${rest.length} more`), tableOf("What the other columns add", heads, rest)) : null,
  ];
}

/**
 * What is explained, and of which class: the one whose posterior or log-odds the score is.
 * @param {any} answer
 */
function unitText({ unit, probabilities, score }) {
  const isScore = (/** @type {[string, any]} */ [, share]) => Math.min(Math.abs(share - score), Math.abs(Math.log(share / (1 - share)) - score)) < 1e-6;
  const classes = Object.entries(probabilities ?? {}).filter(isScore);
  return classes.length === 1 ? `${unit} of ${classes[0][0]}` : unit;
}

/** @param {unknown} value */
function valueText(value) {
  return typeof value === "number" ? numberText(value) : String(value);
}

/** @param {number} share from -1 to 1 */
function bar(share) {
  const length = 50 * Math.abs(share);
  return s(
    "svg",
    { viewBox: "-50 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", class: `chart small ${share < 0 ? "against" : ""}` },
    s("rect", { x: share < 0 ? -length : 0, y: 0, width: length, height: 10 }),
    s("line", { x1: 0, x2: 0, y1: 0, y2: 10, class: "zero" }),
  );
}

/** @param {any} answer */
function detail({ detail: table }) {
  if (!table) return null;
  const rows = table.rows.map((/** @type {any[]} */ row) => row.map(valueText));
  return [h("h3", {}, table.title), h("div", { class: "scrolls", tabindex: "0" }, tableOf(table.title, table.columns, rows))];
}
