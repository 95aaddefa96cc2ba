// Data: choose a table; what looks wrong, its columns, its rows, two columns side by side.

import { change, parameters, queryText } from "../base/address.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, shown } from "../base/parts.js";
import { computed } from "../base/reactive.js";
import { load } from "../base/server.js";
import { chooser } from "./data/chooser.js";
import { columnsTable } from "./data/columns.js";
import { pairOf } from "./data/pair.js";
import { rowsTable } from "./data/rows.js";
import { suspects } from "./data/suspects.js";

/** Parameters that change what `inspect` says; the others move the picture alone. */
const ASKED = ["file", "target", "kind", "repair"];

export default function page() {
  const file = computed(() => parameters().get("file"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ASKED.includes(name))).toString());
  const seen = load(() => (file() ? `/api/data?${query()}` : null));
  return [
    () => h("h1", {}, file() ?? "Choose a table"),
    () => (file() ? null : chooser()),
    shown(seen, (answer) => [
      summary(answer),
      suspects(answer),
      columnsTable(answer),
      rowsTable(answer, query()),
      pairOf(answer.inspection, query),
    ]),
  ];
}

/** @param {any} answer */
function summary({ inspection, action, repairs }) {
  const missing = inspection.columns.reduce((/** @type {number} */ sum, /** @type {any} */ column) => sum + column.n_missing, 0);
  const facts = [
    countText(inspection.n_rows, "row"),
    countText(inspection.columns.length, "column"),
    missing ? countText(missing, "missing cell") : "no cell is missing",
  ];
  if (inspection.n_repeated) facts.push(countText(inspection.n_repeated, "repeated row"));
  if (repairs.steps.length) facts.push(countText(repairs.steps.length, "repair"));
  const target = h(
    "select",
    {
      id: "target",
      value: inspection.target ?? "",
      onchange: (/** @type {any} */ event) => change({ target: event.target.value || null }),
    },
    h("option", { value: "" }, "(not yet)"),
    ...inspection.columns.map((/** @type {any} */ column) => h("option", { value: column.name }, column.name)),
  );
  const next = inspection.target
    ? h("a", { class: "button", href: `/question?${queryText()}` }, "Ask a question")
    : h("span", { class: "soft" }, "Choose the column that you want to predict, and others are checked for leaks of it.");
  return [
    h("p", {}, facts.join(" · ")),
    // the option of the commands is no help here
    ...inspection.notes.map((/** @type {string} */ note) => h("p", { class: "warning" }, note.replace(/; say --header-row.*$/, ": if they are not, take the lines above out of the file and choose it again"))),
    h("div", { class: "row" }, h("label", {}, "To predict", target), next),
    actionTexts(() => action, "this inspection"),
  ];
}
