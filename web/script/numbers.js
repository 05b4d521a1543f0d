// Numbers as people write and read them: the same words as on the command line.

/** Three digits that matter, without zeros behind the point. */
export function threeDigits(number) {
  const size = Math.abs(number);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  const text = number.toFixed(decimals);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export const grouped = (number) => Math.round(number).toLocaleString("en-US");

function withUnit(number, units) {
  let unit = 0;
  while (number >= 999.5 && unit + 1 < units.length) {
    number /= 1000;
    unit += 1;
  }
  return `${threeDigits(number)} ${units[unit]}`;
}

export const bytes = (number) => withUnit(number, ["bytes", "kB", "MB", "GB", "TB", "PB"]);

export const count = (number) =>
  number < 999_999.5 ? grouped(number) : withUnit(number / 1e6, ["million", "billion", "trillion"]);

export function rate(value) {
  const percent = 100 * value;
  if (percent === 0) return "0 %";
  if (percent >= 0.995) return `${threeDigits(percent)} %`;
  if (percent >= 0.0001) {
    const decimals = 2 - Math.floor(Math.log10(percent));
    return `${percent.toFixed(decimals).replace(/\.?0+$/, "")} %`;
  }
  return value.toExponential(1);
}

export function time(seconds) {
  if (seconds === 0) return "0";
  if (seconds < 999.5e-9) return `${threeDigits(seconds * 1e9)} ns`;
  if (seconds < 999.5e-6) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${threeDigits(seconds * 1e3)} ms`;
  return `${threeDigits(seconds)} s`;
}

const number = (text) => (/^[+]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN);

function scaled(text, units) {
  const clean = text.trim().replaceAll(",", "").toLowerCase();
  for (const [name, unit] of units) {
    if (clean.endsWith(name)) return number(clean.slice(0, -name.length).trim()) * unit;
  }
  return number(clean);
}

/** A count: 1000, 10k, 5M, 2G, 1e6, 3 million. NaN if it is none. */
export const parseCount = (text) =>
  Math.round(
    scaled(text, [["million", 1e6], ["billion", 1e9], ["k", 1e3], ["m", 1e6], ["g", 1e9], ["b", 1e9], ["t", 1e12]]),
  );

/** A rate: 1%, 0.01, 1e-2. */
export const parseRate = (text) => scaled(text, [["%", 0.01]]);

/** A time: 100ns, 5us, 5ms, 2s. */
export const parseTime = (text) => scaled(text, [["ns", 1e-9], ["us", 1e-6], ["µs", 1e-6], ["ms", 1e-3], ["s", 1]]);
