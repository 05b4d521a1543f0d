// Plan: which family, how large, what its errors cost.

import { get, latest } from "./api.js";
import { chart } from "./chart.js";
import { command, h, later } from "./dom.js";
import { bytes, count, parseCount, parseRate, parseTime, rate, threeDigits, time } from "./numbers.js";

const numbers = [
  { name: "items", label: "Keys", least: 1e2, most: 1e11, start: 1e7, parse: parseCount, format: count, whole: true },
  { name: "fpp", label: "False positives", least: 1e-9, most: 0.3, start: 0.01, parse: parseRate, format: rate, note: "how often an absent key may be taken for one inside" },
];
const costs = [
  { name: "cost_miss", label: "Lookup behind it", least: 1e-6, most: 10, start: 1e-3, parse: parseTime, format: time, note: "a disk, a database, a network" },
  { name: "cost_check", label: "One cache miss", least: 1e-9, most: 1e-4, start: 1e-7, parse: parseTime, format: time },
  { name: "absent", label: "Absent keys asked", least: 0, most: 1, start: 0.5, linear: true, parse: parseRate, format: rate },
];
const needs = [
  ["deletes", "Keys are taken out again"],
  ["static", "All keys are there from the start"],
  ["growing", "More keys may come than I say"],
  ["window", "Old keys are forgotten"],
  ["counts", "How often a key came is asked, too"],
];

const STEPS = 1000;

/** A slider and a field for one number; both say the same. */
function slider(spec, value, changed) {
  const id = `plan-${spec.name}`;
  const toPart = (v) =>
    Math.round(STEPS * (spec.linear ? (v - spec.least) / (spec.most - spec.least) : Math.log(v / spec.least) / Math.log(spec.most / spec.least)));
  // Two digits are what one can mean by a slider.
  const fromPart = (part) => {
    const raw = spec.linear ? spec.least + (part / STEPS) * (spec.most - spec.least) : spec.least * (spec.most / spec.least) ** (part / STEPS);
    const rounded = spec.linear ? Math.round(raw * 100) / 100 : Number(raw.toPrecision(2));
    return spec.whole ? Math.max(1, Math.round(rounded)) : rounded;
  };
  const field = h("input", { type: "text", id, value: spec.format(value), autocomplete: "off", spellcheck: "false", inputmode: "text" });
  const range = h("input", { type: "range", min: 0, max: STEPS, value: toPart(value), "aria-label": `${spec.label}, slider` });
  const tell = (v) => range.setAttribute("aria-valuetext", spec.format(v));
  tell(value);
  range.addEventListener("input", () => {
    const v = fromPart(Number(range.value));
    field.value = spec.format(v);
    field.removeAttribute("aria-invalid");
    tell(v);
    changed(spec.name, v);
  });
  field.addEventListener("change", () => {
    const v = spec.parse(field.value);
    const good = Number.isFinite(v) && (spec.linear ? v >= spec.least && v <= spec.most : v > 0);
    if (!good) {
      field.setAttribute("aria-invalid", "true");
      return;
    }
    field.removeAttribute("aria-invalid");
    field.value = spec.format(v);
    range.value = Math.min(STEPS, Math.max(0, toPart(v)));
    tell(v);
    changed(spec.name, v);
  });
  return h("div", { class: "field" }, h("label", { for: id }, spec.label), field, range, spec.note ? h("p", { class: "note" }, spec.note) : null);
}

export function enter(root, params, remember) {
  const state = {};
  for (const { name, start, parse } of [...numbers, ...costs]) {
    const given = params.has(name) ? parse(params.get(name)) : NaN;
    state[name] = Number.isFinite(given) && given >= 0 ? given : start;
  }
  for (const [name] of needs) state[name] = params.get(name) === "true";

  const answer = h("section", { class: "card best", "aria-live": "polite", "aria-label": "The recommendation" });
  const table = h("section", { class: "card", "aria-label": "All families that fit" });
  const error = h("p", { class: "error", role: "alert" });
  const space = chart("What a rate costs in space", "wide");
  const overfilled = chart("What becomes of it when more keys come");
  const probes = chart("How many bits a key should set");
  const pictures = h("div", { class: "pictures", "aria-busy": "true" }, space.element, overfilled.element, probes.element);
  const askPlan = latest();
  const askCurves = latest();
  let best = null;

  const query = () => {
    const kept = [...numbers, ...costs].map(({ name }) => [name, state[name]]);
    return Object.fromEntries([...kept, ...needs.filter(([name]) => state[name]).map(([name]) => [name, true])]);
  };

  async function update() {
    remember(new URLSearchParams(Object.entries(query()).map(([name, value]) => [name, String(value)])));
    const got = await askPlan((signal) => get("plan", query(), signal));
    if (got === null) return;
    error.textContent = got.error?.message ?? "";
    if (got.error) return;
    best = got.value.choices[0]?.family ?? null;
    showAnswer(got.value);
    showTable(got.value);
    updateCurves();
  }

  const updateCurves = later(async () => {
    const got = await askCurves((signal) => get("plan/curves", { items: state.items, fpp: state.fpp }, signal));
    if (got === null || got.error) return;
    pictures.removeAttribute("aria-busy");
    showCurves(got.value);
  }, 120);

  function showAnswer(plan) {
    const [first] = plan.choices;
    if (first === undefined) {
      answer.replaceChildren(h("h2", {}, "No family does all of this at once"), h("p", {}, "Leave one of the needs out."));
      return;
    }
    answer.replaceChildren(
      h("h2", { "data-family": first.family }, "Take ", h("b", {}, first.family), `: ${bytes(first.bytes)}`),
      h("p", {}, `${threeDigits(first.bits_per_key)} bits a key for ${count(plan.items)} keys at ${rate(plan.fpp)}. It is ${plan.reason}. No filter takes less than ${threeDigits(plan.information_limit)} bits a key.`),
      command(first.command),
      h("details", {}, h("summary", { class: "note" }, "The same plan on the command line"), command(plan.plan_command)),
    );
  }

  function showTable(plan) {
    const most = Math.max(...plan.choices.map((choice) => choice.bytes));
    const bar = (choice) => {
      const element = h("span", { class: "bar", "data-family": choice.family });
      element.style.width = `${(100 * choice.bytes) / most}%`;
      return element;
    };
    const rows = plan.choices.map((choice, i) =>
      h(
        "tr",
        { class: i === 0 ? "first" : "", "data-family": choice.family },
        h("th", { scope: "row" }, h("span", { class: "swatch" }), choice.family),
        h("td", { class: "number" }, bytes(choice.bytes)),
        h("td", { class: "bars", "aria-hidden": "true" }, bar(choice)),
        h("td", { class: "number" }, threeDigits(choice.bits_per_key)),
        h("td", { class: "number" }, rate(choice.fpp)),
        h("td", { class: "number" }, time(choice.check_seconds)),
        h("td", { class: "number" }, time(choice.false_positive_seconds)),
      ),
    );
    const head = (text, hint) => h("th", { class: "number", scope: "col", title: hint }, text);
    table.replaceChildren(
      h("h2", {}, "All that fit, the best first"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Families, a table" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "family"), head("memory"), h("td", {}), head("bits/key"), head("rate", "the rate it keeps"), head("check", "what asking the filter takes"), head("errors cost", "what false positives cost, a lookup"))),
          h("tbody", {}, rows),
        ),
      ),
    );
  }

  const decades = (least, most) => {
    const powers = [];
    for (let power = Math.ceil(Math.log10(least) - 1e-9); power <= Math.floor(Math.log10(most) + 1e-9); power += 1) powers.push(10 ** power);
    return powers.map((value) => [value, rate(value)]);
  };

  function showCurves(curves) {
    const { fpp, items } = curves;
    const rates = curves.limit.map(([x]) => x);
    const [least, most] = [rates[0], rates.at(-1)];
    // The counting filter takes four times the bits and would press the others together.
    const lines = curves.space.filter((line) => line.family !== "counting bloom" || best === "counting bloom");
    const highest = Math.max(...lines.flatMap((line) => line.points.map(([, y]) => y)));
    const top = Math.ceil(highest / 10) * 10;
    const step = top > 40 ? 10 : 5;
    const named = (line) => ({ name: line.family, family: line.family, points: line.points, best: line.family === best });
    space.show({
      title: "What a rate costs in space",
      note: `bits a key, ${count(items)} keys`,
      file: "space",
      x: { from: most, to: least, log: true, ticks: decades(least, most), label: "rate of false positives", word: "at", format: rate },
      y: { from: 0, to: top, ticks: Array.from({ length: top / step + 1 }, (_, i) => [i * step, String(i * step)]), format: (v) => `${threeDigits(v)} bits` },
      lines: [{ name: "information limit", family: "limit", className: "limit", points: curves.limit }, ...lines.map(named)],
      asked: { x: fpp, text: `asked: ${rate(fpp)}` },
    });
    overfilled.show({
      title: "What becomes of it when more keys come",
      note: `rate of false positives; made for ${count(items)} at ${rate(fpp)}`,
      file: "overfilled",
      x: { from: 0, to: 3, ticks: [0, 1, 2, 3].map((v) => [v, `${v}×`]), label: "keys inside, of those promised", word: "with", format: (v) => `${threeDigits(v)} times the keys` },
      y: { from: fpp / 100, to: 1, log: true, ticks: decades(fpp / 100, 1), format: rate },
      lines: curves.overfilled.map((line) => ({ ...named(line), points: line.points.filter(([, y]) => y >= fpp / 100), end: line.family === "cuckoo" ? "full" : null })),
      asked: { x: 1, y: fpp, text: "as promised" },
    });
    const k = curves.probes;
    const least2 = Math.min(...k.map(([, y]) => y));
    const bottom = 10 ** Math.floor(Math.log10(least2));
    const chosen = k.reduce((a, b) => (b[1] < a[1] ? b : a))[0];
    const kStep = k.length > 24 ? 5 : k.length > 14 ? 2 : 1;
    probes.show({
      title: "How many bits a key should set",
      note: "rate of a classic Bloom filter of that size, against its probes k",
      file: "probes",
      x: { from: 1, to: k.length, step: 1, ticks: k.map(([x]) => [x, String(x)]).filter(([x]) => (x - 1) % kStep === 0), label: "probes, k", word: "with", format: (v) => `${Math.round(v)} probes` },
      y: { from: bottom, to: 1, log: true, ticks: decades(bottom, 1), format: rate },
      lines: [{ name: "bloom", family: "bloom", points: k, best: true }],
      asked: { x: chosen, text: `best: k = ${chosen}` },
    });
  }

  const changed = (name, value) => {
    state[name] = value;
    update();
  };
  const check = ([name, label]) =>
    h("label", {}, h("input", { type: "checkbox", checked: state[name], onchange: (event) => changed(name, event.target.checked) }), label);

  root.append(
    h("div", { class: "intro" }, h("h1", {}, "Which filter, and how large?"), h("p", {}, "Say what it must hold and do. The families that fit are ranked by what a lookup costs, wrong answers included, then by memory.")),
    h(
      "div",
      { class: "plan" },
      h(
        "form",
        { class: "card stack controls", "aria-label": "What the filter must do", onsubmit: (event) => event.preventDefault() },
        numbers.map((spec) => slider(spec, state[spec.name], changed)),
        h("fieldset", { class: "checks" }, h("legend", {}, "Needs"), needs.map(check)),
        h("fieldset", { class: "stack" }, h("legend", {}, "Costs"), costs.map((spec) => slider(spec, state[spec.name], changed))),
      ),
      h("div", { class: "stack" }, error, answer, table, pictures),
    ),
  );
  update();
}
