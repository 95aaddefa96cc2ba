// One learner: its numbers, its confusions, and of the choice its model, its columns and examples.

import { change, parameters } from "../../base/address.js";
import { bars } from "../../base/charts/bars.js";
import { matrix } from "../../base/charts/matrix.js";
import { h } from "../../base/dom.js";
import { actionTexts, numberText, shown, tableOf } from "../../base/parts.js";
import { load } from "../../base/server.js";

/** @param {string} query */
export function learnerOf(query) {
  const answer = load(() => `/api/study/learner?${query}&learner=${encodeURIComponent(parameters().get("learner") ?? "")}`);
  return shown(answer, (value) => details(value));
}

const METRICS = [
  ["error", "error rate"],
  ["cost", "mean cost"],
  ["reject_rate", "rejected"],
  ["log_loss", "log loss"],
  ["auc", "AUC"],
  ["brier", "Brier score"],
  ["rmse", "RMSE"],
  ["mae", "mean absolute error"],
  ["r2", "R²"],
  ["train_loss", "loss on the rows learned from"],
];

/** @param {any} value */
function details({ learner, about, actions, classes, summary, effects, examples, action }) {
  const numbers = METRICS.filter(([name]) => learner[name] !== null).map(([name, title]) => [title, numberText(learner[name])]);
  const settings = Object.entries(learner.params).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return h(
    "section",
    { class: "card", "aria-labelledby": "learner" },
    h("div", { class: "row" }, h("h2", { id: "learner" }, learner.label), h("button", { type: "button", class: "quiet", onclick: () => change({ learner: null }) }, "close")),
    h("p", {}, about),
    h("p", {}, learner.verdict),
    h(
      "div",
      { class: "columns" },
      h("div", {}, tableOf("On unseen rows", ["", ""], numbers), settings.length ? h("p", { class: "soft" }, `Chosen most often: ${settings.join(", ")}`) : null),
      learner.confusion && classes ? matrix(learner.confusion, { title: "What it is, and what was decided", rows: classes, columns: actions, rowLabel: "it is", columnLabel: "decided", byRow: true }) : null,
      effects ? importance(effects) : null,
    ),
    summary ? h("details", {}, h("summary", {}, "What was learned"), h("pre", { tabindex: "0", class: "scrolls" }, summary)) : null,
    examples.length ? h("details", {}, h("summary", {}, "Some rows, explained"), h("div", { class: "columns" }, ...examples.map(exampleOf))) : null,
    actionTexts(() => action, "a fit of this learner"),
  );
}

/** @param {any} effects */
function importance(effects) {
  const listed = effects.importance.slice(0, 12).map((/** @type {any} */ column) => ({
    name: column.column,
    value: column.increase,
    low: column.increase - 1.96 * column.standard_error,
    high: column.increase + 1.96 * column.standard_error,
    text: numberText(column.increase, 3),
    class: column.increase < 0 ? "against" : "",
  }));
  return listed.length ? bars(listed, { title: "How much worse without a column", valueLabel: "increase of the loss" }) : null;
}

/** @param {any} example */
function exampleOf(example) {
  const { explanation } = example;
  const title = `Row ${example.row}: ${example.decided ?? explanation?.predicted}, ${example.picked}; in truth ${example.truth}`;
  if (!explanation) return h("p", {}, title);
  const parts = Object.entries(explanation.contributions)
    .map(([name, value]) => ({ name: `${name} = ${example.cells[name] ?? "–"}`, value: Number(value), text: numberText(Number(value), 3), class: Number(value) < 0 ? "against" : "" }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, 8);
  return bars(parts, { title, valueLabel: explanation.unit });
}
