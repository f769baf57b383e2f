// What the charts over time show: the last five minutes of each state, sampled as it comes.

export const WINDOW_SECONDS = 300;
const LONGEST_GAP_SECONDS = 10;

const GAUGES = [
  "present_queue_staleness",
  "present_application_staleness",
  "lower_bound",
  "application_lower_bound",
  "memory",
];
const COUNTERS = ["arrived", "superseded", "delivered", "processor_seconds"];

const numberOrNull = (value) => (typeof value === "number" ? value : null);

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

  /** Leave a hole where nothing was heard, instead of a line across it. */
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
