// Sliders for costs, doubt and the shares of the classes; each with its number.

import { h } from "../../base/dom.js";
import { percentText } from "../../base/parts.js";

/** @typedef {import("../../base/reactive.js").Signal<import("./engine.js").Point>} PointSignal */

/**
 * A slider and a number that are one value.
 * @param {{ id: string, label: string, value: () => number, most: number, step: number, set: (value: number) => void, text?: (value: number) => string }} options
 */
function slider({ id, label, value, most, step, set, text }) {
  const take = (/** @type {any} */ event) => set(Number(event.target.value));
  return h(
    "div",
    { class: "slider" },
    h("label", { for: id }, label),
    h("input", { id, type: "range", min: "0", max: most, step, value, oninput: take, "aria-valuetext": text ? () => text(value()) : null }),
    h("input", { type: "number", min: "0", step: "any", value: () => Number(value().toPrecision(4)), onchange: take, "aria-label": `${label}, as a number` }),
  );
}

/**
 * @param {PointSignal} point
 * @param {string[]} classes
 * @param {string[]} actions
 */
export function costSliders(point, classes, actions) {
  const most = Math.max(10, 2 * Math.max(...point().loss.flat()));
  const pairs = classes.flatMap((true_, k) => actions.map((action, a) => ({ true_, action, k, a }))).filter(({ true_, action }) => true_ !== action);
  return pairs.map(({ true_, action, k, a }) =>
    slider({
      id: `cost-${k}-${a}`,
      label: `A ${true_} taken for ${action} costs`,
      value: () => point().loss[k][a],
      most,
      step: most / 200,
      set: (value) => point.change((before) => ({ ...before, loss: before.loss.map((row, i) => (i === k ? row.map((cost, j) => (j === a ? value : cost)) : row)) })),
    }),
  );
}

/** @param {PointSignal} point */
export function doubtSlider(point) {
  const most = () => Math.max(...point().loss.flat());
  const toggle = (/** @type {any} */ event) => point.change((before) => ({ ...before, doubt: event.target.checked ? most() / 2 : null }));
  return [
    h("label", { class: "line" }, h("input", { id: "may-doubt", type: "checkbox", checked: () => point().doubt !== null, onchange: toggle }), "Rows may be left to a person"),
    () =>
      point().doubt === null
        ? null
        : slider({ id: "doubt", label: "Not to decide costs", value: () => point().doubt ?? 0, most: most(), step: most() / 200, set: (value) => point.change((before) => ({ ...before, doubt: value })) }),
  ];
}

/**
 * @param {PointSignal} point
 * @param {string[]} classes
 */
export function priorSliders(point, classes) {
  const set = (/** @type {number} */ k, /** @type {number} */ share) => {
    const kept = Math.min(0.999, Math.max(0.001, share));
    point.change((before) => {
      const rest = before.priors.reduce((sum, each, i) => sum + (i === k ? 0 : each), 0);
      return { ...before, priors: before.priors.map((each, i) => (i === k ? kept : (each / rest) * (1 - kept))) };
    });
  };
  // of two classes one slider says both
  const listed = classes.length === 2 ? classes.slice(0, 1) : classes;
  return listed.map((name, k) =>
    slider({ id: `prior-${k}`, label: `Share of ${name} where it is used`, value: () => point().priors[k], most: 1, step: 0.005, set: (value) => set(k, value), text: (value) => percentText(value) }),
  );
}
