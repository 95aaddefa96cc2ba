// Export: the page that is open as one HTML file, with its scripts, styles and answers.

import { address } from "./address.js";
import { askedPaths, getJson } from "./server.js";

/**
 * @param {string} name
 * @param {string} title
 */
export async function exportPage(name, title) {
  const template = await getJson(`/api/export?page=${encodeURIComponent(name)}`);
  /** @type {import("./exported_state.js").Exported["answers"]} */
  const answers = {};
  await Promise.all(
    askedPaths().map(async (path) => {
      const response = await fetch(path);
      if (!response.ok) return; // what is refused here is refused there too
      const isText = response.headers.get("content-type")?.includes("json");
      answers[path] = isText ? { text: await response.text() } : { bytes: base64(await response.arrayBuffer()) };
    }),
  );
  const made = new Date().toISOString().slice(0, 10);
  const state = { address: address(), page: name, title, made, answers };
  const text = template.html.replace("LYCEUM_STATE", () => JSON.stringify(state).replaceAll("<", "\\u003c"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  link.download = `lyceum-${name}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {ArrayBuffer} bytes */
function base64(bytes) {
  const all = new Uint8Array(bytes);
  let text = "";
  const step = 0x8000; // arguments of a call are limited
  for (let begin = 0; begin < all.length; begin += step) text += String.fromCharCode(...all.subarray(begin, begin + step));
  return btoa(text);
}
