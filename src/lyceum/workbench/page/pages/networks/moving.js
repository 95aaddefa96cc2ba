// Nodes that are moved, by the pointer or by arrow keys; where they stand is kept in the address.

import { change, parameters } from "../../base/address.js";
import { computed, signal } from "../../base/reactive.js";

/** @typedef {{ x: number, y: number }} Spot */

const STEP = 20; // pixels of an arrow key
const SLACK = 4; // pixels that a click may move

/** What is moved right now. @type {import("../../base/reactive.js").Signal<{ name: string, x: number, y: number } | null>} */
const held = signal(/** @type {{ name: string, x: number, y: number } | null} */ (null));

/** The nodes that were moved, `at=outlook=120,40`. */
const kept = computed(() => {
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  for (const text of parameters().getAll("at")) {
    const end = text.lastIndexOf("=");
    const [x, y] = text.slice(end + 1).split(",").map(Number);
    if (Number.isFinite(x) && Number.isFinite(y)) spots.set(text.slice(0, end), { x, y });
  }
  return spots;
});

/**
 * Where a node stands: moved, or as it was laid out.
 * @param {string} name
 * @param {Spot} laid
 * @returns {Spot}
 */
export function spotOf(name, laid) {
  const now = held();
  if (now?.name === name) return now;
  return kept().get(name) ?? laid;
}

/**
 * @param {string} name
 * @param {Spot} spot
 */
function keep(name, { x, y }) {
  const others = [...kept()].filter(([other]) => other !== name).map(([other, spot]) => `${other}=${spot.x},${spot.y}`);
  change({ at: [...others, `${name}=${Math.max(0, Math.round(x))},${Math.max(0, Math.round(y))}`] });
}

/**
 * Let an element move its node.
 * @param {HTMLElement} handle
 * @param {string} name
 * @param {() => Spot} spot where the node stands
 */
export function movable(handle, name, spot) {
  handle.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    const begin = spot();
    const place = (/** @type {PointerEvent} */ event) => ({ x: Math.max(0, begin.x + event.clientX - down.clientX), y: Math.max(0, begin.y + event.clientY - down.clientY) });
    const move = (/** @type {PointerEvent} */ event) => {
      if (held() || Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > SLACK) held.set({ name, ...place(event) });
    };
    const end = () => {
      const now = held();
      handle.removeEventListener("pointermove", move);
      held.set(null);
      if (now) keep(name, now);
    };
    handle.setPointerCapture(down.pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", () => held.set(null), { once: true });
  });
  handle.addEventListener("keydown", (event) => {
    const steps = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const { x, y } = spot();
    keep(name, { x: x + STEP * step[0], y: y + STEP * step[1] });
  });
}
