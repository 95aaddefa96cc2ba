// Data: choose a table; its columns, what looks wrong, its rows.

import { change, parameters, queryText } from "../base/address.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, numberText, percentText, shown } from "../base/parts.js";
import { load } from "../base/server.js";
import { chooser } from "./data/chooser.js";

export default function page() {
  const file = () => parameters().get("file");
  const seen = load(() => (file() ? `/api/data?${queryText()}` : null));
  return [
    () => h("h1", {}, file() ?? "Choose a table"),
    () => (file() ? null : chooser()),
    shown(seen, (answer) => [summary(answer.inspection), actionTexts(() => answer.action, "this inspection"), columns(answer.inspection)]),
  ];
}

/** @param {any} inspection */
function summary(inspection) {
  const missing = inspection.columns.reduce((/** @type {number} */ sum, /** @type {any} */ column) => sum + column.n_missing, 0);
  const facts = [countText(inspection.n_rows, "row"), countText(inspection.columns.length, "column"), missing ? countText(missing, "missing cell") : "no cell is missing"];
  if (inspection.n_repeated) facts.push(countText(inspection.n_repeated, "repeated row"));
  const target = h(
    "select",
    { value: inspection.target ?? "", onchange: (/** @type {any} */ event) => change({ target: event.target.value || null }) },
    h("option", { value: "" }, "(not yet)"),
    ...inspection.columns.map((/** @type {any} */ column) => h("option", { value: column.name }, column.name)),
  );
  return [
    h("p", {}, facts.join(" · ")),
    ...inspection.notes.map((/** @type {string} */ note) => h("p", { class: "warning" }, note)),
    h("label", {}, "To predict", target),
  ];
}

const KINDS = ["continuous", "categorical", "binary"];

/** @param {any} inspection */
function columns(inspection) {
  const rows = inspection.columns.map((/** @type {any} */ column) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, column.name),
      h("td", {}, kindChoice(column)),
      h("td", {}, column.why),
      h("td", { class: "number" }, column.n_missing ? percentText(column.n_missing / inspection.n_rows) : "–"),
      h("td", {}, values(column, inspection.n_rows)),
      h("td", {}, column.flags.map((/** @type {any} */ flag) => flag.text).join("; ")),
    ),
  );
  const heads = ["column", "kind", "why", "missing", "values", "worth a look"];
  return h(
    "div",
    { class: "card scrolls", tabindex: "0" },
    h("table", {}, h("caption", {}, "Columns"), h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows)),
  );
}

/** @param {any} column */
function kindChoice(column) {
  const set = (/** @type {any} */ event) => {
    const others = parameters().getAll("kind").filter((text) => !text.startsWith(`${column.name}=`));
    change({ kind: [...others, `${column.name}=${event.target.value}`] });
  };
  const options = KINDS.map((kind) => h("option", { value: kind }, kind));
  return h("select", { "aria-label": `kind of ${column.name}`, value: column.kind, onchange: set }, ...options);
}

/**
 * @param {any} column
 * @param {number} nRows
 */
function values(column, nRows) {
  if (column.top.length) {
    const present = Math.max(1, nRows - column.n_missing);
    return column.top.slice(0, 4).map((/** @type {[any, number]} */ [value, n]) => `${value} ${percentText(n / present, 0)}`).join(" · ");
  }
  if (column.low === null) return "–";
  return `${numberText(column.low)} to ${numberText(column.high)}, median ${numberText(column.median)}`;
}
