// Errors: the worst group, wrong rows with their explanations, rows that learners do not agree on.

import { change, parameters } from "../base/address.js";
import { bars } from "../base/charts/bars.js";
import { dots } from "../base/charts/dots.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, numberText, percentText, shown } from "../base/parts.js";
import { computed } from "../base/reactive.js";
import { load } from "../base/server.js";
import { chooser } from "./data/chooser.js";

const ASKED = ["out", "learner", "rows"];
const SHOWN_GROUPS = 12;
const SHOWN_COLUMNS = 12;

export default function page() {
  const out = computed(() => parameters().get("out"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ASKED.includes(name))).toString());
  const answer = load(() => (out() ? `/api/errors?${query()}` : null));
  const groups = load(() => (out() ? `/api/errors/groups?${query()}` : null));
  return [
    h("h1", {}, "Errors"),
    () => (out() ? null : chooser("study")),
    shown(answer, (errors) => errorsOf(errors, groups)),
  ];
}

/**
 * @param {any} errors
 * @param {() => import("../base/server.js").Loaded<any>} groups
 */
function errorsOf(errors, groups) {
  const options = errors.learners.map((/** @type {any} */ learner) => h("option", { value: learner.name }, learner.label));
  const learner = h("select", { id: "errors-learner", value: errors.learner, onchange: (/** @type {any} */ event) => change({ learner: event.target.value, row: null }) }, ...options);
  const wrong = errors.classes ? `${countText(errors.n_wrong, "row")} of ${errors.n_rows.toLocaleString("en-US")} are decided wrongly (${percentText(errors.n_wrong / errors.n_rows)})` : `The largest of ${countText(errors.n_rows, "error")}`;
  return [
    h("div", { class: "row" }, h("label", {}, "Learner", learner)),
    h("p", {}, `${wrong}, on rows that ${errors.label} had not seen.`),
    actionTexts(() => errors.action, "these errors"),
    h("section", { class: "card", "aria-labelledby": "worst" }, h("h2", { id: "worst" }, "The worst group"), shown(groups, (value) => [h("p", {}, value.worst_group), groupsOf(value.groups, errors.criterion)])),
    explained(),
    h("section", { class: "card", "aria-labelledby": "wrong" }, h("h2", { id: "wrong" }, errors.classes ? "Wrong rows" : "Largest errors"), rowsTable(errors, errors.wrong, "Wrong rows, the dearest and surest first"), more(errors, errors.wrong.length, errors.n_wrong)),
    h("section", { class: "card", "aria-labelledby": "disputed" }, h("h2", { id: "disputed" }, "Rows that learners do not agree on"), disputedOf(errors)),
  ];
}

/**
 * @param {any[]} groups
 * @param {string} criterion
 */
function groupsOf(groups, criterion) {
  if (!groups.length) return null;
  const listed = groups.slice(0, SHOWN_GROUPS).map((/** @type {any} */ group) => ({ name: `${group.column} = ${group.cells}`, value: group.loss, low: group.low, high: group.high, points: [group.rest] }));
  const note = `The whiskers are 95 % intervals corrected for ${countText(groups.length, "group")} searched; the small point is the ${criterion} of all other rows.`;
  return [dots(listed, { title: "Groups, the surest bad one first", valueLabel: criterion, valueText: (value) => numberText(value) }), h("p", { class: "soft" }, note)];
}

/** The row of the address, with what every column adds to its prediction. */
function explained() {
  const path = computed(() => {
    const query = parameters();
    const row = query.get("row");
    if (row === null) return null;
    const asked = new URLSearchParams({ out: query.get("out") ?? "", row });
    if (query.get("learner")) asked.set("learner", query.get("learner") ?? "");
    return `/api/errors/row?${asked}`;
  });
  const answer = load(path);
  return () =>
    path() === null
      ? null
      : h("section", { class: "card", "aria-labelledby": "explained" }, shown(answer, (example) => exampleOf(example)));
}

/** @param {any} example */
function exampleOf(example) {
  const { explanation } = example;
  const head = [h("h2", { id: "explained" }, `Row ${example.row}: ${text(example.decided)}, in truth ${text(example.truth)}`), h("button", { type: "button", class: "quiet", onclick: () => change({ row: null }) }, "close")];
  const parts = Object.entries(explanation?.contributions ?? {})
    .map(([name, value]) => ({ name: `${name} = ${example.cells[name] ?? "–"}`, value: Number(value), text: numberText(Number(value), 3), class: Number(value) < 0 ? "against" : "" }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, SHOWN_COLUMNS);
  return [
    h("div", { class: "row" }, ...head),
    parts.length
      ? bars(parts, { title: `What every column adds, ${example.picked}`, valueLabel: explanation.unit, width: 640 })
      : h("p", {}, "This learner does not say what a column adds."),
    actionTexts(() => example.action, "this explanation"),
  ];
}

/**
 * @param {any} errors
 * @param {any[]} rows
 * @param {string} caption
 */
function rowsTable(errors, rows, caption) {
  if (!rows.length) return h("p", {}, "There are none.");
  const heads = ["row", "truth", "decided", ...(errors.classes ? ["posterior of the truth"] : []), "costs", "others decide"];
  const lines = rows.map((row) =>
    h(
      "tr",
      { "aria-current": () => (parameters().get("row") === String(row.row) ? "true" : null) },
      h("th", { scope: "row" }, h("button", { type: "button", class: "quiet", id: `row-${caption.length}-${row.row}`, "aria-label": `Explain row ${row.row}`, onclick: () => change({ row: row.row }) }, String(row.row))),
      h("td", {}, text(row.truth)),
      h("td", {}, text(row.decided)),
      errors.classes ? h("td", { class: "number" }, percentText(row.probability)) : null,
      h("td", { class: "number" }, numberText(row.loss)),
      h("td", {}, votes(errors, row)),
    ),
  );
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": caption }, h("table", { class: "lined" }, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...lines)));
}

/**
 * What the other learners decided, the same decisions together.
 * @param {any} errors
 * @param {any} row
 */
function votes(errors, row) {
  /** @type {Map<string, string[]>} */
  const byDecision = new Map();
  for (const { name, label } of errors.learners) {
    if (name === errors.learner || !(name in row.decisions)) continue;
    const decided = text(row.decisions[name]);
    byDecision.set(decided, [...(byDecision.get(decided) ?? []), label]);
  }
  return [...byDecision].map(([decided, labels]) => `${decided}: ${labels.join(", ")}`).join("; ");
}

/** @param {any} errors */
function disputedOf(errors) {
  if (!errors.n_disputed) return h("p", {}, "All learners decide alike.");
  return [h("p", {}, `${countText(errors.n_disputed, "row")}, the most disputed first.`), rowsTable(errors, errors.disputed, "Disputed rows"), more(errors, errors.disputed.length, errors.n_disputed)];
}

/**
 * @param {any} errors
 * @param {number} n listed
 * @param {number} all
 */
function more(errors, n, all) {
  if (n >= all) return null;
  return h("button", { type: "button", class: "quiet", onclick: () => change({ rows: Math.max(errors.wrong.length, errors.disputed.length) + 100 }) }, `100 more of ${all.toLocaleString("en-US")}`);
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "number" ? numberText(value) : String(value);
}
