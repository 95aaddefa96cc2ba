// names for readers of the screen, where the theme and the gallery have none
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    const of = toggle.closest("li")?.querySelector("a")?.textContent.trim() ?? "";
    toggle.setAttribute("aria-label", `Pages of ${of}`);
  }
});
