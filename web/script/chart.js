// A picture of curves: axes, lines, names at their ends, and a line to read values by, with the mouse or the arrow keys.

import { h, later, onWidth, s, save } from "./dom.js";

const HEIGHT = 330;

const scale = ({ from, to, log }) => {
  const f = log ? Math.log : (value) => value;
  return (value) => (f(value) - f(from)) / (f(to) - f(from));
};

const unscale = ({ from, to, log }, part) =>
  log ? Math.exp(Math.log(from) + part * (Math.log(to) - Math.log(from))) : from + part * (to - from);

/** The y of a line at an x between its points; undefined outside of them. */
function valueAt(points, x, logX) {
  const f = logX ? Math.log : (value) => value;
  const ordered = points[0][0] <= points.at(-1)[0] ? points : points.toReversed();
  if (x < ordered[0][0] * (1 - 1e-9) || x > ordered.at(-1)[0] * (1 + 1e-9)) return undefined;
  const after = ordered.findIndex((point) => point[0] >= x);
  if (after <= 0) return ordered[after === 0 ? 0 : ordered.length - 1][1];
  const [[x1, y1], [x2, y2]] = [ordered[after - 1], ordered[after]];
  return y1 + ((y2 - y1) * (f(x) - f(x1))) / (f(x2) - f(x1));
}

/**
 * A picture, under its heading until there is something to show.
 *
 * `model` is { title, note, file, x, y, lines, asked }: an axis is { from, to, log, ticks: [[value, text]], label, format, word }, a line
 * { name, family, points, className, best, end }, `asked` the value of x that was asked for and, if one was, of y.
 */
export function chart(heading, className = "") {
  const holder = h("div", { class: "chart" }, h("p", { class: "note waiting" }, "computing …"));
  const legend = h("ul", { class: "legend" });
  const readout = h("p", { class: "hidden-text", "aria-live": "polite" });
  const title = h("h3", {}, heading);
  const note = h("p", { class: "note" });
  const saveButton = h("button", { type: "button", class: "small", disabled: true, onclick: () => saveAs() }, "Save SVG");
  const figure = h(
    "figure",
    { class: `card ${className}` },
    h("header", { class: "headed" }, h("div", {}, title, note), saveButton),
    holder,
    readout,
    legend,
  );
  let model = null;
  let width = 0;
  let at = null;

  const speak = later((text) => (readout.textContent = text), 250);

  function draw(svgWidth, { cross = true } = {}) {
    const { x, y, lines, asked } = model;
    const named = svgWidth >= 480;
    const box = { left: 52, right: svgWidth - (named ? 132 : 14), top: asked.text ? 24 : 12, bottom: HEIGHT - 50 };
    const sx = scale(x);
    const sy = scale(y);
    const px = (value) => box.left + (box.right - box.left) * sx(value);
    const py = (value) => box.bottom - (box.bottom - box.top) * sy(value);
    const clipY = (value) => Math.min(Math.max(py(value), box.top), box.bottom);
    const svg = s("svg", { viewBox: `0 0 ${svgWidth} ${HEIGHT}`, width: svgWidth, height: HEIGHT, role: "img", tabindex: 0 });
    svg.setAttribute("aria-label", `${model.title}. ${model.note ?? ""} Arrow keys read values.`);

    for (const [value, text] of y.ticks) {
      svg.append(
        s("line", { class: "grid", x1: box.left, x2: box.right, y1: py(value), y2: py(value) }),
        s("text", { class: "tick", x: box.left - 8, y: py(value) + 4, "text-anchor": "end" }, text),
      );
    }
    // No more of them than there is room for.
    const every = Math.ceil(x.ticks.length / Math.max(2, Math.floor((box.right - box.left) / 62)));
    x.ticks.forEach(([value, text], i) => {
      if (i % every !== 0) return;
      svg.append(s("text", { class: "tick", x: px(value), y: box.bottom + 18, "text-anchor": "middle" }, text));
    });
    svg.append(
      s("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      s("text", { class: "label", x: (box.left + box.right) / 2, y: box.bottom + 40, "text-anchor": "middle" }, x.label),
    );

    const names = [];
    for (const line of lines) {
      const inside = line.points.filter(([vx, vy]) => sx(vx) >= -1e-9 && sx(vx) <= 1 + 1e-9 && sy(vy) >= -1e-9 && sy(vy) <= 1.3);
      if (inside.length === 0) continue;
      const drawn = inside.map(([vx, vy]) => [px(vx), clipY(vy)]);
      const path = drawn.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
      if (line.className === "limit") {
        const ends = [drawn.at(-1)[0], drawn[0][0]].map((a) => `${a.toFixed(1)},${box.bottom}`).join(" ");
        svg.append(s("polygon", { class: "under", points: `${path} ${ends}` }));
      }
      const kind = `curve ${line.className ?? ""} ${line.best ? "best" : ""}`;
      svg.append(s("polyline", { class: kind, "data-family": line.family, points: path }));
      const right = drawn.reduce((a, b) => (b[0] > a[0] ? b : a));
      if (line.end) {
        svg.append(
          s("circle", { class: "dot", "data-family": line.family, cx: right[0], cy: right[1], r: 4 }),
          s("text", { class: "name", "data-family": line.family, x: right[0] + 8, y: right[1] + 16 }, line.end),
        );
      } else {
        names.push({ y: right[1], family: line.family, text: line.name });
      }
    }
    if (named) putNames(svg, names, box);

    const askedX = px(asked.x);
    svg.append(s("line", { class: "asked", x1: askedX, x2: askedX, y1: box.top, y2: box.bottom }));
    if (asked.y !== undefined) {
      svg.append(s("line", { class: "asked", x1: box.left, x2: box.right, y1: py(asked.y), y2: py(asked.y) }));
    }
    if (asked.text) svg.append(s("text", { class: "tick", x: askedX, y: box.top - 8, "text-anchor": "middle" }, asked.text));

    if (cross) {
      const mark = s("g", { "aria-hidden": "true" });
      svg.append(mark);
      const show = (value) => {
        at = value;
        const nodes = [s("line", { class: "cross", x1: px(value), x2: px(value), y1: box.top, y2: box.bottom })];
        for (const line of lines) {
          const v = valueAt(line.points, value, x.log);
          if (v === undefined || sy(v) > 1 || sy(v) < 0) continue;
          nodes.push(s("circle", { class: "dot", "data-family": line.family, cx: px(value), cy: py(v), r: 3.6 }));
        }
        mark.replaceChildren(...nodes);
        tell(value);
      };
      const fromEvent = (event) => {
        const rect = svg.getBoundingClientRect();
        const part = (((event.clientX - rect.left) / rect.width) * svgWidth - box.left) / (box.right - box.left);
        show(snap(unscale(x, Math.min(1, Math.max(0, part)))));
      };
      svg.addEventListener("pointermove", fromEvent);
      svg.addEventListener("pointerdown", fromEvent);
      svg.addEventListener("keydown", (event) => {
        const steps = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
        if (steps === undefined && event.key !== "Home" && event.key !== "End") return;
        event.preventDefault();
        const part = event.key === "Home" ? 0 : event.key === "End" ? 1 : sx(at ?? asked.x) + steps * (x.step ? x.step / (x.to - x.from) : 0.02);
        show(snap(unscale(x, Math.min(1, Math.max(0, part)))));
      });
      if (at !== null && sx(at) >= 0 && sx(at) <= 1) show(at);
    }
    return svg;
  }

  const snap = (value) => (model.x.step ? Math.round(value / model.x.step) * model.x.step : value);

  /** Values at an x, beside the names; and in words, for those who cannot see the line. */
  function tell(value) {
    const { x, y, lines } = model;
    const rows = lines.map((line) => [line, valueAt(line.points, value, x.log)]);
    legend.replaceChildren(
      ...rows.map(([line, v]) =>
        h("li", { "data-family": line.family }, h("span", { class: "swatch" }), `${line.name} `, h("b", {}, v === undefined ? "–" : y.format(v))),
      ),
    );
    const words = rows.filter(([, v]) => v !== undefined).map(([line, v]) => `${line.name} ${y.format(v)}`);
    speak(`${x.word ?? x.label} ${x.format(value)}: ${words.join(", ")}`);
  }

  function render() {
    if (model === null || width === 0) return;
    const old = holder.firstChild;
    const focused = old !== null && old === document.activeElement;
    const svg = draw(width);
    holder.replaceChildren(svg);
    if (focused) svg.focus({ preventScroll: true });
    tell(at ?? model.asked.x);
  }

  /** The picture as a file: colours and letters go along, as there is no style sheet there. */
  function saveAs() {
    const svg = draw(760, { cross: false });
    const stage = h("div", { class: "chart hidden-text", "aria-hidden": "true" }, svg);
    document.body.append(stage);
    const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "font-family", "font-size", "font-weight", "opacity"];
    for (const element of svg.querySelectorAll("*")) {
      const style = getComputedStyle(element);
      for (const name of kept) element.setAttribute(name, style.getPropertyValue(name));
      element.removeAttribute("class");
    }
    const paper = getComputedStyle(figure).backgroundColor;
    stage.remove();
    svg.removeAttribute("tabindex");
    const heading = [
      s("text", { x: 12, y: -34, "font-family": "sans-serif", "font-size": 17, "font-weight": 600, fill: getComputedStyle(title).color }, model.title),
      s("text", { x: 12, y: -14, "font-family": "sans-serif", "font-size": 12, fill: getComputedStyle(note).color }, model.note ?? ""),
    ];
    svg.setAttribute("viewBox", `0 -60 760 ${HEIGHT + 60}`);
    svg.setAttribute("height", HEIGHT + 60);
    svg.prepend(s("rect", { x: 0, y: -60, width: 760, height: HEIGHT + 60, fill: paper }), ...heading);
    save(`${model.file}.svg`, "image/svg+xml", `${new XMLSerializer().serializeToString(svg)}\n`);
  }

  onWidth(holder, (now) => {
    width = now;
    render();
  });
  return {
    element: figure,
    show(next) {
      model = next;
      if (at !== null && (scale(next.x)(at) < 0 || scale(next.x)(at) > 1)) at = null;
      saveButton.disabled = false;
      title.textContent = next.title;
      note.textContent = next.note ?? "";
      saveButton.setAttribute("aria-label", `Save “${next.title}” as an SVG file`);
      render();
    },
  };
}

/** Names at the ends of lines, moved apart so that none covers another. */
function putNames(svg, names, box) {
  const apart = 16;
  names.sort((a, b) => a.y - b.y);
  let last = -Infinity;
  for (const name of names) last = name.y = Math.max(name.y, last + apart);
  let limit = box.bottom + 4;
  for (const name of names.toReversed()) {
    name.y = Math.min(name.y, limit);
    limit = name.y - apart;
  }
  for (const { y, family, text } of names) {
    svg.append(s("text", { class: "name", "data-family": family, x: box.right + 9, y: y + 4 }, text));
  }
}
