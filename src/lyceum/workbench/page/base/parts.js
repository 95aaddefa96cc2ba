// Parts that pages share: the three texts of an action, notices, numbers as people write them.

import { back } from "./address.js";
import { announce, h } from "./dom.js";
import { signal, untracked } from "./reactive.js";

/** @typedef {{ command: string, python: string, recipe: string }} Action */

const FORMS = /** @type {const} */ ([
  ["command", "as command"],
  ["python", "as Python"],
  ["recipe", "as recipe"],
]);

/**
 * What this does, **as command · as Python · as recipe**, to copy.
 * @param {() => Action | null | undefined} action
 * @param {string} [what] what the texts do, for screen readers
 */
export function actionTexts(action, what = "this view") {
  const form = signal(/** @type {"" | "command" | "python" | "recipe"} */ (""));
  const buttons = FORMS.map(([name, title]) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-expanded": () => String(form() === name),
        onclick: () => form.change((before) => (before === name ? "" : name)),
      },
      title,
    ),
  );
  const text = () => {
    const name = form();
    const texts = action();
    if (!name || !texts) return null;
    const copy = async () => {
      await navigator.clipboard.writeText(texts[name]);
      announce("copied");
    };
    const button = h("button", { type: "button", class: "quiet", onclick: copy }, "copy");
    return h("div", { class: "code" }, h("pre", { tabindex: "0" }, texts[name]), button);
  };
  return h("section", { class: "action", "aria-label": `How to do ${what} without the workbench` }, ...buttons, text);
}

/**
 * What a question to the server has come to: waiting, refused, or what is made of its answer.
 * @template T
 * @param {() => import("./server.js").Loaded<T>} loaded
 * @param {(value: T) => import("./dom.js").Child} make
 */
export function shown(loaded, make) {
  return () => {
    const { value, error, loading } = loaded();
    if (error) {
      const step = h("button", { type: "button", class: "quiet", onclick: back }, "take the last step back");
      return [h("p", { class: "error", role: "alert" }, error), step];
    }
    if (value === null) return loading ? h("p", { class: "waiting", role: "status" }, "Reading …") : null;
    return untracked(() => make(value)); // made anew by another answer only
  };
}

/**
 * A number to four digits; whole numbers in full, with thin spaces between thousands.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function numberText(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size >= 1e6 || (size < 1e-4 && size > 0)) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(digits)));
}

/** @param {number} share */
export function percentText(share, digits = 1) {
  return `${(100 * share).toFixed(digits)} %`;
}

/**
 * A number with its noun: "1 row", "2 rows".
 * @param {number} n
 * @param {string} noun
 */
export function countText(n, noun) {
  return `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;
}

/**
 * A sentence, with what stands between backticks as code.
 * @param {string} text
 * @returns {import("./dom.js").Child[]}
 */
export function sentence(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

/**
 * A name that may break after its underscores.
 * @param {string} name
 * @returns {import("./dom.js").Child}
 */
export function breakable(name) {
  return name.split("_").flatMap((part, index) => (index ? ["_", h("wbr"), part] : [part]));
}

/**
 * A table of a summary: its title, its columns and its rows.
 * @param {{ title: string, columns: string[], rows: (string | number | null)[][] }} table
 */
export function summaryTable({ title, columns, rows }) {
  const cell = (/** @type {string | number | null} */ value) => (typeof value === "number" || value === null ? numberText(value) : value);
  const lines = rows.map((row) => row.map(cell));
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": title }, tableOf(title, columns, lines));
}

/**
 * A table of texts and numbers.
 * @param {string} caption
 * @param {string[]} heads
 * @param {import("./dom.js").Child[][]} rows
 */
export function tableOf(caption, heads, rows) {
  const cells = (/** @type {import("./dom.js").Child[]} */ row) =>
    row.map((cell, index) => {
      const isNumber = typeof cell === "number" || (typeof cell === "string" && /^[−-]?[\d.,]+( %)?$/.test(cell));
      return h(index === 0 ? "th" : "td", { class: isNumber ? "number" : null, scope: index === 0 ? "row" : null }, cell);
    });
  return h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells(row)))),
  );
}
