// The last five minutes of each state, for the charts over time.

export const WINDOW_SECONDS = 300;
const LONGEST_GAP_SECONDS = 10;
const TREND_SECONDS = 30;
const SHORTEST_TREND_SECONDS = 6;
const CHANGES_BY = 0.15; // from one third of these seconds to the next
const CHANGES_PER_SECOND = 0.05; // of staleness, in seconds: a consumer falls behind by 5 %

const GAUGES = [
  "present_queue_staleness",
  "present_application_staleness",
  "lower_bound",
  "application_lower_bound",
  "memory",
];
const COUNTERS = ["arrived", "superseded", "delivered", "processor_seconds"];

const numberOrNull = (value) => (typeof value === "number" ? value : null);

function mean(values) {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Whether these means of three spans of time rise, by more than a fluctuation. */
function isGrowth([first, middle, last], span) {
  const least = Math.min(CHANGES_BY * middle, (CHANGES_PER_SECOND * span) / 3);
  return middle - first > least && last - middle > least;
}

/** The samples of a queue, of a stream or of the service: a column of times, one per number. */
export class Series {
  #newest = null;

  constructor() {
    this.times = [];
    this.columns = {};
    for (const name of [...GAUGES, ...COUNTERS]) this.columns[name] = [];
  }

  /** Take in a state. Counters become what they grew by per second. */
  add(state) {
    const before = this.#newest;
    if (before !== null && state.time <= before.time) return;
    const elapsed = before === null ? Infinity : state.time - before.time;
    if (elapsed > LONGEST_GAP_SECONDS && before !== null) this.#break(before.time);
    this.#newest = state;
    this.times.push(state.time * 1000);
    for (const name of GAUGES) this.columns[name].push(numberOrNull(state[name]));
    for (const name of COUNTERS) {
      const grown = before === null ? NaN : state[name] - before[name];
      this.columns[name].push(grown >= 0 && elapsed < Infinity ? grown / elapsed : null);
    }
    this.#trim(state.time - WINDOW_SECONDS);
  }

  /** The newest value of a column, null if it is not known. */
  last(name) {
    return this.columns[name].at(-1) ?? null;
  }

  /** The mean of a column over the last `seconds`, null if nothing is known of them. */
  recent(name, seconds) {
    return mean(this.#points(name, seconds).map(({ value }) => value));
  }

  /** Where a column is heading: "growing", "falling" or "steady"; "" while that is not known. */
  trend(name) {
    const all = this.#points(name, TREND_SECONDS);
    const points = all.slice(all.findIndex(({ value }) => value > 0)); // from the first update on
    const span = points.length < 2 ? 0 : points.at(-1).time - points[0].time;
    if (span < SHORTEST_TREND_SECONDS) return "";
    const thirds = [0, 1, 2].map((third) =>
      mean(
        points
          .filter(({ time }) => Math.min(2, Math.floor((3 * (time - points[0].time)) / span)) === third)
          .map(({ value }) => value),
      ),
    );
    if (thirds.includes(null)) return "";
    if (isGrowth(thirds, span)) return "growing";
    return isGrowth([...thirds].reverse(), span) ? "falling" : "steady";
  }

  /** The known points of the last `seconds`, with their times in seconds. */
  #points(name, seconds) {
    const since = (this.times.at(-1) ?? 0) - seconds * 1000;
    const column = this.columns[name];
    const points = [];
    for (let at = this.times.length - 1; at >= 0 && this.times[at] >= since; at -= 1) {
      if (column[at] !== null) points.unshift({ time: this.times[at] / 1000, value: column[at] });
    }
    return points;
  }

  /** Leave a gap where no state was received, instead of a line across it. */
  #break(time) {
    this.times.push((time + 1) * 1000);
    for (const column of Object.values(this.columns)) column.push(null);
  }

  #trim(since) {
    let old = 0;
    while (old < this.times.length && this.times[old] < since * 1000) old += 1;
    if (old === 0) return;
    this.times.splice(0, old);
    for (const column of Object.values(this.columns)) column.splice(0, old);
  }
}
