// The form: a line per column of the model, and beside it the cells of up to five rows.

import { h } from "../../base/dom.js";
import { breakable, numberText } from "../../base/parts.js";
import { effect } from "../../base/reactive.js";

let lastEdited = ""; // further edits of the same cell are one step for undo

/**
 * @param {any} model
 * @param {import("../ask.js").AskedRows} rows
 * @param {number} nRows
 */
export function form(model, rows, nRows) {
  const indices = Array.from({ length: nRows }, (_, index) => index);
  const heads = indices.map((index) => h("th", { scope: "col" }, `row ${index + 1} `, removeButton(rows, index)));
  const lines = model.columns.map((/** @type {any} */ column) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, breakable(column.name), rangeText(column)),
      ...indices.map((index) => h("td", {}, field(column, model.example[column.name], rows, index, nRows))),
    ),
  );
  return h(
    "div",
    { class: nRows > 1 ? "scrolls tall" : "", tabindex: nRows > 1 ? "0" : null },
    h(
      "table",
      { class: "form" },
      h("caption", { class: "unseen" }, "The cells of every row"),
      h("thead", { class: nRows > 1 ? null : "unseen" }, h("tr", {}, h("th", { scope: "col" }, "column"), ...heads)),
      h("tbody", {}, ...lines),
    ),
  );
}

/**
 * @param {import("../ask.js").AskedRows} rows
 * @param {number} index
 */
function removeButton(rows, index) {
  if (rows.all().length === 1) return null;
  const remove = () => rows.set(rows.all().filter((_, other) => other !== index));
  return h("button", { type: "button", class: "quiet", "aria-label": `Remove row ${index + 1}`, onclick: remove }, "×");
}

/** @param {any} column */
function rangeText(column) {
  if (!column.range) return null;
  const [low, high] = column.range.map((/** @type {any} */ bound) => (typeof bound === "number" ? numberText(bound) : bound));
  return h("small", {}, `${low} to ${high}`);
}

/**
 * @param {any} column
 * @param {unknown} typical
 * @param {import("../ask.js").AskedRows} rows
 * @param {number} index
 * @param {number} nRows
 */
function field(column, typical, rows, index, nRows) {
  const cell = () => {
    const cells = rows.all()[index] ?? {};
    return column.name in cells ? cells[column.name] : typical;
  };
  const set = (/** @type {unknown} */ value) => {
    const key = `${index} ${column.name}`;
    const { [column.name]: _, ...others } = rows.all()[index];
    const cells = value === typical ? others : { ...others, [column.name]: value };
    const all = rows.all().map((row, other) => (other === index ? cells : row));
    rows.set(all, { replace: key === lastEdited });
    lastEdited = key;
  };
  const name = nRows > 1 ? `${column.name}, row ${index + 1}` : column.name;
  if (column.categories) return choice(column.categories, name, cell, set);
  if (column.kind !== "continuous") return text(name, cell, set);
  return [number(name, cell, set), column.range && column.range[0] < column.range[1] ? slider(column.range, name, cell, set) : null];
}

/**
 * @param {unknown[]} categories
 * @param {string} name
 * @param {() => unknown} cell
 * @param {(value: unknown) => void} set
 */
function choice(categories, name, cell, set) {
  const known = categories.map((value) => h("option", { value: JSON.stringify(value) }, String(value)));
  const other = () => {
    const value = cell();
    return value === null || categories.includes(value) ? null : h("option", { value: JSON.stringify(value) }, `${value} (unknown)`);
  };
  return h(
    "select",
    { "aria-label": name, value: () => JSON.stringify(cell()), onchange: (/** @type {any} */ event) => set(JSON.parse(event.target.value)) },
    ...known,
    h("option", { value: "null" }, "(missing)"),
    other,
  );
}

/**
 * @param {string} name
 * @param {() => unknown} cell
 * @param {(value: unknown) => void} set
 */
function text(name, cell, set) {
  return h("input", { type: "text", "aria-label": name, value: () => cell() ?? "", onchange: (/** @type {any} */ event) => set(event.target.value || null) });
}

/**
 * @param {string} name
 * @param {() => unknown} cell
 * @param {(value: unknown) => void} set
 */
function number(name, cell, set) {
  const take = (/** @type {any} */ event) => {
    if (event.target.validity.badInput) return; // half a number, as "-"
    set(event.target.value === "" ? null : Number(event.target.value));
  };
  const input = h("input", { type: "number", step: "any", "aria-label": name, placeholder: "(missing)", oninput: take });
  return follow(input, cell);
}

/**
 * @param {[number, number]} range
 * @param {string} name
 * @param {() => unknown} cell
 * @param {(value: unknown) => void} set
 */
function slider([low, high], name, cell, set) {
  const step = Math.min(1, 10 ** Math.floor(Math.log10((high - low) / 100)));
  const input = h("input", { type: "range", min: low, max: high, step, "aria-label": `${name}, slider`, oninput: (/** @type {any} */ event) => set(Number(event.target.value)) });
  return follow(input, cell);
}

/**
 * A field that shows the cell, but leaves alone what is typed into it: "1." is 1 already.
 * @param {HTMLInputElement} input
 * @param {() => unknown} cell
 */
function follow(input, cell) {
  effect(() => {
    const value = cell();
    const isShown = value !== null && input.value !== "" && Number(input.value) === value;
    if (!isShown) input.value = value === null ? "" : String(value);
  });
  return input;
}
