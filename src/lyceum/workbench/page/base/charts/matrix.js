// A table of numbers as cells, the larger the darker: confusions, correlations, costs.

import { freshId, s } from "../dom.js";
import { figure, shorten, tickText } from "./frame.js";

/**
 * @param {number[][]} values rows of numbers
 * @param {{ title: string, rows: string[], columns: string[], rowLabel?: string, columnLabel?: string, text?: (value: number) => string, most?: number, signed?: boolean, byRow?: boolean, width?: number, onpick?: (row: number, column: number) => void }} options
 */
export function matrix(values, options) {
  const { title, rows, columns, text = tickText } = options;
  const left = Math.min(170, 30 + 6.8 * Math.max(3, ...rows.map((name) => name.length)));
  const cell = Math.max(34, Math.min(84, ((options.width ?? 480) - left) / Math.max(1, columns.length)));
  const high = 30;
  const top = 40;
  const width = left + cell * columns.length + 8;
  const height = top + high * rows.length + 8;
  const label = freshId("chart");
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart matrix", width },
    s("title", { id: label }, title),
  );
  if (options.columnLabel) svg.append(s("text", { x: left + (cell * columns.length) / 2, y: 12, "text-anchor": "middle", class: "label" }, options.columnLabel));
  if (options.rowLabel) svg.append(s("text", { x: 4, y: top - 8, class: "label" }, options.rowLabel));
  columns.forEach((name, column) => {
    svg.append(s("text", { x: left + cell * (column + 0.5), y: top - 8, "text-anchor": "middle" }, shorten(name, cell), s("title", {}, name)));
  });
  const all = options.most ?? Math.max(1e-300, ...values.flat().map((value) => Math.abs(value) || 0));
  values.forEach((row, index) => {
    const most = options.byRow ? Math.max(1e-300, ...row.map(Math.abs)) : all;
    const y = top + high * index;
    svg.append(s("text", { x: left - 8, y: y + 19, "text-anchor": "end" }, shorten(rows[index], left - 8), s("title", {}, rows[index])));
    row.forEach((value, column) => svg.append(drawCell(value, { y, index, column, most })));
  });

  /**
   * @param {number} value
   * @param {{ y: number, index: number, column: number, most: number }} at
   */
  function drawCell(value, { y, index, column, most }) {
    const share = Math.min(1, Math.abs(value) / most);
    const tone = options.signed && value < 0 ? "against" : "for";
    const x = left + cell * column;
    const group = s(
      "g",
      { class: `cell ${share > 0.55 ? "full" : ""} ${options.onpick ? "picks" : ""}` },
      s("title", {}, `${rows[index]}, ${columns[column]}: ${text(value)}`),
      s("rect", { x: x + 1, y: y + 1, width: cell - 2, height: high - 2, class: "empty" }),
      s("rect", { x: x + 1, y: y + 1, width: cell - 2, height: high - 2, class: tone, opacity: (0.9 * share).toFixed(3) }),
      s("text", { x: x + cell / 2, y: y + 19, "text-anchor": "middle" }, text(value)),
    );
    if (options.onpick) group.addEventListener("click", () => options.onpick?.(index, column));
    return group;
  }

  return figure(title, svg, {
    heads: [options.rowLabel ?? "", ...columns],
    rows: values.map((row, index) => [rows[index], ...row]),
  });
}
