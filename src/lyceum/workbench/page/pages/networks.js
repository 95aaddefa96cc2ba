// Networks: states are clicked, posteriors move; paths between two variables, and the working.

import { change, parameters } from "../base/address.js";
import { announce, h } from "../base/dom.js";
import { actionTexts, countText, percentText, shown } from "../base/parts.js";
import { computed, effect, signal } from "../base/reactive.js";
import { load } from "../base/server.js";
import { beginnings } from "./networks/beginnings.js";
import { drawing } from "./networks/drawing.js";
import { separation } from "./networks/separation.js";
import { workingOf } from "./networks/working.js";

/** @typedef {"evidence" | "do"} Way whether a state is observed, or set from outside */

export default function page() {
  const net = computed(() => parameters().get("net"));
  const graph = load(() => (net() ? `/api/networks?${new URLSearchParams({ net: net() ?? "" })}` : null));
  return [
    () => h("h1", {}, net() ? `Network ${net()}` : "Networks"),
    () => (net() ? null : beginnings()),
    shown(graph, (value) => bench(value)),
  ];
}

/** The parameters of a question to the server. */
function asked(/** @type {string[]} */ ...names) {
  return new URLSearchParams([...parameters()].filter(([name]) => ["net", "evidence", "do", ...names].includes(name))).toString();
}

/** @param {any} graph */
function bench(graph) {
  const way = signal(/** @type {Way} */ ("evidence"));
  const query = computed(() => asked());
  const posteriors = load(() => `/api/networks/posteriors?${query()}`);
  const separated = load(() => (parameters().get("first") && parameters().get("second") ? `/api/networks/separation?${asked("first", "second")}` : null));
  const lit = computed(() => {
    const paths = separated().value?.paths ?? [];
    return paths[Number(parameters().get("path") ?? 0)] ?? null;
  });
  effect(() => {
    const { value, loading } = posteriors();
    if (value && !loading) announce(knownText(value));
  });
  return [
    h("p", {}, `${countText(graph.nodes.length, "variable")} · ${countText(graph.n_parameters, "number")} in its tables, where one table of all would have ${graph.n_joint_parameters.toLocaleString("en-US")}.`),
    h("section", { class: "card", "aria-label": "The network" }, h("div", { class: "row" }, ways(way), redraw(graph)), known(posteriors), drawing(graph, posteriors, lit, way), shown(posteriors, (value) => actionTexts(() => value.action, "these posteriors"))),
    h("div", { class: "columns two" }, separation(graph, separated), workingOf(graph, () => `/api/networks/working?${asked("query")}`)),
    h("details", {}, h("summary", {}, "The joint distribution as a product"), h("pre", { class: "scrolls", tabindex: "0" }, graph.factorization)),
  ];
}

/**
 * The way back to the drawing, for a network whose table is open.
 * @param {any} graph
 */
function redraw(graph) {
  const file = parameters().get("file");
  if (!file) return null;
  const query = new URLSearchParams({ file });
  for (const name of ["ignore", "at"]) for (const text of parameters().getAll(name)) query.append(name, text);
  for (const node of graph.nodes) for (const parent of node.parents) query.append("edge", `${parent}->${node.name}`);
  return h("a", { class: "button quiet", href: `/networks?${query}` }, "Draw its edges anew");
}

/** @param {import("../base/reactive.js").Signal<Way>} way */
function ways(way) {
  const choice = (/** @type {Way} */ name, /** @type {string} */ text) =>
    h("label", { class: "line" }, h("input", { type: "radio", name: "way", value: name, checked: () => way() === name, onchange: () => way.set(name) }), text);
  return h("fieldset", { class: "row plain" }, h("legend", {}, "A click on a state"), choice("evidence", "observes it"), choice("do", "sets it from outside (do)"));
}

/** @param {any} value */
function knownText({ evidence, do: set }) {
  const parts = [...Object.entries(set).map(([name, state]) => `do(${name} = ${state})`), ...Object.entries(evidence).map(([name, state]) => `${name} = ${state}`)];
  return parts.length ? `Given ${parts.join(", ")}` : "Nothing is observed";
}

/** @param {() => import("../base/server.js").Loaded<any>} posteriors */
function known(posteriors) {
  return h(
    "p",
    { class: "row" },
    h("b", {}, () => (posteriors().value ? knownText(posteriors().value) : "")),
    () => (parameters().has("evidence") || parameters().has("do") ? h("button", { type: "button", class: "quiet", onclick: () => change({ evidence: null, do: null }) }, "forget all of it") : null),
  );
}

/**
 * A share as a percentage that shows that it is not 0.
 * @param {number} share
 */
export function shareText(share) {
  return share > 0 && share < 0.0005 ? "< 0.1 %" : percentText(share);
}
