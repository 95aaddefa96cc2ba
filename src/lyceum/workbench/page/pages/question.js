// Question: what to predict, what mistakes cost, doubt, groups and time, and what the rows can answer.

import { change, go, parameters, queryText } from "../base/address.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, sentence, shown } from "../base/parts.js";
import { signal } from "../base/reactive.js";
import { load, postJson } from "../base/server.js";
import { chooser } from "./data/chooser.js";
import { costsOf } from "./question/costs.js";

export default function page() {
  const file = () => parameters().get("file");
  const answer = load(() => (file() ? `/api/question?${queryText()}` : null));
  return [
    h("h1", {}, "What do you want to know?"),
    () => (file() ? null : chooser()),
    shown(answer, ({ columns, question }) => [
      h("section", { class: "card" }, h("h2", {}, "To predict"), h("div", { class: "row" }, choice("target", "Column", columns, "(choose)"), question ? taskText(question) : null)),
      question ? asked(question, columns) : h("p", {}, "Choose the column that you want to predict."),
    ]),
  ];
}

/** @param {any} question */
function taskText(question) {
  if (question.task === "regression") return h("p", {}, `numbers, ${countText(question.n_rows, "row")}`);
  const counts = Object.entries(question.counts).map(([name, n]) => `${name} ${n}`);
  return h("p", {}, `${counts.length} classes: ${counts.slice(0, 8).join(" · ")}`);
}

/**
 * @param {any} question
 * @param {any[]} columns
 */
function asked(question, columns) {
  return [
    h(
      "div",
      { class: "columns" },
      h("section", { class: "card" }, h("h2", {}, "What these rows can answer"), h("ul", {}, ...question.notes.map((/** @type {string} */ note) => h("li", {}, sentence(note))))),
      question.task === "classification" ? costsOf(question) : null,
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "How rows belong together"),
      h("div", { class: "row" }, choice("group", "Rows of one … stay together", columns, "(each row is on its own)"), choice("time", "Earlier and later by", columns, "(no order)"), choice("weight", "Weight", columns, "(each row counts once)")),
    ),
    more(question),
    run(question),
  ];
}

/**
 * @param {string} parameter
 * @param {string} label
 * @param {any[]} columns
 * @param {string} none
 */
function choice(parameter, label, columns, none) {
  return h(
    "label",
    {},
    label,
    h(
      "select",
      { id: `question-${parameter}`, value: parameters().get(parameter) ?? "", onchange: (/** @type {any} */ event) => change({ [parameter]: event.target.value || null }) },
      h("option", { value: "" }, none),
      ...columns.map((column) => h("option", { value: column.name }, column.name)),
    ),
  );
}

/** @param {any} question */
function more(question) {
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ attributes) =>
    h("label", {}, label, h("input", { id: `question-${name}`, value: parameters().get(name) ?? "", onchange: (/** @type {any} */ event) => change({ [name]: event.target.value || null }), ...attributes }));
  const picked = (parameters().get("learners") ?? "").split(",").filter(Boolean);
  const pick = (/** @type {any} */ event) => {
    const others = picked.filter((name) => name !== event.target.value);
    const names = event.target.checked ? [...others, event.target.value] : others;
    change({ learners: names.join(",") || null });
  };
  const boxes = question.learners.map((/** @type {any} */ learner) =>
    h("label", { class: "line" }, h("input", { id: `learner-${learner.name}`, type: "checkbox", value: learner.name, checked: picked.includes(learner.name), onchange: pick }), h("span", { title: learner.about }, learner.name)),
  );
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "How it is studied"),
    h(
      "div",
      { class: "row" },
      field("budget", "At most so many minutes", { type: "number", min: "0", step: "any", placeholder: "no limit", size: "8" }),
      field("folds", "Folds", { type: "number", min: "2", placeholder: "by the rows", size: "6" }),
      field("out", "Folder of the study", { placeholder: question.out }),
    ),
    h("details", { id: "learners", open: picked.length > 0 }, h("summary", {}, picked.length ? `Learners: ${picked.join(", ")}` : "Learners: chosen for this table"), h("div", { class: "choices" }, ...boxes)),
  );
}

/** @param {any} question */
function run(question) {
  const message = signal("");
  const start = async () => {
    try {
      const job = await postJson(`/api/study/start?${queryText()}`);
      const query = parameters();
      query.set("out", job.out);
      go(`/study?${query}`);
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  return h(
    "section",
    { class: "card" },
    h("button", { type: "button", onclick: start }, "Run the study"),
    h("p", { class: "error", role: "alert" }, message),
    actionTexts(() => question.action, "this study"),
  );
}
