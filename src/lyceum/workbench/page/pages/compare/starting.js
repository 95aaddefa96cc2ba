// Studies of several tables with the same learners: chosen here, run one after the other.

import { change, parameters } from "../../base/address.js";
import { announce, h } from "../../base/dom.js";
import { actionTexts, countText, shown } from "../../base/parts.js";
import { computed, signal } from "../../base/reactive.js";
import { listen, load, postJson } from "../../base/server.js";

const ASKED = ["on", "learners", "budget", "folds", "into"];

const STATUS = /** @type {Record<string, string>} */ ({
  none: "not begun",
  running: "running",
  concluding: "drawing conclusions",
  ended: "begun, not finished",
  partly: "has results from a part of its folds",
  finished: "has results",
  failed: "failed",
});

/** The tables of the address, each with its target. @returns {[string, string][]} */
function pairs() {
  return parameters().getAll("on").map((text) => {
    const end = text.lastIndexOf("=");
    return [text.slice(0, end), text.slice(end + 1)];
  });
}

/** @param {[string, string][]} chosen */
function choose(chosen) {
  change({ on: chosen.map(([file, target]) => `${file}=${target}`) });
}

/** @param {() => import("../../base/server.js").Loaded<any>} files the files of the folder */
export function starting(files) {
  const version = signal(0);
  const live = signal(/** @type {Record<string, any>} */ ({}));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ASKED.includes(name))).toString());
  const plan = load(() => (parameters().has("on") ? `/api/compare/plan?${query()}&version=${version()}` : null));
  listen("study", (job) => {
    live.change((jobs) => ({ ...jobs, [job.out]: job }));
    if (!["running", "concluding"].includes(job.status)) version.change((n) => n + 1);
  });
  listen("queue", (queue) => {
    version.change((n) => n + 1);
    announce(`the studies are ${queue.status}`);
    if (queue.status !== "finished") return;
    const done = queue.outs.filter((/** @type {string} */ out) => !queue.refused[out]);
    if (done.length > 1) change({ study: done }, { replace: true });
  });
  const box = (/** @type {string} */ name) => {
    const isChosen = () => pairs().some(([file]) => file === name);
    const toggle = (/** @type {any} */ event) => choose(event.target.checked ? [...pairs(), [name, ""]] : pairs().filter(([file]) => file !== name));
    return h("label", { class: "line" }, h("input", { type: "checkbox", id: `table-${name}`, checked: isChosen, onchange: toggle }), name);
  };
  return h(
    "details",
    { class: "card", id: "starting", open: parameters().has("on") },
    h("summary", {}, h("h2", {}, "Run studies of several tables")),
    h("p", {}, "The same learners on every table, on the same kind of folds; then they are ranked."),
    shown(files, (value) => {
      const tables = value.files.filter((/** @type {any} */ file) => file.kind === "table").map((/** @type {any} */ file) => file.name).sort();
      return tables.length ? h("div", { class: "choices", role: "group", "aria-label": "Tables" }, ...tables.map(box)) : h("p", {}, "There is no table in this folder yet.");
    }),
    shown(plan, (value) => planned(value, live, query)),
  );
}

/**
 * @param {any} plan
 * @param {() => Record<string, any>} live
 * @param {() => string} query
 */
function planned(plan, live, query) {
  const message = signal("");
  const ask = async (/** @type {string} */ what) => {
    try {
      await postJson(`/api/compare/${what}?${query()}`);
      message.set("");
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  const isRunning = plan.queue && ["running", "stopping"].includes(plan.queue.status);
  const left = plan.tables.filter((/** @type {any} */ table) => !table.is_finished).length;
  const begun = plan.tables.some((/** @type {any} */ table) => table.status !== "none");
  const word = begun ? "Continue" : "Run";
  return [
    h("ul", { class: "plain studies" }, ...plan.tables.map((/** @type {any} */ table) => h("li", {}, tableLine(table, plan, live)))),
    plan.learners.length ? learners(plan.learners) : null,
    h("div", { class: "row" }, field("budget", "At most so many minutes per table", "no limit", "any"), field("folds", "Folds", "by the rows", "1"), h("label", {}, "Folder of the studies", h("input", { id: "compare-into", value: parameters().get("into") ?? "", placeholder: "compare", onchange: (/** @type {any} */ event) => change({ into: event.target.value || null }) }))),
    h(
      "div",
      { class: "row" },
      isRunning ? null : h("button", { type: "button", id: "run-studies", disabled: Boolean(plan.problem) || !left, onclick: () => ask("start") }, left ? `${word} ${countText(left, "study").replace("studys", "studies")}` : "All are finished"),
      isRunning ? h("button", { type: "button", id: "stop-studies", disabled: plan.queue.status === "stopping", onclick: () => ask("stop") }, "Stop after what is finished") : null,
      plan.problem ? h("span", { class: "soft", role: "status" }, `To begin, ${plan.problem}.`) : null,
    ),
    h("p", { class: "error", role: "alert" }, message),
    plan.action ? actionTexts(() => plan.action, "these studies") : null,
  ];
}

/**
 * A table, its target, and how far its study is.
 * @param {any} table
 * @param {any} plan
 * @param {() => Record<string, any>} live
 */
function tableLine(table, plan, live) {
  const set = (/** @type {any} */ event) => choose(pairs().map(([file, target]) => [file, file === table.file ? event.target.value : target]));
  const target = h("select", { id: `target-${table.file}`, value: table.target, onchange: set }, ...["", ...table.columns].map((name) => h("option", { value: name }, name || "(choose)")));
  // what was heard of a study that runs is newer than the plan
  const state = () => {
    const job = live()[table.out];
    return job && ["running", "concluding", "failed"].includes(job.status) ? { ...table, ...job } : table;
  };
  const refused = plan.queue?.refused[table.out];
  const progress = () => {
    const { status, ranking, message } = state();
    const text = refused ?? (message || STATUS[status] || status);
    const done = ranking ? `, ${ranking.n_done} of ${countText(ranking.n_tasks, "fold")}` : "";
    return [
      h("span", { class: refused || status === "failed" ? "error" : "soft" }, `${text}${status === "running" ? done : ""}`),
      ranking && status === "running" ? h("progress", { max: ranking.n_tasks, value: ranking.n_done, "aria-label": `finished folds of ${table.file}` }) : null,
      table.status === "none" ? null : h("a", { href: `/study?${new URLSearchParams({ out: table.out })}` }, "look at it"),
    ];
  };
  return h("div", { class: "row" }, h("label", {}, `To predict in ${table.file}`, target), h("span", { class: "row" }, progress));
}

/** @param {{ name: string, about: string }[]} all */
function learners(all) {
  const picked = () => (parameters().get("learners") ?? "").split(",").filter(Boolean);
  const pick = (/** @type {any} */ event) => {
    const others = picked().filter((name) => name !== event.target.value);
    change({ learners: (event.target.checked ? [...others, event.target.value] : others).join(",") || null });
  };
  const box = (/** @type {{ name: string, about: string }} */ learner) =>
    h("label", { class: "line" }, h("input", { type: "checkbox", id: `compare-${learner.name}`, value: learner.name, checked: () => picked().includes(learner.name), onchange: pick }), h("span", { title: learner.about }, learner.name));
  return h("details", { id: "compare-learners", open: picked().length < 2 }, h("summary", {}, () => (picked().length ? `Learners: ${picked().join(", ")}` : "Learners: choose two at least")), h("div", { class: "choices" }, ...all.map(box)));
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} placeholder
 * @param {string} step
 */
function field(name, label, placeholder, step) {
  return h("label", {}, label, h("input", { id: `compare-${name}`, type: "number", min: "0", step, placeholder, value: parameters().get(name) ?? "", onchange: (/** @type {any} */ event) => change({ [name]: event.target.value || null }) }));
}
