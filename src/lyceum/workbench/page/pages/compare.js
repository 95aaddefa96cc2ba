// Compare: the same learners on several tables; ranks, the critical difference, and pairs.

import { change, parameters } from "../base/address.js";
import { ranks } from "../base/charts/ranks.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, numberText, shown, tableOf } from "../base/parts.js";
import { computed, signal } from "../base/reactive.js";
import { listen, load } from "../base/server.js";
import { starting } from "./compare/starting.js";

export default function page() {
  const chosen = computed(() => parameters().getAll("study"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => name === "study" || name === "learners")).toString());
  const answer = load(() => (chosen().length > 1 ? `/api/compare?${query()}` : null));
  const version = signal(0);
  const files = load(() => `/api/files?version=${version()}`);
  listen("files", () => version.change((n) => n + 1));
  return [h("h1", {}, "Compare"), choices(files, chosen), starting(files), shown(answer, comparisonOf)];
}

/**
 * @param {() => import("../base/server.js").Loaded<any>} files
 * @param {() => string[]} chosen
 */
function choices(files, chosen) {
  const box = (/** @type {string} */ name) =>
    h("label", { class: "line" }, h("input", { type: "checkbox", id: `study-${name}`, checked: () => chosen().includes(name), onchange: (/** @type {any} */ event) => change({ study: event.target.checked ? [...chosen(), name] : chosen().filter((each) => each !== name) }) }), name);
  return h(
    "section",
    { class: "card", "aria-labelledby": "studies" },
    h("h2", { id: "studies" }, "Studies"),
    shown(files, (value) => {
      const names = value.files.filter((/** @type {any} */ file) => file.kind === "study").map((/** @type {any} */ file) => file.name).sort();
      if (names.length < 2) return h("p", {}, `${countText(names.length, "study").replace("studys", "studies")} in this folder: run studies of several tables with the same learners, then they are ranked here.`);
      return [h("p", {}, "Choose two or more: learners that all of them compared are ranked."), h("div", { class: "choices" }, ...names.map(box))];
    }),
  );
}

/** @param {any} value */
function comparisonOf(value) {
  const labels = new Map(Object.entries(value.cells[0].learners).map(([name, learner]) => [name, /** @type {any} */ (learner).label]));
  const label = (/** @type {string} */ name) => labels.get(name) ?? name;
  const ranked = value.learners.map((/** @type {string} */ name, /** @type {number} */ index) => ({ name: label(name), rank: value.mean_ranks[index] }));
  const verdict = value.p_value < value.alpha ? "so the ranks differ by more than chance" : "so all ranks may be chance";
  return [
    h("p", { role: "status" }, `Friedman's test over ${countText(value.tables.length, "table")}: chi-square ${numberText(value.statistic)}, p = ${numberText(value.p_value, 3)}, ${verdict}.`),
    value.tables.length < 6 ? h("p", { class: "warning" }, `${countText(value.tables.length, "table")}: with so few, Wilcoxon's test cannot show any difference (six are needed for p below 5 %), and the critical difference is wide.`) : null,
    actionTexts(() => value.action, "this comparison"),
    h("section", { class: "card", "aria-label": "Mean ranks" }, ranks(ranked, { title: "Mean ranks: learners under one bar are level", criticalDifference: value.critical_difference, level: value.level.map((/** @type {string[]} */ names) => names.map(label)) }), levelText(value, label)),
    h("section", { class: "card", "aria-label": "Tables" }, lossesTable(value, label)),
    h("section", { class: "card", "aria-label": "Pairs" }, pairsTable(value, label)),
  ];
}

/**
 * @param {any} value
 * @param {(name: string) => string} label
 */
function levelText(value, label) {
  const sets = value.level.map((/** @type {string[]} */ names) => names.map(label).join(", "));
  const text = sets.length ? `Level by Nemenyi's test: ${sets.join("; ")}.` : "No two learners are level by Nemenyi's test.";
  return h("p", {}, `${text} Mean ranks that differ by more than ${numberText(value.critical_difference, 3)} are apart.`);
}

/**
 * Losses by table and learner, with what the tests within the study say.
 * @param {any} value
 * @param {(name: string) => string} label
 */
function lossesTable(value, label) {
  const lines = value.cells.map((/** @type {any} */ cell, /** @type {number} */ index) => [
    `${cell.study}: ${cell.target}`,
    cell.metric,
    ...value.learners.map((/** @type {string} */ name, /** @type {number} */ j) => {
      const { value: text, gap } = cell.learners[name];
      return h("span", {}, `${text} (${numberText(value.ranks[index][j])})`, gap ? h("small", {}, ` ${gap}`) : null);
    }),
  ]);
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Losses by table" }, tableOf("The loss on unseen rows, its rank, and how far behind the best of the table", ["table", "by", ...value.learners.map(label)], lines));
}

/**
 * @param {any} value
 * @param {(name: string) => string} label
 */
function pairsTable(value, label) {
  const lines = value.pairs.map((/** @type {any} */ pair) => [`${label(pair.first)} and ${label(pair.second)}`, numberText(pair.difference, 3), numberText(pair.p_value, 3), numberText(pair.p_holm, 3)]);
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Tests of pairs" }, tableOf("Pairs by Wilcoxon's signed ranks", ["pair", "difference of mean ranks", "p", "p, corrected (Holm)"], lines));
}
