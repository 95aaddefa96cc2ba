// The columns: kind and why, missing cells, values; a picture of the one that is chosen.

import { change, parameters } from "../../base/address.js";
import { bars } from "../../base/charts/bars.js";
import { histogram } from "../../base/charts/histogram.js";
import { h, s } from "../../base/dom.js";
import { countText, numberText, percentText } from "../../base/parts.js";

const KINDS = ["continuous", "categorical", "binary"];

/** @param {any} answer */
export function columnsTable({ inspection, inferred }) {
  const heads = ["column", "kind", "why", "missing", "values"];
  const rows = inspection.columns.map((/** @type {any} */ column) =>
    h(
      "tr",
      { "aria-current": () => (chosen(inspection) === column.name ? "true" : null) },
      h("th", { scope: "row" }, pick(column)),
      h("td", {}, kindChoice(column)),
      h("td", {}, column.why, declared(column, inferred[column.name])),
      h("td", { class: "number" }, column.n_missing ? `${percentText(column.n_missing / inspection.n_rows)}` : "–"),
      h("td", {}, small(column), values(column, inspection.n_rows)),
    ),
  );
  const table = h(
    "table",
    {},
    h("caption", { class: "unseen" }, "Columns"),
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...rows),
  );
  return h(
    "div",
    { class: "columns wide-first" },
    h("section", { class: "card", "aria-label": "Columns" }, h("h2", {}, "Columns"), h("div", { class: "scrolls", tabindex: "0" }, table)),
    h("section", { class: "card", "aria-live": "polite" }, () => detail(inspection, chosen(inspection))),
  );
}

/** The column that is looked at: as the address says, or the target, or the first. @param {any} inspection */
function chosen(inspection) {
  const name = parameters().get("column") ?? inspection.target;
  const names = inspection.columns.map((/** @type {any} */ column) => column.name);
  return names.includes(name) ? name : names[0];
}

/** @param {any} column */
function pick(column) {
  return h("button", { type: "button", class: "quiet", id: `column-${column.name}`, onclick: () => change({ column: column.name }, { replace: true }) }, column.name);
}

/** @param {any} column */
function kindChoice(column) {
  const set = (/** @type {any} */ event) => change({ kind: [...otherKinds(column.name), `${column.name}=${event.target.value}`] });
  const options = KINDS.map((kind) => h("option", { value: kind }, kind));
  return h("select", { id: `kind-${column.name}`, "aria-label": `kind of ${column.name}`, value: column.kind, onchange: set }, ...options);
}

/** @param {string} name */
function otherKinds(name) {
  return parameters().getAll("kind").filter((text) => !text.startsWith(`${name}=`));
}

/**
 * What a declared kind has changed.
 * @param {any} column
 * @param {{ kind: string, why: string } | undefined} before
 */
function declared(column, before) {
  if (!before) return null;
  const back = () => change({ kind: otherKinds(column.name) });
  return h("div", { class: "soft" }, `by itself ${before.kind}: ${before.why} `, h("button", { type: "button", class: "quiet", onclick: back }, "take back"));
}

/** The distribution in a line. @param {any} column */
function small(column) {
  const counts = column.top.length ? column.top.map((/** @type {[any, number]} */ [, n]) => n) : column.histogram;
  if (!counts.length) return null;
  const most = Math.max(1, ...counts);
  const bar = (/** @type {number} */ count, /** @type {number} */ index) =>
    s("rect", { x: index * 7, y: 20 - (20 * count) / most, width: 6, height: (20 * count) / most });
  return s("svg", { viewBox: "0 0 84 20", class: "chart small", "aria-hidden": "true" }, ...counts.slice(0, 12).map(bar));
}

/** @param {any} column */
function numberOf(column) {
  const isTime = column.kind === "continuous" && /date|time/.test(column.why);
  return (/** @type {number} */ value) => (isTime ? new Date(1000 * value).toISOString().slice(0, 10) : numberText(value));
}

/**
 * @param {any} column
 * @param {number} nRows
 */
function values(column, nRows) {
  if (column.top.length) {
    const present = Math.max(1, nRows - column.n_missing);
    const listed = column.top.slice(0, 3).map((/** @type {[any, number]} */ [value, n]) => `${value} ${percentText(n / present, 0)}`);
    const more = (column.n_distinct ?? 0) - listed.length;
    return [...listed, ...(more > 0 ? [`${more} more`] : [])].join(" · ");
  }
  if (column.low === null) return "–";
  const text = numberOf(column);
  return `${text(column.low)} to ${text(column.high)}, median ${text(column.median)}`;
}

/**
 * @param {any} inspection
 * @param {string} name
 */
function detail(inspection, name) {
  const column = inspection.columns.find((/** @type {any} */ each) => each.name === name);
  if (!column) return null;
  const facts = [column.kind, column.n_missing ? countText(column.n_missing, "missing cell") : "complete"];
  if (column.n_distinct !== null) facts.push(`${column.n_distinct.toLocaleString("en-US")} distinct`);
  return [h("h2", {}, column.name), h("p", {}, facts.join(" · ")), picture(column, inspection)];
}

/**
 * @param {any} column
 * @param {any} inspection
 */
function picture(column, inspection) {
  if (column.top.length) {
    const present = Math.max(1, inspection.n_rows - column.n_missing);
    const listed = column.top.map((/** @type {[any, number]} */ [value, n]) => ({ name: String(value), value: n, text: `${n.toLocaleString("en-US")}, ${percentText(n / present, 0)}` }));
    return bars(listed, { title: `Most frequent values of ${column.name}`, valueLabel: "rows" });
  }
  if (!column.histogram.length) return h("p", { class: "soft" }, "There is no number to draw.");
  return histogram(column.histogram, { title: `Distribution of ${column.name}`, low: column.low, high: column.high, xLabel: column.name, xText: numberOf(column) });
}
