// The page: what is chosen on it, and when it is drawn.

import { COLOURS, Charts } from "./charts.js";
import { Feed, feedAddress } from "./feed.js";
import { STALENESS, drawMemory, drawRanks, drawRates, drawStaleness } from "./figures.js";
import * as format from "./format.js";
import { Model } from "./model.js";
import { showFigures, showStalest, showStreams, showSubscribers } from "./tables.js";
import { FIGURE_SECONDS, againstBound, cardOf, lead, stalestConnection, stalestFirst } from "./overview.js";
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
const choice = {
  queue: chosenByAddress(),
  of: "application",
  first: null, // the queue that is shown while none is chosen
  shown: null, // the names of the queues compared, null for those of the same stream
  order: [], // the names of the cards, as they were shown last
  isSettled: false, // whether enough is known of all queues for their order to stay
  isPaused: false,
};
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

/** The queue whose details are shown: the chosen one, or else the first card, which stays. */
function chosenQueue() {
  if (!choice.isSettled) choice.order = [];
  orderCards();
  const { times } = model.series("service");
  const seconds = (times.at(-1) - times[0]) / 1000;
  choice.isSettled = model.queues.size >= model.service.queues && seconds >= FIGURE_SECONDS;
  if (model.queues.has(choice.queue)) return model.queues.get(choice.queue);
  if (!model.queues.has(choice.first) || !choice.isSettled) [choice.first] = choice.order;
  return model.queues.get(choice.first);
}

/** Put the stalest queue first, but not while the pointer or the focus is on the cards. */
function orderCards() {
  const isComplete = choice.order.length === model.queues.size;
  const isKnown = choice.order.every((name) => model.queues.has(name));
  if (isComplete && isKnown && byId("tabs").matches(":hover, :focus-within")) return;
  choice.order = stalestFirst(model, choice.order, choice.of);
}

/** What the chosen queue is compared with: others of its stream, unless boxes were changed. */
function comparedWith(chosen) {
  const isWanted =
    choice.shown === null
      ? ({ stream }) => stream === chosen.stream
      : ({ name }) => choice.shown.has(name);
  return comparable(chosen).filter(isWanted).slice(0, MOST_COMPARED);
}

/** The other queues that have something to show in the charts. */
function comparable(chosen) {
  return [...model.queues.values()].filter(({ name, keys }) => name !== chosen.name && keys > 0);
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
    ["Memory now", format.bytes(service.memory)],
    ["Processor now", format.share(busy)],
    ["Updates now", format.rate(service.updates_per_second)],
    ["Streams", format.count(service.streams)],
    ["Queues", format.count(service.queues)],
    ["Subscribers", format.count(service.subscribers)],
    ["Running for", format.seconds(service.uptime)],
    ...(service.event_logs_failed > 0
      ? [["Event logs ended early", format.count(service.event_logs_failed)]]
      : []),
  ]);
  byId("version").textContent = `UpStream ${service.version}, run ${service.run}`;
  byId("memory-hint").textContent = `${format.bytes(service.memory)} now; the last five minutes`;
  drawMemory(charts, model.series("service"));
  showStreams(model);
}

function showQueue(chosen) {
  const { of } = choice;
  const shown = shownQueues(chosen);
  showTabs(chosen);
  showComparison(chosen);
  byId("about").textContent = aboutQueue(chosen);
  byId("staleness-hint").textContent = `${STALENESS[of].meaning}, in the last five minutes`;
  showFigures(byId("tiles-now"), figuresNow(chosen));
  showFigures(byId("tiles-since"), figuresSince(chosen));
  const series = model.series(`queue/${chosen.name}`);
  const compared = shown.filter(({ name }) => model.queues.get(name).keys > 0);
  showPart("staleness", compared.length > 0, () => drawStaleness(charts, model, compared, of));
  showPart("rates", series.columns.arrived.some(isPositive), () => drawRates(charts, series));
  showPart("ranks", compared.length > 0, () => drawRanks(charts, model, compared, of));
  showStalest(chosen, of);
  showSubscribers(chosen);
  showPart("stalest", chosen.stalest_keys.length > 0);
  showPart("subscribers", chosen.subscriber_count > 0);
  byId("command-put").textContent = updateCommand(chosen.stream);
  byId("command-take").textContent = dequeueCommand(chosen.name);
  byId("command-watch").textContent = `curl -N ${address(`v1/queues/${chosen.name}/events`)}`;
}

const isPositive = (value) => value > 0;

/** Show a part of the panel, or hide it while there is nothing in it. */
function showPart(name, isFilled, fill) {
  byId(`${name}-title`).closest(".card").hidden = !isFilled;
  if (isFilled) fill?.();
}

function showTabs(chosen) {
  const cards = choice.order.map((name) => ({
    ...cardOf(model, name, choice.of),
    colour: colourOf(name),
  }));
  tabs.show(cards, chosen.name);
  byId("lead").textContent = lead(model);
  byId("order").textContent =
    `Large: mean of the last ${FIGURE_SECONDS} seconds. Small: mean since the queue began.` +
    (cards.length > 1 ? " Stalest queue first." : "");
}

function aboutQueue({ stream, kind, scheduler, serves, worst_key: worst }) {
  const order = scheduler === null ? "" : `, served by ${scheduler}`;
  const stalest = worst === null ? "" : ` Its stalest key is ${worst}.`;
  const rests =
    serves === "push"
      ? " Only push connections use it. Each has a queue of its own, listed under Subscribers. " +
        "This queue stays empty until something is dequeued from it."
      : "";
  return `${capitalized(kind)} queue of stream ${stream}${order}.${stalest}${rests}`;
}

function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What is true of the queue at this moment. */
function figuresNow(queue) {
  if (queue.serves === "push") {
    const pace = queue.subscribers.reduce((sum, record) => sum + record.pace, 0);
    return [
      ["Subscribers", format.count(queue.subscriber_count), ""],
      ["Sent", format.rate(pace), "to the subscribers listed"],
    ];
  }
  const series = model.series(`queue/${queue.name}`);
  const arrived = series.last("arrived");
  const share = format.share(series.last("superseded") / arrived);
  return [
    ["Queue staleness", format.seconds(queue.present_queue_staleness), "mean over keys"],
    ["Application staleness", format.seconds(queue.present_application_staleness), "mean over keys"],
    ["Waiting", format.count(queue.waiting), `updates; ${format.count(queue.keys)} keys known`],
    ["Arriving", format.rate(arrived), arrived > 0 ? `${share} superseded` : ""],
    ["Delivered", format.rate(series.last("delivered")), `${format.count(queue.in_process)} in process`],
  ];
}

/** What has become of all updates, and the means over the whole time. */
function figuresSince(queue) {
  if (queue.serves === "push") {
    const sent = queue.subscribers.reduce((sum, record) => sum + record.sent, 0);
    const mean = format.seconds(stalestConnection(queue));
    return [
      ["Stalest subscriber", mean, "mean over keys, since it connected"],
      ["Sent", format.count(sent), "to the subscribers listed"],
    ];
  }
  const cost = format.seconds(queue.cost);
  const lost = LOSSES.filter((kind) => queue[kind] > 0);
  const losses = lost.map((kind) => `${format.count(queue[kind])} ${kind}`).join(", ");
  return [
    ["Queue staleness", format.seconds(queue.queue_staleness), againstBound(queue, "queue")],
    [
      "Application staleness",
      format.seconds(queue.application_staleness),
      againstBound(queue, "application"),
    ],
    [
      "Lower bound",
      format.seconds(queue.lower_bound),
      queue.cost === null ? "cost not known yet" : `with Poisson arrivals and ${cost} per update`,
    ],
    ["Arrived", format.count(queue.arrived), `${format.count(queue.superseded)} superseded`],
    [
      "Dropped",
      format.count(lost.reduce((sum, kind) => sum + queue[kind], 0)),
      losses || "none late, expired, shed or rejected",
    ],
  ];
}

const LOSSES = ["late", "expired", "shed", "rejected"];

/** A box per other queue. They are replaced only when the queues change, so that focus stays. */
function showComparison(chosen) {
  const others = comparable(chosen);
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
  silent: "Connected, but the service sends nothing",
  paused: "Paused",
};

/** Show the state, and the time until the next try in an element that is not read out. */
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

// Commands and controls.

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

function dequeueCommand(queue) {
  return `curl -X POST ${address(`v1/queues/${queue}/dequeue`)}`;
}

function showCommands() {
  byId("command-queue").textContent = `curl -X PUT ${address("v1/queues/trades")}`;
  byId("command-update").textContent = updateCommand("trades");
  byId("command-dequeue").textContent = dequeueCommand("trades");
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

/** Fill the charts with the last five minutes that the service kept, if it answers soon. */
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
