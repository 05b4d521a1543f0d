// How full which part is: a map of cells, and a histogram.

import { h, onWidth, s } from "../dom.js";
import { grouped, threeDigits } from "../numbers.js";

const percent = (part) => `${threeDigits(100 * part)} %`;

/** The colour of a share; 1 is full. As words of CSS, so that it follows the colours of the page. */
function color(part) {
  const stops = ["--heat-0", "--heat-1", "--heat-2", "--heat-3"];
  const at = Math.min(0.9999, Math.max(0, part)) * 3;
  const low = Math.floor(at);
  return `color-mix(in oklab, var(${stops[low + 1]}) ${Math.round(100 * (at - low))}%, var(${stops[low]}))`;
}

export function heatMap(heat) {
  const holder = h("div", { class: "heat" });
  const readout = h("p", { class: "readout", role: "status" });
  const { cells, parts, per_cell: perCell, part, unit, units } = heat;
  const many = parts === 1 ? part : `${part}s`;
  const describe = (i) => {
    const first = i * perCell;
    const last = Math.min(parts, first + perCell) - 1;
    const which = first === last ? `${part} ${grouped(first)}` : `${part}s ${grouped(first)} to ${grouped(last)}`;
    return `${which}: ${percent(cells[i])} of the ${unit}`;
  };
  let current = 0;
  onWidth(holder, (width) => {
    let columns = 64;
    while (columns > 16 && width / columns < 9) columns /= 2;
    columns = Math.min(columns, Math.max(8, Math.ceil(Math.sqrt(cells.length * 4))));
    const size = Math.min(26, width / columns);
    const rows = Math.ceil(cells.length / columns);
    const svg = s("svg", { viewBox: `0 0 ${width} ${rows * size}`, role: "group", "aria-label": `How full the ${grouped(parts)} ${many} are. Arrow keys read them.` });
    const rects = cells.map((value, i) => {
      const rect = s("rect", { class: "heat-cell", x: (i % columns) * size, y: Math.floor(i / columns) * size, width: size - 1.2, height: size - 1.2, rx: 1.5, role: "img", "aria-label": describe(i), tabindex: i === current ? 0 : -1 });
      rect.style.fill = color(value);
      return rect;
    });
    svg.append(...rects);
    const tell = (i) => (readout.textContent = describe(i));
    svg.addEventListener("pointermove", (event) => {
      const i = rects.indexOf(event.target);
      if (i >= 0) tell(i);
    });
    svg.addEventListener("focusin", (event) => {
      const i = rects.indexOf(event.target);
      if (i >= 0) tell(i);
    });
    svg.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      rects[current].setAttribute("tabindex", -1);
      current = Math.min(rects.length - 1, Math.max(0, current + move));
      rects[current].setAttribute("tabindex", 0);
      rects[current].focus();
    });
    holder.replaceChildren(svg);
  });
  readout.textContent = `From ${grouped(heat.least)} to ${grouped(heat.most)} of ${grouped(units)} ${unit} a ${part}.`;
  return h(
    "section",
    { class: "card" },
    h("h2", {}, `Fill, ${part} by ${part}`),
    h("p", { class: "note" }, `${grouped(parts)} ${many} of ${grouped(units)} ${unit}${perCell > 1 ? `, ${grouped(perCell)} to a cell` : ""}`),
    h("div", { class: "heat-holder" }, holder),
    h("div", { class: "scale", "aria-hidden": "true" }, "empty", h("i", {}), "full"),
    readout,
  );
}

export function histogram({ parts, unit, counts }) {
  const holder = h("div", { class: "histogram" });
  let first = counts.findIndex((count) => count > 0);
  let last = counts.findLastIndex((count) => count > 0);
  if (first < 0) [first, last] = [0, 0];
  if (last - first < 8) [first, last] = [Math.max(0, first - 2), Math.min(counts.length - 1, last + 2)];
  const shown = counts.slice(first, last + 1);
  const most = Math.max(1, ...shown);
  const mean = counts.reduce((sum, count, i) => sum + count * i, 0) / Math.max(1, counts.reduce((sum, count) => sum + count, 0));
  onWidth(holder, (width) => {
    const [height, bottom] = [190, 164];
    const size = width / shown.length;
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram: how many ${parts} hold how many ${unit}. From ${first} to ${last}, ${threeDigits(mean)} on average.` });
    shown.forEach((count, i) => {
      const tall = count === 0 ? 0 : Math.max(1.5, (count / most) * (bottom - 14));
      svg.append(s("rect", { class: "bar-column", x: i * size + Math.min(1, size * 0.1), y: bottom - tall, width: Math.max(0.6, size - Math.min(2, size * 0.2)), height: tall }, s("title", {}, `${grouped(count)} ${parts} hold ${first + i} ${unit}`)));
    });
    svg.append(s("line", { class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom }));
    const least = shown.length / Math.max(2, Math.floor(width / 60));
    const every = [1, 2, 5, 10, 20, 50, 100, 200].find((step) => step >= least) ?? 500;
    for (let value = Math.ceil(first / every) * every; value <= last; value += every) {
      svg.append(s("text", { x: (value - first + 0.5) * size, y: bottom + 16, "text-anchor": "middle" }, String(value)));
    }
    holder.replaceChildren(svg);
  });
  return h("section", { class: "card" }, h("h2", {}, `How evenly`), h("p", { class: "note" }, `${parts} by the ${unit} they hold; ${threeDigits(mean)} on average`), holder);
}
