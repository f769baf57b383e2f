// The subscription to the service's own state, by the same push as for any client.

const FIRST_RETRY_SECONDS = 0.5;
const LONGEST_RETRY_SECONDS = 15;

/**
 * Calls `onMessage` with each message, and `onState` with "connecting", "live" or "waiting" (and
 * then the seconds until it tries again). Credit is given for every message, so the service sends
 * the newest state as fast as this page takes it, and never a backlog.
 */
export class Feed {
  #url;
  #onMessage;
  #onState;
  #socket = null;
  #timer = null;
  #failures = 0;

  constructor(url, { onMessage, onState }) {
    this.#url = url;
    this.#onMessage = onMessage;
    this.#onState = onState;
  }

  /** Connect now, and again whenever the connection is lost. */
  open() {
    clearTimeout(this.#timer);
    if (this.#socket !== null) return;
    this.#onState("connecting");
    const socket = (this.#socket = new WebSocket(this.#url));
    socket.addEventListener("message", (event) => {
      this.#failures = 0;
      this.#onState("live");
      try {
        this.#onMessage(JSON.parse(event.data));
      } finally {
        if (socket.readyState === WebSocket.OPEN) socket.send('{"credit":1}');
      }
    });
    socket.addEventListener("close", () => {
      this.#socket = null;
      this.#retry();
    });
  }

  /** Wait twice as long after each failure, with jitter, so that pages do not all come at once. */
  #retry() {
    const longest = Math.min(FIRST_RETRY_SECONDS * 2 ** this.#failures, LONGEST_RETRY_SECONDS);
    const wait = longest * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#onState("waiting", wait);
    this.#timer = setTimeout(() => this.open(), wait * 1000);
  }
}

/** The address of the subscription, relative to the path of this page. */
export function feedAddress() {
  const url = new URL("v1/queues/_service/socket?snapshot=true", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}
