// Two filters: how many keys either holds, and how many both.

import { get } from "../api.js";
import { h, s } from "../dom.js";
import { count, rate, threeDigits } from "../numbers.js";

export function compareCard(opened, filter) {
  const others = opened.filter((other) => other.id !== filter.id);
  const choice = h("select", { id: "other", onchange: () => compare() }, others.map((other) => h("option", { value: other.id }, other.name)));
  const result = h("div", { class: "stack", "aria-live": "polite" });
  const error = h("p", { class: "error", role: "alert" });

  async function compare() {
    error.textContent = "";
    result.replaceChildren();
    const other = others.find(({ id }) => id === Number(choice.value));
    try {
      const sizes = await get("compare", { a: filter.id, b: other.id });
      result.replaceChildren(venn(sizes, filter.name, other.name), words(sizes));
    } catch (problem) {
      error.textContent = problem.message;
    }
  }

  function words(sizes) {
    const about = sizes.exact ? "" : "about ";
    const lines = [`Together ${about}${count(sizes.union)} keys, ${about}${count(sizes.both)} in both: ${threeDigits(100 * sizes.jaccard)} % of all.`];
    if (sizes.union_fpp !== null) lines.push(`Merged into one, they would take ${rate(sizes.union_fpp)} of strangers for keys.`);
    if (!sizes.exact) lines.push("Judged by the bits: a small overlap of large filters drowns in the noise.");
    return h("p", { class: "note" }, lines.join(" "));
  }

  // One of its own kind is compared at once; of the others it is said why it cannot be.
  const alike = others.find((other) => other.family === filter.family && other.format === filter.format);
  if (alike) {
    choice.value = alike.id;
    queueMicrotask(compare);
  } else {
    choice.prepend(h("option", { value: "", selected: true, disabled: true }, "choose one"));
    result.append(h("p", { class: "note" }, `None of the others is a ${filter.family} filter of ${filter.format}, and only filters that were made alike can be compared.`));
  }
  return h("section", { class: "card stack" }, h("h2", {}, "Compare"), h("div", { class: "row" }, h("label", { for: "other" }, "with"), choice), error, result);
}

/** Two circles whose areas, and nearly the overlap too, are the numbers of keys. */
function venn({ a, b, both, only_a: onlyA, only_b: onlyB }, nameA, nameB) {
  const most = Math.max(a, b, 1);
  const [ra, rb] = [a, b].map((size) => Math.max(8, 76 * Math.sqrt(size / most)));
  // As far apart as makes the common area right: found by halving.
  const lens = (d) => {
    if (d >= ra + rb) return 0;
    if (d <= Math.abs(ra - rb)) return Math.PI * Math.min(ra, rb) ** 2;
    const alpha = Math.acos((d * d + ra * ra - rb * rb) / (2 * d * ra));
    const beta = Math.acos((d * d + rb * rb - ra * ra) / (2 * d * rb));
    return ra * ra * (alpha - Math.sin(2 * alpha) / 2) + rb * rb * (beta - Math.sin(2 * beta) / 2);
  };
  const wanted = (both / most) * Math.PI * 76 ** 2;
  let [near, far] = [Math.abs(ra - rb), ra + rb + 14];
  for (let i = 0; i < 40; i += 1) {
    const middle = (near + far) / 2;
    if (lens(middle) > wanted) near = middle;
    else far = middle;
  }
  const distance = both <= 0 ? ra + rb + 10 : (near + far) / 2;
  const width = 420;
  const left = (width - (ra + distance + rb)) / 2;
  const [xa, xb] = [left + ra, left + ra + distance];
  const label = `${nameA} alone ${count(onlyA)}, both ${count(both)}, ${nameB} alone ${count(onlyB)}`;
  const short = (name) => (name.length > 24 ? `…${name.slice(-23)}` : name);
  return s(
    "svg",
    { class: "venn", viewBox: `0 0 ${width} 200`, role: "img", "aria-label": label },
    s("circle", { cx: xa, cy: 84, r: ra }),
    s("circle", { class: "b", cx: xb, cy: 84, r: rb }),
    s("text", { x: Math.max(70, left + Math.min(ra, (xb - rb - (xa - ra)) / 2)), y: 186, class: "small" }, `${short(nameA)}: ${count(a)}`),
    s("text", { x: Math.min(width - 70, Math.max(xb, width * 0.72)), y: 186, class: "small" }, `${short(nameB)}: ${count(b)}`),
    both > 0 ? s("text", { x: (Math.max(xa - ra, xb - rb) + Math.min(xa + ra, xb + rb)) / 2, y: 89 }, count(both)) : null,
  );
}
