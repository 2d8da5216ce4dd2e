// What ends or turns back a game: a second press where a first could be a slip, and offers between people.

import { say } from "./api.js";
import { html } from "./draw.js";

const SURE_MS = 5000;
const WORDS = { draw: "a draw", takeback: "to take back the last move" };

/** A button that acts at its second press; Escape, another place or five seconds take the first one back. */
export class SureButton {
  /** `warning()`: what is said after the first press; empty where the first one acts. */
  constructor(button, warning, act) {
    Object.assign(this, { button, text: button.textContent, timer: null });
    button.addEventListener("click", () => {
      if (!this.timer && warning()) this.#arm(warning());
      else {
        this.#disarm();
        act();
      }
    });
    button.addEventListener("blur", () => this.#disarm());
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.#disarm());
  }

  set label(text) {
    this.text = text;
    if (!this.timer) this.button.textContent = text;
  }

  #arm(words) {
    this.timer = setTimeout(() => this.#disarm(), SURE_MS);
    this.button.textContent = "Sure?";
    this.button.classList.add("sure");
    say(words);
  }

  #disarm() {
    clearTimeout(this.timer);
    this.timer = null;
    this.button.textContent = this.text;
    this.button.classList.remove("sure");
  }
}

/** Whether people play each other in a game that runs: then the engine is off. */
export const betweenPeople = (view) => !view.result && view.seats.filter(({ person }) => person).length > 1;

/** The last move of one of these seats, and nothing that was set up before the game. */
export const hasMoved = (view, seats) => view.moves.slice(view.opening).some(({ seat }) => seats.includes(seat));

/** What others offer, or else what this side has offered: its seat and its kind. */
export function proposal(view) {
  if (view.result) return null;
  const offering = view.seats.map(({ proposes, yours }, seat) => ({ seat, yours, kind: proposes }));
  return offering.find(({ kind, yours }) => kind && !yours) || offering.find(({ kind }) => kind) || null;
}

export const proposalWords = (view, nameOf) => {
  const { seat, yours, kind } = proposal(view);
  return yours ? `You offer ${WORDS[kind]}.` : `${nameOf(seat)} offers ${WORDS[kind]}.`;
};

/** The offer in words, with what can be done about it; `act(kind)` offers the same, or declines with null. */
export function proposalNodes(view, nameOf, act) {
  const { yours, kind } = proposal(view);
  const button = (text, first, offer) =>
    html("button", { class: `button tight${first ? " first" : ""}`, type: "button", onclick: () => act(offer) }, text);
  const choices = yours
    ? [button("Withdraw", false, null)]
    : [button("Accept", true, kind), button("Decline", false, null)];
  return [
    html("p", { class: "whole" }, html("b", {}, proposalWords(view, nameOf))),
    html("p", { class: "link" }, ...choices.flatMap((one) => [one, " "])),
  ];
}
