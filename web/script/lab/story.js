// The story of the lab: which filter, which events, where we are in it. All of it fits into a link.

import { post } from "../api.js";

export const kinds = {
  bloom: {
    name: "Bloom",
    settings: [
      { name: "bits", label: "bits, m", least: 64, most: 1024, step: 64, start: 64 },
      { name: "probes", label: "probes, k", least: 1, most: 12, step: 1, start: 3 },
    ],
    out: { deed: "clear", label: "Clear its bits" },
  },
  blocked: {
    name: "Blocked",
    settings: [
      { name: "lines", label: "lines of 512 bits", least: 1, most: 8, step: 1, start: 3 },
      { name: "probes", label: "probes, k", least: 1, most: 8, step: 1, start: 6 },
    ],
    out: { deed: "clear", label: "Clear its bits" },
  },
  counting: {
    name: "Counting",
    settings: [
      { name: "lines", label: "lines of 128 counters", least: 1, most: 4, step: 1, start: 1 },
      { name: "probes", label: "probes, k", least: 1, most: 8, step: 1, start: 3 },
    ],
    out: { deed: "remove", label: "Take out" },
  },
  cuckoo: {
    name: "Cuckoo",
    settings: [
      { name: "nests", label: "nests a key", least: 2, most: 4, step: 1, start: 2 },
      { name: "slots", label: "slots a nest", least: 1, most: 4, step: 1, start: 2 },
      { name: "buckets", label: "nests in all", least: 4, most: 48, step: 4, start: 8 },
      { name: "width", label: "fingerprint bits", least: 4, most: 16, step: 1, start: 8 },
    ],
    out: { deed: "remove", label: "Take out" },
  },
};

/** The tables that there are, as [nests, slots]. */
export const shapes = [[2, 4], [2, 2], [2, 1], [3, 1], [4, 1], [4, 2]];

const letters = { insert: "i", ask: "a", remove: "r", clear: "c" };
const deeds = Object.fromEntries(Object.entries(letters).map(([deed, letter]) => [letter, deed]));
export const FIRST = [["insert", "baidu"], ["insert", "tencent"], ["ask", "dianping"]];

export function defaults(kind) {
  return Object.fromEntries(kinds[kind].settings.map(({ name, start }) => [name, start]));
}

/** Settings that the engine takes: a number inside its range, and a table that exists. */
export function settled(kind, given) {
  const settings = {};
  for (const { name, least, most, step, start } of kinds[kind].settings) {
    const value = Number(given[name]);
    const inside = Number.isFinite(value) && given[name] !== undefined && given[name] !== null ? Math.min(most, Math.max(least, value)) : start;
    settings[name] = least + Math.round((inside - least) / step) * step;
  }
  if (kind === "cuckoo") {
    if (!shapes.some(([nests, slots]) => nests === settings.nests && slots === settings.slots)) {
      const near = shapes.filter(([nests]) => nests === settings.nests).map(([, slots]) => slots);
      settings.slots = near.reduce((a, b) => (Math.abs(b - settings.slots) < Math.abs(a - settings.slots) ? b : a));
    }
    // From three nests on each has a part of the table, and the parts are alike.
    if (settings.nests > 2) settings.buckets = Math.max(settings.nests, Math.round(settings.buckets / settings.nests) * settings.nests);
  }
  return settings;
}

export function read(params) {
  const kind = params.get("filter") in kinds ? params.get("filter") : "bloom";
  const settings = settled(kind, Object.fromEntries(kinds[kind].settings.map(({ name }) => [name, params.get(name) ?? undefined])));
  const able = new Set(["insert", "ask", kinds[kind].out.deed]);
  const told = params
    .getAll("e")
    .map((text) => [deeds[text[0]], text.slice(1)])
    .filter(([deed, key]) => able.has(deed) && key !== "");
  const events = params.has("filter") ? told : FIRST;
  const at = params.get("at")?.split(".").map(Number) ?? [];
  return { kind, settings, seed: Number(params.get("seed")) || 1, events, at: at.every(Number.isInteger) && at.length === 2 ? at : null };
}

export function write(story) {
  const params = new URLSearchParams({ filter: story.kind });
  for (const [name, value] of Object.entries(story.settings)) params.set(name, value);
  if (story.seed !== 1) params.set("seed", story.seed);
  for (const [deed, key] of story.events) params.append("e", letters[deed] + key);
  if (story.at !== null) params.set("at", story.at.join("."));
  return params;
}

const question = (story) => ({ filter: { kind: story.kind, ...story.settings }, seed: story.seed, events: story.events });

export const live = (story, signal) => post("lab", question(story), signal);
export const provoke = (story) => post("lab/provoke", question(story));
