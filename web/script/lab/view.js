// The lab: type words, and watch what a filter makes of them.

import { latest } from "../api.js";
import { copyButton, h, icon, onWidth } from "../dom.js";
import { rate, threeDigits } from "../numbers.js";
import * as bits from "./bits.js";
import { fillView } from "./fill.js";
import * as nests from "./nests.js";
import { FIRST, defaults, kinds, live, provoke, read, settled, shapes, write } from "./story.js";
import * as words from "./words.js";

const birds = ["wren", "robin", "swift", "heron", "rook", "plover", "dunlin", "siskin", "linnet", "jackdaw", "pipit", "curlew", "knot", "teal", "gadwall", "merlin", "hobby", "osprey", "corncrake", "whinchat", "fieldfare", "redwing", "goldcrest", "nuthatch", "dipper", "gannet", "fulmar", "puffin", "petrel", "skua"];

const hints = {
  bloom: ["Ask for a word that is not there, and see which bit says so.", "Provoke a false positive: a word all of whose bits others have set.", "Clear the bits of a word that shares one with another, then ask for the other."],
  blocked: ["All bits of a key are in one line of 512: a single cache miss.", "Put many words in: some lines fill faster than others, which costs a little space."],
  counting: ["Take a word out that shares a counter with another: the other stays.", "Put the same word in three times; the least of its counters says how often it came."],
  cuckoo: ["Add birds until someone is kicked out of a nest.", "Put the same word in five times: two copies get slots, the others are counted.", "Fill it up: an insert that finds no place changes nothing."],
};

export function enter(root, params, remember) {
  const story = read(params);
  const ask = latest();
  const remembered = { cell: 0 };
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");
  let lab = null;
  let width = 0;
  let timer = null;

  const isNests = () => story.kind === "cuckoo";
  const stepsOf = (frame) => (isNests() ? nests.steps(frame) : bits.steps(frame));

  // ---- what is seen

  const drawing = h("div", { class: "drawing" });
  const says = h("div", { class: "says", role: "status", "aria-live": "polite" });
  const facts = h("dl", { class: "facts" });
  const error = h("p", { class: "error", role: "alert" });
  const list = h("ol", {});
  const where = h("span", { class: "where" });
  const word = h("input", { type: "text", id: "word", maxlength: 60, autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder: "a word" });
  const button = (label, text, act, kind = "") => h("button", { type: "button", class: kind, "aria-label": label, title: label, onclick: act }, text);
  const controls = {
    reset: button("To the beginning", icon("first"), () => go(-1, 0)),
    back: button("One step back", icon("back"), () => back()),
    play: button("Play", [icon("play"), "Play"], () => (timer === null ? play() : pause()), "primary"),
    step: button("One step on", [icon("play"), "Step"], () => (pause(), forward())),
    end: button("To the end", icon("last"), () => toEnd()),
  };
  const outButton = h("button", { type: "button", onclick: () => add(kinds[story.kind].out.deed) });
  const settingsBox = h("div", { class: "settings" });
  const try_ = h("ul", {});
  const extra = h("div", {});

  function frameAt() {
    return lab?.frames[story.at?.[0] ?? -1];
  }

  function render() {
    if (lab === null || width === 0) return;
    const [index, step] = story.at;
    const frame = lab.frames[index];
    const focused = drawing.contains(document.activeElement);
    const engine = isNests() ? nests : bits;
    drawing.replaceChildren(engine.draw(lab, index, step, width, remembered, quiet.matches));
    if (focused) drawing.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    const [title, text, tone] = isNests()
      ? words.ofNests(lab.shape, lab.frames, index, step)
      : words.ofBits(story.kind, lab.shape, lab.frames, index, step, bits.owners(lab.frames, frame?.outcome === "cleared" ? index - 1 : index));
    says.dataset.tone = tone;
    says.replaceChildren(h("strong", {}, title), h("p", {}, text));
    const shown = lab.frames[step >= (frame ? stepsOf(frame) - 1 : 0) ? index : index - 1];
    facts.replaceChildren(...factList(shown));
    const last = lab.frames.length - 1;
    controls.reset.disabled = controls.back.disabled = index < 0;
    const atEnd = index >= last && (index < 0 || step >= stepsOf(frame) - 1);
    controls.step.disabled = controls.end.disabled = atEnd;
    controls.play.disabled = atEnd && index < 0;
    where.textContent = index < 0 ? `${lab.frames.length} events` : `event ${index + 1} of ${lab.frames.length}, step ${step + 1} of ${stepsOf(frame)}`;
    list.replaceChildren(...lab.frames.map((one, i) => item(one, i)));
    // Only the list is scrolled, never the page under someone's hands.
    const current = list.querySelector("[aria-current]")?.parentElement;
    if (current && current.offsetTop < list.scrollTop) list.scrollTop = current.offsetTop;
    else if (current) list.scrollTop = Math.max(list.scrollTop, current.offsetTop + current.offsetHeight - list.clientHeight);
    remember(write(story));
  }

  function item(frame, i) {
    const [index, step] = story.at;
    const known = i < index || (i === index && step >= stepsOf(frame) - 1);
    const verbs = { insert: "put in", ask: "ask", remove: "take out", clear: "clear the bits of" };
    const label = `${verbs[frame.deed]} ${frame.key}${known ? `: ${words.tag(frame.outcome)}` : ""}`;
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: i > index ? "later" : "", "aria-current": i === index ? "step" : null, "aria-label": label, onclick: () => go(i, stepsOf(frame) - 1) },
        h("span", { class: "deed", "aria-hidden": "true" }, words.sign[frame.deed]),
        h("span", { class: "key" }, frame.key),
        known ? h("span", { class: "tag", "data-tone": words.tone(frame.outcome) }, words.tag(frame.outcome)) : null,
      ),
    );
  }

  function factList(frame) {
    const { shape } = lab;
    const stats = frame?.stats;
    const rows = isNests()
      ? [
          ["keys", stats?.len ?? 0],
          ["load", `${threeDigits(100 * (stats?.load ?? 0))} %`],
          ["strangers taken for keys", rate(stats?.fpp_now ?? 0)],
          ["counted beside", stats?.counted ?? 0],
        ]
      : [
          ["keys", stats?.keys ?? 0],
          [story.kind === "counting" ? "counters in use" : "bits set", `${stats?.set ?? 0} of ${shape.cells}`],
          ["strangers taken for keys", stats?.fpp_now === null ? "?" : rate(stats?.fpp_now ?? 0)],
          ["keys, judging by the bits", stats?.estimated_items === null ? "?" : threeDigits(stats?.estimated_items ?? 0)],
        ];
    return rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value))));
  }

  // ---- moving through the story

  function go(index, step) {
    pause();
    story.at = [index, step];
    render();
  }

  function forward() {
    const [index, step] = story.at;
    const frame = frameAt();
    if (frame && step + 1 < stepsOf(frame)) story.at = [index, step + 1];
    else if (index + 1 < lab.frames.length) story.at = [index + 1, 0];
    else return false;
    render();
    return true;
  }

  function back() {
    pause();
    const [index, step] = story.at;
    if (index < 0) return;
    if (step > 0) story.at = [index, step - 1];
    else story.at = index === 0 ? [-1, 0] : [index - 1, stepsOf(lab.frames[index - 1]) - 1];
    render();
  }

  function toEnd() {
    const last = lab.frames.length - 1;
    go(last, last < 0 ? 0 : stepsOf(lab.frames[last]) - 1);
  }

  function play() {
    if (controls.step.disabled) story.at = [-1, 0];
    controls.play.replaceChildren(icon("pause"), "Pause");
    controls.play.setAttribute("aria-label", "Pause");
    const tick = () => {
      if (!forward()) {
        pause();
        return;
      }
      timer = setTimeout(tick, isNests() && nests.deedAt(frameAt(), story.at[1]) ? 1150 : 900);
    };
    timer = setTimeout(tick, 150);
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    controls.play.replaceChildren(icon("play"), "Play");
    controls.play.setAttribute("aria-label", "Play");
  }

  // ---- changing the story

  /** Asks the engine to live the story as it is now; then goes where `then` says. */
  async function relive(then) {
    pause();
    const got = await ask((signal) => live(story, signal));
    if (got === null) return false;
    error.textContent = got.error?.message ?? "";
    if (got.error) return false;
    lab = got.value;
    then();
    return true;
  }

  async function tell(events) {
    const before = story.events;
    story.events = [...story.events, ...events];
    const start = before.length;
    const lived = await relive(() => {
      story.at = events.length === 1 ? [start, 0] : [story.events.length - 1, stepsOf(lab.frames.at(-1)) - 1];
      render();
    });
    if (!lived) story.events = before;
    else if (events.length === 1) play();
  }

  function add(deed) {
    const key = word.value.trim();
    if (key === "") {
      error.textContent = "Type a word first.";
      word.focus();
      return;
    }
    error.textContent = "";
    tell([[deed, key]]);
    word.select();
  }

  async function provokeOne() {
    try {
      const { key, tries } = await provoke(story);
      await tell([["ask", key]]);
      extraWords.textContent = `Found after ${tries} ${tries === 1 ? "word" : "words"}.`;
    } catch (problem) {
      error.textContent = problem.message;
    }
  }

  function addBirds() {
    const inside = new Set(story.events.map(([, key]) => key));
    const next = birds.filter((bird) => !inside.has(bird)).slice(0, 4);
    if (next.length === 0) next.push(`bird-${story.events.length}`, `bird-${story.events.length + 1}`);
    tell(next.map((bird) => ["insert", bird]));
  }

  const extraWords = h("p", { class: "note", role: "status" });

  function change(kind, settings, events) {
    story.kind = kind;
    story.settings = settled(kind, settings);
    const able = new Set(["insert", "ask", kinds[kind].out.deed]);
    story.events = events.filter(([deed]) => able.has(deed));
    remembered.cell = 0;
    extraWords.textContent = "";
    relive(() => {
      toEnd();
      dress();
    });
  }

  /** What depends on the kind of filter. */
  function dress() {
    const { settings, out } = kinds[story.kind];
    outButton.textContent = out.label;
    outButton.className = out.deed === "clear" ? "warm" : "";
    settingsBox.replaceChildren(...settings.map(setting));
    try_.replaceChildren(...hints[story.kind].map((hint) => h("li", {}, hint)));
    if (isNests()) {
      if (extra.childElementCount === 0) extra.replaceChildren(fillView());
    } else extra.replaceChildren();
  }

  function setting({ name, label, least, most, step }) {
    const id = `lab-${name}`;
    const value = story.settings[name];
    const output = h("output", { for: id }, String(value));
    const choices = name === "slots" ? shapes.filter(([count]) => count === story.settings.nests).map(([, slots]) => slots).toSorted((a, b) => a - b) : null;
    const set = (v) => change(story.kind, { ...story.settings, [name]: v }, story.events);
    if (choices) {
      const select = h("select", { id, onchange: (event) => set(Number(event.target.value)) }, choices.map((v) => h("option", { value: v, selected: v === value }, String(v))));
      return h("div", { class: "field" }, h("label", { for: id }, label), select);
    }
    const range = h("input", {
      type: "range", id, min: least, max: most, step: name === "buckets" && story.settings.nests > 2 ? story.settings.nests : step, value,
      oninput: (event) => (output.textContent = event.target.value),
      onchange: (event) => {
        set(Number(event.target.value));
        requestAnimationFrame(() => document.getElementById(id)?.focus());
      },
    });
    return h("div", { class: "field" }, h("label", { for: id }, label), output, range);
  }

  const segments = h(
    "fieldset",
    { class: "kinds" },
    h("legend", { class: "hidden-text" }, "Kind of filter"),
    h(
      "div",
      { class: "segments" },
      Object.entries(kinds).map(([kind, { name }]) =>
        h("label", {}, h("input", { type: "radio", name: "kind", value: kind, checked: kind === story.kind, onchange: () => change(kind, defaults(kind), story.events) }), name),
      ),
    ),
  );

  root.append(
    h("div", { class: "intro" }, h("h1", {}, "Watch a filter think"), h("p", {}, "A filter keeps no keys, only traces of them. Type words and see what becomes of each: a digest, a few places, a bit; and why “surely not” is certain while “maybe” is not.")),
    segments,
    h(
      "div",
      { class: "lab" },
      h(
        "div",
        { class: "stack" },
        settingsBox,
        h(
          "form",
          { class: "deeds", "aria-label": "Tell the filter something", onsubmit: (event) => { event.preventDefault(); add("insert"); } },
          h("label", { for: "word", class: "hidden-text" }, "Word"),
          word,
          h("button", { type: "submit", class: "primary" }, "Put in"),
          h("button", { type: "button", onclick: () => add("ask") }, "Ask"),
          outButton,
          h("button", { type: "button", class: "quiet", onclick: provokeOne }, "Provoke a false positive"),
          h("button", { type: "button", class: "quiet", onclick: addBirds }, "Add 4 birds"),
        ),
        error,
        extraWords,
        h(
          "section",
          { class: "card stage", "aria-label": "The filter" },
          drawing,
          says,
          facts,
          h("div", { class: "player", role: "group", "aria-label": "Steps" }, controls.reset, controls.back, controls.play, controls.step, controls.end, where),
        ),
      ),
      h(
        "div",
        { class: "stack" },
        h(
          "section",
          { class: "card story" },
          h("div", { class: "spread" }, h("h2", {}, "The story"), h("div", { class: "row" }, linkButton(), h("button", { type: "button", class: "small", onclick: () => change(story.kind, story.settings, FIRST) }, "Reset"), h("button", { type: "button", class: "small", onclick: () => change(story.kind, story.settings, []) }, "Empty"))),
          list,
        ),
        h("section", { class: "card try" }, h("h2", {}, "Try this"), try_),
      ),
    ),
    extra,
  );

  function linkButton() {
    const [copy, status] = copyButton(() => location.href);
    copy.textContent = "Copy link";
    return [copy, status];
  }

  onWidth(drawing, () => {
    const style = getComputedStyle(drawing);
    width = Math.floor(drawing.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
    render();
  });
  dress();
  const at = story.at;
  relive(() => {
    const last = lab.frames.length - 1;
    const inside = at !== null && at[0] >= -1 && at[0] <= last && (at[0] < 0 || (at[1] >= 0 && at[1] < stepsOf(lab.frames[at[0]])));
    story.at = inside ? at : [last, last < 0 ? 0 : stepsOf(lab.frames[last]) - 1];
    render();
  });
  return { leave: pause };
}
