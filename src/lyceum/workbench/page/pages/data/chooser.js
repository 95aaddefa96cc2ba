// Choose a table: one below the folder of the workbench, or one that is dropped here.

import { change, go, pageName } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { numberText, shown } from "../../base/parts.js";
import { signal } from "../../base/reactive.js";
import { listen, load, upload } from "../../base/server.js";

const LARGEST = 256 * 2 ** 20; // bytes of an upload; larger files are chosen where they are

/** @typedef {{ name: string, kind: string, size: number }} FileFact */

/** @param {string} [kind] what is to be chosen, for the page that is open; everything else is not shown */
export function chooser(kind = "") {
  const version = signal(0);
  const files = load(() => `/api/files?version=${version()}`);
  listen("files", () => version.change((n) => n + 1));
  const wanted = (/** @type {FileFact[]} */ all) => all.filter((file) => !kind || file.kind === kind);
  return [kind ? null : drop(), h("section", { class: "card" }, h("h2", {}, "In this folder"), shown(files, ({ files }) => list(wanted(files), kind && pageName())))];
}

/** Where a file is dropped or chosen. */
function drop() {
  const message = signal("");
  const over = signal(false);
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    if (file.size > LARGEST) {
      message.set(`${file.name} has ${numberText(Math.round(file.size / 2 ** 20))} MiB: put it into the folder of the workbench and choose it there.`);
      return;
    }
    message.set(`Reading ${file.name} …`);
    try {
      change({ file: await upload(file) });
    } catch (error) {
      message.set(error instanceof Error ? error.message : String(error));
    }
  };
  const input = h("input", { type: "file", onchange: (/** @type {any} */ event) => take(event.target.files[0]) });
  return h(
    "section",
    {
      class: () => `card drop ${over() ? "over" : ""}`,
      ondragover: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        over.set(true);
      },
      ondragleave: () => over.set(false),
      ondrop: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        over.set(false);
        take(event.dataTransfer?.files[0]);
      },
    },
    h("label", {}, "Drop a table here, or choose one (CSV, Excel, JSON lines, Parquet, Arrow, ARFF, SQLite, DuckDB)", input),
    h("p", { role: "status", class: "error" }, message),
  );
}

const PAGES = /** @type {Record<string, [string, string]>} */ ({ table: ["data", "file"], study: ["study", "out"], model: ["ask", "model"] });

/**
 * @param {FileFact[]} files
 * @param {string} here the page to open; without one, the one for the file
 */
function list(files, here) {
  if (!files.length) return h("p", {}, "There is none here yet.");
  const rows = files.map((file) => {
    const [page, name] = PAGES[file.kind];
    const href = `/${here || page}?${new URLSearchParams({ [name]: file.name })}`;
    const open = (/** @type {Event} */ event) => {
      event.preventDefault();
      go(href);
    };
    return h("tr", {}, h("th", { scope: "row" }, h("a", { href, onclick: open }, file.name)), h("td", {}, file.kind), h("td", { class: "number" }, file.kind === "study" ? "" : sizeText(file.size)));
  });
  const heads = ["name", "kind", "size"].map((head) => h("th", { scope: "col" }, head));
  return h("div", { class: "scrolls", tabindex: "0" }, h("table", {}, h("caption", { class: "unseen" }, "Files"), h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)));
}

/** @param {number} size in bytes */
function sizeText(size) {
  if (size < 1024) return `${size} B`;
  return size < 2 ** 20 ? `${(size / 1024).toFixed(0)} KiB` : `${(size / 2 ** 20).toFixed(1)} MiB`;
}
