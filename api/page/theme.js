// Light or dark: as the system says, unless the reader of this page chose otherwise.
"use strict";

(() => {
  const NAME = "upstream-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");

  const remembered = () => {
    try {
      const theme = localStorage.getItem(NAME);
      return theme === "light" || theme === "dark" ? theme : null;
    } catch {
      return null; // storage may be forbidden; then nothing is remembered
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      return;
    }
  };
  const chosen = () => document.documentElement.dataset.theme ?? remembered();
  const isDark = () => (chosen() ?? (system.matches ? "dark" : "light")) === "dark";

  const theme = remembered();
  if (theme !== null) document.documentElement.dataset.theme = theme;

  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => {
      button.setAttribute("aria-pressed", String(isDark()));
      dispatchEvent(new Event("themechange"));
    };
    button.addEventListener("click", () => {
      const next = isDark() ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      remember(next);
      tell();
    });
    system.addEventListener("change", tell);
    tell();
  });
})();
