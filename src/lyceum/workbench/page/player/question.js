// Your turn: the next number is asked for before it is shown.

import { freshId, h } from "../base/dom.js";
import { signal } from "../base/reactive.js";

/** @typedef {{ text: string, answer: number, shown: string, tolerance: number, mistakes: { value: number, text: string }[] }} Question */

/**
 * A number as people type it: a comma or a point, a minus sign, or a fraction.
 * @param {string} text
 */
export function readNumber(text) {
  const plain = text.trim().replace(/[−–]/g, "-").replace(",", ".");
  const parts = plain.split("/");
  if (parts.length > 2 || parts.some((part) => part.trim() === "")) return NaN;
  return parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
}

/**
 * What an answer is: right, a known mistake, or wrong.
 * @param {Question} question
 * @param {string} text
 */
export function judge(question, text) {
  const number = readNumber(text);
  if (!Number.isFinite(number)) return { right: false, says: `“${text}” is not a number: type one, like 0.25 or 1/4.` };
  if (Math.abs(number - question.answer) <= question.tolerance) return { right: true, says: `Right: ${question.shown}.` };
  const near = question.mistakes.find(({ value }) => Math.abs(number - value) <= Math.max(question.tolerance, 0.001 * Math.abs(value)));
  return { right: false, says: `Not ${text.trim()}${near ? `: ${near.text}` : ""}. Try again, or look.` };
}

/**
 * @param {Question} question
 * @param {(says: string) => void} proceed shows the scene
 */
export function askFor(question, proceed) {
  const verdict = signal("");
  const id = freshId("answer");
  const input = h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", size: "12" });
  const check = (/** @type {Event} */ event) => {
    event.preventDefault();
    const { right, says } = judge(question, input.value);
    if (right) proceed(says);
    else verdict.set(says);
  };
  return h(
    "form",
    { class: "turn", onsubmit: check },
    h("label", { for: id }, question.text),
    h(
      "p",
      {},
      input,
      h("button", { type: "submit" }, "Check"),
      h("button", { type: "button", class: "quiet", onclick: () => proceed(`It is ${question.shown}.`) }, "Show me"),
    ),
    h("p", { class: "verdict", role: "status" }, () => verdict()),
  );
}
