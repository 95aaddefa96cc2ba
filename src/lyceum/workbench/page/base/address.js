// The address is the state: its path names the page, its parameters are spelled as the options of
// the commands. Changing it is what clicks do; going back undoes them.

import { exported } from "./exported_state.js";
import { computed, signal } from "./reactive.js";

const here = signal(exported ? exported.address : window.location.pathname + window.location.search);
/** @type {string[]} */
const before = []; // the addresses of an exported page, which has no history of its own

/** The address as it is written. */
export const address = () => here();

const nameOf = (/** @type {string} */ path) => path.split("?")[0].replace(/^\//, "");
const name = signal(nameOf(here()));

/** The page that the address names. */
export const pageName = () => name();

/**
 * The name changes first: what belongs to the page before ends, and asks nothing about the address
 * of another one.
 * @param {string} path
 */
function move(path) {
  name.set(nameOf(path));
  here.set(path);
}

/** The parameters of the address; read it inside an effect to follow them. */
export const parameters = () => new URLSearchParams(here().split("?")[1] ?? "");

/** The parameters as text, for questions to the server. */
export const queryText = computed(() => here().split("?")[1] ?? "");

/**
 * Go to an address of the workbench.
 * @param {string} path
 * @param {{ replace?: boolean }} [how] replace: without a step that going back would undo
 */
export function go(path, { replace = false } = {}) {
  if (path === here()) return;
  if (exported) {
    if (!replace) before.push(here());
  } else if (replace) window.history.replaceState(null, "", path);
  else window.history.pushState(null, "", path);
  move(path);
}

/** Undo the last step. */
export function back() {
  if (!exported) window.history.back();
  else move(before.pop() ?? here());
}

/**
 * Change parameters; null removes one, a list repeats it.
 * @param {Record<string, string | number | string[] | null>} changes
 * @param {{ replace?: boolean, page?: string }} [how]
 */
export function change(changes, { replace = false, page = pageName() } = {}) {
  go(addressWith(changes, page), { replace });
}

/**
 * The address with other parameters.
 * @param {Record<string, string | number | string[] | null>} changes
 * @param {string} page
 */
export function addressWith(changes, page) {
  const query = parameters();
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    if (Array.isArray(value)) for (const item of value) query.append(name, item);
    else if (value !== null && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `/${page}${text ? `?${text}` : ""}`;
}

/** Follow links within the page, and the buttons of the browser. */
export function startAddress() {
  window.addEventListener("popstate", () => move(window.location.pathname + window.location.search));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isOurs = link && link.origin === window.location.origin && !link.target && !link.hasAttribute("download");
    const isPlain = !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!isOurs || !isPlain || link.hash || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
