// Curves: lines through points, a mark where one stands, and a band where there is one.

import { s } from "../dom.js";
import { extent, figure, frame } from "./frame.js";

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {ArrayLike<number>} x
 * @property {ArrayLike<number>} y
 * @property {ArrayLike<number>} [low]
 * @property {ArrayLike<number>} [high]
 * @property {string} [class]
 * @property {boolean} [steps]
 */

/**
 * @param {Line[]} lines
 * @param {{ title: string, xLabel: string, yLabel: string, x?: [number, number], y?: [number, number], mark?: { x: number, y: number, text: string } | null, width?: number, height?: number, onpick?: (x: number) => void }} options
 */
export function lines(lines, options) {
  const drawing = frame({
    ...options,
    x: options.x ?? extent(lines.flatMap((line) => Array.from(line.x)), 0),
    y: options.y ?? extent(lines.flatMap((line) => [line.y, line.low ?? [], line.high ?? []].flatMap((part) => Array.from(part)))),
  });
  const { plot } = drawing;
  lines.forEach((line, index) => {
    const name = line.class ?? `series-${index % 6}`;
    if (line.low && line.high) {
      const upper = path(line.x, line.high, drawing, false);
      const lower = path([...Array.from(line.x)].reverse(), [...Array.from(line.low)].reverse(), drawing, false);
      plot.append(s("path", { d: `${upper} L${lower.slice(1)} Z`, class: `band ${name}` }));
    }
    plot.append(s("path", { d: path(line.x, line.y, drawing, Boolean(line.steps)), class: `line ${name}` }, s("title", {}, line.name)));
  });
  if (options.mark) {
    const { x, y, text } = options.mark;
    plot.append(
      s("line", { x1: drawing.x(x), x2: drawing.x(x), y1: drawing.top, y2: drawing.bottom, class: "mark" }),
      s("circle", { cx: drawing.x(x), cy: drawing.y(y), r: 5, class: "estimate" }, s("title", {}, text)),
    );
  }
  if (options.onpick) {
    drawing.svg.addEventListener("click", (event) => {
      const box = drawing.svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * drawing.width;
      const [low, high] = options.x ?? extent(lines.flatMap((line) => Array.from(line.x)), 0);
      const share = (at - drawing.left) / (drawing.right - drawing.left);
      options.onpick?.(low + Math.min(1, Math.max(0, share)) * (high - low));
    });
  }
  const made = figure(options.title, drawing.svg, {
    heads: [options.xLabel, ...lines.map((line) => line.name)],
    rows: tableRows(lines),
  });
  if (lines.length > 1) made.insertBefore(legend(lines), made.lastChild);
  return made;
}

/**
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 * @param {{ x: (value: number) => number, y: (value: number) => number }} scales
 * @param {boolean} steps
 */
function path(xs, ys, scales, steps) {
  let text = "";
  for (let i = 0; i < xs.length; i += 1) {
    if (!Number.isFinite(ys[i])) continue;
    const x = scales.x(xs[i]).toFixed(1);
    const y = scales.y(ys[i]).toFixed(1);
    if (text === "") text = `M${x} ${y}`;
    else text += steps ? ` H${x} V${y}` : ` L${x} ${y}`;
  }
  return text;
}

/**
 * At most 200 rows of the numbers, evenly chosen.
 * @param {Line[]} lines
 */
function tableRows(lines) {
  const [first] = lines;
  const n = first?.x.length ?? 0;
  const step = Math.max(1, Math.ceil(n / 200));
  const rows = [];
  for (let i = 0; i < n; i += step) rows.push([first.x[i], ...lines.map((line) => line.y[i] ?? "")]);
  return rows;
}

/** @param {Line[]} lines */
function legend(lines) {
  const entries = lines.map((line, index) => {
    const item = document.createElement("li");
    item.className = line.class ?? `series-${index % 6}`;
    item.textContent = line.name;
    return item;
  });
  const list = document.createElement("ul");
  list.className = "legend";
  list.append(...entries);
  return list;
}
