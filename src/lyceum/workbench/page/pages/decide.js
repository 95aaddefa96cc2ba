// Decide: costs, shares and doubt are moved; ranking, confusion, curves and the sentence follow.

import { change, parameters, queryText } from "../base/address.js";
import { dots } from "../base/charts/dots.js";
import { lines } from "../base/charts/lines.js";
import { matrix } from "../base/charts/matrix.js";
import { h } from "../base/dom.js";
import { actionTexts, countText, numberText, percentText, shown } from "../base/parts.js";
import { computed, effect, onEnd, signal, untracked } from "../base/reactive.js";
import { getBlock, load, postJson } from "../base/server.js";
import { chooser } from "./data/chooser.js";
import { costSliders, doubtSlider, priorSliders } from "./decide/controls.js";
import { byThreshold, costByThreshold, decide, theoreticalThreshold } from "./decide/engine.js";

/** @typedef {import("./decide/engine.js").Point} Point */
/** @typedef {import("./decide/engine.js").Sample} Sample */

const MANY_SLIDERS = 4; // classes up to which every pair has one

export default function page() {
  const out = computed(() => parameters().get("out"));
  // the sliders begin where the address is; from then on the address follows them
  const first = load(() => (out() ? untracked(() => `/api/decide?${parameters()}`) : null));
  return [
    h("h1", {}, "Decide"),
    () => (out() ? null : chooser("study")),
    shown(first, (facts) => bench(facts, String(out()))),
  ];
}

/**
 * The posteriors of a learner as the engine takes them.
 * @param {string} out
 * @param {string} name
 * @param {number} nClasses
 * @returns {Promise<Sample>}
 */
async function sampleOf(out, name, nClasses) {
  const { columns } = await getBlock(`/api/decide/posteriors?${new URLSearchParams({ out, learner: name })}`);
  const exact = /** @type {Record<string, Float64Array>} */ (columns);
  return { y: exact.y, weight: exact.weight ?? null, posteriors: Array.from({ length: nClasses }, (_, k) => exact[`p${k}`]) };
}

/**
 * @param {any} facts
 * @param {string} out
 */
function bench(facts, out) {
  const { classes, actions } = facts;
  const given = new Map(parameters().getAll("prior").map((text) => [text.slice(0, text.lastIndexOf("=")), Number(text.slice(text.lastIndexOf("=") + 1))]));
  const priors = classes.map((/** @type {string} */ name, /** @type {number} */ k) => given.get(name) ?? facts.priors[k]);
  const point = signal(/** @type {Point} */ ({ loss: facts.loss, doubt: facts.doubt, priors, trained: facts.priors }));
  const chosen = signal(parameters().get("learner") ?? facts.choice);
  const samples = signal(/** @type {Record<string, Sample>} */ ({}));
  const message = signal("");
  const need = async (/** @type {string} */ name) => {
    if (samples()[name]) return;
    try {
      const sample = await sampleOf(out, name, classes.length);
      samples.change((before) => ({ ...before, [name]: sample }));
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  effect(() => void need(chosen()));
  const decided = computed(() => {
    const sample = samples()[chosen()];
    if (!sample) return null;
    const begin = performance.now();
    const result = decide(sample, point());
    document.documentElement.dataset.decideMs = (performance.now() - begin).toFixed(1);
    return result;
  });
  keepAddress(point, chosen, facts);
  const label = () => facts.learners.find((/** @type {any} */ each) => each.name === chosen())?.label ?? chosen();
  return [
    h("p", { id: "sentence", role: "status" }, () => sentence(decided(), label(), point())),
    h("p", { class: "error", role: "alert" }, message),
    h(
      "div",
      { class: "columns two" },
      h("section", { class: "card", "aria-label": "Costs and shares" }, learnerChoice(facts, chosen), ...(classes.length <= MANY_SLIDERS ? costSliders(point, classes, actions) : [h("p", { class: "soft" }, "Costs of so many classes are set on the Question page.")]), ...doubtSlider(point), ...priorSliders(point, classes)),
      h("section", { class: "card", "aria-label": "What is decided" }, () => confusion(decided(), classes, actions, point())),
      h("section", { class: "card", "aria-label": "Cost by threshold" }, costPicture(samples, chosen, point, classes)),
      h("section", { class: "card", "aria-label": "Error and rejection" }, () => rejection(decided())),
    ),
    ranking(facts, samples, need, point, chosen),
    saving(out),
  ];
}

/**
 * The address follows the sliders a moment later, so that a move is one step; going back moves them
 * back.
 * @param {import("../base/reactive.js").Signal<Point>} point
 * @param {import("../base/reactive.js").Signal<string>} chosen
 * @param {any} facts
 */
function keepAddress(point, chosen, facts) {
  const first = { point: point(), learner: chosen() };
  const states = new Map([[stateText(), first]]);
  let now = first;
  effect(() => {
    const state = { point: point(), learner: chosen() };
    const timer = window.setTimeout(() => {
      if (state.point === now.point && state.learner === now.learner) return;
      now = state;
      change(parametersOf(state.point, state.learner, facts));
      states.set(stateText(), state);
    }, 250);
    onEnd(() => window.clearTimeout(timer));
  });
  effect(() => {
    const state = states.get(stateText());
    if (!state || state === now) return;
    now = state;
    untracked(() => {
      point.set(state.point);
      chosen.set(state.learner);
    });
  });
}

/** What the address says of the operating point. */
function stateText() {
  const query = parameters();
  return JSON.stringify(["loss", "doubt", "prior", "learner"].map((name) => query.getAll(name)));
}

/**
 * @param {Point} point
 * @param {string} learner
 * @param {any} facts
 */
function parametersOf({ loss, doubt, priors }, learner, facts) {
  const pairs = loss.flatMap((row, k) => row.map((cost, a) => (facts.classes[k] === facts.actions[a] ? "" : `${facts.classes[k]}:${facts.actions[a]}=${Number(cost.toPrecision(6))}`)).filter(Boolean));
  const isShifted = priors.some((share, k) => Math.abs(share - facts.priors[k]) > 1e-9);
  const shares = isShifted ? priors.map((share, k) => `${facts.classes[k]}=${Number(share.toPrecision(6))}`) : null;
  return { loss: pairs.join(","), doubt: doubt === null ? null : Number(doubt.toPrecision(6)), prior: shares, learner };
}

/**
 * @param {ReturnType<typeof decide> | null} result
 * @param {string} label
 * @param {Point} point
 */
function sentence(result, label, point) {
  if (!result) return "Reading the posteriors …";
  const error = result.error === null ? "no row is decided" : `${percentText(result.error)} of the decisions are wrong`;
  const rejected = point.doubt === null ? "" : `, ${percentText(result.rejectRate)} of the rows are left to a person`;
  return `With these costs, ${label} costs ${numberText(result.cost)} per row on rows that it has not seen: ${error}${rejected}.`;
}

/**
 * @param {any} facts
 * @param {import("../base/reactive.js").Signal<string>} chosen
 */
function learnerChoice(facts, chosen) {
  const options = facts.learners.map((/** @type {any} */ learner) => h("option", { value: learner.name }, learner.label));
  return h("label", {}, "Learner", h("select", { id: "decide-learner", value: chosen, onchange: (/** @type {any} */ event) => chosen.set(event.target.value) }, ...options));
}

/**
 * @param {ReturnType<typeof decide> | null} result
 * @param {string[]} classes
 * @param {string[]} actions
 * @param {Point} point
 */
function confusion(result, classes, actions, point) {
  if (!result) return null;
  const columns = point.doubt === null ? actions : [...actions, "doubt"];
  const rows = result.confusion.map((row) => row.slice(0, columns.length));
  return matrix(rows, { title: "What it is, and what is decided", rows: classes, columns, rowLabel: "it is", columnLabel: "decided", byRow: true, text: (value) => numberText(Math.round(10 * value) / 10) });
}

/**
 * @param {() => Record<string, Sample>} samples
 * @param {() => string} chosen
 * @param {() => Point} point
 * @param {string[]} classes
 */
function costPicture(samples, chosen, point, classes) {
  if (classes.length !== 2) return h("p", { class: "soft" }, "Of more than two classes there is no single threshold.");
  const counts = computed(() => {
    const sample = samples()[chosen()];
    return sample ? byThreshold(sample) : null;
  });
  return () => {
    const made = counts();
    if (!made) return null;
    const { thresholds, costs } = costByThreshold(made, point());
    const at = theoreticalThreshold(point());
    const index = Math.min(thresholds.length - 1, Math.max(0, Math.round(at * (thresholds.length - 1))));
    return lines([{ name: "mean cost", x: thresholds, y: costs }], {
      title: `Cost when ${classes[0]} is the answer from a posterior on`,
      xLabel: `posterior of ${classes[0]}`,
      yLabel: "mean cost",
      x: [0, 1],
      mark: { x: at, y: costs[index], text: `these costs ask for ${percentText(at)}` },
    });
  };
}

/** @param {ReturnType<typeof decide> | null} result */
function rejection(result) {
  if (!result) return null;
  const { rejectRate, error } = result.curve;
  return lines([{ name: "error among the others", x: rejectRate, y: error }], {
    title: "Error when the least certain rows are left to a person",
    xLabel: "share of rows left to a person",
    yLabel: "error rate",
    x: [0, 1],
    mark: result.error === null ? null : { x: result.rejectRate, y: result.error, text: "here" },
  });
}

/**
 * All learners under these costs; their posteriors are read when the ranking is asked for.
 * @param {any} facts
 * @param {() => Record<string, Sample>} samples
 * @param {(name: string) => Promise<void>} need
 * @param {() => Point} point
 * @param {import("../base/reactive.js").Signal<string>} chosen
 */
function ranking(facts, samples, need, point, chosen) {
  const isOpen = signal(facts.n_rows * facts.learners.length <= 1_000_000);
  effect(() => {
    if (isOpen()) for (const learner of facts.learners) void need(learner.name);
  });
  const rows = () => {
    if (!isOpen()) return h("button", { type: "button", onclick: () => isOpen.set(true) }, `Rank all learners (${countText(facts.n_rows, "row")} each)`);
    const ready = facts.learners.filter((/** @type {any} */ learner) => samples()[learner.name]);
    const ranked = ready
      .map((/** @type {any} */ learner) => ({ name: learner.label, key: learner.name, value: decide(samples()[learner.name], point()).cost, class: learner.name === facts.choice ? "choice" : "" }))
      .sort((/** @type {any} */ a, /** @type {any} */ b) => a.value - b.value);
    return ranked.length ? dots(ranked, { title: "Learners under these costs", valueLabel: "mean cost on unseen rows", valueText: (value) => numberText(value), onpick: (dot) => chosen.set(/** @type {any} */ (dot).key) }) : null;
  };
  return h("section", { class: "card", "aria-label": "Ranking" }, rows);
}

/** @param {string} out */
function saving(out) {
  const message = signal("");
  const saved = signal("");
  const texts = load(() => `/api/decide/action?${queryText()}`);
  const save = async () => {
    try {
      const { name } = await postJson(`/api/decide/save?${queryText()}`);
      message.set(`Saved as ${name}: lyceum predict ${name} decides so.`);
      saved.set(name);
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  return h(
    "section",
    { class: "card", "aria-label": "Save" },
    h("button", { type: "button", onclick: save }, `Save this operating point into the model of ${out}`),
    h("p", { role: "status" }, message),
    () => (saved() ? h("a", { class: "button quiet", href: `/ask?${new URLSearchParams({ model: saved() })}` }, "Ask it about a row") : null),
    shown(texts, (value) => actionTexts(() => value, "this operating point")),
  );
}
