// Pairs of numbers as points; where there are very many, as counts in cells, the fuller the darker.

import { s } from "../dom.js";
import { extent, figure, frame, tickText } from "./frame.js";

const MOST_POINTS = 3000;
const CELLS = [72, 44];

/**
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 * @param {{ title: string, xLabel: string, yLabel: string, groups?: ArrayLike<number> | null, names?: string[], picked?: number | null, rows?: ArrayLike<number>, width?: number, height?: number, xText?: (value: number) => string, yText?: (value: number) => string, onpick?: (row: number) => void }} options
 */
export function scatter(xs, ys, options) {
  const drawing = frame({
    ...options,
    x: extent(xs),
    y: extent(ys),
    height: options.height ?? 320,
  });
  const rows = xs.length <= MOST_POINTS ? points(drawing, xs, ys, options) : cells(drawing, xs, ys);
  return figure(options.title, drawing.svg, rows);
}

/**
 * @param {ReturnType<typeof frame>} drawing
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 * @param {{ xLabel: string, yLabel: string, groups?: ArrayLike<number> | null, names?: string[], picked?: number | null, rows?: ArrayLike<number>, onpick?: (row: number) => void }} options
 */
function points(drawing, xs, ys, options) {
  const rows = [];
  for (let i = 0; i < xs.length; i += 1) {
    if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) continue;
    const group = options.groups ? options.groups[i] : 0;
    const name = options.names?.[group] ?? "";
    const row = options.rows ? options.rows[i] : i;
    const tone = typeof options.picked === "number" && options.picked !== group ? " dim" : "";
    const point = s(
      "circle",
      { cx: drawing.x(xs[i]).toFixed(1), cy: drawing.y(ys[i]).toFixed(1), r: 2.6, class: `point series-${group % 6}${tone}${options.onpick ? " picks" : ""}` },
      s("title", {}, `row ${row}: ${tickText(xs[i])}, ${tickText(ys[i])}${name ? `, ${name}` : ""}`),
    );
    if (options.onpick) point.addEventListener("click", () => options.onpick?.(row));
    drawing.plot.append(point);
    if (rows.length < 500) rows.push([row, xs[i], ys[i], name]);
  }
  return { heads: ["row", options.xLabel, options.yLabel, ""], rows };
}

/**
 * @param {ReturnType<typeof frame>} drawing
 * @param {ArrayLike<number>} xs
 * @param {ArrayLike<number>} ys
 */
function cells(drawing, xs, ys) {
  const [nx, ny] = CELLS;
  const counts = new Uint32Array(nx * ny);
  const width = (drawing.right - drawing.left) / nx;
  const height = (drawing.bottom - drawing.top) / ny;
  let most = 1;
  for (let i = 0; i < xs.length; i += 1) {
    const column = Math.floor((drawing.x(xs[i]) - drawing.left) / width);
    const row = Math.floor((drawing.y(ys[i]) - drawing.top) / height);
    if (!(column >= 0 && column < nx && row >= 0 && row < ny)) continue;
    const index = row * nx + column;
    counts[index] += 1;
    if (counts[index] > most) most = counts[index];
  }
  const rows = [];
  for (let index = 0; index < counts.length; index += 1) {
    if (!counts[index]) continue;
    const left = drawing.left + (index % nx) * width;
    const top = drawing.top + Math.floor(index / nx) * height;
    const opacity = (0.08 + 0.92 * Math.sqrt(counts[index] / most)).toFixed(2);
    drawing.plot.append(s("rect", { x: left.toFixed(1), y: top.toFixed(1), width, height, opacity, class: "cell" }));
    rows.push([index % nx, ny - 1 - Math.floor(index / nx), counts[index]]);
  }
  return { heads: ["cell to the right", "cell up", "rows"], rows };
}
