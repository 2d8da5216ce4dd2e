// A game as it goes on: views over a WebSocket, or by asking again and again where none can be had.

import { Refusal, get } from "./api.js";

const DELAYS = [250, 1000, 3000, 8000];
/** So often may a WebSocket fail to open before it is asked instead. */
const TRIES = 2;

export class Live {
  /** `take(view)` gets every view; `lost(error)` is told when nothing can be had for the moment. */
  constructor(id, key, take, lost) {
    Object.assign(this, { id, key, take, lost, version: -1, failures: 0, ended: false, waiting: new Map(), number: 0, asking: new AbortController() });
    this.#connect();
  }

  get ready() { return this.socket?.readyState === WebSocket.OPEN; }

  /** Says something, and is done once the view that follows from it is here. */
  say(message) {
    const id = ++this.number;
    return new Promise((done, refused) => {
      this.waiting.set(id, { done, refused, version: null });
      this.socket.send(JSON.stringify({ ...message, id }));
    });
  }

  end() {
    this.ended = true;
    this.asking.abort();
    this.socket?.close();
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws", key = this.key ? `?key=${encodeURIComponent(this.key)}` : "";
    const socket = (this.socket = new WebSocket(`${scheme}://${location.host}/api/v1/plays/${this.id}/live${key}`));
    socket.onopen = () => { this.failures = 0; };
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = () => this.#closed();
  }

  #hear(said) {
    if (said.type === "play") {
      this.version = said.play.version;
      this.take(said.play);
    } else if (said.type === "done") this.waiting.get(said.id).version = said.version;
    else if (said.type === "refused") {
      this.waiting.get(said.id)?.refused(new Refusal(said.error, said.status));
      this.waiting.delete(said.id);
    }
    for (const [id, { done, version }] of this.waiting) if (version !== null && version <= this.version) { this.waiting.delete(id); done(); }
  }

  #closed() {
    for (const { refused } of this.waiting.values()) refused(new Refusal("The connection broke off.", 0));
    this.waiting.clear();
    if (this.ended) return;
    this.failures += 1;
    if (this.failures > TRIES) this.#ask();
    else setTimeout(() => { if (!this.ended) this.#connect(); }, DELAYS[this.failures - 1]);
  }

  /** The long way: a question that is answered when something has changed. */
  async #ask() {
    for (let at = 0; !this.ended;) {
      try {
        const view = await get(`/plays/${this.id}${this.version < 0 ? "" : `?after=${this.version}`}`, this.asking.signal);
        at = 0;
        if (this.ended || view.version === this.version) continue;
        this.version = view.version;
        this.take(view);
      } catch (error) {
        if (error.name === "AbortError" || this.ended) return;
        this.lost(error);
        if (error.status === 404) return;
        await new Promise((done) => setTimeout(done, DELAYS[Math.min(at++, DELAYS.length - 1)]));
      }
    }
  }
}
