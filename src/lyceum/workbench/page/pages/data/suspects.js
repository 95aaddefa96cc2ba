// What looks wrong, each with the ways to mend it. A repair is a step of the address, not an edit.

import { change, go, parameters, queryText } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { actionTexts, sentence } from "../../base/parts.js";
import { signal } from "../../base/reactive.js";
import { postJson } from "../../base/server.js";

/** @typedef {{ column: string, n_odd: number, n_present: number, cells: [number, string][], sentence: string }} OddColumn */

/** What is said of columns of text, and not of numbers with a few odd cells. */
const OF_TEXT = new Set(["mostly_numbers", "many_categories"]);

/** @param {any} answer */
export function suspects({ inspection, odd, repairs, repair }) {
  const odds = new Set(odd.map((/** @type {OddColumn} */ column) => column.column));
  const flags = inspection.columns.flatMap((/** @type {any} */ column) =>
    column.flags
      .filter((/** @type {any} */ flag) => !(odds.has(column.name) && OF_TEXT.has(flag.code)))
      .map((/** @type {any} */ flag) => flagged(column, flag)),
  );
  const items = [...odd.map(oddColumn), ...flags];
  return h(
    "section",
    { class: "card", "aria-labelledby": "suspects" },
    h("h2", { id: "suspects" }, items.length ? "Worth a look" : "Nothing looks wrong"),
    h("ul", { class: "plain" }, ...items.map((item) => h("li", {}, item))),
    repairs.steps.length ? steps(repairs, repair) : null,
  );
}

/** @param {string} step */
function add(step) {
  change({ repair: [...parameters().getAll("repair"), step] });
}

/** A word of a step, in quotes where it needs them. @param {string | number} word */
function quoted(word) {
  const text = String(word);
  return /^[\w.:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** @param {OddColumn} column */
function oddColumn(column) {
  const name = quoted(column.column);
  const [row, text] = column.cells[0];
  const value = h("input", { id: `mend-${column.column}`, size: "6", "aria-label": `right value of ${column.column} in row ${row}` });
  const set = () => {
    if (value.value.trim()) add(`set ${name} ${row} ${quoted(value.value.trim())}`);
    else value.focus();
  };
  const texts = [...new Set(column.cells.map(([, cell]) => cell))];
  const blanks = () =>
    change({ repair: [...parameters().getAll("repair"), ...texts.map((each) => `blank ${name} ${quoted(each)}`)] });
  return h(
    "div",
    { class: "warning" },
    h("p", {}, sentence(`${column.sentence}: repair, drop or keep as text.`)),
    h(
      "div",
      { class: "row" },
      value,
      h("button", { type: "button", onclick: set }, `repair ${text} in row ${row}`),
      h("button", { type: "button", class: "quiet", onclick: blanks }, column.n_odd === 1 ? "make the cell missing" : "make them missing"),
      h("button", { type: "button", class: "quiet", onclick: () => add(`drop-row ${row}`) }, `drop row ${row}`),
      h("button", { type: "button", class: "quiet", onclick: () => change({ row }) }, "show the row"),
    ),
  );
}

/**
 * @param {any} column
 * @param {{ code: string, text: string }} flag
 */
function flagged(column, flag) {
  const spelling = flag.code === "spelling" ? /'(.*?)' and '(.*?)'/.exec(flag.text) : null;
  const code = flag.code === "disguised_gap" ? /is (\S+) in/.exec(flag.text) : null;
  const name = quoted(column.name);
  return h(
    "div",
    { class: "warning" },
    h("p", {}, h("strong", {}, column.name), ` ${flag.text}`),
    h(
      "div",
      { class: "row" },
      spelling
        ? h("button", { type: "button", class: "quiet", onclick: () => add(`replace ${name} ${quoted(spelling[2])} ${quoted(spelling[1])}`) }, `write ${spelling[2]} as ${spelling[1]}`)
        : null,
      code ? h("button", { type: "button", class: "quiet", onclick: () => add(`blank ${name} ${quoted(code[1])}`) }, `${code[1]} means missing`) : null,
      column.name === parameters().get("target")
        ? null
        : h("button", { type: "button", class: "quiet", onclick: () => add(`drop-column ${name}`) }, `leave ${column.name} out`),
    ),
  );
}

/**
 * @param {any} repairs
 * @param {any} action
 */
function steps(repairs, action) {
  const message = signal("");
  const remove = (/** @type {number} */ index) =>
    change({ repair: repairs.steps.filter((/** @type {string} */ _, /** @type {number} */ other) => other !== index) });
  const save = async () => {
    try {
      const { name } = await postJson(`/api/data/save?${queryText()}`);
      const target = parameters().get("target");
      go(`/data?${new URLSearchParams(target ? { file: name, target } : { file: name })}`);
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  const rows = repairs.steps.map((/** @type {string} */ step, /** @type {number} */ index) =>
    h("li", {}, h("code", {}, step), ` – ${repairs.changes[index]} changed `, h("button", { type: "button", class: "quiet", "aria-label": `take back ${step}`, onclick: () => remove(index) }, "take back")),
  );
  return [
    h("h3", {}, "Repairs, as steps"),
    h("ol", {}, ...rows),
    h("button", { type: "button", onclick: save }, "Save the repaired table and its steps"),
    h("p", { class: "error", role: "status" }, message),
    actionTexts(() => action, "these repairs"),
  ];
}
