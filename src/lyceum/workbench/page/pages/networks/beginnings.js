// Where a network comes from: a file, one that comes with Lyceum, a table, or a drawing.

import { change, go, parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { actionTexts, shown } from "../../base/parts.js";
import { computed, signal } from "../../base/reactive.js";
import { listen, load, postJson, upload } from "../../base/server.js";
import { addEdge, board, drawnEdges, removeEdge } from "./board.js";

const METHODS = [
  ["order_search", "search over orders of the variables (the best score)"],
  ["hill_climbing", "add, remove or turn the best edge"],
  ["tabu", "the same, a while downhill too"],
  ["chow_liu", "the best tree"],
  ["tan", "a class over a tree of the columns"],
  ["pc", "tests of independence"],
];

export function beginnings() {
  const version = signal(0);
  const files = load(() => `/api/files?version=${version()}`);
  listen("files", () => version.change((n) => n + 1));
  return shown(files, (value) => {
    const names = (/** @type {string} */ kind) => value.files.filter((/** @type {any} */ file) => file.kind === kind).map((/** @type {any} */ file) => file.name);
    return h("div", { class: () => (parameters().get("file") ? "" : "columns two") }, fromTable(names("table")), ready(names("network")));
  });
}

/** @param {string[]} names */
function ready(names) {
  const message = signal("");
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    try {
      change({ net: await upload(file) });
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  const link = (/** @type {string} */ name, /** @type {string} */ about) => h("li", {}, h("a", { href: `/networks?${new URLSearchParams({ net: name })}` }, name), about);
  return h(
    "section",
    { class: "card", "aria-labelledby": "ready" },
    h("h2", { id: "ready" }, "Open a network"),
    h("ul", {}, ...names.map((name) => link(name, "")), link("asia", ": a chest clinic, 8 variables, comes with Lyceum"), link("alarm", ": monitoring in intensive care, 37 variables, comes with Lyceum")),
    h("label", {}, "A BIF file", h("input", { type: "file", accept: ".bif", onchange: (/** @type {any} */ event) => take(event.target.files[0]) })),
    h("p", { role: "status", class: "error" }, message),
  );
}

/** @param {string[]} tables */
function fromTable(tables) {
  const file = computed(() => parameters().get("file"));
  const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => ["file", "target", "method", "edge", "repair", "ignore"].includes(name))).toString());
  const answer = load(() => (file() ? `/api/networks/columns?${query()}` : null));
  return h(
    "section",
    { class: "card", "aria-labelledby": "learn" },
    h("h2", { id: "learn" }, "Learn one from a table, or draw it"),
    select("file", "Table", [["", "(choose)"], ...tables.map((name) => [name, name])]),
    shown(answer, (value) => form(value, query)),
  );
}

/**
 * A choice that the address keeps.
 * @param {string} parameter
 * @param {string} label
 * @param {string[][]} options
 */
function select(parameter, label, options) {
  const made = options.map(([value, text]) => h("option", { value }, text));
  return h("label", {}, label, h("select", { id: `net-${parameter}`, value: () => parameters().get(parameter) ?? "", onchange: (/** @type {any} */ event) => change({ [parameter]: event.target.value || null }) }, ...made));
}

/**
 * @param {any} value
 * @param {() => string} query
 */
function form({ columns, out, action }, query) {
  const message = signal("");
  const learn = async () => {
    message.set("Learning …");
    try {
      const made = await postJson(`/api/networks/learn?${query()}`);
      const next = new URLSearchParams({ net: made.name, file: parameters().get("file") ?? "" });
      for (const name of parameters().getAll("ignore")) next.append("ignore", name);
      go(`/networks?${next}`);
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  const edges = drawnEdges();
  const taken = columns.filter((/** @type {string} */ name) => !parameters().getAll("ignore").includes(name));
  return [
    h("div", { class: "row" }, select("method", "Method", [["", "default: search over orders"], ...METHODS.slice(1)]), select("target", "Class (for a class over a tree)", [["", "(none)"], ...columns.map((/** @type {string} */ name) => [name, name])])),
    h("h3", {}, "Or draw its edges"),
    board(taken),
    edgeList(taken, edges),
    h("div", { class: "row" }, h("button", { type: "button", onclick: learn }, edges.length ? "Learn the tables of this graph" : "Learn the network"), h("span", { class: "soft" }, `It is written to ${out}; numbers are cut into intervals.`)),
    h("p", { role: "status" }, message),
    actionTexts(() => action, "this network"),
  ];
}

/**
 * The edges as lists: what the picture shows, for those who do not point.
 * @param {string[]} columns
 * @param {[string, string][]} edges
 */
function edgeList(columns, edges) {
  const message = signal("");
  const from = h("select", { id: "edge-from" }, ...columns.map((name) => h("option", {}, name)));
  const to = h("select", { id: "edge-to" }, ...columns.map((name) => h("option", {}, name)));
  const item = (/** @type {[string, string]} */ [parent, child]) =>
    h("li", {}, `${parent} → ${child}`, h("button", { type: "button", class: "quiet", "aria-label": `Remove the edge ${parent} to ${child}`, onclick: () => removeEdge(parent, child) }, "remove"));
  return [
    h("div", { class: "row" }, h("label", {}, "Cause", from), h("label", {}, "Effect", to), h("button", { type: "button", class: "quiet", onclick: () => message.set(addEdge(from.value, to.value)) }, "Add this edge")),
    h("p", { class: "soft", role: "status" }, message),
    edges.length ? h("ul", { class: "plain" }, ...edges.map(item)) : h("p", { class: "soft" }, "No edge is drawn: the method finds them."),
    ...parameters().getAll("ignore").map((name) => h("p", { class: "soft" }, `${name} is left out`, h("button", { type: "button", class: "quiet", onclick: () => change({ ignore: parameters().getAll("ignore").filter((each) => each !== name) }) }, `take ${name} back`))),
  ];
}
