// Marks of a scene as SVG: points, rings, lines, arrows, boxes, words, regions. A mark is data, its
// numbers are in the units of its picture; x and y turn them into those of the drawing.

import { s } from "../base/dom.js";
import { linear, shorten } from "../base/charts/frame.js";

/** @typedef {Record<string, any> & { kind: string }} Mark */
/** @typedef {{ x: (value: number) => number, y: (value: number) => number }} Scales */

const RADIUS = 6;

/**
 * @param {Mark} mark
 * @param {Scales} scales
 * @returns {SVGElement[]}
 */
export function drawMark(mark, scales) {
  return (DRAW[mark.kind] ?? (() => []))(mark, scales);
}

/** @param {number | null | undefined} series */
const colorOf = (series) => (series === null || series === undefined || series < 0 ? "none" : `${series % 6}`);

/** @type {Record<string, (mark: Mark, scales: Scales) => SVGElement[]>} */
const DRAW = {
  points: drawPoints,
  ring: ({ x, y, text }, scales) => [
    s("circle", { cx: scales.x(x), cy: scales.y(y), r: RADIUS + 6, class: "ring" }, s("title", {}, text)),
  ],
  line: ({ points, series, dashed, closed }, scales) => {
    const path = pathOf(points, scales) + (closed ? "Z" : "");
    return [s("path", { d: path, class: `stroke color-${colorOf(series)}${dashed ? " dashed" : ""}${closed ? " closed" : ""}` })];
  },
  arrow: drawArrow,
  text: ({ x, y, text, anchor }, scales) => [s("text", { x: scales.x(x), y: scales.y(y), "text-anchor": anchor, class: "words" }, text)],
  box: drawBox,
  regions: drawRegions,
};

/**
 * @param {number[][]} points
 * @param {Scales} scales
 */
function pathOf(points, scales) {
  return points.map(([x, y], index) => `${index ? "L" : "M"}${scales.x(x).toFixed(1)} ${scales.y(y).toFixed(1)}`).join("");
}

/**
 * @param {Mark} mark
 * @param {Scales} scales
 */
function drawPoints({ x, y, series, names, sizes, shape, texts }, scales) {
  return x.map((/** @type {number} */ value, /** @type {number} */ i) => {
    const cx = scales.x(value);
    const cy = scales.y(y[i]);
    const name = s("title", {}, `${names[i]}: ${texts?.[i] ?? `${value}, ${y[i]}`}`);
    const color = `color-${colorOf(series[i])}`;
    const r = RADIUS * Math.sqrt(sizes?.[i] ?? 1);
    if (shape === "star") {
      const word = s("text", { x: cx + 12, y: cy - 10, class: "words name" }, names[i]);
      return s("g", {}, s("path", { d: starPath(cx, cy), class: `star ${color}` }, name), word);
    }
    // classes differ in their form too, not in their color alone
    if (series[i] === 1) {
      return s("rect", { x: cx - r * 0.89, y: cy - r * 0.89, width: r * 1.78, height: r * 1.78, class: `dot ${color}` }, name);
    }
    if (series[i] === 2) return s("path", { d: `M${cx} ${cy - r * 1.2}L${cx + r * 1.1} ${cy + r * 0.8}L${cx - r * 1.1} ${cy + r * 0.8}Z`, class: `dot ${color}` }, name);
    return s("circle", { cx, cy, r, class: `dot ${color}` }, name);
  });
}

/**
 * @param {number} cx
 * @param {number} cy
 */
function starPath(cx, cy) {
  const corners = Array.from({ length: 10 }, (_, i) => {
    const radius = i % 2 ? 5 : 12;
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    return `${(cx + radius * Math.cos(angle)).toFixed(1)} ${(cy + radius * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${corners.join("L")}Z`;
}

/**
 * @param {Mark} mark
 * @param {Scales} scales
 */
function drawArrow({ points, series, text }, scales) {
  const [[x0, y0], [x1, y1]] = points.map((/** @type {number[]} */ [x, y]) => [scales.x(x), scales.y(y)]);
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1) return [];
  // the head is as long as 9 pixels, along the arrow and a little to both sides
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const size = Math.min(9, length / 2);
  const [bx, by] = [x1 - size * ux, y1 - size * uy];
  const head = `M${x1} ${y1}L${bx - 0.5 * size * uy} ${by + 0.5 * size * ux}L${bx + 0.5 * size * uy} ${by - 0.5 * size * ux}Z`;
  const color = colorOf(series);
  const made = [
    s("path", { d: `M${x0} ${y0}L${bx} ${by}`, class: `stroke color-${color}` }),
    s("path", { d: head, class: `head color-${color}` }),
  ];
  if (!text) return made;
  return [...made, s("text", { x: x1 + 6, y: y1 - 6, class: "words name" }, text)];
}

/**
 * @param {Mark} mark
 * @param {Scales} scales
 */
function drawBox({ x, y, width, height, lines, series, tone, strength }, scales) {
  const cx = scales.x(x);
  const cy = scales.y(y);
  const color = series === null ? "" : ` color-${colorOf(series)}`;
  const group = s("g", { class: `box${color}${tone ? ` ${tone}` : ""}` });
  const left = cx - width / 2;
  const top = cy - height / 2;
  group.append(s("rect", { x: left, y: top, width, height, rx: 5, class: "paper" }));
  if (strength) group.append(s("rect", { x: left, y: top, width, height, rx: 5, class: "fill", opacity: Math.min(1, Math.abs(strength)).toFixed(3) }));
  const first = cy - (lines.length - 1) * 9 + 5;
  lines.forEach((/** @type {string} */ line, /** @type {number} */ i) => {
    group.append(s("text", { x: cx, y: first + 18 * i, "text-anchor": "middle", class: i ? "words" : "words first" }, shorten(line, width + 10)));
  });
  group.append(s("title", {}, lines.join(", ")));
  return [group];
}

/**
 * @param {Mark} mark
 * @param {Scales} scales
 */
function drawRegions({ x, y, n, series }, scales) {
  const right = linear([0, n], [scales.x(x[0]), scales.x(x[1])]);
  const up = linear([0, n], [scales.y(y[0]), scales.y(y[1])]);
  /** @type {SVGElement[]} */
  const made = [];
  const rowText = (/** @type {number} */ row) => series.slice(row * n, row * n + n).join();
  for (let row = 0, next = 0; row < n; row = next) {
    // rows that are alike, and runs of the same answer in them, are one rectangle
    next = row + 1;
    while (next < n && rowText(next) === rowText(row)) next += 1;
    for (let begin = 0; begin < n; ) {
      let end = begin + 1;
      while (end < n && series[row * n + end] === series[row * n + begin]) end += 1;
      const color = colorOf(series[row * n + begin]);
      made.push(s("rect", {
        x: right(begin).toFixed(1), y: up(next).toFixed(1), width: (right(end) - right(begin)).toFixed(1),
        height: (up(row) - up(next)).toFixed(1), "shape-rendering": "crispEdges", class: `region color-${color}`,
      }));
      begin = end;
    }
  }
  return made;
}
