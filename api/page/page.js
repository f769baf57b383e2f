// The page: what is chosen on it, and when it is drawn.

import { COLOURS, Charts } from "./charts.js";
import { Feed, feedAddress } from "./feed.js";
import { STALENESS, drawMemory, drawRanks, drawRates, drawStaleness } from "./figures.js";
import * as format from "./format.js";
import { Model } from "./model.js";
import { showFigures, showStalest, showStreams, showSubscribers } from "./tables.js";
import { Tabs } from "./tabs.js";

const DRAW_EVERY_MILLISECONDS = 900;
const GATHER_MILLISECONDS = 120; // the states of all queues come one after the other
const SILENT_AFTER_SECONDS = 20;
const HISTORY_MILLISECONDS = 2000;
const MOST_COMPARED = COLOURS - 1;

const byId = (id) => document.getElementById(id);
const model = new Model();
const charts = new Charts();
const tabs = new Tabs(byId("tabs"), byId("queue-panel"), choose);
const slots = new Map(); // the colours of the queues that are shown
const choice = { queue: chosenByAddress(), of: "queue", shown: null, isPaused: false };
const connection = { state: "connecting", retryAt: 0, heardAt: 0 };
let drawTimer = null;
let drawnAt = 0;

// What is chosen.

function chosenByAddress() {
  const name = new URLSearchParams(location.hash.slice(1)).get("queue");
  return name === "" ? null : name;
}

function choose(name) {
  choice.queue = name;
  history.replaceState(null, "", `#${new URLSearchParams({ queue: name })}`);
  draw();
}

/** The queue that is looked at: the one that was chosen if it exists, else the first one. */
function chosenQueue() {
  return model.queues.get(choice.queue) ?? model.queues.values().next().value;
}

/** What the chosen queue is compared with: others of its stream, unless somebody said otherwise. */
function comparedWith(chosen) {
  const isWanted =
    choice.shown === null
      ? ({ stream }) => stream === chosen.stream
      : ({ name }) => choice.shown.has(name);
  const others = [...model.queues.values()].filter(({ name }) => name !== chosen.name);
  return others.filter(isWanted).slice(0, MOST_COMPARED);
}

/** The names and colours that the charts show, the chosen queue first. */
function shownQueues(chosen) {
  const names = [chosen, ...comparedWith(chosen)].map(({ name }) => name);
  for (const name of slots.keys()) if (!names.includes(name)) slots.delete(name);
  for (const name of names) if (!slots.has(name)) slots.set(name, freeSlot());
  return names.map((name) => ({ name, slot: slots.get(name) }));
}

function freeSlot() {
  const taken = new Set(slots.values());
  let slot = 0;
  while (taken.has(slot)) slot += 1;
  return slot;
}

function colourOf(name) {
  return slots.has(name) ? `var(--series-${slots.get(name)})` : "var(--edge)";
}

// What is shown.

function drawSoon() {
  if (drawTimer !== null || choice.isPaused || document.hidden) return;
  const wait = Math.max(GATHER_MILLISECONDS, drawnAt + DRAW_EVERY_MILLISECONDS - performance.now());
  drawTimer = setTimeout(draw, wait);
}

function draw() {
  clearTimeout(drawTimer);
  drawTimer = null;
  drawnAt = performance.now();
  if (model.service === null) return;
  const chosen = chosenQueue();
  byId("empty").hidden = chosen !== undefined;
  byId("queues").hidden = chosen === undefined;
  byId("service").hidden = false;
  showService();
  if (chosen !== undefined) showQueue(chosen);
}

function showService() {
  const { service } = model;
  const busy = model.series("service").last("processor_seconds");
  showFigures(byId("facts"), [
    ["Memory", format.bytes(service.memory)],
    ["Processor", format.share(busy)],
    ["Updates", format.rate(service.updates_per_second)],
    ["Streams", format.count(service.streams)],
    ["Queues", format.count(service.queues)],
    ["Subscribers", format.count(service.subscribers)],
    ["Up", format.seconds(service.uptime)],
    ...(service.event_logs_failed > 0
      ? [["Event logs ended early", format.count(service.event_logs_failed)]]
      : []),
  ]);
  byId("version").textContent = `UpStream ${service.version}, run ${service.run}`;
  byId("memory-hint").textContent = `${format.bytes(service.memory)} now`;
  drawMemory(charts, model.series("service"));
  showStreams(model);
}

function showQueue(chosen) {
  const { of } = choice;
  const shown = shownQueues(chosen);
  showTabs(chosen);
  showComparison(chosen);
  byId("about").textContent = aboutQueue(chosen);
  byId("staleness-hint").textContent = STALENESS[of].meaning;
  showTiles(chosen);
  drawStaleness(charts, model, shown, of);
  drawRates(charts, model.series(`queue/${chosen.name}`));
  byId("rates-hint").textContent = losses(chosen);
  drawRanks(charts, model, shown, of);
  showStalest(chosen, of);
  showSubscribers(chosen);
  byId("command-watch").textContent = `curl -N ${address(`v1/queues/${chosen.name}/events`)}`;
  byId("command-put").textContent = updateCommand(chosen.stream);
}

function showTabs(chosen) {
  const entries = [...model.queues.values()].map((queue) => ({
    name: queue.name,
    note: format.seconds(queue[STALENESS[choice.of].mean]),
    colour: colourOf(queue.name),
  }));
  tabs.show(entries, chosen.name);
}

function aboutQueue({ stream, kind, scheduler, serves, worst_key: worst }) {
  const order = scheduler === null ? "" : `, served by ${scheduler}`;
  const stalest = worst === null ? "" : ` Its stalest key is ${worst}.`;
  const rests =
    serves === "push"
      ? " Only push connections use it: each has a queue of its own, shown under Subscribers. " +
        "This one stays empty until something is dequeued from it."
      : "";
  return `${capitalized(kind)} queue of stream ${stream}${order}.${stalest}${rests}`;
}

function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function losses(queue) {
  const kinds = ["late", "expired", "shed", "rejected"];
  return `So far: ${kinds.map((kind) => `${format.count(queue[kind])} ${kind}`).join(", ")}`;
}

function showTiles(queue) {
  const series = model.series(`queue/${queue.name}`);
  const arrived = series.last("arrived");
  const superseded = series.last("superseded");
  const best = (kind) => {
    const { ratio, bound, isWarmingUp } = STALENESS[kind];
    if (queue[bound] === null) return "lower bound not known yet";
    if (queue[isWarmingUp]) return "warming up";
    if (queue[ratio] === null) return `lower bound ${format.seconds(queue[bound])}`;
    return `${format.ratio(queue[ratio])} the lower bound`;
  };
  showFigures(byId("tiles"), [
    ["Queue staleness", format.seconds(queue.queue_staleness), best("queue")],
    ["Application staleness", format.seconds(queue.application_staleness), best("application")],
    [
      "Lower bound",
      format.seconds(queue.lower_bound),
      queue.cost === null
        ? "cost not known yet"
        : `expected under memoryless arrivals, at ${format.seconds(queue.cost)} per update`,
    ],
    ["Waiting", format.count(queue.waiting), `of ${format.count(queue.keys)} keys`],
    [
      "Arriving",
      format.rate(arrived),
      arrived > 0 ? `${format.share(superseded / arrived)} superseded` : "nothing at present",
    ],
    [
      "Delivered",
      format.rate(series.last("delivered")),
      `${format.count(queue.in_process)} in process`,
    ],
  ]);
}

/** A box per other queue, made anew only when the queues change, so that focus stays. */
function showComparison(chosen) {
  const others = [...model.queues.values()].filter(({ name }) => name !== chosen.name);
  const compared = new Set(comparedWith(chosen).map(({ name }) => name));
  const chips = byId("compare-chips");
  byId("compare").hidden = others.length === 0;
  const names = others.map(({ name }) => name).join("\n");
  if (chips.dataset.names !== names) {
    chips.dataset.names = names;
    chips.replaceChildren(...others.map(chip));
  }
  for (const [index, { name }] of others.entries()) {
    const label = chips.children[index];
    const box = label.firstElementChild;
    box.checked = compared.has(name);
    box.disabled = !box.checked && compared.size === MOST_COMPARED;
    label.style.setProperty("--series", colourOf(name));
  }
}

function chip({ name }) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.addEventListener("change", () => {
    choice.shown = new Set(slots.keys());
    if (box.checked) choice.shown.add(name);
    else choice.shown.delete(name);
    draw();
  });
  label.append(box, name);
  return label;
}

// The connection.

const CONNECTION_TEXTS = {
  connecting: "Connecting",
  live: "Live",
  waiting: "Not connected",
  silent: "Connected, but nothing is heard",
  paused: "Paused",
};

/** Show the state, and how long until the next try apart from it: it need not be read out. */
function showConnection() {
  const now = performance.now();
  let { state } = connection;
  if (state === "live" && now - connection.heardAt > SILENT_AFTER_SECONDS * 1000) state = "silent";
  if (state === "live" && choice.isPaused) state = "paused";
  byId("connection").dataset.state = state;
  const text = byId("connection-text");
  if (text.textContent !== CONNECTION_TEXTS[state]) text.textContent = CONNECTION_TEXTS[state];
  const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
  byId("retry").textContent = state === "waiting" ? `trying again in ${seconds} s` : "";
}

const feed = new Feed(feedAddress(), {
  onMessage(message) {
    connection.heardAt = performance.now();
    model.take(message);
    drawSoon();
  },
  onState(state, retrySeconds = 0) {
    connection.state = state;
    connection.retryAt = performance.now() + retrySeconds * 1000;
    showConnection();
  },
});

// What can be done here.

function address(path) {
  return new URL(path, document.baseURI).href;
}

function updateCommand(stream) {
  return [
    `curl ${address(`v1/streams/${stream}/updates`)}`,
    "  -H 'content-type: application/json'",
    `  -d '{"key": "IBM", "value": 24.5}'`,
  ].join(" \\\n");
}

function showCommands() {
  byId("command-queue").textContent = `curl -X PUT ${address("v1/queues/trades")}`;
  byId("command-update").textContent = updateCommand("trades");
  byId("command-dequeue").textContent = `curl -X POST ${address("v1/queues/trades/dequeue")}`;
}

byId("pause").addEventListener("click", (event) => {
  choice.isPaused = !choice.isPaused;
  event.target.setAttribute("aria-pressed", String(choice.isPaused));
  clearTimeout(drawTimer);
  drawTimer = null;
  showConnection();
  drawSoon();
});

for (const radio of document.querySelectorAll("input[name=of]")) {
  radio.addEventListener("change", () => {
    choice.of = radio.value;
    draw();
  });
}

addEventListener("themechange", () => {
  charts.changeTheme();
  draw();
});
document.addEventListener("visibilitychange", drawSoon);
addEventListener("online", () => feed.open());
setInterval(showConnection, 1000);

/** Let the charts begin with the last minutes, if the service tells them soon. */
async function loadHistory() {
  const answer = await fetch(address("page/history.json"), {
    signal: AbortSignal.timeout(HISTORY_MILLISECONDS),
  });
  if (answer.ok) model.seed(await answer.json());
}

showCommands();
loadHistory()
  .catch(() => {}) // the charts begin empty then
  .finally(() => feed.open());
charts.load().then(draw);
