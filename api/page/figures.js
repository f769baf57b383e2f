// What each chart shows.

import { SYMBOLS, localTime, secondsAxis, timeAxis } from "./charts.js";
import * as format from "./format.js";

const HOVER = "%{y:.3~s}s at %{x|%H:%M:%S}";
export const STALENESS = {
  queue: {
    title: "Queue staleness",
    meaning: "How long keys have waited in the queue, as a mean over keys",
    mean: "queue_staleness",
    present: "present_queue_staleness",
    bound: "lower_bound",
    ratio: "ratio",
    isWarmingUp: "is_warming_up",
    waits: "waiting_seconds",
    column: 2,
  },
  application: {
    title: "Application staleness",
    meaning: "How far the consumer is behind the stream, as a mean over keys",
    mean: "application_staleness",
    present: "present_application_staleness",
    bound: "application_lower_bound",
    ratio: "application_ratio",
    isWarmingUp: "application_is_warming_up",
    waits: "stale_seconds",
    column: 3,
  },
};

/** Names in a chart: the plot library would read some tags in them. */
const escaped = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function median(values) {
  const known = values.filter((value) => value !== null).sort((one, other) => one - other);
  return known[known.length >> 1];
}

const line = (colour, more = {}) => ({ color: colour, width: 1.75, ...more });

/** Staleness at each moment, of the chosen queue and those compared, and the lower bound. */
export function drawStaleness(charts, model, shown, of) {
  const { title, present, bound } = STALENESS[of];
  const traces = shown.map(({ name, slot }, index) => {
    const series = model.series(`queue/${name}`);
    return {
      name,
      x: series.times.map(localTime),
      y: [...series.columns[present]],
      mode: "lines",
      line: line(charts.colour(`series-${slot}`), { width: index === 0 ? 2.5 : 1.5 }),
      hovertemplate: `${HOVER}<extra>${escaped(name)}</extra>`,
    };
  });
  const durations = traces.flatMap(({ y }) => y);
  const chosen = model.series(`queue/${shown[0].name}`);
  if (chosen.columns[bound].some((value) => value !== null)) {
    traces.push({
      name: "lower bound",
      x: chosen.times.map(localTime),
      y: [...chosen.columns[bound]],
      mode: "lines",
      line: line(charts.colour("bound"), { dash: "dash" }),
      hovertemplate: `${HOVER}<extra>lower bound</extra>`,
    });
    durations.push(median(chosen.columns[bound])); // it is estimated, and may jump for a moment
  }
  const now = shown.map(
    ({ name }) => `${name} ${format.seconds(model.series(`queue/${name}`).last(present))}`,
  );
  charts.draw("staleness-chart", traces, {
    x: timeAxis(chosen.times[0] / 1000, chosen.times.at(-1) / 1000),
    y: secondsAxis("mean over keys", durations),
    label:
      `${title} over the last minutes. Now: ${now.join(", ")}; ` +
      `lower bound ${format.seconds(chosen.last(bound))}.`,
  });
}

/** What arrives, what is superseded and what is delivered, per second. */
export function drawRates(charts, series) {
  const kinds = [
    ["arrived", 0, "solid"],
    ["superseded", 1, "dot"],
    ["delivered", 2, "dash"],
  ];
  const times = series.times.map(localTime);
  const traces = kinds.map(([name, slot, dash]) => ({
    name,
    x: times,
    y: [...series.columns[name]],
    mode: "lines",
    line: line(charts.colour(`series-${slot}`), { dash }),
    hovertemplate: `%{y:,.3~r} /s at %{x|%H:%M:%S}<extra>${name}</extra>`,
  }));
  const now = kinds.map(([name]) => `${name} ${format.rate(series.last(name))}`);
  charts.draw("rates-chart", traces, {
    x: timeAxis(series.times[0] / 1000, series.times.at(-1) / 1000),
    y: { title: { text: "updates per second" }, tickformat: "~s" },
    label: `Updates per second over the last minutes. Now: ${now.join(", ")}.`,
  });
}

/** The mean staleness of keys by how busy they are: rank 1 is the busiest. */
export function drawRanks(charts, model, shown, of) {
  const { title, column } = STALENESS[of];
  const traces = shown.map(({ name, slot }, index) => {
    const rows = model.queues.get(name).ranks;
    return {
      name,
      x: rows.map((row) => row[0]),
      y: rows.map((row) => row[column]),
      customdata: rows.map((row) => format.rate(row[1])),
      mode: "lines+markers",
      line: line(charts.colour(`series-${slot}`), { width: index === 0 ? 2 : 1 }),
      marker: { size: index === 0 ? 6 : 5, symbol: SYMBOLS[slot] },
      hovertemplate: `%{y:.3~s}s<br>rank %{x}, %{customdata}<extra>${escaped(name)}</extra>`,
    };
  });
  const ends = model.queues.get(shown[0].name).ranks;
  const summary =
    ends.length === 0
      ? "No key has arrived in this queue yet."
      : `${shown[0].name}: ${format.seconds(ends[0][column])} for the busiest key, ` +
        `${format.seconds(ends.at(-1)[column])} for the quietest.`;
  charts.draw("ranks-chart", traces, {
    x: { type: "log", title: { text: "rank of the key by its updates, 1 = busiest" }, dtick: 1 },
    y: secondsAxis("mean over time", traces.flatMap(({ y }) => y)),
    label: `${title} by rank of the key. ${summary}`,
  });
}

/** The memory that the service's process occupies. */
export function drawMemory(charts, series) {
  charts.draw(
    "memory-chart",
    [
      {
        name: "memory",
        x: series.times.map(localTime),
        y: [...series.columns.memory],
        mode: "lines",
        line: line(charts.colour("series-0")),
        hovertemplate: "%{y:.4~s}B at %{x|%H:%M:%S}<extra></extra>",
      },
    ],
    {
      x: timeAxis(series.times[0] / 1000, series.times.at(-1) / 1000),
      y: { title: { text: "resident" }, tickformat: "~s", ticksuffix: "B", nticks: 4 },
      label:
        "Memory of the service over the last minutes. " +
        `Now ${format.bytes(series.last("memory"))}.`,
    },
  );
}
