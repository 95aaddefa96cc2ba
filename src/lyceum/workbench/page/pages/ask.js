// Ask: a form of the model's columns, up to five rows side by side; what the model says and why.

import { change, parameters, queryText } from "../base/address.js";
import { announce, h } from "../base/dom.js";
import { actionTexts, countText, shown } from "../base/parts.js";
import { computed, effect } from "../base/reactive.js";
import { load } from "../base/server.js";
import { answerCard, decisionText } from "./ask/answer.js";
import { form } from "./ask/form.js";

const MOST_ROWS = 5;

/** @typedef {Record<string, unknown>} Cells what differs from the typical row */

/**
 * The rows of the address, and their change.
 * @typedef {{ all: () => Cells[], set: (rows: Cells[], how?: { replace?: boolean }) => void }} AskedRows
 */

/** @returns {AskedRows} */
function askedRows() {
  const all = computed(() => {
    const texts = parameters().getAll("row");
    return (texts.length ? texts : ["{}"]).map(parsed);
  });
  const set = (/** @type {Cells[]} */ rows, how = {}) => {
    const texts = rows.map((row) => JSON.stringify(row));
    change({ row: texts.length === 1 && texts[0] === "{}" ? null : texts }, how);
  };
  return { all, set };
}

/**
 * @param {string} text
 * @returns {Cells}
 */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // the server says what is wrong
  }
}

export default function page() {
  const file = computed(() => {
    const query = parameters();
    return new URLSearchParams([...query].filter(([name]) => name === "model" || name === "out")).toString();
  });
  const model = load(() => (file() ? `/api/ask/model?${file()}` : null));
  return [() => (file() ? null : choices()), shown(model, asked)];
}

/** @param {any} model */
function asked(model) {
  const rows = askedRows();
  const nRows = computed(() => rows.all().length);
  const answers = load(() => `/api/ask?${queryText()}`);
  const changes = load(() => `/api/ask/changes?${queryText()}`);
  effect(() => {
    const said = answers().value?.answers;
    if (said && !answers().loading) announce(said.map(decisionText).join("; "));
  });
  const cards = shown(answers, (value) =>
    value.answers.map((/** @type {any} */ answer, /** @type {number} */ index) => answerCard(answer, index, value.answers.length, rows, changes)),
  );
  return h(
    "div",
    { class: () => `ask ${nRows() === 1 ? "single" : "several"}` },
    h("h1", {}, model.target ? `What is ${model.target}?` : "Ask the model"),
    h("p", {}, about(model)),
    shown(answers, (value) => actionTexts(() => value.action, "these answers")),
    h(
      "div",
      { class: "ask-parts" },
      h("section", { class: "card", "aria-label": "Rows" }, () => form(model, rows, nRows()), buttons(rows, nRows), strip(answers)),
      h("div", { class: "ask-answers", tabindex: "0", role: "region", "aria-label": "Answers" }, cards),
    ),
  );
}

/** @param {any} model */
function about(model) {
  const facts = [model.file, model.learner, countText(model.columns.length, "column")];
  if (model.training_rows) facts.push(`${countText(model.training_rows, "training row")}`);
  if (model.loss) facts.push("decides by costs");
  if (model.doubt !== null) facts.push(`doubt costs ${model.doubt}`);
  return `${facts.join(" · ")}. Cells begin as in a typical row.`;
}

/**
 * @param {AskedRows} rows
 * @param {() => number} nRows
 */
function buttons(rows, nRows) {
  const more = () => rows.set([...rows.all(), { ...rows.all()[nRows() - 1] }]);
  return h(
    "p",
    { class: "row" },
    h("button", { type: "button", class: "quiet", disabled: () => nRows() >= MOST_ROWS, onclick: more }, "Another row beside it"),
    h("button", { type: "button", class: "quiet", onclick: () => rows.set([{}]) }, "Back to the typical row"),
  );
}

/**
 * The decisions in a line that stays in view below a long form.
 * @param {() => import("../base/server.js").Loaded<any>} answers
 */
function strip(answers) {
  return h("p", { class: "decisions", "aria-hidden": "true" }, () => {
    const said = answers().value?.answers ?? [];
    return said.map((/** @type {any} */ answer, /** @type {number} */ index) =>
      h("span", {}, said.length > 1 ? `${index + 1}: ` : "", h("b", {}, decisionText(answer))),
    );
  });
}

/** Models and studies below the folder. */
function choices() {
  const files = load(() => "/api/files");
  return [
    h("h1", {}, "Choose a model"),
    h(
      "section",
      { class: "card" },
      shown(files, (value) => {
        const models = value.files.filter((/** @type {any} */ file) => file.kind === "model");
        if (!models.length) return h("p", {}, "There is no model here yet: a finished study has one, and lyceum fit writes one.");
        const links = models.map((/** @type {any} */ { name }) => h("li", {}, h("a", { href: `/ask?${new URLSearchParams({ model: name })}` }, name)));
        return h("ul", {}, ...links);
      }),
    ),
  ];
}
