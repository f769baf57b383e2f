// The figures that the page opens with: one card per queue, the stalest queue first.

import { STALENESS } from "./figures.js";
import * as format from "./format.js";

const ORDER_SECONDS = 30; // cards must not change places with every fluctuation
const OVERTAKES_BY = 1.05;
export const FIGURE_SECONDS = 5;

/** Keep the queues in their order, except that a clearly staler one moves ahead. */
export function stalestFirst(model, names, of) {
  const known = names.filter((name) => model.queues.has(name));
  const order = [...known, ...[...model.queues.keys()].filter((name) => !known.includes(name))];
  const values = new Map(
    order.map((name) => [name, staleness(model, name, of, ORDER_SECONDS) ?? 0]),
  );
  for (let end = order.length - 1; end > 0; end -= 1) {
    for (let at = 0; at < end; at += 1) {
      if (values.get(order[at + 1]) > OVERTAKES_BY * values.get(order[at])) {
        [order[at], order[at + 1]] = [order[at + 1], order[at]];
      }
    }
  }
  return order;
}

/** The staleness over the last `seconds`, in seconds; null while it is not known. */
function staleness(model, name, of, seconds) {
  const queue = model.queues.get(name);
  if (queue.serves === "push") return stalestConnection(queue);
  if (queue.keys === 0) return null;
  return model.series(`queue/${name}`).recent(STALENESS[of].present, seconds);
}

/** The mean queue staleness of the stalest push connection; null if there is no connection. */
export function stalestConnection({ subscribers }) {
  const known = subscribers.map((record) => record.queue_staleness);
  return known.length === 0 ? null : Math.max(...known);
}

/** What the card of a queue says: the figure, where it is heading, and a note. */
export function cardOf(model, name, of) {
  const queue = model.queues.get(name);
  const figure = format.shortSeconds(staleness(model, name, of, FIGURE_SECONDS));
  if (queue.serves === "push") {
    const count = format.count(queue.subscriber_count);
    const connections = queue.subscriber_count === 1 ? "1 connection" : `${count} connections`;
    const note = queue.subscriber_count > 1 ? `stalest of ${connections}` : connections;
    return { name, figure, trend: "", note: `pushed, ${note}` };
  }
  if (queue.keys === 0) return { name, figure, trend: "", note: "no update yet" };
  const trend = model.series(`queue/${name}`).trend(STALENESS[of].present);
  return { name, figure, trend, note: againstBound(queue, of) };
}

/** The mean since the start as a multiple of the lower bound. */
export function againstBound(queue, of) {
  const { ratio, bound, isWarmingUp } = STALENESS[of];
  if (queue[bound] === null) return "lower bound not known yet";
  if (queue[isWarmingUp]) return "warming up";
  if (queue[ratio] === null) return `lower bound ${format.seconds(queue[bound])}`;
  return `${format.ratio(queue[ratio])} the lower bound`;
}

/** The sentences above the cards. */
export function lead(model) {
  const { demo } = model.service;
  const queues = [...model.queues.values()];
  if (demo === null || !queues.every(({ stream }) => stream === demo.stream)) {
    return "How far each queue's consumer is behind its stream, as a mean over keys.";
  }
  const consumed = 1 / demo.seconds_per_update;
  return (
    `${queues.length} queues get the same ${format.count(demo.updates_per_second)} updates per ` +
    `second of ${demo.keys} keys. Each has a slow consumer that takes ` +
    `${format.count(consumed)} per second. How old is the consumer's data?`
  );
}
