// The frame: which view is shown, by the address behind the #.

import { h } from "./dom.js";

const views = {
  lab: () => import("./lab/view.js"),
  plan: () => import("./plan.js"),
  inspect: () => import("./inspect/view.js"),
};
const titles = { lab: "Lab", plan: "Plan", inspect: "Inspect" };
const main = document.getElementById("main");
let shown = null;

/** The view and the parameters of an address such as #/plan?items=1000. */
function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { name: path in views ? path : "lab", params: new URLSearchParams(query) };
}

/** Puts the state of a view into the address, so that a copy of it restores what is seen. */
function remember(name, params) {
  // An answer may come when another view is already asked for; the address is no longer its own then.
  if (read().name !== name) return;
  const query = params.toString();
  history.replaceState(null, "", `#/${name}${query === "" ? "" : `?${query}`}`);
}

async function show(moveFocus) {
  // A link inside the page, such as the one that skips to the content.
  if (location.hash !== "" && !location.hash.startsWith("#/")) return;
  const { name, params } = read();
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${titles[name]} · gowk`;
  shown?.leave?.();
  const root = h("div", { class: `view-${name}` });
  try {
    const { enter } = await views[name]();
    if (read().name !== name) return;
    main.replaceChildren(root);
    shown = enter(root, params, (state) => remember(name, state)) ?? null;
  } catch (error) {
    main.replaceChildren(h("p", { class: "error", role: "alert" }, `This view cannot be shown: ${error.message}`));
  }
  if (moveFocus) main.focus({ preventScroll: true });
}

addEventListener("hashchange", () => show(true));
show(false);
