// Light or dark: as the machine says, until the button says otherwise.

import { h } from "./dom.js";
import { effect, signal } from "./reactive.js";

/** The choice of this tab, where it may be kept. */
function kept() {
  try {
    return sessionStorage.getItem("theme") ?? "";
  } catch {
    return ""; // a file may be refused storage
  }
}

export function themeButton() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = signal(kept());
  effect(() => {
    const name = theme() || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = name;
  });
  dark.addEventListener("change", () => theme.change((name) => name));
  const turn = () => {
    theme.set(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    try {
      sessionStorage.setItem("theme", theme());
    } catch {
      // it lasts as long as the page
    }
  };
  return h("button", { type: "button", class: "quiet", onclick: turn }, "Light or dark");
}
