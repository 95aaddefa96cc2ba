// The player: scenes forwards and back, with the picture, the calculation and the table so far.
// It needs the data of a play and nothing else; the workbench, the site and single pages use it.

import { freshId, h } from "../base/dom.js";
import { computed, effect, onEnd, signal } from "../base/reactive.js";
import { drawPicture } from "./pictures.js";
import { askFor } from "./question.js";

/** @typedef {{ title: string, columns: string[], numbers: boolean[], rows: string[][] }} Sheet */
/** @typedef {{ title: string, lines: string[], pictures: import("./pictures.js").Picture[], tables: Sheet[], question: import("./question.js").Question | null }} Scene */
/** @typedef {{ method: string, title: string, about: string, scenes: Scene[], table: Sheet, formulas: { symbol: string, formula: string, unit: string }[] }} Play */
/** @typedef {{ start?: number, onstep?: (step: number) => void, heading?: "h1" | "h2" | "h3", keys?: EventTarget | null }} Options */

const SECONDS = 2.5;
/** @type {Record<"h1" | "h2" | "h3", "h2" | "h3" | "h4">} */
const BELOW = { h1: "h2", h2: "h3", h3: "h4" };

/**
 * The player of a play.
 * @param {Play} play
 * @param {Options} [options]
 */
export function player(play, { start = 0, onstep = () => {}, heading = "h2", keys = null } = {}) {
  const last = play.scenes.length - 1;
  const step = signal(Math.min(Math.max(start, 0), last));
  const asked = signal(-1); // the scene whose number is asked for
  const note = signal("");
  const yourTurn = signal(false);
  const large = signal(false);
  const running = signal(false);

  const show = (/** @type {number} */ index, says = "") => {
    asked.set(-1);
    note.set(says);
    step.set(Math.min(Math.max(index, 0), last));
    onstep(step());
  };
  const forward = () => {
    const next = step() + 1;
    if (next > last) return running.set(false);
    if (yourTurn() && play.scenes[next].question && asked() !== next) {
      running.set(false);
      asked.set(next);
      document.getElementById(questionId)?.querySelector("input")?.focus();
    } else show(next);
  };
  const back = () => (asked() >= 0 ? asked.set(-1) : show(step() - 1));
  effect(() => {
    if (!running()) return;
    const timer = window.setInterval(forward, 1000 * SECONDS);
    onEnd(() => window.clearInterval(timer));
  });

  const questionId = freshId("question");
  const scene = computed(() => play.scenes[step()]);
  const question = () => {
    const next = asked();
    if (next < 0) return null;
    const wanted = /** @type {import("./question.js").Question} */ (play.scenes[next].question);
    return askFor(wanted, (says) => {
      show(next, says);
      document.getElementById(headingId)?.focus();
    });
  };
  const headingId = freshId("scene");
  // large text is for a projector: what stands above the steps is left behind
  effect(() => {
    if (large()) window.requestAnimationFrame(() => body.scrollIntoView());
  });
  const onkeydown = (/** @type {Event} */ event) => press(/** @type {KeyboardEvent} */ (event), { forward, back, first: () => show(0), last: () => show(last) });
  const body = h(
    "div",
    { class: () => `play${large() ? " large" : ""}`, onkeydown: keys ? () => {} : onkeydown },
    h(heading, { class: "play-title" }, play.title),
    h("p", { class: "about" }, play.about),
    controls({ step, last, running, yourTurn, large, forward, back, show }),
    h("div", { id: questionId }, question),
    h("p", { class: "note", role: "status" }, () => note()),
    h(BELOW[heading], { id: headingId, tabindex: "-1", class: "scene-title" }, () => `${step() + 1} of ${last + 1}. ${scene().title}`),
    h("p", { class: "unseen", role: "status" }, () => `Step ${step() + 1} of ${last + 1}: ${scene().title}`),
    h(
      "div",
      { class: "parts" },
      h("div", { class: "pictures" }, () => scene().pictures.map(drawPicture)),
      h("div", { class: "working" }, () => h("ol", { class: "lines" }, ...scene().lines.map((line) => h("li", {}, line))), () => scene().tables.map((table) => sheet(table, table.rows.length))),
    ),
    h("details", { open: true }, h("summary", {}, "All steps so far"), () => sheet(play.table, step() + 1, step())),
    formulas(play),
  );
  keys?.addEventListener("keydown", onkeydown);
  onEnd(() => keys?.removeEventListener("keydown", onkeydown));
  return body;
}

/**
 * Arrows go forwards and back, except where they move a cursor or a slider.
 * @param {KeyboardEvent} event
 * @param {Record<"forward" | "back" | "first" | "last", () => void>} moves
 */
function press(event, { forward, back, first, last }) {
  const inside = event.target;
  if (inside instanceof HTMLElement && (inside.matches("input:not([type=checkbox]), select, textarea") || inside.closest(".scrolls"))) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const moves = { ArrowRight: forward, PageDown: forward, ArrowLeft: back, PageUp: back, Home: first, End: last };
  const move = moves[/** @type {keyof typeof moves} */ (event.key)];
  if (!move) return;
  event.preventDefault();
  move();
}

/** @param {Record<string, any>} state */
function controls({ step, last, running, yourTurn, large, forward, back, show }) {
  const id = freshId("step");
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, /** @type {Record<string, any>} */ more = {}) => h("button", { type: "button", onclick, ...more }, text);
  const check = (/** @type {string} */ text, /** @type {any} */ which) =>
    h("label", { class: "line" }, h("input", { type: "checkbox", checked: () => which(), onchange: (/** @type {any} */ event) => which.set(event.target.checked) }), text);
  return h(
    "div",
    { class: "controls", role: "group", "aria-label": "Steps" },
    button("◀ Back", back, { disabled: () => step() === 0, "aria-label": "Back" }),
    button("Next ▶", forward, { disabled: () => step() === last, "aria-label": "Next" }),
    h("label", { class: "slider", for: id }, "Step", h("input", { id, type: "range", min: 0, max: last, value: () => step(), oninput: (/** @type {any} */ event) => show(Number(event.target.value)) })),
    h("button", { type: "button", class: "quiet", "aria-pressed": () => String(running()), onclick: () => running.change((/** @type {boolean} */ now) => !now) }, "Run by itself"),
    check("Your turn: ask me first", yourTurn),
    check("Large text", large),
  );
}

/**
 * A table, or its first rows; the current one is marked.
 * @param {Sheet} table
 * @param {number} count
 * @param {number} [current]
 */
function sheet({ title, columns, numbers, rows }, count, current = -1) {
  const side = (/** @type {number} */ j) => (numbers[j] ? "number" : null);
  const body = rows.slice(0, count).map((row, i) =>
    h("tr", { "aria-current": i === current ? "step" : null }, ...row.map((cell, j) => h(j ? "td" : "th", { class: side(j), scope: j ? null : "row" }, cell))),
  );
  const box = h(
    "div",
    { class: "scrolls", tabindex: "0", role: "region", "aria-label": title },
    h("table", {}, h("caption", {}, title), h("thead", {}, h("tr", {}, ...columns.map((head, j) => (head ? h("th", { scope: "col", class: side(j) }, head) : h("td", {}))))), h("tbody", {}, ...body)),
  );
  // the current row stays in view
  if (current >= 0) queueMicrotask(() => (box.scrollTop = box.scrollHeight));
  return box;
}

/** @param {Play} play */
function formulas(play) {
  const lines = play.formulas.map(({ symbol, formula, unit }) => [h("dt", {}, symbol), h("dd", {}, unit ? `${formula}, in ${unit}` : formula)]);
  return h("details", {}, h("summary", {}, "What the columns are"), h("dl", {}, ...lines));
}

/** Every play of a page: its data stand in a script element, the player takes their place. */
export function playAll() {
  const places = document.querySelectorAll(".lyceum-play");
  for (const place of places) {
    const data = place.querySelector("script[type='application/json']");
    if (!data?.textContent) continue;
    const only = places.length === 1;
    const named = only ? /^#step=(\d+)$/.exec(window.location.hash) : null;
    const onstep = (/** @type {number} */ step) => only && window.history.replaceState(null, "", `#step=${step + 1}`);
    const isPage = place.parentElement?.tagName === "MAIN";
    const start = named ? Number(named[1]) - 1 : 0;
    place.replaceChildren(data, player(JSON.parse(data.textContent), { start, onstep, heading: isPage ? "h1" : "h3", keys: isPage && only ? document : null }));
  }
}
