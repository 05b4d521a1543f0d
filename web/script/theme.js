// Before the first paint: the colours that were chosen, if any were. A plain script, as modules wait for the page.
(() => {
  const order = ["system", "light", "dark"];
  const words = { system: ["◐", "as the system has them"], light: ["☀", "light"], dark: ["☾", "dark"] };
  const read = () => {
    try {
      return localStorage.getItem("theme") ?? "system";
    } catch {
      return "system";
    }
  };
  const apply = (theme) => {
    if (theme === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
  };
  let theme = order.includes(read()) ? read() : "system";
  apply(theme);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => {
      button.setAttribute("aria-label", `Colours: ${words[theme][1]}`);
      button.title = button.getAttribute("aria-label");
      document.getElementById("theme-icon").textContent = words[theme][0];
    };
    tell();
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // A browser that keeps nothing still shows it.
      }
      apply(theme);
      tell();
    });
  });
})();
