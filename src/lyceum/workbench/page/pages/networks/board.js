// A graph that is drawn: columns as boxes that are moved, edges from box to box, by pointer or keys.

import { change, parameters } from "../../base/address.js";
import { announce, h, s } from "../../base/dom.js";
import { effect, onEnd, signal } from "../../base/reactive.js";
import { arrow } from "./drawing.js";
import { movable, spotOf } from "./moving.js";

/** @typedef {import("./moving.js").Spot} Spot */

const HEIGHT = 36;
const GAP = 28;

/** The edges of the address. @returns {[string, string][]} */
export function drawnEdges() {
  return parameters().getAll("edge").map((text) => /** @type {[string, string]} */ (text.split("->", 2)));
}

/** @param {[string, string][]} edges */
function setEdges(edges) {
  change({ edge: edges.map(([from, to]) => `${from}->${to}`) });
}

/**
 * Whether a way leads along the edges.
 * @param {[string, string][]} edges
 * @param {string} from
 * @param {string} to
 * @returns {boolean}
 */
function leads(edges, from, to) {
  const open = [from];
  const seen = new Set(open);
  while (open.length) {
    const name = open.pop();
    if (name === to) return true;
    for (const [parent, child] of edges) {
      if (parent !== name || seen.has(child)) continue;
      seen.add(child);
      open.push(child);
    }
  }
  return false;
}

/**
 * Add an edge; the answer says what happened.
 * @param {string} from
 * @param {string} to
 */
export function addEdge(from, to) {
  const edges = drawnEdges();
  if (from === to) return `${from} cannot lead to itself.`;
  if (edges.some((edge) => edge[0] === from && edge[1] === to)) return `${from} → ${to} is there already.`;
  if (leads(edges, to, from)) return `${from} → ${to} would close a circle: ${to} leads to ${from} already.`;
  setEdges([...edges, [from, to]]);
  return `${from} → ${to} was added.`;
}

/**
 * @param {string} from
 * @param {string} to
 */
export function removeEdge(from, to) {
  setEdges(drawnEdges().filter((edge) => edge[0] !== from || edge[1] !== to));
}

/** Leave a column out, with its edges. @param {string} name */
function leaveOut(name) {
  const edges = drawnEdges().filter((edge) => !edge.includes(name));
  change({ ignore: [...parameters().getAll("ignore"), name], edge: edges.map((edge) => edge.join("->")) });
}

/** @param {string[]} columns */
export function board(columns) {
  const message = signal("");
  const begun = signal(""); // where an edge begins that is being drawn
  const loose = signal(/** @type {Spot | null} */ (null)); // its other end, under the pointer
  const say = (/** @type {string} */ text) => {
    message.set(text);
    announce(text);
  };
  const finish = (/** @type {string} */ to) => {
    const from = begun();
    begun.set("");
    loose.set(null);
    say(addEdge(from, to));
  };
  const width = Math.max(110, ...columns.map((name) => 86 + 7.8 * name.length));
  const perRow = Math.max(1, Math.floor((Math.min(window.innerWidth, 1200) - 80) / (width + GAP)));
  const nodes = columns.map((name, index) => {
    const laid = { x: (index % perRow) * (width + GAP), y: Math.floor(index / perRow) * (HEIGHT + 2 * GAP) };
    return { name, spot: () => spotOf(name, laid) };
  });
  const spots = new Map(nodes.map(({ name, spot }) => [name, spot]));
  const box = h("div", { class: "network board" });
  effect(() => {
    const places = nodes.map(({ spot }) => spot());
    box.style.width = `${Math.max(...places.map(({ x }) => x)) + width + 8}px`;
    box.style.height = `${Math.max(...places.map(({ y }) => y)) + HEIGHT + 8}px`;
  });
  box.append(
    s("svg", { class: "edges", width: "100%", height: "100%" }, () => drawnEdges().map((edge) => edgeOf(edge, spots, width)), () => looseEnd(begun(), loose(), spots, width)),
    ...nodes.map((node) => nodeOf(node, width, { begun, loose, finish, say })),
  );
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !begun()) return;
    begun.set("");
    loose.set(null);
    say("No edge was drawn.");
  };
  document.addEventListener("keydown", escape);
  onEnd(() => document.removeEventListener("keydown", escape));
  return [
    h("p", { class: "soft", id: "board-help" }, "Drag from the arrow of a column to another column to draw an edge from cause to effect; drag a name to move it. With keys: Enter on an arrow, then Enter on another name; arrow keys move a name; Delete on an edge removes it."),
    h("div", { class: "scrolls wide", role: "region", "aria-label": "The graph that is drawn", "aria-describedby": "board-help", tabindex: "0" }, box),
    h("p", { role: "status", class: "soft" }, () => (begun() ? `From ${begun()} to …` : message())),
  ];
}

/**
 * @param {[string, string]} edge
 * @param {Map<string, () => Spot>} spots
 * @param {number} width
 */
function edgeOf([from, to], spots, width) {
  const remove = () => removeEdge(from, to);
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (!["Delete", "Backspace", "Enter", " "].includes(event.key)) return;
    event.preventDefault();
    remove();
  };
  const ends = () => {
    const a = spots.get(from)?.() ?? { x: 0, y: 0 };
    const b = spots.get(to)?.() ?? { x: 0, y: 0 };
    return between(a, b, width);
  };
  const made = s("g", { class: "drawn", role: "button", tabindex: "0", "aria-label": `Edge from ${from} to ${to}: remove it`, onclick: remove, onkeydown: key });
  made.append(arrow(ends, () => false), s("title", {}, `${from} → ${to}: a click removes it`));
  return made;
}

/**
 * The line between two boxes, from border to border.
 * @param {Spot} a
 * @param {Spot} b
 * @param {number} width
 */
function between(a, b, width) {
  const [x0, y0, x1, y1] = [a.x + width / 2, a.y + HEIGHT / 2, b.x + width / 2, b.y + HEIGHT / 2];
  const [dx, dy] = [x1 - x0, y1 - y0];
  // the share of the way at which the line leaves a box
  const share = Math.min(width / 2 / (Math.abs(dx) || 1e-9), HEIGHT / 2 / (Math.abs(dy) || 1e-9), 0.5);
  return [
    [x0 + share * dx, y0 + share * dy],
    [x1 - share * dx, y1 - share * dy],
  ];
}

/**
 * @param {string} from
 * @param {Spot | null} end
 * @param {Map<string, () => Spot>} spots
 * @param {number} width
 */
function looseEnd(from, end, spots, width) {
  const begin = spots.get(from)?.();
  if (!begin || !end) return null;
  return s("line", { class: "loose", x1: begin.x + width / 2, y1: begin.y + HEIGHT / 2, x2: end.x, y2: end.y });
}

/**
 * @param {{ name: string, spot: () => Spot }} node
 * @param {number} width
 * @param {{ begun: import("../../base/reactive.js").Signal<string>, loose: import("../../base/reactive.js").Signal<Spot | null>, finish: (to: string) => void, say: (text: string) => void }} drawing
 */
function nodeOf({ name, spot }, width, { begun, loose, finish, say }) {
  const title = h("button", { type: "button", class: "quiet name", id: `board-${name}`, "aria-label": () => (begun() && begun() !== name ? `${name}: end the edge here` : `${name}: move it with arrow keys`), onclick: () => (begun() ? finish(name) : null) }, name);
  movable(title, name, spot);
  const from = h("button", { type: "button", class: "quiet from", id: `from-${name}`, "aria-label": `Edge from ${name}`, "aria-pressed": () => String(begun() === name) }, "→");
  const out = h("button", { type: "button", class: "quiet", "aria-label": `Leave ${name} out`, onclick: () => leaveOut(name) }, "×");
  const made = h("div", { class: () => `node ${begun() === name ? "observed" : ""}`, "data-name": name, role: "group", "aria-label": name }, title, from, out);
  effect(() => {
    const { x, y } = spot();
    made.style.left = `${x}px`;
    made.style.top = `${y}px`;
  });
  made.style.width = `${width}px`;
  pull(from, made, { begun, loose, finish });
  from.addEventListener("click", (event) => {
    if (event.detail !== 0) return; // a pointer, which has pulled
    begun.change((now) => (now === name ? "" : name));
    say(begun() ? `From ${name}: choose the effect` : "No edge was drawn.");
  });
  return made;
}

/**
 * Let a pointer pull an edge from a box to another.
 * @param {HTMLElement} handle
 * @param {HTMLElement} node
 * @param {{ begun: import("../../base/reactive.js").Signal<string>, loose: import("../../base/reactive.js").Signal<Spot | null>, finish: (to: string) => void }} drawing
 */
function pull(handle, node, { begun, loose, finish }) {
  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    const name = node.dataset.name ?? "";
    begun.set(name);
    handle.setPointerCapture(down.pointerId);
    const move = (/** @type {PointerEvent} */ event) => {
      const corner = /** @type {HTMLElement} */ (node.parentElement).getBoundingClientRect();
      loose.set({ x: event.clientX - corner.left, y: event.clientY - corner.top });
    };
    handle.addEventListener("pointermove", move);
    const end = (/** @type {PointerEvent} */ event) => {
      handle.removeEventListener("pointermove", move);
      loose.set(null);
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-name]");
      const target = under instanceof HTMLElement ? under.dataset.name : "";
      // let go where it began: the next click on a name ends the edge
      if (target === name) return;
      if (target) finish(target);
      else begun.set("");
    };
    handle.addEventListener("pointerup", end, { once: true });
  });
}
