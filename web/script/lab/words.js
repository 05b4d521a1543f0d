// What happened, in words: the sentences under the stage.

import { count, rate } from "../numbers.js";
import { deedAt, steps as nestSteps } from "./nests.js";

const list = (items) => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`);

const tones = {
  new: "good", seen: "", found: "good", absent: "good", "false positive": "bad", lost: "bad", cleared: "warm", gone: "good", stolen: "bad", "not there": "", full: "bad",
};

const tags = {
  new: "new", seen: "seen before", found: "maybe: yes", absent: "surely not", "false positive": "false positive", lost: "denied!", cleared: "bits cleared", gone: "gone", stolen: "stole another's", "not there": "was not there", full: "refused",
};

export const tone = (outcome) => tones[outcome] ?? "";
export const tag = (outcome) => tags[outcome] ?? outcome;
export const sign = { insert: "+", ask: "?", remove: "−", clear: "×" };

/** [headline, explanation, tone] for a step of an event of a filter of bits or counters. */
export function ofBits(kind, shape, frames, index, step, owners) {
  const frame = frames[index];
  if (!frame) return ["An empty filter", "Put words in, ask for others, and step through what happens.", ""];
  const { key, positions, before, deed, outcome } = frame;
  const unit = kind === "counting" ? "counter" : "bit";
  const places = [...new Set(positions)];
  if (step === 0) return [`${key} is hashed`, `Its 64-bit digest under the seed of this filter. Nothing else of ${key} is used from here on.`, ""];
  if (step === 1) {
    const where = kind === "bloom" ? "" : ` All of them are in line ${Math.floor(places[0] / shape.line)}: one cache miss, whatever k is.`;
    return [`The digest names ${places.length === 1 ? `1 ${unit}` : `${places.length} ${unit}s`}`, `${list(places.map(String))}, of ${shape.cells}.${where}`, ""];
  }
  const set = places.filter((place) => before[positions.indexOf(place)] > 0);
  const clear = places.filter((place) => before[positions.indexOf(place)] === 0);
  if (step === 2) {
    if (deed === "insert" && kind === "counting") return ["Each of them counts one more", `${clear.length} of ${places.length} were 0 before. A counter that reaches 15 stays there for good.`, ""];
    if (deed === "insert") return [clear.length === 0 ? "All of them were set already" : `${clear.length} of them ${clear.length === 1 ? "is" : "are"} set now`, set.length > 0 && clear.length > 0 ? `${list(set.map(String))} ${set.length === 1 ? "was" : "were"} set before: keys share bits, and nobody can tell whose they are.` : clear.length === 0 ? "The filter is as it was." : "None was set before.", ""];
    if (deed === "remove" && outcome === "not there") return ["One of them is 0", `So ${key} is surely not inside, and nothing is changed.`, ""];
    if (deed === "remove") return ["Each of them counts one less", "What other keys have added stays.", ""];
    if (deed === "clear") return ["They are cleared", "That is what a filter of bits must never do.", "warm"];
    if (clear.length > 0) return [`${unit} ${clear[0]} is 0`, clear.length > 1 ? `So ${clear.length === places.length ? "are all the others" : `${clear.length === 2 ? "is" : "are"} ${list(clear.slice(1).map(String))}`}. One would be enough.` : "One is enough.", ""];
    return [`All ${places.length} are set`, "By whom, the filter does not know.", ""];
  }
  const sharers = [...new Set(places.flatMap((place) => [...(owners.get(place) ?? [])]))].filter((name) => name !== key);
  switch (outcome) {
    case "new":
      return [`${key} is in`, `It was surely not there before. ${frame.stats.set} of ${shape.cells} ${unit}s are in use now${frame.stats.fpp_now === null ? "." : `, so a stranger is taken for a key at a rate of ${rate(frame.stats.fpp_now)}.`}`, "good"];
    case "seen":
      return [`${key} may have been there before`, frame.inside ? `It was.${kind === "counting" ? ` It is counted ${frame.estimate} times now.` : ""}` : "It was not: all of its places belong to others. An insert of a new key can look like an old one, at the rate of false positives.", ""];
    case "found":
      return [`Maybe: ${key} may be inside`, `And it is${kind === "counting" ? `, ${frame.estimate === 1 ? "once" : `${frame.estimate} times`} by its least counter` : ""}. A key that was put in is never denied.`, "good"];
    case "absent":
      return [`Surely not: ${key} was never put in`, `Had it been, ${unit} ${clear[0]} would be ${kind === "counting" ? "above 0" : "set"}. This answer is certain.`, "good"];
    case "false positive":
      return [`A false positive: ${key} was never put in`, `All of its ${unit}s are set by others: ${list(sharers.map((name) => name))}. At this filling that happens to ${frame.stats.fpp_now === null ? "some" : rate(frame.stats.fpp_now)} of all strangers.`, "bad"];
    case "lost":
      return [`${key} is denied, although it was put in`, `${unit} ${clear[0]} was cleared with another key. A filter of bits cannot forget one key alone: try it with counters.`, "bad"];
    case "cleared": {
      const hurt = sharers.length > 0 ? `${list(sharers)} ${sharers.length === 1 ? "shares a bit with it and is" : "share bits with it and are"} now denied. Ask!` : "This time no other key shared a bit with it. Put more in and try again.";
      return [`The bits of ${key} are cleared`, hurt, sharers.length > 0 ? "bad" : "warm"];
    }
    case "gone":
      return [`${key} is out${frame.estimate > 0 ? ", once" : ""}`, `Its counters went down by one${sharers.length > 0 ? `, and ${list(sharers)}, who share${sharers.length === 1 ? "s" : ""} some of them, ${sharers.length === 1 ? "is" : "are"} still there: that is what counters are for.` : "."}`, "good"];
    case "stolen":
      return [`${key} was never put in, and yet something was taken`, "All of its counters were above 0, so it looked as if it were there. Others have lost a count: remove only what was inserted.", "bad"];
    default:
      return [`${key} was surely not there`, "Nothing has changed.", ""];
  }
}

/** The same for a table of nests. */
export function ofNests(shape, frames, index, step) {
  const frame = frames[index];
  if (!frame) return ["Empty nests", "Put words in and watch where they settle.", ""];
  const { key, candidates, outcome, deed } = frame;
  const digits = Math.ceil(shape.width / 4);
  const hex = (tag) => tag.toString(16).padStart(digits, "0");
  const nests = [...new Set(candidates.map(([bucket]) => bucket))];
  if (step === 0) return [`${key} is hashed`, `A part of its digest is its fingerprint, ${shape.width} bits; the rest names a nest.`, ""];
  if (step === 1) return [`Its fingerprint is ${hex(candidates[0][1])}, its nests ${list(nests.map(String))}`, "The fingerprint and one nest tell the others, so it can be moved later without the key.", ""];
  const looks = frame.steps.filter((one) => one.did === "looked").length;
  const done = deedAt(frame, step);
  if (done && step < nestSteps(frame) - 1) {
    const kicks = frame.steps.filter((one) => one.did === "moved").length;
    switch (done.did) {
      case "moved": {
        const who = frames[index].labels[done.to[0]]?.[done.to[1]] ?? "A fingerprint";
        return [`${who} is kicked from nest ${done.from[0]} to nest ${done.to[0]}`, `All nests of ${key} are full. ${looks} nests were looked into to find the shortest chain, of ${kicks} ${kicks === 1 ? "kick" : "kicks"}, before anything was written; the last of the chain moves first, into the empty slot.`, "warm"];
      }
      case "placed":
        return [`${key} settles in nest ${done.at[0]}`, kicks > 0 ? "In the slot that was vacated for it." : "In the emptier of its nests.", ""];
      case "counted":
        return [`${key} is counted beside the nests`, "Its fingerprint has slots already. A key that comes again and again must not fill its nests, so further copies are a count in a small table of their own.", "warm"];
      case "swept":
        return ["No slot within reach: second copies are cleared out", "Slots that hold a fingerprint twice are emptied and counted beside the nests, all at once.", "warm"];
      default:
        return ["The table is doubled", "One bit of each fingerprint goes to the number of its nest.", "warm"];
    }
  }
  const full = `${Math.round(100 * frame.stats.load)} % of the slots are used`;
  switch (outcome) {
    case "new":
      return [`${key} is in`, `${full}${frame.stats.fpp_now > 0 ? `; a stranger is taken for a key at a rate of ${rate(frame.stats.fpp_now)}` : ""}.`, "good"];
    case "seen":
      return [`${key} may have been there before`, frame.inside ? `It was, and can be removed ${count(frame.copies)} times now${frame.stats.counted > 0 ? `; ${count(frame.stats.counted)} keys are counted beside the nests` : ""}.` : "It was not: another key has the same fingerprint in the same nests.", ""];
    case "found":
      return [`Maybe: ${key} may be inside`, "Its fingerprint is in one of its nests, and the key is inside.", "good"];
    case "absent":
      return [`Surely not: ${key} is not inside`, `None of its nests holds ${hex(candidates[0][1])}.`, "good"];
    case "false positive":
      return [`A false positive: ${key} was never put in`, "Another key left the same fingerprint in one of its nests.", "bad"];
    case "lost":
      return [`${key} is denied, although it was put in`, "A key that was never inside has been removed, and took its fingerprint away.", "bad"];
    case "gone":
      return [`${key} is out`, `${full}. Nobody else is hurt: a fingerprint is one key's, unless two are alike in everything.`, "good"];
    case "stolen":
      return [`${key} was never put in, and yet a fingerprint is gone`, "It was alike, so another key is now denied: remove only what was inserted.", "bad"];
    case "full":
      return [`${key} is refused, and nothing has changed`, `${looks} nests were looked into and no chain of kicks ends in an empty slot. ${full}. Take something out, or take more nests.`, "bad"];
    default:
      return [`${key} was surely not there`, deed === "remove" ? "Nothing has changed." : "", ""];
  }
}
