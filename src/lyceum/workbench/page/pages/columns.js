// Columns: fewer of them; a component that is picked in one picture is drawn in the others.

import { change, parameters } from "../base/address.js";
import { bars } from "../base/charts/bars.js";
import { lines } from "../base/charts/lines.js";
import { scatter } from "../base/charts/scatter.js";
import { h } from "../base/dom.js";
import { actionTexts, numberText, percentText, shown, summaryTable } from "../base/parts.js";
import { computed } from "../base/reactive.js";
import { getBlock, load } from "../base/server.js";
import { rowCard, selectOf } from "./clusters/parts.js";
import { chooser } from "./data/chooser.js";

const ASKED = ["file", "repair", "kind", "target", "method", "components", "keep"];
const SHOWN_COLUMNS = 15;

export default function page() {
  const file = computed(() => parameters().get("file"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ASKED.includes(name))).toString());
  const answer = load(() => (file() ? `/api/columns?${query()}` : null));
  return [
    () => h("h1", {}, file() ? `Columns of ${file()}` : "Columns"),
    () => (file() ? null : chooser("table")),
    () => (answer().error ? controls(null) : null),
    shown(answer, (value) => columnsOf(value, query)),
  ];
}

const METHODS = { "": "principal components", fisher: "Fisher's projection", svd: "factorization", mds: "distances (Gower)", ranking: "best columns, one by one", subset: "best set of columns" };

/** @param {any} value */
function controls(value) {
  const number = h("input", { id: "columns-number", type: "number", min: "0", step: "any", placeholder: "all", value: parameters().get("components") ?? "", onchange: (/** @type {any} */ event) => change({ components: event.target.value || null, x: null, y: null }) });
  const names = value?.names ?? [];
  return h(
    "div",
    { class: "row" },
    selectOf("method", "Method", Object.entries(METHODS), { x: null, y: null, components: null }),
    value ? selectOf("target", "To predict", [["", "(nothing)"], ...names.map((/** @type {string} */ name) => [name, name])]) : null,
    h("label", {}, "Columns to keep (below 1: share of the variance)", number),
  );
}

/**
 * @param {any} value
 * @param {() => string} query
 */
function columnsOf(value, query) {
  const { summary, method, methods, scores } = value;
  const facts = Object.entries(summary.facts).map(([name, fact]) => `${name}: ${typeof fact === "number" ? numberText(fact) : fact}`);
  const [first, second] = summary.tables;
  const isLoaded = scores.length > 0 && second;
  return [
    controls(value),
    h("p", {}, `${methods[method]}. ${facts.join(" · ")}`),
    actionTexts(() => value.action, "this reduction"),
    h(
      "div",
      { class: "columns two" },
      scores.length ? h("section", { class: "card", "aria-label": "Rows by the new columns" }, axes(scores), pointsOf(value, query), rowCard(query)) : null,
      h("section", { class: "card", "aria-label": "How much each says" }, () => merits(method, first, second), isLoaded ? () => loadings(second, scores) : null),
    ),
    h("section", { class: "card", "aria-label": "Numbers" }, ...summary.tables.map(summaryTable)),
  ];
}

/** @param {string[]} scores */
function axes(scores) {
  const choice = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ index) => {
    const usual = scores[Math.min(index, scores.length - 1)];
    return selectOf(name, label, [["", usual], ...scores.filter((each) => each !== usual).map((each) => [each, each])]);
  };
  return h("div", { class: "row" }, choice("x", "Across", 0), choice("y", "Up", 1));
}

/**
 * @param {any} value
 * @param {() => string} query
 */
function pointsOf(value, query) {
  const path = computed(() => {
    const isChosen = ["ranking", "subset"].includes(parameters().get("method") ?? ""); // of columns as they are
    if (isChosen) return null;
    const chosen = new URLSearchParams([...parameters()].filter(([name]) => name === "x" || name === "y"));
    return `/api/columns/points?${query()}&${chosen}`;
  });
  const block = load(path, getBlock);
  const legend = value.classes.length ? h("ul", { class: "legend points" }, ...value.classes.map((/** @type {string} */ name, /** @type {number} */ index) => h("li", { class: `series-${index}` }, name))) : null;
  return [
    legend,
    () => {
      const { value: points, error } = block();
      if (error) return h("p", { class: "error", role: "alert" }, error);
      if (!points) return h("p", { class: "waiting" }, "Reading …");
      const { x, y, row } = points.columns;
      const labelOf = (/** @type {string} */ name, /** @type {number} */ index) => parameters().get(name) ?? value.scores[Math.min(index, value.scores.length - 1)];
      return scatter(x, y, { title: "Rows by the new columns", xLabel: labelOf("x", 0), yLabel: labelOf("y", 1), groups: points.columns.class, names: value.classes, rows: row, onpick: (number) => change({ row: number }), height: 380 });
    },
  ];
}

/**
 * How much every new column, or every column that was ranked, says.
 * @param {string} method
 * @param {any} first
 * @param {any} second
 */
function merits(method, first, second) {
  if (method === "ranking") {
    const [, , measure] = first.columns;
    const listed = first.rows.map((/** @type {any[]} */ [, name, merit, kept]) => ({ name, value: merit, text: numberText(merit, 3), class: kept === "yes" ? "" : "quiet" }));
    return bars(listed.slice(0, 30), { title: "Merit of the columns", valueLabel: measure });
  }
  if (method === "subset") {
    const steps = second?.rows ?? [];
    return lines([{ name: "loss", x: steps.map((/** @type {any[]} */ row) => row[0]), y: steps.map((/** @type {any[]} */ row) => row[row.length - 1]) }], { title: "Loss along the search", xLabel: "step", yLabel: "loss", width: 440, height: 240 });
  }
  const share = first?.columns.indexOf("proportion") ?? -1;
  if (share < 0) return null;
  const listed = first.rows.slice(0, SHOWN_COLUMNS).map((/** @type {any[]} */ row, /** @type {number} */ index) => ({ name: String(row[0]), value: row[share], text: percentText(row[share]), class: index === component() ? "" : "quiet", index }));
  return bars(listed, { title: method === "pca" ? "Proportion of the variance" : "Proportion of the criterion", valueLabel: "proportion", onpick: (bar) => change({ component: /** @type {any} */ (bar).index || null }) });
}

/** The component whose loadings are shown. */
function component() {
  return Number(parameters().get("component") ?? 0);
}

/**
 * What the picked component is made of.
 * @param {any} table
 * @param {string[]} scores
 */
function loadings(table, scores) {
  const index = Math.min(component(), scores.length - 1, table.columns.length - 2);
  const listed = table.rows
    .map((/** @type {any[]} */ row) => ({ name: String(row[0]), value: Number(row[index + 1]), text: numberText(Number(row[index + 1]), 3), class: Number(row[index + 1]) < 0 ? "against" : "" }))
    .sort((/** @type {any} */ a, /** @type {any} */ b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, SHOWN_COLUMNS);
  const options = table.columns.slice(1).map((/** @type {string} */ name, /** @type {number} */ number) => [number ? String(number) : "", name]);
  return [selectOf("component", "Made of", options), bars(listed, { title: `What ${table.columns[index + 1]} is made of`, valueLabel: "weight" })];
}
