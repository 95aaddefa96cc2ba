// Clusters: how many, what each is like, where its rows lie; a cluster that is picked is lit in all.

import { change, parameters } from "../base/address.js";
import { bars } from "../base/charts/bars.js";
import { lines } from "../base/charts/lines.js";
import { scatter } from "../base/charts/scatter.js";
import { h } from "../base/dom.js";
import { actionTexts, numberText, shown, summaryTable } from "../base/parts.js";
import { computed } from "../base/reactive.js";
import { getBlock, load } from "../base/server.js";
import { chooser } from "./data/chooser.js";
import { rowCard, selectOf } from "./clusters/parts.js";

const ASKED = ["file", "repair", "kind", "ignore", "learner", "clusters"];

export default function page() {
  const file = computed(() => parameters().get("file"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ASKED.includes(name))).toString());
  const answer = load(() => (file() ? `/api/clusters?${query()}` : null));
  return [
    () => h("h1", {}, file() ? `Clusters of ${file()}` : "Clusters"),
    () => (file() ? null : chooser("table")),
    shown(answer, (value) => clustersOf(value, query)),
  ];
}

/**
 * @param {any} value
 * @param {() => string} query
 */
function clustersOf(value, query) {
  const [sizes, profile] = value.tables;
  const facts = Object.entries(value.facts).map(([name, fact]) => `${name}: ${typeof fact === "number" ? numberText(fact) : fact}`);
  const number = h("input", { id: "clusters-number", type: "number", min: "1", max: "100", placeholder: "by silhouette", value: parameters().get("clusters") ?? "", onchange: (/** @type {any} */ event) => change({ clusters: event.target.value || null, cluster: null }) });
  return [
    h(
      "div",
      { class: "row" },
      selectOf("learner", "Learner", [["", "chosen for this table"], ...value.learners.map((/** @type {string} */ name) => [name, name])], { cluster: null }),
      h("label", {}, "Clusters", number),
    ),
    h("p", {}, facts.join(" · ")),
    h("ul", {}, ...value.statements.map((/** @type {string} */ text) => h("li", {}, text))),
    actionTexts(() => value.action, "these clusters"),
    h(
      "div",
      { class: "columns two" },
      h("section", { class: "card", "aria-label": "Where the rows lie" }, h("div", { class: "row" }, axis("x", "Across", value.axes, 0), axis("y", "Up", value.axes, 1)), pointsOf(value, query), rowCard(query)),
      h("section", { class: "card", "aria-label": "Sizes" }, () => sizesOf(sizes), choiceOf(value.choice)),
    ),
    h("section", { class: "card", "aria-label": "Profiles" }, () => profileOf(profile), summaryTable(sizes)),
  ];
}

/** The cluster that is picked, as its number, or null. */
function picked() {
  const text = parameters().get("cluster");
  return text === null ? null : Number(text);
}

/** @param {number} number */
function pick(number) {
  change({ cluster: picked() === number ? null : number });
}

/** @param {unknown} cluster as in the table: a number, or noise */
function numberOf(cluster) {
  return cluster === "noise" ? -1 : Number(cluster);
}

/**
 * @param {string} parameter
 * @param {string} label
 * @param {string[]} axes
 * @param {number} index
 */
function axis(parameter, label, axes, index) {
  return selectOf(parameter, label, [["", axes[index]], ...axes.filter((name) => name !== axes[index]).map((name) => [name, name])]);
}

/**
 * @param {any} value
 * @param {() => string} query
 */
function pointsOf(value, query) {
  const path = computed(() => {
    const axes = new URLSearchParams([...parameters()].filter(([name]) => name === "x" || name === "y"));
    return `/api/clusters/points?${query()}&${axes}`;
  });
  const block = load(path, getBlock);
  const labels = value.labels; // -1 is noise
  const names = labels.map((/** @type {number} */ label) => (label < 0 ? "noise" : `cluster ${label}`));
  const legend = h("ul", { class: "legend points" }, ...labels.map((/** @type {number} */ label, /** @type {number} */ index) => h("li", { class: `series-${index % 6}` }, h("button", { type: "button", class: "quiet", id: `pick-${label}`, "aria-pressed": () => String(picked() === label), onclick: () => pick(label) }, names[index]))));
  return [
    legend,
    () => {
      const { value: points, error } = block();
      if (error) return h("p", { class: "error", role: "alert" }, error);
      if (!points) return h("p", { class: "waiting" }, "Reading …");
      const { x, y, cluster, row } = points.columns;
      const groups = Array.from(cluster, (label) => labels.indexOf(label));
      const chosen = picked();
      const labelOf = (/** @type {string} */ name, /** @type {number} */ index) => parameters().get(name) ?? value.axes[index];
      return scatter(x, y, { title: "Rows by cluster", xLabel: labelOf("x", 0), yLabel: labelOf("y", 1), groups, names, rows: row, picked: chosen === null ? null : labels.indexOf(chosen), onpick: (number) => change({ row: number }), height: 380 });
    },
  ];
}

/** @param {any} table */
function sizesOf({ rows }) {
  const chosen = picked();
  const listed = rows.map((/** @type {any[]} */ [cluster, n, share, silhouette]) => ({
    name: cluster === "noise" ? "noise" : `cluster ${cluster}`,
    value: n,
    text: `${n.toLocaleString("en-US")} rows, ${(100 * share).toFixed(0)} %${silhouette === null ? "" : `, silhouette ${numberText(silhouette, 2)}`}`,
    class: chosen === null || chosen === numberOf(cluster) ? "" : "dim",
    number: numberOf(cluster),
  }));
  const most = 2.2 * Math.max(...listed.map((/** @type {any} */ bar) => bar.value));
  return bars(listed, { title: "Rows of every cluster", valueLabel: "rows", most, onpick: (bar) => pick(/** @type {any} */ (bar).number) });
}

/** @param {any} choice */
function choiceOf(choice) {
  if (!choice) return null;
  const index = choice.clusters.indexOf(choice.k);
  return [
    lines([{ name: "mean silhouette", x: choice.clusters, y: choice.silhouettes }], { title: "How many clusters?", xLabel: "clusters", yLabel: "mean silhouette", mark: { x: choice.k, y: choice.silhouettes[index], text: `${choice.k} clusters` }, width: 440, height: 240, onpick: (x) => change({ clusters: Math.round(x), cluster: null }) }),
    h("p", { class: "soft" }, `${choice.k} are taken: the larger the silhouette, the better apart. The elbow says ${choice.elbow}, BIC says ${choice.bic}. A click takes another number.`),
  ];
}

/**
 * The profile with the column of the cluster that is picked marked.
 * @param {any} table
 */
function profileOf(table) {
  const chosen = picked();
  const made = summaryTable(table);
  if (chosen === null) return made;
  const name = chosen < 0 ? "noise" : `cluster ${chosen}`;
  const index = table.columns.indexOf(name);
  for (const line of made.querySelectorAll("tr")) line.children[index]?.classList.add("picked");
  return made;
}
