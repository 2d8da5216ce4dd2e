// Requests to the HTTP API, which is the same for every client.

import { NAMES } from "./draw.js";

export const API = "/api/v1";

export class Refusal extends Error {
  constructor(message, status, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

let key = null;
/** Send the key of a seat with every request from now on. */
export function useKey(other) {
  key = other;
}

async function ask(path, options) {
  let answer;
  const headers = { ...options.headers, ...(key ? { "x-play-key": key } : {}) };
  try {
    answer = await fetch(`${API}${path}`, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Is it still running?", 0);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(body.error || `The server answered ${answer.status}.`, answer.status, body);
  return body;
}

export const get = (path, signal) => ask(path, { signal });

export const post = (path, body = {}, signal) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });

/** POST, and try again while the engine is busy. */
export async function postPatiently(path, body, tries = 5) {
  for (let left = tries; ; left -= 1) {
    try {
      return await post(path, body);
    } catch (error) {
      if (error.status !== 503 || left <= 1) throw error;
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
}

export const remove = (path, body) =>
  ask(path, {
    method: "DELETE",
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });

/** The whole URL of a page of this server; of the home page if what is wanted is not one. */
export function ownPage(wanted) {
  const { origin, protocol } = location;
  try {
    const url = new URL(wanted || "/", origin);
    const own = url.origin === origin && url.protocol === protocol && !url.pathname.startsWith("//");
    if (own) return origin + url.pathname + url.search + url.hash;
  } catch {
    /* not a URL */
  }
  return `${origin}/`;
}

export const pageData = () => JSON.parse(document.getElementById("data").textContent);

/** The board module of the game of this page; games of other packages share a generic one. */
export const boardModule = () => import(`./boards/${document.body.dataset.board}.js`);

/** Handle a form of the page. Its submit buttons are disabled (`data-waits`) until a script can: the policy of the page forbids sending a form any other way. */
export function onSubmit(form, act) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    return act(event);
  });
  for (const button of form.querySelectorAll("button[data-waits]")) button.disabled = false;
}

const announcer = document.getElementById("say");
export function say(text) {
  announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}

export const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;
/** A text of the server as a sentence for people: it begins large, ends with a point, and has the names of the seats. */
export function sentence(text) {
  if (!text) return text;
  const named = text
    .replace(/ \(R\d+(, R\d+)*\)/g, "") // numbers of rules are for programs
    .replace(/\bseat (\d)\b/gi, (whole, seat) => NAMES[seat] ?? whole);
  return named[0].toUpperCase() + named.slice(1) + (/[.!?]$/.test(named) ? "" : ".");
}
