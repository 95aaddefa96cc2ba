// What all charts share: scales, ticks, axes, and a figure with its numbers as a table beside it.
//
// A chart is a function of data and options that returns a <figure>. It needs nothing but dom.js and
// charts.css, so that a report or another page can use it as it is.

import { freshId, h, s } from "../dom.js";

/** @typedef {(value: number) => number} Scale */
/**
 * @typedef {object} FrameOptions
 * @property {string} title what the picture shows, in words
 * @property {[number, number]} x the ends of the axis
 * @property {[number, number]} y
 * @property {string} [xLabel]
 * @property {string} [yLabel]
 * @property {number} [width]
 * @property {number} [height]
 * @property {number} [left] room for the labels of the axis
 * @property {boolean} [yAxis]
 * @property {(value: number) => string} [xText]
 * @property {(value: number) => string} [yText]
 */

/**
 * @param {[number, number]} domain
 * @param {[number, number]} range
 * @returns {Scale}
 */
export function linear([low, high], [begin, end]) {
  const width = high - low || 1;
  return (value) => begin + ((value - low) / width) * (end - begin);
}

/**
 * Round numbers between two ends.
 * @param {number} low
 * @param {number} high
 * @param {number} [n] about so many
 */
export function ticks(low, high, n = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** @param {number} value */
export function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential().replace("e+", "e");
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/**
 * The smallest and the largest of all numbers, with some room.
 * @param {ArrayLike<number>} values
 * @param {number} [room] share of the extent
 * @returns {[number, number]}
 */
export function extent(values, room = 0.04) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  const more = (high - low || Math.abs(high) || 1) * room;
  return [low - more, high + more];
}

/**
 * A name that fits into so many pixels.
 * @param {string} name
 * @param {number} width
 */
export function shorten(name, width) {
  const most = Math.max(2, Math.floor(width / 6.8));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/**
 * The width of a drawing: as wished, or what a phone has, so that texts stay legible.
 * @param {number} wished
 */
export function roomFor(wished) {
  return Math.min(wished, Math.max(300, window.innerWidth - 56));
}

/**
 * An empty drawing with axes, and the scales to draw by.
 * @param {FrameOptions} options
 */
export function frame(options) {
  const width = roomFor(options.width ?? 480);
  const { title, height = 260, left = 52, yAxis = true } = options;
  const top = 10;
  const right = 14;
  const bottom = options.xLabel ? 44 : 28;
  const x = linear(options.x, [left, width - right]);
  const y = linear(options.y, [height - bottom, top]);
  const label = freshId("chart");
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart" },
    s("title", { id: label }, title),
  );
  const xText = options.xText ?? tickText;
  const yText = options.yText ?? tickText;
  const axes = s("g", { class: "axes", "aria-hidden": "true" });
  for (const tick of ticks(...options.x)) {
    axes.append(
      s("line", { x1: x(tick), x2: x(tick), y1: top, y2: height - bottom, class: "grid" }),
      s("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, xText(tick)),
    );
  }
  if (yAxis) {
    for (const tick of ticks(...options.y)) {
      axes.append(
        s("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }),
        s("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, yText(tick)),
      );
    }
  }
  if (options.xLabel) {
    const middle = (left + width - right) / 2;
    axes.append(s("text", { x: middle, y: height - 6, "text-anchor": "middle", class: "label" }, options.xLabel));
  }
  if (options.yLabel) {
    const turn = `rotate(-90) translate(${-(top + height - bottom) / 2} 12)`;
    axes.append(s("text", { transform: turn, "text-anchor": "middle", class: "label" }, options.yLabel));
  }
  const plot = s("g", { class: "plot" });
  svg.append(axes, plot);
  return { svg, plot, x, y, width, left, top, right: width - right, bottom: height - bottom };
}

/**
 * A drawing with its caption, and its numbers as a table that opens.
 * @param {string} caption
 * @param {SVGElement} svg
 * @param {{ heads: string[], rows: (string | number)[][] }} numbers
 */
export function figure(caption, svg, numbers) {
  /** @type {HTMLElement | null} */
  let table = null;
  const box = h("details", {
    ontoggle: () => {
      // long tables are made when they are asked for
      table ??= numbersTable(caption, numbers);
      if (box.open && !table.isConnected) box.append(h("div", { class: "scrolls", tabindex: "0" }, table));
    },
  }, h("summary", {}, "numbers"));
  return h("figure", {}, h("figcaption", {}, caption), svg, box);
}

/**
 * @param {string} caption
 * @param {{ heads: string[], rows: (string | number)[][] }} numbers
 */
function numbersTable(caption, { heads, rows }) {
  const cell = (/** @type {string | number} */ value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
  return h(
    "table",
    {},
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((value) => h("td", {}, cell(value)))))),
  );
}
