// Light or dark: as the system says, until the reader chooses.

const KEY = "phraseloom-theme";

export function offerTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = recall();
  if (chosen) document.documentElement.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");
    const other = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = other;
    remember(other);
  });
}

function recall() {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null; // a browser may keep nothing, for a file for instance
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it holds until the page is closed
  }
}
