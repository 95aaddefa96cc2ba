// Are two variables independent given what is observed? Every path, and why it is open or blocked.

import { change, parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { actionTexts, shown } from "../../base/parts.js";

/**
 * @param {any} graph
 * @param {() => import("../../base/server.js").Loaded<any>} separated
 */
export function separation(graph, separated) {
  const choice = (/** @type {string} */ parameter, /** @type {string} */ label) =>
    h(
      "label",
      {},
      label,
      h(
        "select",
        { id: `separate-${parameter}`, value: () => parameters().get(parameter) ?? "", onchange: (/** @type {any} */ event) => change({ [parameter]: event.target.value || null, path: null }) },
        h("option", { value: "" }, "(choose)"),
        ...graph.nodes.map((/** @type {any} */ node) => h("option", { value: node.name }, node.name)),
      ),
    );
  return h(
    "section",
    { class: "card", "aria-labelledby": "separation" },
    h("h2", { id: "separation" }, "Does one tell about the other?"),
    h("div", { class: "row" }, choice("first", "One"), choice("second", "The other")),
    h("p", { class: "soft" }, "Given what is observed above (d-separation). A path that lets information through is lit in the network."),
    shown(separated, verdict),
  );
}

/** @param {any} value */
function verdict(value) {
  const text = value.separated ? "they are independent, whatever the numbers in the tables" : "one tells about the other";
  const paths = value.paths.map((/** @type {any} */ path, /** @type {number} */ index) =>
    h(
      "li",
      {},
      h(
        "label",
        { class: "line" },
        h("input", { type: "radio", name: "path", id: `path-${index}`, checked: () => Number(parameters().get("path") ?? 0) === index, onchange: () => change({ path: index }) }),
        h("span", {}, path.path, " ", h("b", {}, path.blocked ? "blocked" : "open")),
      ),
      h("ul", { class: "soft" }, ...path.reasons.map((/** @type {string} */ reason) => h("li", {}, reason))),
    ),
  );
  return [
    h("p", { role: "status" }, h("b", {}, value.statement), `: ${text}.`),
    paths.length ? h("ul", { class: "plain" }, ...paths) : h("p", {}, "No path connects them."),
    value.complete ? null : h("p", { class: "soft" }, "There are more paths than these."),
    value.action ? actionTexts(() => value.action, "this test") : null,
  ];
}
