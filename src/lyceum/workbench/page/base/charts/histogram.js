// Counts of numbers in bins of equal width; several groups stand one upon another.

import { s } from "../dom.js";
import { figure, frame, tickText } from "./frame.js";

/**
 * @param {ArrayLike<number>} counts
 * @param {{ title: string, low: number, high: number, xLabel: string, width?: number, height?: number, xText?: (value: number) => string, onpick?: (low: number, high: number) => void }} options
 */
export function histogram(counts, options) {
  const { title, low, high, xLabel, xText = tickText } = options;
  const most = Math.max(1, ...Array.from(counts));
  const drawing = frame({
    title,
    x: [low, high > low ? high : low + 1],
    y: [0, most],
    xLabel,
    yLabel: "rows",
    width: options.width ?? 420,
    height: options.height ?? 200,
    xText,
  });
  const bins = Array.from(counts, (count, index) => ({
    count,
    from: low + ((high - low) * index) / counts.length,
    to: low + ((high - low) * (index + 1)) / counts.length,
  }));
  const width = (drawing.right - drawing.left) / counts.length;
  bins.forEach(({ count, from, to }, index) => {
    const y = drawing.y(count);
    const bar = s(
      "rect",
      { x: drawing.left + index * width + 0.5, y, width: Math.max(0.5, width - 1), height: drawing.bottom - y, class: options.onpick ? "picks" : null },
      s("title", {}, `${xText(from)} to ${xText(to)}: ${count.toLocaleString("en-US")}`),
    );
    if (options.onpick) bar.addEventListener("click", () => options.onpick?.(from, to));
    drawing.plot.append(bar);
  });
  return figure(title, drawing.svg, {
    heads: ["from", "to", "rows"],
    rows: bins.map(({ count, from, to }) => [xText(from), xText(to), count]),
  });
}
