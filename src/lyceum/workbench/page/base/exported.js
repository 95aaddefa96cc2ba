// The page of a file that was exported: the same script, with the answers that the file holds.

import { back, go, pageName, startAddress } from "./address.js";
import { append, h } from "./dom.js";
import { exported } from "./exported_state.js";
import { effect, signal, untracked } from "./reactive.js";
import { themeButton } from "./theme.js";

const here = /** @type {import("./exported_state.js").Exported} */ (exported);

/** @param {() => import("./dom.js").Child} page */
export function showExported(page) {
  startAddress();
  document.getElementById("pages")?.append(h("b", {}, here.title));
  document.getElementById("tools")?.append(h("button", { type: "button", class: "quiet", onclick: back }, "Undo"), themeButton());
  const message = signal("");
  effect(() => {
    if (pageName() === here.page) return;
    message.set(`This file holds the page ${here.title} alone: open the workbench for the others.`);
    untracked(() => go(here.address, { replace: true }));
  });
  const main = /** @type {HTMLElement} */ (document.getElementById("main"));
  effect(() => untracked(() => append(main, [h("p", { class: "error", role: "status" }, message), page()])));
  main.append(h("p", { class: "soft" }, `Exported from the workbench of Lyceum on ${here.made}; it holds what was open then, and asks no server.`));
}
