// The network as boxes with a button per state, and edges between them; a path can be lit.

import { change, parameters } from "../../base/address.js";
import { h, s } from "../../base/dom.js";
import { numberText } from "../../base/parts.js";
import { effect } from "../../base/reactive.js";
import { shareText } from "../networks.js";
import { movable, spotOf } from "./moving.js";

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
  // where the upper left corner of a node stands
  const spots = new Map(graph.nodes.map((/** @type {any} */ node) => [node.name, () => spotOf(node.name, { x: node.x - node.width / 2, y: tops[node.layer] })]));
  effect(() => {
    const ends = graph.nodes.map((/** @type {any} */ node) => {
      const { x, y } = spots.get(node.name)();
      return [x + node.width, y + heightOf(node)];
    });
    box.style.width = `${Math.max(graph.width, ...ends.map((/** @type {number[]} */ [x]) => x)) + 4}px`;
    box.style.height = `${Math.max(height, ...ends.map((/** @type {number[]} */ [, y]) => y)) + 4}px`;
  });
  box.append(edgesOf(graph, spots, tops, heights, lit));
  for (const node of graph.nodes) {
    const made = nodeOf(node, spots.get(node.name), posteriors, lit, way);
    effect(() => {
      const { x, y } = spots.get(node.name)();
      made.style.left = `${x}px`;
      made.style.top = `${y}px`;
    });
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
 * @param {Map<string, () => import("./moving.js").Spot>} spots
 * @param {number[]} tops
 * @param {number[]} heights
 * @param {() => any} lit
 */
function edgesOf(graph, spots, tops, heights, lit) {
  const svg = s("svg", { width: "100%", height: "100%", "aria-hidden": "true", class: "edges" });
  const nodes = new Map(graph.nodes.map((/** @type {any} */ node) => [node.name, node]));
  for (const child of graph.nodes) {
    for (const name of child.parents) {
      const parent = nodes.get(name);
      const bends = graph.bends.find((/** @type {any} */ edge) => edge.from === name && edge.to === child.name)?.points ?? [];
      const points = () => {
        const a = spots.get(name)?.() ?? { x: 0, y: 0 };
        const b = spots.get(child.name)?.() ?? { x: 0, y: 0 };
        const isLaid = a.y === tops[parent.layer] && b.y === tops[child.layer];
        const turns = isLaid ? bends.flatMap((/** @type {[number, number]} */ [x, layer]) => [[x, tops[layer]], [x, tops[layer] + heights[layer]]]) : [];
        return [[a.x + parent.width / 2, a.y + heightOf(parent)], ...turns, [b.x + child.width / 2, b.y - 2]];
      };
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
 * A line with a head, along points that may move.
 * @param {() => number[][]} points
 * @param {() => boolean} isLit
 */
export function arrow(points, isLit) {
  const head = () => {
    const all = points();
    const [x, y] = all[all.length - 1];
    const [fromX, fromY] = all[all.length - 2];
    const angle = Math.atan2(y - fromY, x - fromX);
    const corner = (/** @type {number} */ turn) => `${(x - 9 * Math.cos(angle + turn)).toFixed(1)},${(y - 9 * Math.sin(angle + turn)).toFixed(1)}`;
    return `${x.toFixed(1)},${y.toFixed(1)} ${corner(0.4)} ${corner(-0.4)}`;
  };
  const line = () => points().map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ");
  return s("g", { class: () => (isLit() ? "edge lit" : "edge") }, s("polyline", { points: line }), s("polygon", { points: head }));
}

/**
 * @param {any} node
 * @param {() => import("./moving.js").Spot} spot
 * @param {() => import("../../base/server.js").Loaded<any>} posteriors
 * @param {() => any} lit
 * @param {() => import("../networks.js").Way} way
 */
function nodeOf(node, spot, posteriors, lit, way) {
  const stateOf = (/** @type {string} */ kind) => posteriors().value?.[kind]?.[node.name] ?? null;
  const status = () => {
    if (stateOf("do") !== null) return "set";
    return stateOf("evidence") !== null ? "observed" : "";
  };
  const head = h("button", { type: "button", class: "head", id: `move-${node.name}`, title: "drag it, or move it with arrow keys" }, node.name, h("small", {}, () => (status() ? ` ${status()}` : "")));
  movable(head, node.name, spot);
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
