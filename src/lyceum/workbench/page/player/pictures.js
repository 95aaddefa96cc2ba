// A picture of a scene: a plane with axes in the units of the table, a space of three columns, or a
// drawing in pixels.

import { freshId, h, s } from "../base/dom.js";
import { frame, roomFor } from "../base/charts/frame.js";
import { drawMark } from "./marks.js";
import { space, spaceControls } from "./space.js";

/** @typedef {Record<string, any> & { title: string, marks: import("./marks.js").Mark[] }} Picture */

/**
 * @param {Picture} picture
 * @returns {HTMLElement}
 */
export function drawPicture(picture) {
  const isSpace = "z" in picture;
  const svg = "width" in picture ? drawing(picture) : () => (isSpace ? space(picture) : plane(picture));
  return h("figure", { class: "stage" }, h("figcaption", {}, picture.title), h("div", { class: "canvas", role: "group", "aria-label": picture.title, tabindex: "0" }, svg), isSpace ? spaceControls() : null);
}

/** @param {Picture} picture */
function drawing({ width, height, title, marks }) {
  const label = freshId("picture");
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart play-picture drawing" },
    s("title", { id: label }, title),
  );
  svg.style.setProperty("--natural", `${width}px`);
  const scales = { x: (/** @type {number} */ x) => x, y: (/** @type {number} */ y) => y };
  for (const mark of marks) svg.append(...drawMark(mark, scales));
  return svg;
}

/** @param {Picture} picture */
function plane(picture) {
  const [width, height] = [roomFor(520), 400];
  const made = frame({ title: picture.title, ...ends(picture, width, height), xLabel: picture.x_label, yLabel: picture.y_label, width, height });
  made.svg.classList.add("play-picture");
  // lines that go beyond the plane end at its border
  const clip = freshId("clip");
  made.svg.prepend(
    s("clipPath", { id: clip }, s("rect", { x: made.left, y: made.top, width: made.right - made.left, height: made.bottom - made.top })),
  );
  made.plot.setAttribute("clip-path", `url(#${clip})`);
  for (const mark of picture.marks) made.plot.append(...drawMark(mark, made));
  return made.svg;
}

/**
 * The ends of the axes; where circles are to be circles, the shorter one is lengthened.
 * @param {Picture} picture
 * @param {number} width
 * @param {number} height
 * @returns {{ x: [number, number], y: [number, number] }}
 */
function ends({ x, y, equal }, width, height) {
  if (!equal) return { x, y };
  const across = (width - 66) / (height - 54);
  const [wide, high] = [x[1] - x[0], y[1] - y[0]];
  const grown = (/** @type {number[]} */ [low, top], /** @type {number} */ size) => /** @type {[number, number]} */ ([(low + top - size) / 2, (low + top + size) / 2]);
  return wide / high > across ? { x, y: grown(y, wide / across) } : { x: grown(x, high * across), y };
}
