// What is known of the service, by the names of its streams and queues.

import { Series } from "./series.js";

export class Model {
  constructor() {
    this.#clear();
  }

  /** Take in a message of the feed. A snapshot replaces the states, but not the charts' samples. */
  take({ updates, reset }) {
    const service = updates.findLast(({ key, deleted }) => key === "service" && !deleted)?.value;
    if (service !== undefined && this.service !== null && service.run !== this.service.run) {
      this.#clear(); // the service was restarted, so everything in it is new
    }
    if (reset) {
      this.streams.clear();
      this.queues.clear();
    }
    for (const update of updates) this.#take(update);
    // States come in the order of their staleness. A map of the model keeps that of creation.
    this.streams = inPlace(this.streams);
    this.queues = inPlace(this.queues);
    if (reset) this.#forgetSeries();
  }

  /** Take in the samples from before this page was opened, by key, oldest first. */
  seed(history) {
    for (const [key, states] of Object.entries(history)) {
      const series = new Series();
      for (const state of states) series.add(state);
      this.#series.set(key, series);
    }
  }

  #take({ key, value, deleted }) {
    const [kind, name] = split(key);
    const known = { stream: this.streams, queue: this.queues }[kind];
    if (deleted) {
      known?.delete(name);
      this.#series.delete(key);
      return;
    }
    if (known !== undefined) known.set(name, value);
    else if (key === "service") this.service = value;
    else return;
    if (!this.#series.has(key)) this.#series.set(key, new Series());
    this.#series.get(key).add(value);
  }

  /** The samples of `service`, `stream/NAME` or `queue/NAME`. */
  series(key) {
    return this.#series.get(key) ?? new Series();
  }

  #series;

  #clear() {
    this.service = null;
    this.streams = new Map();
    this.queues = new Map();
    this.#series = new Map();
  }

  #forgetSeries() {
    for (const key of this.#series.keys()) {
      const [kind, name] = split(key);
      const known = { stream: this.streams, queue: this.queues }[kind];
      if (known !== undefined && !known.has(name)) this.#series.delete(key);
    }
  }
}

/** The same, in the order in which they were created at the service. */
function inPlace(known) {
  return new Map([...known].sort(([, one], [, other]) => one.place - other.place));
}

function split(key) {
  const slash = key.indexOf("/");
  return slash < 0 ? [key, ""] : [key.slice(0, slash), key.slice(slash + 1)];
}
