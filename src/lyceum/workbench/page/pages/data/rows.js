// The rows: a window that is moved over any number of them; only those that are seen are asked for.

import { parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { effect, signal } from "../../base/reactive.js";
import { getJson } from "../../base/server.js";

const ROW = 30; // pixels of a row
const MOST_PIXELS = 8_000_000; // browsers end somewhere above it: of more rows, a pixel stands for several
const MORE = 20; // rows above and below what is seen

/**
 * @param {any} answer
 * @param {string} query
 */
export function rowsTable({ inspection, odd }, query) {
  const nRows = inspection.n_rows;
  const height = Math.min(MOST_PIXELS, nRows * ROW);
  const shown = signal(/** @type {{ start: number, columns: any[][] }} */ ({ start: 0, columns: [] }));
  const message = signal("");
  const odds = new Set(odd.flatMap((/** @type {any} */ column) => column.cells.map((/** @type {[number, string]} */ [row]) => `${row} ${column.column}`)));
  const body = h("tbody", {});
  const filler = h("div", { class: "filler" });
  filler.style.height = `${height + ROW}px`;
  const heads = ["row", ...inspection.columns.map((/** @type {any} */ column) => column.name)];
  const table = h(
    "table",
    { class: "rows", "aria-rowcount": nRows + 1 },
    h("caption", { class: "unseen" }, "Rows"),
    h("thead", {}, h("tr", { "aria-rowindex": 1 }, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    body,
  );
  const box = h("div", { class: "window", tabindex: "0", role: "region", "aria-label": "Rows of the table" }, filler, table);
  const first = () => {
    const most = Math.max(1, height + ROW - box.clientHeight);
    const share = Math.min(1, box.scrollTop / most);
    const visible = Math.ceil(box.clientHeight / ROW);
    return height < MOST_PIXELS ? Math.floor(box.scrollTop / ROW) : Math.round(share * Math.max(0, nRows - visible + 1));
  };

  let asked = -1;
  const ask = async () => {
    const start = Math.max(0, first() - MORE);
    if (start === asked) return;
    asked = start;
    try {
      const answer = await getJson(`/api/data/rows?${query}&start=${start}&count=${2 * MORE + 30}`);
      if (start === asked) shown.set(answer);
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  let waiting = 0;
  const moved = () => {
    place();
    window.clearTimeout(waiting);
    waiting = window.setTimeout(ask, 30);
  };
  /** Keep the rows where they belong. */
  function place() {
    const offset = height < MOST_PIXELS ? shown().start * ROW : box.scrollTop - (first() - shown().start) * ROW;
    table.style.transform = `translateY(${Math.max(0, offset)}px)`;
  }
  box.addEventListener("scroll", moved);

  effect(() => {
    const { start, columns } = shown();
    const n = columns[0]?.length ?? 0;
    body.replaceChildren(...Array.from({ length: n }, (_, index) => row(start + index, columns.map((cells) => cells[index]))));
    place();
  });
  /**
   * @param {number} number
   * @param {any[]} cells
   */
  function row(number, cells) {
    const made = cells.map((cell, index) => {
      const isOdd = odds.has(`${number} ${heads[index + 1]}`);
      const kind = cell === null ? "gap" : isOdd ? "odd" : typeof cell === "number" ? "number" : null;
      return h("td", { class: kind, title: isOdd ? "no number" : null }, cell === null ? "–" : String(cell));
    });
    return h("tr", { "aria-rowindex": number + 2, "data-row": number }, h("th", { scope: "row", class: "number" }, number), ...made);
  }
  /** @param {number} number */
  function show(number) {
    const most = Math.max(1, height + ROW - box.clientHeight);
    const visible = Math.ceil(box.clientHeight / ROW);
    const share = number / Math.max(1, nRows - visible + 1);
    box.scrollTop = height < MOST_PIXELS ? Math.max(0, number - 3) * ROW : share * most;
    moved();
  }
  const jump = h("input", { id: "go-to-row", type: "number", min: "0", max: nRows - 1, onchange: (/** @type {any} */ event) => show(Number(event.target.value)) });
  effect(() => {
    const wanted = parameters().get("row");
    if (wanted === null) ask();
    else window.requestAnimationFrame(() => show(Number(wanted)));
  });
  return h(
    "section",
    { class: "card", "aria-labelledby": "rows" },
    h("div", { class: "row" }, h("h2", { id: "rows" }, "Rows"), h("label", { class: "line" }, "Go to row", jump), h("span", { class: "soft" }, "counted from 0, below the names of the columns")),
    box,
    h("p", { class: "error", role: "status" }, message),
  );
}
