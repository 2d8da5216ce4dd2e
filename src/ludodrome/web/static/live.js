// The views of a play as it changes: over a WebSocket, or by long polling while no socket can be opened.

import { API, get, Refusal } from "./api.js";

const DELAYS = [250, 1000, 3000, 8000];
/** After this many failures in a row the page polls ... */
const MAX_FAILURES = 2;
/** ... and tries a socket again this often, in milliseconds. */
const SOCKET_RETRY = 15_000;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export class Live {
  /** `onView(view)` gets every view; `onError(error)` is called when the server cannot be reached. */
  constructor(id, key, onView, onError) {
    Object.assign(this, {
      id,
      key,
      onView,
      onError,
      version: -1,
      failures: 0,
      ended: false,
      pending: new Map(),
      number: 0,
      polling: null,
    });
    this.#connect();
  }

  get ready() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Send a message; resolves once the view that follows from it has arrived. */
  send(message) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject, version: null });
      this.socket.send(JSON.stringify({ ...message, id }));
    });
  }

  end() {
    this.ended = true;
    this.polling?.abort();
    this.socket?.close();
  }

  #connect() {
    if (this.ended) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws",
      key = this.key ? `?key=${encodeURIComponent(this.key)}` : "";
    const socket = new WebSocket(`${scheme}://${location.host}${API}/plays/${this.id}/live${key}`);
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      this.polling?.abort();
      this.polling = null;
    };
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = () => this.#closed();
  }

  #receive(message) {
    if (message.type === "play") {
      this.version = message.play.version;
      this.onView(message.play);
    } else if (message.type === "done") this.pending.get(message.id).version = message.version;
    else if (message.type === "refused") {
      this.pending.get(message.id)?.reject(new Refusal(message.error, message.status));
      this.pending.delete(message.id);
    }
    for (const [id, { resolve, version }] of this.pending)
      if (version !== null && version <= this.version) {
        this.pending.delete(id);
        resolve();
      }
  }

  #closed() {
    for (const { reject } of this.pending.values()) reject(new Refusal("The connection was lost.", 0));
    this.pending.clear();
    if (this.ended) return;
    this.failures += 1;
    const poll = this.failures > MAX_FAILURES;
    if (poll && !this.polling) {
      this.polling = new AbortController();
      this.#poll(this.polling.signal);
    }
    setTimeout(() => this.#connect(), poll ? SOCKET_RETRY : DELAYS[this.failures - 1]);
  }

  /** Long polling: each request is answered when something has changed. */
  async #poll(signal) {
    for (let errors = 0; !signal.aborted; ) {
      try {
        const view = await get(`/plays/${this.id}${this.version < 0 ? "" : `?after=${this.version}`}`, signal);
        const again = errors > 0;
        errors = 0;
        if (signal.aborted || (view.version === this.version && !again)) continue;
        this.version = view.version;
        this.onView(view);
      } catch (error) {
        if (signal.aborted) return;
        this.onError(error);
        if (error.status === 404) return this.end();
        await pause(DELAYS[Math.min(errors++, DELAYS.length - 1)]);
      }
    }
  }
}
