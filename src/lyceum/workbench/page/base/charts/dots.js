// Estimates as dots with whiskers, one row each, and the single results (of folds) as small points.

import { s } from "../dom.js";
import { extent, figure, frame, roomFor, shorten, tickText } from "./frame.js";

/**
 * @typedef {object} Dot
 * @property {string} name
 * @property {number} value
 * @property {number | null} [low]
 * @property {number | null} [high]
 * @property {number[]} [points]
 * @property {string} [class]
 */

/**
 * @param {Dot[]} dots
 * @param {{ title: string, valueLabel: string, valueText?: (value: number) => string, width?: number, onpick?: (dot: Dot) => void }} options
 */
export function dots(dots, options) {
  const { title, valueLabel, valueText = tickText } = options;
  const width = roomFor(options.width ?? 620);
  const left = Math.min(width / 2.6, 18 + 6.8 * Math.max(4, ...dots.map((dot) => dot.name.length)));
  const step = 26;
  const height = step * dots.length + 54;
  const all = dots.flatMap((dot) => [dot.value, dot.low ?? dot.value, dot.high ?? dot.value, ...(dot.points ?? [])]);
  const drawing = frame({
    title,
    x: extent(all),
    y: [dots.length, 0],
    xLabel: valueLabel,
    width,
    height,
    left,
    yAxis: false,
  });
  dots.forEach((dot, index) => {
    const y = drawing.y(index + 0.5);
    const text = `${dot.name}: ${valueText(dot.value)}`;
    const group = s(
      "g",
      { class: `dot ${dot.class ?? ""} ${options.onpick ? "picks" : ""}` },
      s("title", {}, dot.low === null || dot.low === undefined ? text : `${text}, ${valueText(dot.low)} to ${valueText(Number(dot.high))}`),
      s("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "name" }, shorten(dot.name, left - 22)),
    );
    for (const point of dot.points ?? []) {
      group.append(s("circle", { cx: drawing.x(point), cy: y, r: 2.5, class: "point" }));
    }
    if (dot.low !== null && dot.low !== undefined && dot.high !== null && dot.high !== undefined) {
      group.append(s("line", { x1: drawing.x(dot.low), x2: drawing.x(dot.high), y1: y, y2: y, class: "whisker" }));
    }
    group.append(s("circle", { cx: drawing.x(dot.value), cy: y, r: 5, class: "estimate" }));
    if (options.onpick) group.addEventListener("click", () => options.onpick?.(dot));
    drawing.plot.append(group);
  });
  return figure(title, drawing.svg, {
    heads: ["", valueLabel, "from", "to", "folds"],
    rows: dots.map((dot) => [dot.name, dot.value, dot.low ?? "", dot.high ?? "", dot.points?.length ?? ""]),
  });
}
