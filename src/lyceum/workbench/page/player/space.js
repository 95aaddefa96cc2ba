// A space of three columns, seen from a side: the marks are turned, and drawn as those of a plane.

import { freshId, h, s } from "../base/dom.js";
import { roomFor, shorten, tickText } from "../base/charts/frame.js";
import { signal } from "../base/reactive.js";
import { drawMark } from "./marks.js";

// how far the space is turned and tilted, in degrees; it stays from step to step
const turn = signal(30);
const tilt = signal(20);
const SIDES = /** @type {const} */ (["x", "y", "z"]);

/**
 * A point in a box from -1 to 1, as it is seen: right and up.
 * @param {number[]} point
 */
function seen([a, b, c]) {
  const [sinTurn, cosTurn] = [Math.sin((turn() * Math.PI) / 180), Math.cos((turn() * Math.PI) / 180)];
  const [sinTilt, cosTilt] = [Math.sin((tilt() * Math.PI) / 180), Math.cos((tilt() * Math.PI) / 180)];
  const right = a * cosTurn + b * sinTurn;
  const away = b * cosTurn - a * sinTurn;
  return [right, c * cosTilt + away * sinTilt];
}

/**
 * @param {Record<string, any>} picture
 * @returns {SVGElement}
 */
export function space(picture) {
  const [width, height] = [roomFor(520), 420];
  const label = freshId("space");
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart play-picture space" }, s("title", { id: label }, picture.title));
  const size = Math.min(width, height) * 0.33;
  const longest = Math.max(...SIDES.map((side) => picture[side][1] - picture[side][0]));
  const place = (/** @type {number[]} */ point) => {
    const shares = SIDES.map((side, index) => {
      const [low, high] = picture[side];
      return (2 * point[index] - low - high) / (picture.equal ? longest : high - low || 1);
    });
    const [right, up] = seen(shares);
    return [width / 2 + size * right, height / 2 - size * up];
  };
  svg.append(boxOf(picture, place, width));
  const plain = { x: (/** @type {number} */ x) => x, y: (/** @type {number} */ y) => y };
  for (const mark of picture.marks) svg.append(...drawMark(flat(mark, place), plain));
  pullable(svg);
  return svg;
}

/**
 * A mark with its points as they are seen.
 * @param {import("./marks.js").Mark} mark
 * @param {(point: number[]) => number[]} place
 * @returns {import("./marks.js").Mark}
 */
function flat(mark, place) {
  if (mark.points) return { ...mark, points: mark.points.map(place) };
  if (!Array.isArray(mark.x)) {
    const [x, y] = place([mark.x, mark.y, mark.z]);
    return { ...mark, x, y };
  }
  const rows = mark.x.map((/** @type {number} */ x, /** @type {number} */ i) => [x, mark.y[i], mark.z[i]]);
  const places = rows.map(place);
  return { ...mark, x: places.map(([x]) => x), y: places.map(([, y]) => y), texts: rows.map((/** @type {number[]} */ row) => row.join(", ")) };
}

/**
 * The edges of the box, and its axes with their ends in figures.
 * @param {Record<string, any>} picture
 * @param {(point: number[]) => number[]} place
 * @param {number} width
 */
function boxOf(picture, place, width) {
  const made = s("g", { class: "axes", "aria-hidden": "true" });
  const corner = (/** @type {number} */ bits) => SIDES.map((side, index) => picture[side][(bits >> index) & 1]);
  for (let from = 0; from < 8; from += 1) {
    for (const bit of [1, 2, 4]) {
      if (from & bit) continue;
      const [[x1, y1], [x2, y2]] = [place(corner(from)), place(corner(from | bit))];
      made.append(s("line", { x1, y1, x2, y2, class: "grid" }));
      if (from !== 0) continue;
      const side = SIDES[Math.log2(bit)];
      const [low, high] = picture[side].map((/** @type {number} */ end) => tickText(Number(end.toPrecision(3))));
      const text = `${shorten(picture[`${side}_label`].replace(" (standardized)", ""), 150)}: ${low} to ${high}`;
      const room = 3.9 * text.length; // half of its width
      const x = Math.min(width - room, Math.max(room, bit === 4 ? x2 : (x1 + x2) / 2));
      // the axis that goes up is named above its end, the others below their middle
      const y = bit === 4 ? y2 - 10 : (y1 + y2) / 2 + 18;
      made.append(s("line", { x1, y1, x2, y2, class: "axis" }), s("text", { x, y, "text-anchor": "middle", class: "words" }, text));
    }
  }
  return made;
}

/** Turn the space by pulling. @param {SVGElement} svg */
function pullable(svg) {
  svg.addEventListener("pointerdown", (down) => {
    const [atTurn, atTilt] = [turn(), tilt()];
    const move = (/** @type {PointerEvent} */ event) => {
      turn.set((((atTurn + (event.clientX - down.clientX) / 2) % 360) + 360) % 360);
      tilt.set(Math.min(90, Math.max(0, atTilt + (event.clientY - down.clientY) / 2)));
    };
    // the picture is drawn anew while it is turned: the window hears the rest
    window.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => window.removeEventListener("pointermove", move), { once: true });
  });
}

/** Turn and tilt by keys and sliders. */
export function spaceControls() {
  const slider = (/** @type {string} */ text, /** @type {import("../base/reactive.js").Signal<number>} */ angle, /** @type {number} */ most) =>
    h("label", {}, text, h("input", { type: "range", min: 0, max: most, step: 5, value: () => angle(), oninput: (/** @type {any} */ event) => angle.set(Number(event.target.value)) }));
  return h("p", { class: "turns" }, slider("Turn", turn, 360), slider("Tilt", tilt, 90));
}
