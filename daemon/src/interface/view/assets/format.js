// Writes times, numbers and names for people, in the time zone and language of the browser.

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const NUMBER = new Intl.NumberFormat();

/** Steps of a relative time: seconds of a unit, and up to how many seconds it is used. */
const RELATIVE_STEPS = /** @type {[Intl.RelativeTimeFormatUnit, number, number][]} */ ([
  ["second", 1, 50],
  ["minute", 60, 50 * 60],
  ["hour", 3600, 22 * 3600],
  ["day", 86_400, 7 * 86_400],
]);

/** Writes a time briefly: how long ago within a week, otherwise the day. */
function shortTime(/** @type {string | undefined | null} */ iso) {
  if (!iso) return "never";
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return iso;
  const seconds = (time - Date.now()) / 1000;
  for (const [unit, size, until] of RELATIVE_STEPS) {
    if (Math.abs(seconds) < until) return RELATIVE.format(Math.round(seconds / size), unit);
  }
  return DAY.format(time);
}

/** Creates an element with a time: briefly, and exactly on hover. */
function timeOf(/** @type {string | undefined | null} */ iso) {
  if (!iso || Number.isNaN(Date.parse(iso))) return h("span", null, shortTime(iso));
  return h("time", { datetime: iso, title: EXACT.format(Date.parse(iso)) }, shortTime(iso));
}

/** Writes day and time. */
function longTime(/** @type {string} */ iso) {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : MOMENT.format(time);
}

/** Returns the day of a time in this time zone as `2026-01-31`. A day stays as it is. */
function dayKey(/** @type {string} */ iso) {
  if (/^\d{4}-\d{2}-\d{2}$/.test(iso)) return iso;
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso.slice(0, 10);
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Writes the day of a `dayKey`. */
function dayName(/** @type {string} */ key) {
  const [year, month, day] = key.split("-").map(Number);
  return year && month && day ? WEEKDAY.format(new Date(year, month - 1, day)) : key;
}

/** Writes the month of `2026-03`. */
function monthName(/** @type {string} */ key) {
  const time = Date.parse(`${key}-01T00:00:00Z`);
  return Number.isNaN(time) ? key : MONTH.format(time);
}

/**
 * Adds the months without memories, so that equal distances are equal times.
 * @param {{value: string, count: number}[]} months sorted
 */
function withGaps(months) {
  const counts = new Map(months.map((entry) => [entry.value, entry.count]));
  const last = months.at(-1)?.value ?? "";
  const filled = [];
  let [year, month] = (months[0]?.value ?? "").split("-").map(Number);
  // A month far in the past or without a number is not led up to month by month.
  if (!year || !month || !/^\d{4}-\d{2}$/.test(last) || Number(last.slice(0, 4)) - year > 50) return months;
  for (let value = months[0].value; value <= last; ) {
    filled.push({ value, count: counts.get(value) ?? 0 });
    month += 1;
    if (month > 12) [year, month] = [year + 1, 1];
    value = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
  }
  return filled;
}

/** Returns the last day of the month `2026-03`. */
function lastDayOf(/** @type {string} */ month) {
  const [year, number] = month.split("-").map(Number);
  return `${month}-${String(new Date(Date.UTC(year, number, 0)).getUTCDate()).padStart(2, "0")}`;
}

/** Writes a number with its noun. */
function counted(/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many = `${one}s`) {
  return `${NUMBER.format(count)} ${count === 1 ? one : many}`;
}

/** Writes a number of memories. */
function memoriesOf(/** @type {number} */ count) {
  return counted(count, "memory", "memories");
}

/** Writes a size. */
function bytesOf(/** @type {number} */ bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let at = 0;
  let size = bytes;
  while (size >= 1024 && at < units.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${at === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[at]}`;
}

/** Writes a duration in seconds. */
function durationOf(/** @type {number} */ seconds) {
  if (seconds < 90) return counted(Math.round(seconds), "second");
  if (seconds < 5400) return counted(Math.round(seconds / 60), "minute");
  if (seconds < 129_600) return counted(Math.round(seconds / 3600), "hour");
  return counted(Math.round(seconds / 86_400), "day");
}

/** Writes a share of 1 in percent. */
function percent(/** @type {number} */ share) {
  return `${Math.round(share * 100)} %`;
}

/**
 * Writes who stored a memory: the client, or what stands for one.
 * @param {{client?: string, origin?: string}} memory
 */
function storedBy(memory) {
  if (memory.origin === "person") return "you";
  const client = visibleString(memory.client ?? "");
  if (memory.origin === "import") return client ? `${client} (import)` : "an import";
  if (memory.origin === "maintenance") return "maintenance";
  return client || "an agent";
}

/** Writes the last characters of an id, by which `loci inspect` finds it. */
function shortId(/** @type {string} */ id) {
  return id.slice(-8);
}

/** Writes a value of JSON. */
function valueText(/** @type {any} */ value) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "not set";
  return JSON.stringify(value);
}
