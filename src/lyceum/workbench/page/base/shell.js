// What stands around the pages: tabs, undo, and the page that the address names.

import { back, change, go, pageName, parameters, startAddress } from "./address.js";
import { announce, append, h } from "./dom.js";
import { effect, signal, untracked } from "./reactive.js";
import { askedPaths, forgetAsked, getJson, listen, startEvents, working } from "./server.js";
import { themeButton } from "./theme.js";

/** @typedef {{ name: string, title: string }} Tab */

const tabs = signal(/** @type {Tab[]} */ ([]));

/** What a page carries along when another one is opened. */
const CARRIED = ["file", "target", "kind", "ignore", "keep", "loss", "doubt", "group", "time", "weight", "out", "repair", "model"];

/** @param {Tab} tab */
function link(tab) {
  const href = () => {
    const query = new URLSearchParams([...parameters()].filter(([name]) => CARRIED.includes(name)));
    return `/${tab.name}${query.size ? `?${query}` : ""}`;
  };
  return h("a", { href, "aria-current": () => (pageName() === tab.name ? "page" : null) }, tab.title);
}

/** @param {string} name */
function titleOf(name) {
  return tabs().find((tab) => tab.name === name)?.title ?? name;
}

/**
 * @param {string} name
 * @param {{ forget?: boolean }} [how] forget: what was asked before
 */
async function show(name, { forget = true } = {}) {
  const main = /** @type {HTMLElement} */ (document.getElementById("main"));
  const title = titleOf(name);
  if (forget) forgetAsked();
  document.title = `${title} – Lyceum workbench`;
  main.setAttribute("aria-busy", "true");
  try {
    const page = await import(`../pages/${name}.js`);
    if (pageName() !== name) return; // another one was opened meanwhile
    stop();
    main.replaceChildren();
    stop = effect(() => untracked(() => append(main, [page.default()])));
    announce(`${title} page`);
  } catch (error) {
    main.replaceChildren(h("p", { class: "error", role: "alert" }, String(error)));
  } finally {
    main.removeAttribute("aria-busy");
  }
}

/** Ends the effects of the page that is shown. */
let stop = () => {};

function tools() {
  const busy = signal(false);
  const take = async () => {
    busy.set(true);
    const name = pageName();
    try {
      // opened anew, so that everything that it asks at this address is taken along
      await show(name, { forget: false });
      await settled();
      const { exportPage } = await import("./exporting.js");
      await exportPage(name, titleOf(name));
      announce("exported");
    } catch (error) {
      announce(String(error));
    } finally {
      busy.set(false);
    }
  };
  return [
    h("span", { role: "status", class: "soft working" }, working),
    h("button", { type: "button", class: "quiet", onclick: back }, "Undo"),
    h("button", { type: "button", class: "quiet", disabled: busy, onclick: take }, "Export"),
    themeButton(),
  ];
}

/** When the page has asked nothing new for a while. */
async function settled() {
  const pause = () => new Promise((go) => setTimeout(go, 300));
  let n = -1;
  while (n !== askedPaths().length) {
    n = askedPaths().length;
    await pause();
  }
}

async function start() {
  startAddress();
  const facts = await getJson("/api/start");
  tabs.set(facts.pages);
  if (pageName() === "") go(facts.start, { replace: true });
  document.getElementById("pages")?.append(...facts.pages.map(link));
  document.getElementById("tools")?.append(...tools());
  startEvents();
  effect(() => listen("restart", () => window.location.reload()));
  effect(() => {
    const name = pageName();
    stop(); // at once: the next page is on its way
    stop = () => {};
    if (facts.pages.some((/** @type {Tab} */ tab) => tab.name === name)) untracked(() => show(name));
    else untracked(() => change({}, { replace: true, page: facts.pages[0].name }));
  });
}

start().catch((error) => {
  document.getElementById("main")?.append(h("p", { class: "error", role: "alert" }, error.message));
});
