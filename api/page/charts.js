// Charts, drawn by the plot library, which the service serves from an installed package.

import { WINDOW_SECONDS } from "./series.js";

const SHORTEST_WINDOW_SECONDS = 30;
const MOST_ON_LINEAR_AXIS = 10;
const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };
const MISSING =
  "Charts need the package plotly where the service runs: pip install plotly. " +
  "The figures and tables on this page are complete without it.";

// In addition to the colours, which not everyone can distinguish.
export const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "star"];
export const COLOURS = SYMBOLS.length;

/** Loads the plot library; resolves to null if the service does not have it. */
function loadLibrary() {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = "page/plotly.min.js";
    script.addEventListener("load", () => resolve(globalThis.Plotly ?? null));
    script.addEventListener("error", () => resolve(null));
    document.head.append(script);
  });
}

export class Charts {
  #plotly = null;
  #colours = null;
  #pending = new Map();
  #isDrawing = false;

  /** Load the plot library. If it is missing, say so in place of the charts. */
  async load() {
    this.#plotly = await loadLibrary();
    if (this.#plotly !== null) return;
    for (const chart of document.querySelectorAll(".chart")) {
      chart.classList.add("missing");
      chart.textContent = MISSING;
    }
  }

  get areReady() {
    return this.#plotly !== null;
  }

  /** Read the theme's colours again. */
  changeTheme() {
    this.#colours = null;
  }

  /** The colour of a name in the style sheet, as the present theme has it. */
  colour(name) {
    this.#colours ??= readColours();
    return this.#colours[name];
  }

  /** Draw traces into the element of this id, soon; `label` says in words what they show. */
  draw(id, traces, axes) {
    this.#pending.set(id, [traces, axes]);
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(() => this.#drawNext());
  }

  /** Draw one chart at a time, so that the page can do something else in between. */
  #drawNext() {
    const [next] = this.#pending;
    if (next === undefined) {
      this.#isDrawing = false;
      return;
    }
    const [id, [traces, { x, y, label }]] = next;
    this.#pending.delete(id);
    const element = document.getElementById(id);
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
    if (this.#plotly !== null) {
      this.#plotly.react(element, traces, this.#layout(x, y), CONFIG);
      showLegend(document.getElementById(`${id}-legend`), traces);
    }
    setTimeout(() => this.#drawNext());
  }

  #layout(x, y) {
    const axis = {
      gridcolor: this.colour("grid"),
      linecolor: this.colour("grid"),
      zeroline: false,
      fixedrange: true,
      automargin: true,
      tickfont: { size: 11 },
      title: { font: { size: 11 }, standoff: 6 },
    };
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, color: this.colour("muted") },
      margin: { l: 8, r: 12, t: 4, b: 8 },
      dragmode: false,
      hovermode: "closest",
      hoverlabel: {
        bgcolor: this.colour("card"),
        bordercolor: this.colour("grid"),
        font: { size: 12, color: this.colour("text") },
      },
      showlegend: false, // the legend is made of elements, which wrap on a narrow page
      xaxis: merge(axis, x),
      yaxis: merge(axis, { rangemode: "tozero", nticks: 6, ...y }),
    };
  }
}

/** An axis of the last minutes before `until`, in seconds; as long as there is something in it. */
export function timeAxis(since, until) {
  const start = Math.max(until - WINDOW_SECONDS, Math.min(since, until - SHORTEST_WINDOW_SECONDS));
  return {
    type: "date",
    range: [localTime(start * 1000), localTime(until * 1000)],
    tickformat: "%H:%M:%S",
    hoverformat: "%H:%M:%S",
    nticks: 5,
    showgrid: false,
  };
}

/**
 * An axis of durations that shows these: 0, 200 ms, 400 ms. Where some are many times as long as
 * others it is logarithmic, else the short ones would lie flat on the ground.
 */
export function secondsAxis(title, durations) {
  const positive = durations.filter((value) => value > 0);
  const least = Math.min(...positive);
  const most = Math.max(...positive);
  if (!(most > MOST_ON_LINEAR_AXIS * least)) {
    return { title: { text: title }, tickformat: ".3~s", ticksuffix: "s" };
  }
  const margin = 0.04 * Math.log10(most / least);
  return {
    type: "log",
    title: { text: `${title}, log scale` },
    range: [Math.log10(least) - margin, Math.log10(most) + margin],
    ...logTicks(least, most),
  };
}

/** Ticks at powers of ten, and if these are few at two and five times them. */
function logTicks(least, most) {
  const steps = most / least < 1_000 ? [1, 2, 5] : [1];
  const values = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power += 1) {
    for (const step of steps) values.push(Number(`${step}e${power}`));
  }
  return { tickmode: "array", tickvals: values, ticktext: values.map(shortSeconds) };
}

/** A round duration: 5 ms, 20 s. */
function shortSeconds(value) {
  const units = [["s", 1], ["ms", 1e-3], ["µs", 1e-6]];
  const [unit, size] = units.find(([, size]) => value >= size) ?? units.at(-1);
  return `${Number((value / size).toPrecision(3)).toLocaleString("en")} ${unit}`;
}

/** Times as the plot library takes them: without a zone, so they have to be local already. */
export function localTime(milliseconds) {
  const offset = new Date(milliseconds).getTimezoneOffset() * 60_000;
  return new Date(milliseconds - offset).toISOString().slice(0, -1);
}

function showLegend(list, traces) {
  if (list === null) return;
  const keys = traces.map(({ name, line }) => `${name} ${line.color} ${line.dash}`).join("\n");
  if (list.dataset.keys === keys) return;
  list.dataset.keys = keys;
  list.replaceChildren(
    ...traces.map(({ name, line }) => {
      const item = document.createElement("li");
      item.dataset.dash = line.dash ?? "solid";
      item.style.setProperty("--series", line.color);
      item.textContent = name;
      return item;
    }),
  );
}

function merge(axis, more) {
  return { ...axis, ...more, title: { ...axis.title, ...more.title } };
}

/** The style sheet's colours as the browser resolves them, light or dark. */
function readColours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const names = ["text", "muted", "card", "grid", "bound"];
  for (let index = 0; index < COLOURS; index += 1) names.push(`series-${index}`);
  const colours = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colours;
}
