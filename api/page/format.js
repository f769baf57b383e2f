// Numbers as text, with their units.

const LOCALE = "en";
const WHOLE = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const THREE_DIGITS = new Intl.NumberFormat(LOCALE, {
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const TWO_DIGITS = new Intl.NumberFormat(LOCALE, {
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 2,
});
const SHARE = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 0 });

export const NONE = "–";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function threeDigits(value) {
  return Math.abs(value) >= 999.5 ? WHOLE.format(value) : THREE_DIGITS.format(value);
}

/** A whole number: 12,345. */
export function count(value) {
  return isNumber(value) ? WHOLE.format(value) : NONE;
}

/** A duration: 250 µs, 41.3 ms, 2.50 s, 4 min, 3.2 h. */
export function seconds(value) {
  if (!isNumber(value)) return NONE;
  if (value === 0) return "0 s";
  if (value < 0.000_999_5) return `${threeDigits(value * 1e6)} µs`;
  if (value < 0.999_5) return `${threeDigits(value * 1e3)} ms`;
  if (value < 119.5) return `${threeDigits(value)} s`;
  if (value < 7_200) return `${WHOLE.format(value / 60)} min`;
  if (value < 172_800) return `${threeDigits(value / 3_600)} h`;
  return `${threeDigits(value / 86_400)} days`;
}

/** A duration in two digits, for large type: 76 ms, 1.2 s, 104 s. */
export function shortSeconds(value) {
  if (!isNumber(value)) return NONE;
  if (value >= 999.5) return seconds(value);
  if (value >= 9.95) return `${WHOLE.format(value)} s`;
  if (value >= 0.999_5) return `${TWO_DIGITS.format(value)} s`;
  if (value >= 0.000_999_5) return `${TWO_DIGITS.format(value * 1e3)} ms`;
  return seconds(value);
}

/** So many a second, or a minute or an hour where a second is too short: 1,003 /s, 4.20 /min. */
export function rate(value) {
  if (!isNumber(value)) return NONE;
  if (value === 0) return "0 /s";
  if (value >= 999_500) return `${threeDigits(value / 1e6)} M/s`;
  if (value >= 0.1) return `${threeDigits(value)} /s`;
  if (value * 60 >= 0.1) return `${threeDigits(value * 60)} /min`;
  return `${threeDigits(value * 3_600)} /h`;
}

/** Bytes in powers of ten: 84.2 MB. */
export function bytes(value) {
  if (!isNumber(value)) return NONE;
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (value >= size) return `${threeDigits(value / size)} ${unit}`;
  }
  return `${WHOLE.format(value)} B`;
}

/** A part of a whole: 74%. */
export function share(value) {
  return isNumber(value) ? SHARE.format(value) : NONE;
}

/** How many times the lower bound: 1.03 ×. */
export function ratio(value) {
  return isNumber(value) ? `${threeDigits(value)} ×` : NONE;
}
