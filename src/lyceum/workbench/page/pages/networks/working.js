// The posterior of one variable by variable elimination, one step after the other.

import { change, parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { actionTexts, shown } from "../../base/parts.js";
import { load } from "../../base/server.js";
import { shareText } from "../networks.js";

/**
 * @param {any} graph
 * @param {() => string} path
 */
export function workingOf(graph, path) {
  const answer = load(() => (parameters().get("query") ? path() : null));
  return h(
    "section",
    { class: "card", "aria-labelledby": "working" },
    h("h2", { id: "working" }, "How a posterior is found"),
    h(
      "label",
      {},
      "Variable",
      h(
        "select",
        { id: "query", value: () => parameters().get("query") ?? "", onchange: (/** @type {any} */ event) => change({ query: event.target.value || null, step: null }) },
        h("option", { value: "" }, "(choose)"),
        ...graph.nodes.map((/** @type {any} */ node) => h("option", { value: node.name }, node.name)),
      ),
    ),
    shown(answer, steps),
  );
}

/** @param {any} working */
function steps(working) {
  const last = working.steps.length;
  const step = () => Math.min(last, Math.max(1, Number(parameters().get("step") ?? 1)));
  const to = (/** @type {number} */ number) => change({ step: number === 1 ? null : number });
  const item = (/** @type {any} */ each, /** @type {number} */ index) =>
    h("li", { hidden: () => index >= step(), class: () => (index === step() - 1 ? "now" : "") }, h("b", {}, each.rule), h("pre", { class: "scrolls", tabindex: "0" }, each.text));
  return [
    h("h3", {}, `${working.title}, a ${working.kind} query`),
    h("ol", { class: "steps" }, ...working.steps.map(item)),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", id: "step-back", disabled: () => step() <= 1, onclick: () => to(step() - 1) }, "Back"),
      h("button", { type: "button", id: "step-on", disabled: () => step() >= last, onclick: () => to(step() + 1) }, "Next step"),
      h("button", { type: "button", class: "quiet", id: "step-all", onclick: () => to(last) }, "All steps"),
      h("span", { role: "status" }, () => `Step ${step()} of ${last}`),
    ),
    () => (step() === last ? h("p", {}, resultText(working.posterior)) : null),
    actionTexts(() => working.action, "this working"),
  ];
}

/** @param {any} posterior */
function resultText(posterior) {
  if (!posterior.states) return `Mean ${posterior.mean[0]}`;
  const [name] = posterior.query;
  return posterior.states.map((/** @type {any} */ state, /** @type {number} */ index) => `${name} = ${state[name]}: ${shareText(posterior.probabilities[index])}`).join(" · ");
}
