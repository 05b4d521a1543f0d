// Nests: who sits where, who is kicked out, and where it flies.

import { s } from "../dom.js";
import { head } from "./bits.js";

const HEAD = 128;

/** The steps of a frame: the digest, the nests of the key, then what was done, one by one, then what came of it. */
export function steps(frame) {
  return 3 + deeds(frame).length;
}

/** The steps of the engine that are shown: a look into a bucket that is full is told along with the others. */
function deeds(frame) {
  return frame.steps.filter((step) => step.did !== "looked");
}

const copy = (table) => table.map((slots) => [...slots]);

/** The table and its labels as they are after `done` of the deeds of a frame. */
function state({ shape, frames }, index, done) {
  const empty = () => Array.from({ length: shape.buckets }, () => Array(shape.slots).fill(0));
  const frame = frames[index];
  if (!frame) return { tags: empty(), labels: empty().map((slots) => slots.map(() => null)) };
  const list = deeds(frame);
  const swept = list.findIndex((step) => step.did === "swept" || step.did === "doubled");
  if (done >= list.length || (swept >= 0 && done > swept)) return { tags: copy(frame.table), labels: copy(frame.labels) };
  const before = frames[index - 1];
  const tags = before ? copy(before.table) : empty();
  const labels = before ? copy(before.labels) : empty().map((slots) => slots.map(() => null));
  for (const step of list.slice(0, done)) {
    if (step.did === "moved") {
      const [[a, b], [c, d]] = [step.from, step.to];
      tags[c][d] = step.tag;
      labels[c][d] = labels[a][b];
      tags[a][b] = 0;
      labels[a][b] = null;
    } else if (step.did === "placed") {
      const [a, b] = step.at;
      tags[a][b] = step.tag;
      labels[a][b] = frame.key;
    }
  }
  return { tags, labels };
}

/** What is done in a step of a frame, if it is one of the engine's. */
export function deedAt(frame, step) {
  return frame ? deeds(frame)[step - 2] : undefined;
}

export function draw(lab, index, step, width, remembered, still) {
  const { shape, frames } = lab;
  const frame = frames[index];
  const list = frame ? deeds(frame) : [];
  const done = Math.max(0, step - 1);
  const isLast = frame && step >= steps(frame) - 1;
  const { tags, labels } = state(lab, index, isLast ? Infinity : done);
  const slotHeight = 34;
  const nestWidth = Math.max(74, Math.min(104, width / Math.min(shape.buckets, 8) - 10));
  const across = Math.max(1, Math.min(shape.buckets, Math.floor((width + 10) / (nestWidth + 10))));
  // Rows of equal length, where that is possible.
  const rowsNeeded = Math.ceil(shape.buckets / across);
  const columns = Math.ceil(shape.buckets / rowsNeeded);
  const gap = columns > 1 ? Math.min(22, (width - columns * nestWidth) / (columns - 1)) : 0;
  const left = (width - columns * nestWidth - (columns - 1) * gap) / 2;
  const nestHeight = shape.slots * slotHeight + 10;
  const rowHeight = nestHeight + 40;
  const height = HEAD + rowsNeeded * rowHeight - 26;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group" });
  svg.setAttribute("aria-label", `${shape.buckets} nests of ${shape.slots} slots. Arrow keys move from one slot to the next.`);
  const corner = (bucket) => [left + (bucket % columns) * (nestWidth + gap), HEAD + Math.floor(bucket / columns) * rowHeight];
  const slotAt = ([bucket, slot]) => {
    const [x, y] = corner(bucket);
    return [x + nestWidth / 2, y + 5 + slot * slotHeight + slotHeight / 2];
  };

  const asked = new Map((frame && step >= 1 ? frame.candidates : []).map(([bucket, tag]) => [bucket, tag]));
  const looked = new Set(frame && step >= 2 ? frame.steps.filter((one) => one.did === "looked").map((one) => one.bucket) : []);
  if (frame && step >= 1) {
    for (const [bucket] of asked) {
      const [x, y] = corner(bucket);
      const to = [x + nestWidth / 2, y - 18];
      svg.append(s("path", { class: "thread dim", d: `M${width / 2} 96 C${width / 2} ${(96 + to[1]) / 2 + 14} ${to[0]} ${(96 + to[1]) / 2} ${to[0]} ${to[1]}` }));
    }
  }
  const cells = [];
  for (let bucket = 0; bucket < shape.buckets; bucket += 1) {
    const [x, y] = corner(bucket);
    const names = ["nest"];
    if (asked.has(bucket)) names.push("asked");
    else if (looked.has(bucket)) names.push("looked");
    svg.append(
      s("text", { class: "nest-name", x: x + nestWidth / 2, y: y - 6 }, String(bucket)),
      s("rect", { class: names.join(" "), x, y, width: nestWidth, height: nestHeight, rx: 10 }),
    );
    for (let slot = 0; slot < shape.slots; slot += 1) {
      const tag = tags[bucket][slot];
      const label = labels[bucket][slot];
      const [cx, cy] = slotAt([bucket, slot]);
      const kind = ["slot"];
      if (tag !== 0) kind.push("used");
      const alike = frame && step >= 1 && asked.get(bucket) === tag && tag !== 0;
      if (alike && label === frame.key) kind.push("mine");
      else if (alike) kind.push("alike");
      const hex = tag.toString(16).padStart(Math.ceil(shape.width / 4), "0");
      const words = `nest ${bucket}, slot ${slot}: ${tag === 0 ? "empty" : `${label ?? "unknown"}, fingerprint ${hex}`}`;
      const rect = s("rect", { class: kind.join(" "), x: cx - nestWidth / 2 + 5, y: cy - slotHeight / 2 + 2, width: nestWidth - 10, height: slotHeight - 4, rx: 6, role: "img", "aria-label": words, tabindex: cells.length === remembered.cell ? 0 : -1 }, s("title", {}, words));
      cells.push(rect);
      svg.append(rect);
      if (tag !== 0) {
        const room = Math.floor((nestWidth - 14) / 7);
        const text = label === null || label === undefined ? "?" : label.length > room ? `${label.slice(0, room - 1)}…` : label;
        svg.append(
          s("text", { class: "slot-key", x: cx, y: cy + 1, "aria-hidden": "true" }, text),
          s("text", { class: "slot-tag", x: cx, y: cy + 12.5, "aria-hidden": "true" }, hex),
        );
      }
    }
  }
  rove(svg, cells, shape.slots, remembered);

  // The flight of this step, over everything.
  const deed = isLast ? undefined : list[step - 2];
  if (deed?.did === "moved" || deed?.did === "placed") {
    const to = slotAt(deed.did === "moved" ? deed.to : deed.at);
    const from = deed.did === "moved" ? slotAt(deed.from) : [width / 2, 96];
    const lift = Math.min(from[1], to[1]) - (deed.did === "moved" ? 46 : -10);
    const path = `M${from[0]} ${from[1]} Q${(from[0] + to[0]) / 2} ${lift} ${to[0]} ${to[1]}`;
    const egg = s("circle", { class: "egg", cx: to[0] - nestWidth / 2 + 9, cy: to[1] - 12, r: 6 });
    svg.append(s("path", { class: "flight", d: path }), egg);
    if (!still && egg.animate) {
      // Along the curve, by its points: offset-path would need a style in the markup.
      const point = (t) => [0, 1].map((i) => (1 - t) ** 2 * from[i] + 2 * t * (1 - t) * [(from[0] + to[0]) / 2, lift][i] + t ** 2 * to[i]);
      const frames = Array.from({ length: 13 }, (_, i) => point(i / 12)).map(([x, y]) => ({ transform: `translate(${x - to[0]}px, ${y - to[1]}px)` }));
      egg.animate(frames, { duration: 520, easing: "ease-in-out" });
    }
  }
  svg.append(...head(frame, step, width));
  return svg;
}

function rove(svg, cells, slots, remembered) {
  if (remembered.cell >= cells.length) remembered.cell = 0;
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -slots, ArrowRight: slots, ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = Math.min(cells.length - 1, Math.max(0, remembered.cell + move));
    cells[remembered.cell].setAttribute("tabindex", -1);
    cells[next].setAttribute("tabindex", 0);
    cells[next].focus();
    remembered.cell = next;
  });
}
