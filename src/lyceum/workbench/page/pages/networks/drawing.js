// The network as boxes with a button per state, and edges between them; a path can be lit.

import { change, parameters } from "../../base/address.js";
import { h, s } from "../../base/dom.js";
import { numberText } from "../../base/parts.js";
import { effect } from "../../base/reactive.js";
import { shareText } from "../networks.js";

const HEAD = 28;
const LINE = 26;
const BETWEEN = 46; // layers
const MOST_STATES = 8;

/**
 * @param {any} graph
 * @param {() => import("../../base/server.js").Loaded<any>} posteriors
 * @param {() => any} lit a path of nodes, or null
 * @param {() => import("../networks.js").Way} way
 */
export function drawing(graph, posteriors, lit, way) {
  const heights = Array.from({ length: graph.n_layers }, () => LINE);
  for (const node of graph.nodes) heights[node.layer] = Math.max(heights[node.layer], heightOf(node));
  const tops = heights.map((_, layer) => heights.slice(0, layer).reduce((sum, each) => sum + each + BETWEEN, 0));
  const height = tops[tops.length - 1] + heights[heights.length - 1];
  const box = h("div", { class: "network" });
  box.style.width = `${graph.width + 4}px`;
  box.style.height = `${height + 4}px`;
  box.append(edgesOf(graph, tops, heights, lit));
  for (const node of graph.nodes) {
    const made = nodeOf(node, posteriors, lit, way);
    made.style.left = `${node.x - node.width / 2}px`;
    made.style.top = `${tops[node.layer]}px`;
    made.style.width = `${node.width}px`;
    box.append(made);
  }
  return h("div", { class: "scrolls wide", tabindex: "0", role: "region", "aria-label": "Variables and their states" }, box);
}

/** @param {any} node */
function heightOf(node) {
  return HEAD + LINE * Math.min(MOST_STATES, node.states?.length ?? 1) + 8;
}

/**
 * @param {any} graph
 * @param {number[]} tops
 * @param {number[]} heights
 * @param {() => any} lit
 */
function edgesOf(graph, tops, heights, lit) {
  const height = tops[tops.length - 1] + heights[heights.length - 1];
  const svg = s("svg", { viewBox: `0 0 ${graph.width} ${height}`, width: graph.width, height, "aria-hidden": "true", class: "edges" });
  const places = new Map(graph.nodes.map((/** @type {any} */ node) => [node.name, node]));
  for (const child of graph.nodes) {
    for (const name of child.parents) {
      const parent = places.get(name);
      const bends = graph.bends.find((/** @type {any} */ edge) => edge.from === name && edge.to === child.name)?.points ?? [];
      const points = [
        [parent.x, tops[parent.layer] + heightOf(parent)],
        ...bends.flatMap((/** @type {[number, number]} */ [x, layer]) => [[x, tops[layer]], [x, tops[layer] + heights[layer]]]),
        [child.x, tops[child.layer] - 2],
      ];
      svg.append(arrow(points, () => isOn(lit(), name, child.name)));
    }
  }
  return svg;
}

/**
 * @param {any} path
 * @param {string} a
 * @param {string} b
 */
function isOn(path, a, b) {
  const nodes = path?.nodes ?? [];
  return nodes.some((/** @type {string} */ name, /** @type {number} */ index) => (name === a && nodes[index + 1] === b) || (name === b && nodes[index + 1] === a));
}

/**
 * @param {number[][]} points
 * @param {() => boolean} isLit
 */
function arrow(points, isLit) {
  const [x, y] = points[points.length - 1];
  const [fromX, fromY] = points[points.length - 2];
  const angle = Math.atan2(y - fromY, x - fromX);
  const corner = (/** @type {number} */ turn) => `${(x - 9 * Math.cos(angle + turn)).toFixed(1)},${(y - 9 * Math.sin(angle + turn)).toFixed(1)}`;
  return s(
    "g",
    { class: () => (isLit() ? "edge lit" : "edge") },
    s("polyline", { points: points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ") }),
    s("polygon", { points: `${x},${y} ${corner(0.4)} ${corner(-0.4)}` }),
  );
}

/**
 * @param {any} node
 * @param {() => import("../../base/server.js").Loaded<any>} posteriors
 * @param {() => any} lit
 * @param {() => import("../networks.js").Way} way
 */
function nodeOf(node, posteriors, lit, way) {
  const stateOf = (/** @type {string} */ kind) => posteriors().value?.[kind]?.[node.name] ?? null;
  const status = () => {
    if (stateOf("do") !== null) return "set";
    return stateOf("evidence") !== null ? "observed" : "";
  };
  const head = h("div", { class: "head" }, node.name, h("small", {}, () => (status() ? ` ${status()}` : "")));
  const body = node.states ? states(node, posteriors, way) : h("p", {}, () => gaussianText(node, posteriors().value));
  return h("div", { class: () => `node ${status()} ${lit()?.nodes.includes(node.name) ? "lit" : ""}`, role: "group", "aria-label": node.name }, head, body);
}

/**
 * @param {any} node
 * @param {() => import("../../base/server.js").Loaded<any>} posteriors
 * @param {() => import("../networks.js").Way} way
 */
function states(node, posteriors, way) {
  return node.states.slice(0, MOST_STATES).map((/** @type {string} */ state, /** @type {number} */ index) => {
    const isChosen = () => {
      const value = posteriors().value;
      return value?.evidence[node.name] === state || value?.do[node.name] === state;
    };
    const share = () => shareOf(posteriors().value, node, state, index);
    const button = h(
      "button",
      { type: "button", class: "state", id: `state-${node.name}-${index}`, "aria-pressed": () => String(Boolean(isChosen())), "aria-label": () => `${node.name} = ${state}: ${shareText(share())}`, onclick: () => choose(node.name, state, Boolean(isChosen()), way()) },
      h("span", {}, state),
      h("span", { class: "number" }, () => shareText(share())),
    );
    effect(() => {
      button.style.setProperty("--share", String(share()));
      button.style.setProperty("--before", String(posteriors().value?.before[node.name]?.probabilities[index] ?? 0));
    });
    return button;
  });
}

/**
 * @param {any} value
 * @param {any} node
 * @param {string} state
 * @param {number} index
 */
function shareOf(value, node, state, index) {
  const given = value?.evidence[node.name] ?? value?.do[node.name];
  if (given !== undefined) return given === state ? 1 : 0;
  return value?.after[node.name]?.probabilities[index] ?? 0;
}

/**
 * @param {string} name
 * @param {string} state
 * @param {boolean} isChosen
 * @param {import("../networks.js").Way} way
 */
function choose(name, state, isChosen, way) {
  const without = (/** @type {string} */ kind) => parameters().getAll(kind).filter((text) => !text.startsWith(`${name}=`));
  const lists = { evidence: without("evidence"), do: without("do") };
  if (!isChosen) lists[way].push(`${name}=${state}`);
  change(lists);
}

/**
 * @param {any} node
 * @param {any} value
 */
function gaussianText(node, value) {
  const given = value?.evidence[node.name] ?? value?.do[node.name];
  if (given !== undefined) return String(given);
  const said = value?.after[node.name];
  return said ? `${numberText(said.mean)} ± ${numberText(said.deviation)}` : "";
}
