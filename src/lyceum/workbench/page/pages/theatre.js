// Theatre: a method step by step, on the textbook's table or on columns of the open file.

import { change, parameters } from "../base/address.js";
import { h } from "../base/dom.js";
import { actionTexts, shown } from "../base/parts.js";
import { computed } from "../base/reactive.js";
import { load } from "../base/server.js";
import { player } from "../player/player.js";

/** @typedef {{ name: string, default: any, about: string, choices: string[], type: string, low: number, high: number }} Setting */
/** @typedef {{ name: string, title: string, about: string, table: string | null, takes: string, columns: number[], target: string | null, settings: Setting[] }} Method */

/** What makes a play; the step only says where one is in it. */
const PARTS = ["method", "table", "file", "repair", "column", "target", "set", "seed"];

/** What belongs to one method and is left behind when another is chosen. */
const OWN = { column: null, set: null, step: null };

const query = computed(() => new URLSearchParams([...parameters()].filter(([name]) => PARTS.includes(name))).toString());

export default function page() {
  const chosen = computed(() => new URLSearchParams([...parameters()].filter(([name]) => name === "file" || name === "repair")).toString());
  const known = load(() => `/api/theatre/methods?${chosen()}`);
  const made = load(() => `/api/theatre?${query()}`);
  const open = (/** @type {any} */ { play, action }) => {
    const start = Number(parameters().get("step") ?? 1) - 1;
    const onstep = (/** @type {number} */ step) => change({ step: step ? String(step + 1) : null }, { replace: true });
    return [
      h("p", { class: "row" }, h("a", { class: "button quiet", href: `/api/theatre/page?${query()}`, download: `${play.method}.html` }, "Save as a page of its own")),
      actionTexts(() => action, "this play"),
      h("section", { class: "card lyceum-play", "aria-label": play.title }, player(play, { start, onstep, keys: document })),
    ];
  };
  return [h("h1", {}, "Theatre"), shown(known, (value) => form(value)), shown(made, open)];
}

/** @param {{ methods: Method[], columns: string[] }} known */
function form({ methods, columns }) {
  const method = computed(() => methods.find(({ name }) => name === parameters().get("method")) ?? methods[0]);
  const isOwn = computed(() => parameters().get("table") === "file" && Boolean(parameters().get("file")));
  const choose = (/** @type {any} */ event) => change({ ...OWN, method: event.target.value, table: null });
  return h(
    "section",
    { class: "card theatre-form", "aria-label": "What is played" },
    h(
      "div",
      { class: "row" },
      h("label", {}, "Method", h("select", { id: "method", onchange: choose, value: () => method().name }, ...methods.map(({ name, title }) => h("option", { value: name }, title)))),
      () => tableChoice(method(), isOwn()),
      () => (isOwn() ? ownColumns(method(), columns) : null),
      () => method().settings.map(settingInput),
      h("label", {}, "Seed", h("input", { id: "seed", type: "number", min: 0, step: 1, value: () => parameters().get("seed") ?? "0", onchange: (/** @type {any} */ event) => change({ seed: event.target.value === "0" ? null : event.target.value, step: null }) })),
    ),
  );
}

/**
 * @param {Method} method
 * @param {boolean} isOwn
 */
function tableChoice(method, isOwn) {
  if (method.table === null) return null;
  const file = parameters().get("file");
  const choose = (/** @type {any} */ event) => change({ ...OWN, table: event.target.value || null });
  const own = file ? h("option", { value: "file" }, file) : null;
  return h("label", {}, "Table", h("select", { id: "table", onchange: choose, value: isOwn ? "file" : "" }, h("option", { value: "" }, method.table), own));
}

/**
 * @param {Method} method
 * @param {string[]} columns
 */
function ownColumns(method, columns) {
  const taken = parameters().getAll("column");
  const [least, most] = method.columns;
  const set = (/** @type {number} */ index, /** @type {string} */ name) => {
    const next = [...taken];
    next[index] = name;
    change({ column: next.filter(Boolean), step: null });
  };
  const boxes = Array.from({ length: Math.min(most, Math.max(least, taken.length + 1)) }, (_, index) =>
    select(`Column ${index + 1}`, `column-${index}`, taken[index] ?? "", columns, (name) => set(index, name)),
  );
  if (!method.target) return boxes;
  const target = select(`Target (${method.target})`, "target", parameters().get("target") ?? "", columns, (name) => change({ target: name || null, step: null }));
  return [...boxes, target];
}

/**
 * @param {string} title
 * @param {string} id
 * @param {string} value
 * @param {string[]} choices
 * @param {(value: string) => void} choose
 */
function select(title, id, value, choices, choose) {
  const options = ["", ...choices].map((name) => h("option", { value: name }, name || "(chosen for you)"));
  return h("label", {}, title, h("select", { id, value, onchange: (/** @type {any} */ event) => choose(event.target.value) }, ...options));
}

/** @param {Setting} setting */
function settingInput(setting) {
  const id = `set-${setting.name}`;
  const given = parameters().getAll("set").find((text) => text.startsWith(`${setting.name}=`));
  const value = given ? given.slice(setting.name.length + 1) : String(setting.default);
  const set = (/** @type {string} */ next) => {
    const others = parameters().getAll("set").filter((text) => !text.startsWith(`${setting.name}=`));
    change({ set: next === String(setting.default) ? others : [...others, `${setting.name}=${next}`], step: null });
  };
  const onchange = (/** @type {any} */ event) => set(event.target.value);
  if (setting.type === "bool") {
    return h("label", { class: "line", title: setting.about }, h("input", { id, type: "checkbox", checked: value === "true", onchange: (/** @type {any} */ event) => set(String(event.target.checked)) }), setting.about);
  }
  if (setting.choices.length) {
    return h("label", {}, setting.about, h("select", { id, value, onchange }, ...setting.choices.map((choice) => h("option", { value: choice }, choice))));
  }
  return h("label", {}, setting.about, h("input", { id, type: setting.type === "str" ? "text" : "number", step: setting.type === "int" ? 1 : "any", value, onchange }));
}
