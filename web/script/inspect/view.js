// Inspect: open a filter, see how full it is, ask it keys, compare it with another.

import { get, post, upload } from "../api.js";
import { h, s } from "../dom.js";
import { bytes, count, grouped, rate, threeDigits } from "../numbers.js";
import { heatMap, histogram } from "./heat.js";
import { compareCard } from "./compare.js";

// What was opened stays on the page when another view is looked at meanwhile.
const opened = [];

export function enter(root, params, remember) {
  const files = h("section", { class: "card files", "aria-label": "Files of the folder" });
  const servers = h("section", { class: "card files", "aria-label": "Filters on servers", hidden: true });
  const error = h("p", { class: "error", role: "alert" });
  const report = h("div", { class: "stack", "aria-live": "polite" });
  const input = h("input", { type: "file", id: "file", onchange: () => input.files.length > 0 && take([...input.files]) });
  const limit = h("p", { class: "note" });
  const drop = h(
    "section",
    { class: "drop", "aria-label": "Open a file" },
    h("p", {}, "Drop a filter here"),
    h("label", { class: "button", for: "file" }, input, "Choose a file"),
    limit,
  );
  let shown = null;

  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take([...event.dataTransfer.files]);
  });

  async function take(list) {
    for (const file of list) await open(`Reading ${file.name}`, () => upload(file));
    input.value = "";
  }

  async function open(doing, question) {
    error.textContent = "";
    const waiting = setTimeout(() => report.replaceChildren(h("p", { class: "note", role: "status" }, `${doing} …`)), 250);
    try {
      const filter = await question();
      clearTimeout(waiting);
      opened.unshift(filter);
      opened.length = Math.min(opened.length, 8);
      show(filter);
    } catch (problem) {
      clearTimeout(waiting);
      error.textContent = problem.message;
      show(shown);
    }
  }

  function openPath(path) {
    remember(new URLSearchParams({ file: path }));
    return open(`Opening ${path}`, () => post("filters/open", { path }));
  }

  function openOnServers({ name, keeper }) {
    remember(new URLSearchParams({ server: name, keeper }));
    return open(`Asking for ${name}`, () => post("servers/open", { name, keeper }));
  }

  /** Another column of the file that is shown takes its place. */
  function chooseColumn(filter, column) {
    return open(`Opening column ${column}`, async () => {
      const other = await post(`filters/${filter.id}/column`, { column });
      opened.splice(opened.indexOf(filter), 1);
      return other;
    });
  }

  async function listServers() {
    let told;
    try {
      told = await get("servers");
    } catch (problem) {
      servers.hidden = false;
      servers.replaceChildren(h("h2", {}, "On servers"), h("p", { class: "error", role: "alert" }, problem.message), again());
      return;
    }
    if (told.servers === null) return;
    const rows = told.filters.map((filter) =>
      h("li", {}, h("button", { type: "button", "aria-label": `${filter.name}, ${filter.kind}, on servers`, onclick: () => openOnServers(filter) }, stack(), h("span", { class: "name" }, filter.name), h("span", { class: "size" }, filter.kind))),
    );
    servers.hidden = false;
    servers.replaceChildren(
      h("div", { class: "spread" }, h("h2", {}, "On servers"), again()),
      h("p", { class: "note" }, `${told.cluster ? "A cluster: " : ""}${told.servers.join(", ")}`),
      rows.length > 0 ? h("ul", {}, rows) : h("p", { class: "note" }, "No filter lives there. ", h("code", {}, "gowk redis create"), " makes one."),
      h("p", { class: "note" }, told.cut ? "There may be more; these are as many as were found in time." : ""),
    );
  }
  const again = () => h("button", { type: "button", class: "link", onclick: listServers }, "Look again");

  async function list(path) {
    let folder;
    try {
      folder = await get("folder", { path });
    } catch (problem) {
      error.textContent = problem.message;
      return;
    }
    limit.textContent = `Of gowk, Guava, Spark, Parquet, RedisBloom, DCSO or Roaring; up to ${bytes(folder.most_upload)}`;
    if (folder.folder === null) {
      files.replaceChildren(h("h2", {}, "A folder of filters"), h("p", { class: "note" }, "Start ", h("code", {}, "gowk web FOLDER"), " to pick filters from it here."));
      return;
    }
    const parts = path === "" ? [] : path.split("/");
    const crumb = (name, to, last) => (last ? h("span", { "aria-current": "location" }, name) : h("button", { type: "button", class: "link", onclick: () => list(to) }, name));
    const crumbs = [crumb(folder.folder, "", parts.length === 0), ...parts.flatMap((name, i) => [" / ", crumb(name, parts.slice(0, i + 1).join("/"), i === parts.length - 1)])];
    const rows = folder.entries.map((entry) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", "aria-label": entry.is_folder ? `${entry.name}, a folder` : `${entry.name}, ${bytes(entry.bytes)}`, onclick: () => (entry.is_folder ? list(entry.path) : openPath(entry.path)) },
          icon(entry.is_folder),
          h("span", { class: "name" }, entry.name),
          h("span", { class: "size" }, entry.is_folder ? "" : bytes(entry.bytes)),
        ),
      ),
    );
    files.replaceChildren(h("h2", {}, "Files"), h("nav", { class: "crumbs", "aria-label": "Folder" }, crumbs), rows.length > 0 ? h("ul", {}, rows) : h("p", { class: "note" }, "Nothing here."));
  }

  function show(filter) {
    shown = filter;
    if (filter === null) {
      report.replaceChildren(h("div", { class: "card nothing" }, h("h2", {}, "No filter is open"), h("p", {}, "Drop a file, or pick one of the folder: what was promised, what is, how full it is line by line, and what it answers.")));
      return;
    }
    report.replaceChildren(
      overview(filter, (column) => chooseColumn(filter, column)),
      h("div", { class: "two" }, filter.key_types.length > 0 ? askCard(filter) : null, comparison(filter)),
      filter.heat ? heatMap(filter.heat) : h("section", { class: "card" }, h("h2", {}, "Fill"), h("p", { class: "note" }, filter.server ? "Of this filter the servers tell no more than what is above." : "A filter of this kind has no parts that fill up one by one.")),
      ...(filter.histogram ? [histogram(filter.histogram)] : []),
    );
  }

  function comparison(filter) {
    if (filter.server) return h("section", { class: "card" }, h("h2", {}, "Compare"), h("p", { class: "note" }, "A filter on servers is looked at where it is. ", filter.format === "module" ? "" : [h("code", {}, `gowk redis export ${filter.name} -o ${filter.name}.gowk`), " makes a file of it, which can be compared."]));
    const files = opened.filter((other) => !other.server);
    return files.length > 1 ? compareCard(files, filter) : h("section", { class: "card" }, h("h2", {}, "Compare"), h("p", { class: "note" }, "Open a second filter to see how many keys the two share."));
  }

  root.append(
    h("div", { class: "intro" }, h("h1", {}, "Look inside a filter"), h("p", {}, "Files of gowk and of other systems, told apart by their bytes. They stay on this machine.")),
    h("div", { class: "inspect" }, h("div", { class: "stack" }, drop, files, servers), h("div", { class: "stack" }, error, report)),
  );
  show(opened[0] ?? null);
  list("");
  const asked = params.get("file");
  if (asked && opened[0]?.name !== asked) openPath(asked);
  listServers();
  const name = params.get("server");
  if (name && opened[0]?.name !== name) openOnServers({ name, keeper: params.get("keeper") ?? "bloom" });
}

const stack = () => s("svg", { class: "icon", viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, s("path", { d: "M3 5.5c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3z M3 5.5v9c0 1.7 3.1 3 7 3s7-1.3 7-3v-9 M3 10c0 1.7 3.1 3 7 3s7-1.3 7-3" }));

const icon = (folder) =>
  s("svg", { class: `icon ${folder ? "folder" : ""}`, viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, s("path", { d: folder ? "M2.5 5.5h5l1.6 2h8.4v8h-15z" : "M5 2.5h7l3.5 3.5v11.5H5z M12 2.5V6h3.5" }));

function overview(filter, chooseColumn) {
  const number = (name, value, more = "", tone = "") => h("div", { class: tone }, h("dt", {}, name), h("dd", {}, value, more === "" ? null : h("small", {}, ` ${more}`)));
  const known = (value) => value !== undefined && value !== null;
  const numbers = filter.exact
    ? [number("holds", count(filter.holds), "integers, exactly"), number("first", filter.first ?? "–"), number("last", filter.last ?? "–")]
    : [
        !known(filter.fpp) && known(filter.items) && number("made for", count(filter.items), "keys"),
        known(filter.fpp) && number("promised", rate(filter.fpp), `for ${count(filter.items)}`),
        known(filter.fpp_now) && number("rate now", rate(filter.fpp_now), "", filter.overfull ? "bad" : "good"),
        known(filter.fill) && number("fill", `${threeDigits(100 * filter.fill)} %`),
        known(filter.estimated_items) && number(filter.format === "module" ? "were added" : "holds about", count(filter.estimated_items), "keys"),
        known(filter.room) && number("room for", count(filter.room), "more", filter.room === 0 ? "bad" : ""),
      ];
  const rows = [
    ["shape", filter.shape],
    ["hash", filter.hash],
    ["size", known(filter.bytes) ? `${bytes(filter.bytes)}${known(filter.bits) ? `, ${grouped(filter.bits)} bits` : ""}` : null],
    ["keys in the head", known(filter.keys_in_head) ? grouped(filter.keys_in_head) : null],
    ["shards", known(filter.shards) ? `${grouped(filter.shards)} of ${bytes(filter.shard_bytes)}, ${filter.sampled === filter.shards ? "all of them looked at" : `judged by ${grouped(filter.sampled)} of them`}` : null],
    ...(filter.rows ?? []),
  ].filter(([, value]) => known(value));
  const columns =
    filter.columns?.length > 1
      ? h("div", { class: "row column" }, h("label", { for: "column" }, "Column"), h("select", { id: "column", onchange: (event) => chooseColumn(event.target.value) }, filter.columns.map((name) => h("option", { value: name, selected: name === filter.column }, name))))
      : null;
  return h(
    "section",
    { class: "card", "aria-label": "What it is" },
    h("div", { class: "spread" }, h("h2", {}, filter.name), h("span", { class: "tag" }, `${filter.family} · ${filter.format}`)),
    columns,
    filter.overfull ? h("p", { class: "error" }, "More keys have come than were promised, and the rate is broken: build a larger one.") : null,
    h("dl", { class: "numbers" }, numbers),
    h("dl", { class: "head-rows" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}

function askCard(filter) {
  const text = h("textarea", { id: "keys", rows: 4, spellcheck: "false", placeholder: "one key a line" });
  const type = h("select", { id: "key-type" }, filter.key_types.map((name) => h("option", { value: name }, name)));
  const answers = h("ul", { class: "answers" });
  const summary = h("p", { class: "note", role: "status" });
  const error = h("p", { class: "error", role: "alert" });
  const tones = { maybe: "warm", yes: "good", no: "" };
  const told = { maybe: "maybe", yes: "yes", no: filter.exact ? "no" : "surely not" };
  async function ask() {
    const keys = text.value.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
    error.textContent = "";
    if (keys.length === 0) {
      error.textContent = "Type a key first, one a line.";
      text.focus();
      return;
    }
    try {
      const got = await post(`filters/${filter.id}/ask`, { keys, key_type: type.value });
      const known = got.answers.filter(({ answer }) => answer === "maybe" || answer === "yes").length;
      summary.textContent = `${known} of ${keys.length} ${filter.exact ? "are inside" : "may be inside"}`;
      answers.replaceChildren(
        ...got.answers.slice(0, 1000).map((one) => h("li", {}, h("span", { class: "key" }, one.key), one.error ? h("span", { class: "tag", "data-tone": "bad" }, one.error) : h("span", { class: "tag", "data-tone": tones[one.answer] }, told[one.answer]))),
      );
    } catch (problem) {
      error.textContent = problem.message;
    }
  }
  return h(
    "section",
    { class: "card stack" },
    h("h2", {}, "Ask it"),
    h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); ask(); } },
      h("label", { class: "hidden-text", for: "keys" }, "Keys, one a line"),
      text,
      h("div", { class: "row" }, h("label", { for: "key-type" }, "as"), type, h("button", { type: "submit", class: "primary" }, "Ask"), summary)),
    error,
    answers,
  );
}
