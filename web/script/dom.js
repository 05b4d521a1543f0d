// Elements, made by calls. Text is always text: nothing here reads markup, so no name of a file can become any.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element of the page. */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An element of a drawing. */
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** A sign on a button; the button says in words what it does. */
export const icon = (name) => s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: icons[name] }));

const icons = {
  first: "M2 2h2v12H2z M14 2v12L5 8z",
  back: "M13 2v12L4 8z",
  play: "M3 2l10 6-10 6z",
  pause: "M3 2h3.5v12H3z M9.5 2H13v12H9.5z",
  step: "M2 2l9 6-9 6z M12 2h2v12h-2z",
  last: "M12 2h2v12h-2z M2 2l9 6-9 6z",
};

/** Calls `act` when nothing has called for it for a while. */
export function later(act, milliseconds) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...args), milliseconds);
  };
}

/** A button that puts text on the clipboard, and says so. */
export function copyButton(text) {
  const button = h("button", { type: "button", class: "small" }, "Copy");
  const status = h("span", { class: "hidden-text", role: "status" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
      status.textContent = "Copied";
    } catch {
      button.textContent = "Select it by hand";
    }
    setTimeout(() => {
      button.textContent = "Copy";
      status.textContent = "";
    }, 1600);
  });
  return [button, status];
}

/** A line to copy. */
export function command(text) {
  return h("div", { class: "command" }, h("code", {}, text), copyButton(() => text));
}

/** Makes `act` run for the width that an element has, now and whenever it changes; stops when the element is gone. */
export function onWidth(element, act) {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      act(width);
    }
  });
  observer.observe(element);
}

/** Saves text as a file. */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
