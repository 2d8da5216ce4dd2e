// Talking to the server. The page uses nothing that another client could not.

export class Refusal extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

let key = null;
/** Whoever has the key of a seat shows it with everything from then on. */
export function useKey(other) { key = other; }

async function ask(path, options) {
  let answer;
  const headers = { ...options.headers, ...(key ? { "x-play-key": key } : {}) };
  try {
    answer = await fetch(`/api/v1${path}`, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Is it still running?", 0);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refusal(body.error || `The server answered ${answer.status}.`, answer.status);
  return body;
}

export const get = (path, signal) => ask(path, { signal });

export const post = (path, body = {}, signal) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });

/** What an engine is asked that many ask: while it is busy the question is put again. */
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

export const remove = (path) => ask(path, { method: "DELETE" });

export const pageData = () => JSON.parse(document.getElementById("data").textContent);

/** The board of the page's game; games of other packages have a plain one. */
export const boardModule = () => import(`./boards/${document.body.dataset.board}.js`);

const voice = document.getElementById("say");
export function say(text) {
  voice.textContent = voice.textContent === text ? `${text}\u00a0` : text;
}

export const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
