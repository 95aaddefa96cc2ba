// Bars to the right, one per category, with its number as text.

import { freshId, s } from "../dom.js";
import { figure, linear, roomFor, shorten, tickText } from "./frame.js";

/** @typedef {{ name: string, value: number, text?: string, class?: string, low?: number, high?: number }} Bar */

/**
 * @param {Bar[]} bars
 * @param {{ title: string, valueLabel?: string, width?: number, most?: number, onpick?: (bar: Bar) => void }} options
 */
export function bars(bars, options) {
  const { title, valueLabel = "value" } = options;
  const width = roomFor(options.width ?? 440);
  const left = Math.min(170, 24 + 7 * Math.max(4, ...bars.map((bar) => bar.name.length)));
  const step = 24;
  const height = step * bars.length + 6;
  const low = Math.min(0, ...bars.map((bar) => bar.low ?? bar.value));
  const high = options.most ?? Math.max(low + 1e-300, ...bars.map((bar) => bar.high ?? bar.value));
  const x = linear([low, high], [left, width - 70]);
  const label = freshId("chart");
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart bars" },
    s("title", { id: label }, title),
  );
  bars.forEach((bar, index) => {
    const y = 4 + step * index;
    const begin = Math.min(x(0), x(bar.value));
    const length = Math.abs(x(bar.value) - x(0));
    const group = s(
      "g",
      { class: `bar ${bar.class ?? ""} ${options.onpick ? "picks" : ""}` },
      s("title", {}, `${bar.name}: ${bar.text ?? tickText(bar.value)}`),
      s("text", { x: left - 8, y: y + 14, "text-anchor": "end", class: "name" }, shorten(bar.name, left - 20)),
      s("rect", { x: begin, y, width: Math.max(length, 0.5), height: step - 6 }),
      s("text", { x: Math.max(x(0), x(bar.value), x(bar.high ?? bar.value)) + 6, y: y + 14 }, bar.text ?? tickText(bar.value)),
    );
    if (bar.low !== undefined && bar.high !== undefined) {
      group.append(s("line", { x1: x(bar.low), x2: x(bar.high), y1: y + 9, y2: y + 9, class: "whisker" }));
    }
    if (options.onpick) group.addEventListener("click", () => options.onpick?.(bar));
    svg.append(group);
  });
  return figure(title, svg, {
    heads: ["", valueLabel],
    rows: bars.map((bar) => [bar.name, bar.text ?? bar.value]),
  });
}
