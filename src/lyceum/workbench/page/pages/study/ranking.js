// The ranking of a finished study, as a table; a learner is chosen by its name.

import { change } from "../../base/address.js";
import { h } from "../../base/dom.js";

/** @param {any} results */
export function rankingTable(results) {
  const heads = ["learner", results.metric, "95 % interval", "behind the best", "seconds", ""];
  const rows = results.learners.map((/** @type {any} */ learner) =>
    h(
      "tr",
      { "data-learner": learner.name },
      h("th", { scope: "row" }, h("button", { type: "button", class: "quiet", id: `learner-${learner.name}`, onclick: () => change({ learner: learner.name }) }, learner.label)),
      h("td", { class: "number" }, learner.value),
      h("td", {}, learner.interval),
      h("td", {}, learner.gap),
      h("td", { class: "number" }, learner.seconds.toFixed(1)),
      h("td", {}, learner.is_choice ? "chosen" : ""),
    ),
  );
  return h(
    "div",
    { class: "scrolls", tabindex: "0" },
    h("table", {}, h("caption", { class: "unseen" }, "Ranking"), h("thead", {}, h("tr", {}, ...heads.map((head) => (head ? h("th", { scope: "col" }, head) : h("td", {}))))), h("tbody", {}, ...rows)),
  );
}
