// What mistakes cost: as a matrix to type into, and as sentences.

import { change, parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { sentence } from "../../base/parts.js";

const MOST = 8; // classes of a matrix that is shown

/** @param {any} question */
export function costsOf(question) {
  const { classes, loss } = question;
  const actions = classes;
  /**
   * @param {number} row
   * @param {number} column
   * @param {string} text
   */
  const set = (row, column, text) => {
    const costs = loss.map((/** @type {number[]} */ each) => [...each]);
    costs[row][column] = Number(text);
    const pairs = costs.flatMap((/** @type {number[]} */ each, /** @type {number} */ i) =>
      each.map((cost, j) => (i === j ? "" : `${classes[i]}:${actions[j]}=${cost}`)).filter(Boolean),
    );
    change({ loss: pairs.join(",") });
  };
  const cell = (/** @type {number} */ row, /** @type {number} */ column) =>
    row === column
      ? h("td", { class: "number" }, "0")
      : h("td", {}, h("input", { id: `cost-${row}-${column}`, type: "number", min: "0", step: "any", value: loss[row][column], size: "5", class: "cost", "aria-label": `cost of taking ${classes[row]} for ${actions[column]}`, onchange: (/** @type {any} */ event) => set(row, column, event.target.value) }));
  const isOdd = classes.some((/** @type {string} */ name) => /[:,=]/.test(name));
  const table =
    classes.length > MOST || isOdd
      ? h("p", { class: "soft" }, "With these classes costs are given as a file: lyceum study --loss costs.csv.")
      : h(
          "div",
          { class: "scrolls", tabindex: "0" },
          h(
            "table",
            {},
            h("caption", {}, "Rows: what it is. Columns: what it is taken for."),
            h("thead", {}, h("tr", {}, h("td", {}), ...actions.map((/** @type {string} */ name) => h("th", { scope: "col" }, name)))),
            h("tbody", {}, ...classes.map((/** @type {string} */ name, /** @type {number} */ row) => h("tr", {}, h("th", { scope: "row" }, name), ...actions.map((/** @type {string} */ _, /** @type {number} */ column) => cell(row, column))))),
          ),
        );
  const doubt = h("input", { id: "question-doubt", type: "number", min: "0", step: "any", value: parameters().get("doubt") ?? "", placeholder: "never", size: "6", onchange: (/** @type {any} */ event) => change({ doubt: event.target.value || null }) });
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "What mistakes cost"),
    table,
    h("label", {}, "Not to decide costs", doubt),
    h("ul", {}, ...question.sentences.map((/** @type {string} */ text) => h("li", {}, sentence(text)))),
    parameters().get("loss") ? h("button", { type: "button", class: "quiet", onclick: () => change({ loss: null }) }, "every mistake costs 1") : null,
  );
}
