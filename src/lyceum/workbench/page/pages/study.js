// Study: the ranking as folds finish, the time that is left, the answer, and each learner.

import { change, parameters } from "../base/address.js";
import { dots } from "../base/charts/dots.js";
import { announce, h } from "../base/dom.js";
import { actionTexts, countText, numberText, shown } from "../base/parts.js";
import { computed, signal } from "../base/reactive.js";
import { listen, load, postJson } from "../base/server.js";
import { chooser } from "./data/chooser.js";
import { learnerOf } from "./study/learner.js";
import { rankingTable } from "./study/ranking.js";

export default function page() {
  const out = computed(() => parameters().get("out"));
  const version = signal(0);
  const live = signal(/** @type {any} */ (null));
  const query = () => new URLSearchParams({ out: out() ?? "" });
  const seen = load(() => (out() ? `/api/study?${query()}&version=${version()}` : null));
  listen("study", (job) => {
    if (job.out !== out()) return;
    live.set(job);
    if (!["running", "concluding"].includes(job.status)) {
      live.set(null);
      version.change((n) => n + 1);
      announce(`the study is ${job.status}`);
    }
  });
  return [
    h("h1", {}, () => out() ?? "Choose a study"),
    () => (out() ? null : chooser("study")),
    shown(seen, (first) => {
      const state = () => {
        const job = live();
        return job && ["running", "concluding"].includes(job.status) ? { ...first, ...job, results: null } : first;
      };
      return [() => header(state(), query()), () => picture(state()), () => answer(state()), () => adding(state(), query()), () => actionTexts(() => first.action, "this study")];
    }),
    () => (parameters().get("learner") && seen().value?.results ? learnerOf(query().toString()) : null),
  ];
}

/** @param {number} seconds */
function timeText(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}

/**
 * @param {string} path
 * @param {{ set: (text: string) => void }} message
 */
async function ask(path, message) {
  try {
    await postJson(path);
    message.set("");
  } catch (error) {
    message.set(error instanceof Error ? error.message : String(error));
  }
}

const STATUS = /** @type {Record<string, string>} */ ({
  running: "running",
  concluding: "drawing conclusions from what is finished",
  finished: "finished",
  ended: "ended before all folds were run",
  failed: "failed",
  none: "not begun",
});

/**
 * @param {any} state
 * @param {URLSearchParams} query
 */
function header(state, query) {
  const { ranking, status } = state;
  const message = signal(state.message);
  const isRunning = status === "running";
  const facts = [STATUS[status] ?? status];
  if (ranking) facts.push(`${ranking.n_done} of ${countText(ranking.n_tasks, "fold")} (${countText(ranking.learners.length, "learner")})`);
  if (state.seconds_left) facts.push(timeText(state.seconds_left));
  return h(
    "section",
    { class: "card", "aria-label": "Progress" },
    ranking ? h("p", {}, ranking.question) : null,
    h("p", { role: "status" }, facts.join(" · ")),
    ranking && (isRunning || status === "concluding") ? h("progress", { max: ranking.n_tasks, value: ranking.n_done, "aria-label": "finished folds" }) : null,
    h(
      "div",
      { class: "row" },
      isRunning ? h("button", { type: "button", id: "stop", onclick: () => ask(`/api/study/stop?${query}`, message) }, "Stop, and answer from what is finished") : null,
      ["ended", "failed", "none"].includes(status) ? h("button", { type: "button", id: "continue", onclick: () => ask(`/api/study/continue?${query}`, message) }, "Continue") : null,
    ),
    h("p", { class: "error", role: "alert" }, message),
  );
}

/** @param {any} state */
function picture(state) {
  const { ranking, results } = state;
  if (!ranking) return null;
  const choice = results?.learners.find((/** @type {any} */ learner) => learner.is_choice)?.name;
  // learners that were run on too few folds are not compared: they stand below the others
  const compared = new Set((results ?? ranking).learners.map((/** @type {any} */ learner) => learner.name));
  const isRest = (/** @type {any} */ learner) => !compared.has(learner.name);
  const rows = ranking.learners
    .filter((/** @type {any} */ learner) => learner.value !== null)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => Number(isRest(a)) - Number(isRest(b)))
    .map((/** @type {any} */ learner) => ({
      name: isRest(learner) ? `(${learner.label})` : learner.label,
      key: learner.name,
      value: learner.value,
      low: learner.interval?.[0],
      high: learner.interval?.[1],
      points: learner.fold_values,
      class: `${learner.name === choice ? "choice" : ""} ${learner.is_baseline || isRest(learner) ? "baseline" : ""}`,
    }));
  const failed = ranking.learners.filter((/** @type {any} */ learner) => learner.reason);
  if (!rows.length) return h("p", { class: "waiting" }, "The first fold is being learned …");
  return h(
    "section",
    { class: "card", "aria-label": "Ranking" },
    dots(rows, { title: `${ranking.metric} on unseen rows: estimate, 95 % interval, folds`, valueLabel: ranking.metric, valueText: (value) => numberText(value), onpick: (dot) => change({ learner: /** @type {any} */ (dot).key }) }),
    rows.some((/** @type {any} */ row) => row.name.startsWith("(")) ? h("p", { class: "soft" }, "In parentheses: run on too few folds to be compared.") : null,
    ...failed.map((/** @type {any} */ learner) => h("p", { class: "warning" }, `${learner.label} failed: ${learner.reason}`)),
  );
}

/** @param {any} state */
function answer({ results, out }) {
  if (!results) return null;
  return h(
    "section",
    { class: "card", "aria-labelledby": "answer" },
    h("h2", { id: "answer" }, "Answer"),
    h("p", {}, results.answer),
    h("p", {}, results.choice),
    results.finished ? null : h("p", { class: "warning" }, "Not all folds were run: this is the answer so far."),
    rankingTable(results),
    h("h3", {}, "What to know"),
    h("ul", {}, ...[...results.statements, ...results.problems].map((/** @type {string} */ text) => h("li", {}, text))),
    h(
      "div",
      { class: "row" },
      results.classes ? h("a", { class: "button", href: `/decide?${new URLSearchParams({ out })}` }, "Decide: move costs and doubt") : null,
      results.model ? h("a", { class: "button quiet", href: `/ask?${new URLSearchParams({ out })}` }, "Ask: what it says of one row") : null,
      results.classes ? h("a", { class: "button quiet", href: `/errors?${new URLSearchParams({ out })}` }, "Errors: where it is wrong") : null,
    ),
  );
}

/**
 * @param {any} state
 * @param {URLSearchParams} query
 */
function adding(state, query) {
  if (!state.ranking || ["running", "concluding"].includes(state.status)) return null;
  const message = signal("");
  const present = new Set(state.ranking.learners.map((/** @type {any} */ learner) => learner.name));
  const others = state.addable.filter((/** @type {string} */ name) => !present.has(name));
  const select = h("select", { id: "add-learner" }, ...others.map((/** @type {string} */ name) => h("option", { value: name }, name)));
  const add = () => ask(`/api/study/add?${query}&learner=${encodeURIComponent(select.value)}`, message);
  return h(
    "section",
    { class: "card", "aria-label": "Another learner" },
    h("div", { class: "row" }, h("label", {}, "Another learner, on the same folds", select), h("button", { type: "button", onclick: add }, "Add it")),
    h("p", { class: "error", role: "alert" }, message),
  );
}
