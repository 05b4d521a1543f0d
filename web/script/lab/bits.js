// Bits and counters: a key, its digest, threads to its places, and the places.

import { s } from "../dom.js";

const HEAD = 118;
const GAP = 3;

/** How many steps a frame has: the digest, the places, what is found there, what comes of it. */
export const steps = () => 4;

/** Which keys, of those put in up to an event, have set a place. */
export function owners(frames, upTo) {
  const list = new Map();
  const inside = new Set();
  for (const frame of frames.slice(0, upTo + 1)) {
    if (frame.deed === "insert") inside.add(frame.key);
    if (frame.deed === "clear") inside.delete(frame.key);
    if (frame.deed === "remove" && frame.outcome === "gone" && frame.estimate === 0) inside.delete(frame.key);
  }
  for (const frame of frames.slice(0, upTo + 1)) {
    if (!inside.has(frame.key) || frame.deed !== "insert") continue;
    for (const place of frame.positions) {
      const keys = list.get(place) ?? new Set();
      keys.add(frame.key);
      list.set(place, keys);
    }
  }
  return list;
}

/** Draws the filter at a step of an event; `index` is -1 before the first one. */
export function draw({ shape, frames }, index, step, width, remembered) {
  const frame = frames[index];
  const done = step >= 2;
  // What is in the cells: as they were until the step that changes them.
  const now = index < 0 ? "0".repeat(shape.cells) : done ? frame.cells : (frames[index - 1]?.cells ?? "0".repeat(shape.cells));
  const own = owners(frames, done ? index : index - 1);
  const counting = shape.most > 1;
  const lines = Math.max(1, shape.cells / shape.line);
  const grouped = lines > 1 || shape.line === 512 || counting;
  const least = counting ? 19 : grouped ? 9 : shape.cells <= 128 ? 20 : 14;
  const inset = grouped ? 8 : width > 600 ? 30 : 0;
  let columns = 128;
  while (columns > 8 && (width - 2 * inset) / columns < least) columns /= 2;
  columns = Math.min(columns, counting ? 32 : 64, shape.line);
  const size = Math.min((width - 2 * inset) / columns, counting ? 28 : shape.cells <= 128 ? 27 : 22);
  const rows = Math.ceil(shape.line / columns);
  const lineHeight = rows * size + (grouped ? 34 : 0);
  const left = (width - columns * size) / 2;
  const height = HEAD + 22 + lines * lineHeight + 6;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" });
  const what = counting ? "counters" : "bits";
  svg.setAttribute("aria-label", `${shape.cells} ${what}. Arrow keys move from one to the next.`);

  const at = (cell) => {
    const line = Math.floor(cell / shape.line);
    const inLine = cell % shape.line;
    return [left + (inLine % columns) * size, HEAD + 22 + line * lineHeight + (grouped ? 22 : 0) + Math.floor(inLine / columns) * size];
  };

  const mine = new Map();
  if (frame && step >= 1) frame.positions.forEach((place, i) => mine.set(place, frame.before[i]));

  if (grouped) {
    const touched = new Set([...mine.keys()].map((cell) => Math.floor(cell / shape.line)));
    for (let line = 0; line < lines; line += 1) {
      const [, y] = at(line * shape.line);
      svg.append(
        s("rect", { class: `line-frame ${touched.has(line) ? "touched" : ""}`, x: left - 6, y: y - 6, width: columns * size + 12 - GAP, height: rows * size + 12 - GAP, rx: 6 }),
        s("text", { class: "line-name", x: left - 4, y: y - 10 }, `line ${line}`),
      );
    }
  }

  // Threads under the cells, so that the cells stay readable.
  const middle = width / 2;
  if (frame && step >= 1) {
    const from = [middle, HEAD - 16];
    for (const [place, before] of mine) {
      const [x, y] = at(place);
      const to = [x + (size - GAP) / 2, y];
      const bend = from[1] + (to[1] - from[1]) * 0.55;
      const bad = frame.deed === "ask" && step >= 2 && before === 0;
      svg.append(s("path", { class: `thread ${bad ? "bad" : ""} ${step >= 2 && frame.outcome === "absent" && !bad ? "dim" : ""}`, d: `M${from[0]} ${from[1]} C${from[0]} ${bend} ${to[0]} ${bend} ${to[0]} ${to[1]}` }));
    }
  }

  const cells = [];
  for (let cell = 0; cell < shape.cells; cell += 1) {
    const [x, y] = at(cell);
    const value = Number.parseInt(now[cell], 16);
    const keys = own.get(cell);
    const names = ["cell"];
    if (value > 0) names.push(keys && keys.size > 1 ? "shared" : "on");
    if (mine.has(cell)) {
      const before = mine.get(cell);
      if (step < 2 || frame.deed === "ask") names.push(step >= 2 && before === 0 ? "missing" : "mine");
      else if (frame.deed === "insert") names.push(before === 0 ? "fresh" : "mine");
      else names.push(value === 0 ? "gone" : "mine");
    }
    const by = keys ? `, by ${[...keys].join(" and ")}` : "";
    const words = counting ? `counter ${cell}: ${value}${by}` : `bit ${cell}: ${value > 0 ? `set${by}` : "not set"}`;
    const rect = s("rect", { class: names.join(" "), x, y, width: size - GAP, height: size - GAP, rx: Math.min(3, size / 6), role: "img", "aria-label": words, tabindex: cell === remembered.cell ? 0 : -1 }, s("title", {}, words));
    cells.push(rect);
    svg.append(rect);
    if (!grouped && cell % columns === 0 && left > 30) svg.append(s("text", { class: "row-name", x: x - 7, y: y + size / 2 + 2, "aria-hidden": "true" }, String(cell)));
    if (counting) {
      svg.append(s("text", { class: `digit ${value === 0 ? "zero" : ""}`, x: x + (size - GAP) / 2, y: y + (size - GAP) / 2 + 4, "aria-hidden": "true" }, String(value)));
    }
  }
  rove(svg, cells, columns, remembered);
  svg.append(...head(frame, step, width));
  return svg;
}

/** One cell is reached by Tab, the others by arrow keys. */
function rove(svg, cells, columns, remembered) {
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -Infinity, End: Infinity }[event.key];
    if (move === undefined) return;
    const next = Math.min(cells.length - 1, Math.max(0, remembered.cell + move));
    event.preventDefault();
    cells[remembered.cell].setAttribute("tabindex", -1);
    cells[next].setAttribute("tabindex", 0);
    cells[next].focus();
    remembered.cell = next;
  });
}

/** The key and its digest, above the cells. */
export function head(frame, step, width) {
  if (!frame) return [s("text", { class: "small-label", x: width / 2, y: 62 }, "empty: nothing has been put in yet")];
  const middle = width / 2;
  const shown = frame.key.length > 22 ? `${frame.key.slice(0, 21)}…` : frame.key;
  const chip = Math.max(64, 9.6 * shown.length + 30);
  const digest = frame.digest[0];
  const box = Math.min(width - 8, 186);
  const parts = [
    s("rect", { class: "key-chip", x: middle - chip / 2, y: 4, width: chip, height: 32, rx: 16 }),
    s("text", { class: "key-text", x: middle, y: 20 }, shown),
  ];
  if (step >= 0) {
    parts.push(
      s("path", { class: "arrow", d: `M${middle} 38 V60 m-4 -5 l4 5 l4 -5` }),
      s("rect", { class: "digest-box", x: middle - box / 2, y: 64, width: box, height: 30, rx: 6 }),
      s("text", { class: "digest-text", x: middle, y: 79 }, digest),
      s("text", { class: "small-label", x: middle + 42, y: 53 }, "hash"),
    );
  }
  return parts;
}
