// Two columns side by side: points, quartiles by category, or counts, with how far one tells the other.

import { change, parameters } from "../../base/address.js";
import { dots } from "../../base/charts/dots.js";
import { matrix } from "../../base/charts/matrix.js";
import { scatter } from "../../base/charts/scatter.js";
import { h } from "../../base/dom.js";
import { actionTexts, countText, numberText, shown } from "../../base/parts.js";
import { computed } from "../../base/reactive.js";
import { getBlock, getJson, load } from "../../base/server.js";

/**
 * @param {any} inspection
 * @param {() => string} query
 */
export function pairOf(inspection, query) {
  const names = inspection.columns.map((/** @type {any} */ column) => column.name);
  const choice = (/** @type {string} */ parameter, /** @type {string} */ label) =>
    h(
      "label",
      {},
      label,
      h(
        "select",
        { id: `pair-${parameter}`, value: () => parameters().get(parameter) ?? "", onchange: (/** @type {any} */ event) => change({ [parameter]: event.target.value }) },
        h("option", { value: "" }, "(choose)"),
        ...names.map((/** @type {string} */ name) => h("option", { value: name }, name)),
      ),
    );
  const path = computed(() => {
    const x = parameters().get("x");
    const y = parameters().get("y");
    return x && y ? `${query()}&${new URLSearchParams({ x, y })}` : null;
  });
  const pair = load(path, async (text, abort) => {
    const answer = await getJson(`/api/data/pair?${text}`, abort);
    const isPoints = !answer.x_names.length && !answer.y_names.length;
    return { ...answer, block: isPoints ? await getBlock(`/api/data/points?${text}`, abort) : null };
  });
  return h(
    "section",
    { class: "card", "aria-labelledby": "pair" },
    h("h2", { id: "pair" }, "Two columns side by side"),
    h("div", { class: "row" }, choice("x", "Across"), choice("y", "Up")),
    shown(pair, (answer) => [
      h("p", {}, `${answer.measure} ${numberText(answer.strength)} on ${countText(answer.n_rows, "row")}`),
      picture(answer),
      actionTexts(() => answer.action, "this pair"),
    ]),
  );
}

/** @param {any} answer */
function picture(answer) {
  const { x, y, x_names, y_names, block } = answer;
  const title = `${y} by ${x}`;
  if (block) return scatter(block.columns.x, block.columns.y, { title, xLabel: x, yLabel: y, width: 640, height: 380 });
  if (x_names.length && y_names.length) {
    return matrix(answer.counts, { title, rows: x_names, columns: y_names, rowLabel: x, columnLabel: y, byRow: true });
  }
  const names = x_names.length ? x_names : y_names;
  const filled = answer.quartiles
    .map((/** @type {number[]} */ quartiles, /** @type {number} */ index) => ({ name: names[index], quartiles }))
    .filter((/** @type {any} */ each) => each.quartiles.length);
  const boxes = filled.map((/** @type {any} */ each) => ({ name: each.name, value: each.quartiles[2], low: each.quartiles[1], high: each.quartiles[3], points: [each.quartiles[0], each.quartiles[4]] }));
  const number = x_names.length ? y : x;
  return dots(boxes, { title, valueLabel: `${number}: median, quartiles, smallest and largest` });
}
