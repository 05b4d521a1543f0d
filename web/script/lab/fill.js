// Tables of every shape, filled until they refuse a key: kicks against load, and how far each gets.

import { get } from "../api.js";
import { chart } from "../chart.js";
import { h } from "../dom.js";
import { threeDigits } from "../numbers.js";

const percent = (part) => `${threeDigits(100 * part)} %`;

export function fillView() {
  const picture = chart("Kicks, as the nests fill up");
  const table = h("section", { class: "card", "aria-label": "How far each table gets" });
  const root = h("div", { class: "fill-view" }, picture.element, table);

  async function load() {
    let answer;
    try {
      answer = await get("lab/fill");
    } catch (error) {
      root.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
      return;
    }
    const most = Math.max(1, ...answer.shapes.flatMap((shape) => shape.moves.map(([, y]) => y)));
    const top = Math.ceil(most);
    picture.show({
      title: "Kicks, as the nests fill up",
      note: `kicks an insert, ${answer.slots} slots of ${answer.width} bits; each line ends where the first key is refused`,
      file: "kicks",
      x: { from: 0, to: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1].map((v) => [v, percent(v)]), label: "load: slots in use", word: "at", format: percent },
      y: { from: 0, to: top, ticks: Array.from({ length: top + 1 }, (_, i) => [i, String(i)]), format: (v) => `${threeDigits(v)} kicks` },
      lines: answer.shapes.map((shape) => ({ name: shape.name, family: shape.name, points: shape.moves, best: shape.name === "2 x 4" })),
      asked: { x: 0.95, text: "95 %" },
    });
    const bar = (shape) => {
      const element = h("span", { class: "bar", "data-family": shape.name });
      element.style.width = `${100 * shape.refused_at}%`;
      return element;
    };
    table.replaceChildren(
      h("h3", {}, "Nests a key × slots a nest"),
      h("p", { class: "note" }, "How full a table is when it first refuses a key. More choice fills better; each further nest is one more cache miss."),
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "table"), h("td", {}), h("th", { scope: "col", class: "number" }, "first refusal"))),
        h("tbody", {}, answer.shapes.map((shape) => h("tr", { "data-family": shape.name }, h("th", { scope: "row" }, h("span", { class: "swatch" }), shape.name.replace("x", "×")), h("td", { class: "bars", "aria-hidden": "true" }, bar(shape)), h("td", { class: "number" }, percent(shape.refused_at))))),
      ),
    );
  }
  load();
  return root;
}
