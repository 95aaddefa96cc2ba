// Questions to the server: JSON, blocks of numbers, uploads and events. What is refused is an Error
// whose message is the server's sentence.

import { exported } from "./exported_state.js";
import { effect, onEnd, signal, untracked } from "./reactive.js";

/**
 * @template T
 * @typedef {{ value: T | null, error: string, loading: boolean }} Loaded
 */

/** @typedef {{ head: any, columns: Record<string, Float32Array | Float64Array> }} Block */

const SOON = 40; // milliseconds until a page asks again for what is being made, each time twice as long,
const AGAIN = 200; // up to this

/** @type {Set<string>} */
const asked = new Set();

/** What was asked since the page was opened; an exported page takes the answers along. */
export const askedPaths = () => [...asked];

/** Forget what was asked: another page is opened. */
export const forgetAsked = () => asked.clear();

/**
 * The answer that an exported page has with it.
 * @param {string} path
 * @param {RequestInit} [request]
 */
async function keptAnswer(path, request) {
  const answer = request?.method ? undefined : exported?.answers[path];
  if (!answer) throw new Error("This file holds what was open when it was exported: open the workbench to go on from here.");
  if (answer.text !== undefined) return new Response(answer.text);
  const text = atob(answer.bytes ?? "");
  return new Response(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
}

/**
 * @param {string} path
 * @param {RequestInit} [request]
 */
async function ask(path, request) {
  if (exported) return keptAnswer(path, request);
  const isQuestion = !request?.method;
  if (isQuestion) asked.add(path);
  let response;
  try {
    response = await (isQuestion ? fetchComingBack(path, request) : fetch(path, request));
  } catch (error) {
    if (error instanceof DOMException) throw error; // it was aborted
    throw new Error("The workbench does not answer: is `lyceum workbench` still running?");
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new Error(answer.error ?? `The server said ${response.status}.`);
}

/** What the workbench is at, where that takes longer than a moment. */
export const working = signal("");

/**
 * The answer to a question; where it is work, the page asks again until it is done.
 * @param {string} path
 * @param {RequestInit} [request]
 */
async function fetchComingBack(path, request) {
  let told = false;
  try {
    for (let pause = SOON; ; pause = Math.min(AGAIN, 2 * pause)) {
      const response = await fetch(path, { ...request, headers: { Prefer: "respond-async" } });
      if (response.status !== 202) return response;
      const { stage, seconds } = await response.json();
      told = true;
      working.set(`${stage || "working"}, ${Math.round(seconds)} s`);
      await new Promise((go) => setTimeout(go, pause));
    }
  } finally {
    if (told) working.set("");
  }
}

/**
 * @param {string} path
 * @param {AbortSignal} [abort]
 * @returns {Promise<any>}
 */
export async function getJson(path, abort) {
  return (await ask(path, { signal: abort })).json();
}

/**
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function postJson(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/**
 * Numbers as typed arrays, one per column, without a copy.
 * @param {string} path
 * @param {AbortSignal} [abort]
 * @returns {Promise<Block>}
 */
export async function getBlock(path, abort) {
  const bytes = await (await ask(path, { signal: abort })).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const Kind = head.type === "float64" ? Float64Array : Float32Array;
  /** @type {Block["columns"]} */
  const columns = {};
  head.columns.forEach((/** @type {string} */ name, /** @type {number} */ index) => {
    const begin = 4 + length + index * head.rows * Kind.BYTES_PER_ELEMENT;
    columns[name] = new Kind(bytes, begin, head.rows);
  });
  return { head, columns };
}

/**
 * Put a file beside the others; the answer is the name that it has there.
 * @param {File} file
 * @returns {Promise<string>}
 */
export async function upload(file) {
  const path = `/api/upload?name=${encodeURIComponent(file.name)}`;
  const answer = await (await ask(path, { method: "POST", body: file })).json();
  return answer.name;
}

/**
 * What a path answers, asked again when the path changes; null asks nothing. While the next answer
 * is on its way the last one stays.
 * @template T
 * @param {() => string | null} path
 * @param {(path: string, abort: AbortSignal) => Promise<T>} [get]
 * @returns {() => Loaded<T>}
 */
export function load(path, get = getJson) {
  const state = signal(/** @type {Loaded<T>} */ ({ value: null, error: "", loading: false }));
  effect(() => {
    const where = path();
    const abort = new AbortController();
    onEnd(() => abort.abort());
    if (where === null) {
      state.set({ value: null, error: "", loading: false });
      return;
    }
    untracked(() => state.change((before) => ({ ...before, loading: true })));
    get(where, abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) state.set({ value, error: "", loading: false });
      },
      (error) => {
        if (!abort.signal.aborted) state.set({ value: null, error: error.message, loading: false });
      },
    );
  });
  return state;
}

// -- events ---------------------------------------------------------------------------

/** @type {Map<string, Set<(value: any) => void>>} */
const listeners = new Map();
let lastEvent = "";
/** @type {EventSource | null} */
let source = null;

/**
 * Hear of events of a kind until the running effect ends. One connection serves the whole page; a
 * hidden page closes it and asks for what it missed when it is seen again.
 * @param {string} kind
 * @param {(value: any) => void} hear
 */
export function listen(kind, hear) {
  const set = listeners.get(kind) ?? new Set();
  listeners.set(kind, set);
  set.add(hear);
  onEnd(() => set.delete(hear));
  source?.addEventListener(kind, pass);
}

/** @param {MessageEvent} event */
function pass(event) {
  lastEvent = event.lastEventId;
  for (const hear of listeners.get(event.type) ?? []) hear(JSON.parse(event.data));
}

function connect() {
  source?.close();
  source = new EventSource(`/api/events?after=${lastEvent}`);
  for (const kind of ["restart", ...listeners.keys()]) source.addEventListener(kind, pass);
}

/** Begin to hear of events. */
export function startEvents() {
  connect();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else connect();
  });
  // a hidden page is still open: the workbench must not end
  setInterval(() => fetch("/api/start").catch(() => null), 120_000);
}
