// Figures and tables. Names and keys come from outside, so they are only ever set as text.

import { STALENESS } from "./figures.js";
import * as format from "./format.js";

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className !== undefined) made.className = className;
  return made;
}

/** Fill a description list with [label, value, note] triples, keeping the elements it has. */
export function showFigures(list, figures) {
  while (list.children.length > figures.length) list.lastElementChild.remove();
  while (list.children.length < figures.length) {
    const figure = element("div");
    figure.append(element("dt"), element("dd", "", "value"), element("dd", "", "note"));
    list.append(figure);
  }
  for (const [index, texts] of figures.entries()) {
    for (const [part, text] of texts.entries()) {
      const cell = list.children[index].children[part];
      if (cell.textContent !== text) cell.textContent = text;
      cell.hidden = text === "";
    }
  }
}

function showRows(id, rows) {
  document.getElementById(id).replaceChildren(...rows);
}

function row(header, cells) {
  const made = element("tr");
  const name = element("th", header);
  name.scope = "row";
  name.title = header;
  made.append(name, ...cells.map((text) => element("td", text, "number")));
  return made;
}

export function showStalest(queue, of) {
  const { mean, waits } = STALENESS[of];
  const stalest = [...queue.stalest_keys].sort((one, other) => other[mean] - one[mean]);
  const most = Math.max(...stalest.map((key) => key[mean]), Number.MIN_VALUE);
  showRows(
    "stalest",
    stalest.map((key) => {
      const made = row(key.key, [
        format.seconds(key[mean]),
        key[waits] > 0 ? format.seconds(key[waits]) : "fresh",
        format.rate(key.rate),
      ]);
      made.children[1].classList.add("bar");
      made.children[1].style.setProperty("--part", `${(100 * key[mean]) / most}%`);
      return made;
    }),
  );
}

export function showSubscribers({ subscribers, subscriber_count: count }) {
  showRows(
    "subscribers",
    subscribers.map((record) =>
      row(about(record), [
        format.rate(record.pace),
        format.seconds(record.queue_staleness),
        format.count(record.waiting),
        format.count(record.sent),
      ]),
    ),
  );
  const hidden = count - subscribers.length;
  const note = document.getElementById("subscribers-more");
  note.hidden = hidden === 0;
  note.textContent = `and ${format.count(hidden)} more`;
}

function about({ id, kind, window }) {
  const text = [id, kind].filter((part) => part !== undefined && part !== null).join(" · ");
  return typeof window === "number" ? `${text} · window ${window}` : text;
}

export function showStreams(model) {
  document.getElementById("streams-title").closest(".card").hidden = model.streams.size === 0;
  showRows(
    "streams",
    [...model.streams].map(([name, stream]) =>
      row(name, [
        format.count(stream.keys),
        format.rate(model.series(`stream/${name}`).last("arrived")),
        format.count(stream.arrived),
        format.count(stream.late),
        format.count(stream.rejected),
      ]),
    ),
  );
}
