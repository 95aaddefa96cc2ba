// What the pages on clusters and columns share: a choice in the address, and the row that is picked.

import { change, parameters } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { numberText, shown, tableOf } from "../../base/parts.js";
import { computed } from "../../base/reactive.js";
import { getJson, load } from "../../base/server.js";

/**
 * A choice that the address keeps.
 * @param {string} parameter
 * @param {string} label
 * @param {string[][]} options values and texts; the first is the default
 * @param {Record<string, null>} [others] parameters that lose their meaning
 */
export function selectOf(parameter, label, options, others = {}) {
  const made = options.map(([value, text]) => h("option", { value }, text));
  return h("label", {}, label, h("select", { id: `choose-${parameter}`, value: () => parameters().get(parameter) ?? "", onchange: (/** @type {any} */ event) => change({ ...others, [parameter]: event.target.value || null }) }, ...made));
}

/**
 * The cells of the row that the address names.
 * @param {() => string} query
 */
export function rowCard(query) {
  const row = computed(() => parameters().get("row"));
  const answer = load(
    () => (row() === null ? null : `${query()}&row=${row()}`),
    async (text, abort) => {
      const asked = new URLSearchParams([...new URLSearchParams(text)].filter(([name]) => ["file", "repair"].includes(name)));
      const [facts, cells] = await Promise.all([
        getJson(`/api/data?${asked}`, abort),
        getJson(`/api/data/rows?${asked}&start=${row()}&count=1`, abort),
      ]);
      return { row: row(), names: facts.inspection.columns.map((/** @type {any} */ column) => column.name), cells: cells.columns };
    },
  );
  return shown(answer, (value) => {
    const lines = value.names.map((/** @type {string} */ name, /** @type {number} */ index) => {
      const cell = value.cells[index]?.[0];
      return [name, typeof cell === "number" ? numberText(cell, 6) : (cell ?? "–")];
    });
    return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": `Row ${value.row}` }, tableOf(`Row ${value.row}`, ["column", "cell"], lines));
  });
}
