// A match as it is played: the board, the players, the moves.

import { boardModule, get, pageData, say, sentence } from "./api.js";
import { chip, html, pause, SEATS } from "./draw.js";
import { boardMaker, ended, evaluate, how, listen, modelOf, seconds } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const make = await boardMaker();
const board = make(part("board"), part("bar"));
/** Milliseconds until the next match is shown after the end of one. */
const NEXT = 8000;
/** Views that wait, at most: a page that is further behind shows the last one. */
const MAX_WAITING = 8;
let shown = null;

function players(view) {
  part("players").replaceChildren(
    ...(view ?? data.match ?? { names: [] }).names.map((name, seat) =>
      html(
        "div",
        { class: `player s${seat}${view?.to_move === seat ? " turn" : ""}` },
        chip(seat),
        html(
          "div",
          { class: "who" },
          html("b", {}, name),
          html(
            "span",
            {},
            [view?.to_move === seat ? "is thinking" : SEATS[seat], view && make.score(view.state, seat)]
              .filter(Boolean)
              .join(" · "),
          ),
        ),
        html("span", { class: "time" }, seconds(view?.left_ms[seat] ?? null)),
      ),
    ),
  );
}

function moves(view) {
  const list = part("moves"),
    rows = [],
    opening = view.opening ?? [],
    texts = [...opening, ...view.texts],
    movers = [...(view.opening_movers ?? []), ...(view.movers ?? [])],
    last = texts.length - 1;
  let row = null,
    column = -1;
  texts.forEach((text, at) => {
    const seat = movers[at] ?? at % view.names.length; // a worker that is older than this page does not say
    if (!row || seat <= column) {
      row = html("li", {}, html("span", { class: "number" }, String(rows.length + 1)));
      rows.push(row);
    }
    const drawn = at < opening.length;
    const words = GameBoard.moveWords(text);
    const move = html(
      "span",
      {
        class: `played${drawn ? " drawn" : ""}`,
        "aria-current": at === last ? "step" : null,
        title: drawn ? `${words}: opening` : words,
      },
      GameBoard.moveNode(text, seat),
    );
    move.style.gridColumn = seat + 2;
    move.style.gridRow = 1;
    row.append(move);
    column = seat;
  });
  list.style.setProperty("--seats", view.names.length);
  list.replaceChildren(...(rows.length ? rows : [html("li", { class: "none" }, "No moves yet.")]));
  list.scrollTop = list.scrollHeight;
}

async function over() {
  const match = await get(`/matches/${data.match.id}`);
  part("replay").hidden = !match.result;
  players(shown);
  const winner = match.result?.points.indexOf(1);
  const title = !match.result ? "Aborted" : winner >= 0 ? `${match.names[winner]} won` : "Nobody won";
  tell(title, match.result ? sentence(how(match)) : "");
  say(title);
  moveOn();
}

function tell(title, whole) {
  part("word").replaceChildren(
    ...[title && html("p", { class: "result" }, title), whole && html("p", { class: "whole" }, whole)].filter(Boolean),
  );
}

/** To what is played next in this game, after a moment in which the reader can stay. */
function moveOn() {
  let timer = null;
  const next = listen(`/live/${data.game}`, ({ match, view }) => {
    if (!view || view.result || match === data.match.id || timer) return;
    part("stay").hidden = false;
    part("word").append(html("p", { class: "whole" }, `Next: ${view.names.join(" – ")}.`));
    const place = view.show ? "show" : match;
    timer = setTimeout(() => location.assign(`/${data.game}/matches/${place}`), NEXT);
  });
  part("stay").addEventListener("click", () => {
    clearTimeout(timer);
    next.close();
    part("stay").hidden = true;
  });
}

/** Views that wait until the board has told what happened before them. */
const waiting = [];
let showing = false;

async function show(view) {
  waiting.push(view);
  if (waiting.length > MAX_WAITING) waiting.splice(0, waiting.length - 1);
  if (showing) return;
  showing = true;
  while (waiting.length) {
    while (board.telling && waiting.length < MAX_WAITING) await pause(50);
    draw(waiting.shift());
  }
  showing = false;
}

function draw(view) {
  board.update(modelOf(view, shown !== null && shown.ply <= view.ply));
  shown = view;
  players(view);
  moves(view);
  evaluate(part("value"), view);
  if (view.result) tell(sentence(ended(view)), "");
  else tell("", `${view.show ? "Show match. " : ""}Move ${view.ply}, clock ${view.clock}.`);
}

players(null);
if (data.match) {
  tell("", data.match.status === "queued" ? "Waiting for a worker." : "About to start.");
  const source = listen(`/matches/${data.match.id}/events`, ({ view, gone }) => {
    if (gone) {
      source.close();
      over();
    } else show(view);
  });
} else {
  // what is played now, one match after another
  let watched = null;
  tell("", "Two built-in bots are about to begin.");
  listen(`/live/${data.game}`, ({ match, view, gone }) => {
    if (gone) {
      if (match === watched) watched = null;
    } else if (watched === null || watched === match) {
      if (watched !== match) shown = null;
      watched = match;
      show(view);
    }
  });
}
