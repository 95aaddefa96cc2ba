// Mean ranks on an axis, the best at the left, with bars over what the critical difference joins.

import { freshId, s } from "../dom.js";
import { figure, linear, roomFor, shorten } from "./frame.js";

/**
 * @param {{ name: string, rank: number }[]} ranked
 * @param {{ title: string, criticalDifference: number, level: string[][], width?: number }} options
 */
export function ranks(ranked, options) {
  const { title, criticalDifference, level } = options;
  const width = roomFor(options.width ?? 640);
  const order = [...ranked].sort((a, b) => a.rank - b.rank);
  const most = ranked.length;
  const side = Math.min(170, width / 3);
  const x = linear([1, most], [side, width - side]);
  const half = Math.ceil(order.length / 2);
  const below = 58 + 12 * level.length;
  const height = below + 24 * half + 10;
  const label = freshId("chart");
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": label, class: "chart ranks" }, s("title", { id: label }, title));
  const axis = s("g", { class: "axes", "aria-hidden": "true" }, s("line", { x1: x(1), x2: x(most), y1: 44, y2: 44, class: "grid" }));
  for (let rank = 1; rank <= most; rank += 1) {
    axis.append(s("line", { x1: x(rank), x2: x(rank), y1: 39, y2: 44, class: "grid" }), s("text", { x: x(rank), y: 34, "text-anchor": "middle" }, String(rank)));
  }
  svg.append(axis);
  // the critical difference, as long as it is on the axis
  const end = Math.min(most, 1 + criticalDifference);
  svg.append(
    s("line", { x1: x(1), x2: x(end), y1: 12, y2: 12, class: "whisker" }),
    s("text", { x: x(end) + 8, y: 16 }, `CD ${criticalDifference.toFixed(2)}`),
  );
  order.forEach(({ name, rank }, index) => {
    const isLeft = index < half;
    const y = below + 24 * (isLeft ? index : order.length - 1 - index) + 6;
    const to = isLeft ? side - 8 : width - side + 8;
    svg.append(
      s(
        "g",
        { class: "rank" },
        s("title", {}, `${name}: ${rank.toFixed(2)}`),
        s("polyline", { points: `${x(rank)},44 ${x(rank)},${y} ${to},${y}` }),
        s("text", { x: isLeft ? to - 4 : to + 4, y: y + 4, "text-anchor": isLeft ? "end" : "start" }, `${shorten(name, side - 44)} ${rank.toFixed(2)}`),
      ),
    );
  });
  const rankOf = new Map(ranked.map(({ name, rank }) => [name, rank]));
  level.forEach((names, index) => {
    const values = names.map((name) => rankOf.get(name) ?? 1);
    const y = 52 + 12 * index;
    svg.append(s("line", { x1: x(Math.min(...values)) - 4, x2: x(Math.max(...values)) + 4, y1: y, y2: y, class: "level" }, s("title", {}, `level: ${names.join(", ")}`)));
  });
  return figure(title, svg, { heads: ["", "mean rank"], rows: order.map(({ name, rank }) => [name, rank]) });
}
