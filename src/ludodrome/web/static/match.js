// A match as it is played: the board, the players, the moves.

import { boardModule, get, pageData, say, sentence } from "./api.js";
import { chip, html, SEATS } from "./draw.js";
import { boardMaker, how, listen, modelOf } from "./league.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
const board = (await boardMaker())(part("board"), part("bar"));
let shown = null;

const seconds = (milliseconds) =>
  milliseconds === null
    ? ""
    : milliseconds >= 60_000
      ? `${Math.floor(milliseconds / 60_000)}:${String(Math.floor(milliseconds / 1000) % 60).padStart(2, "0")}`
      : `${(milliseconds / 1000).toFixed(1)} s`;

function players(view) {
  part("players").replaceChildren(
    ...data.match.names.map((name, seat) =>
      html(
        "div",
        { class: `player s${seat}${view?.to_move === seat ? " turn" : ""}` },
        chip(seat),
        html(
          "div",
          { class: "who" },
          html("b", {}, name),
          html("span", {}, view?.to_move === seat ? "is thinking" : SEATS[seat]),
        ),
        html("span", { class: "time" }, seconds(view?.left_ms[seat] ?? null)),
      ),
    ),
  );
}

function moves(view) {
  const list = part("moves"),
    rows = [],
    last = view.texts.length - 1;
  let row = null,
    column = -1;
  view.texts.forEach((text, at) => {
    const seat = view.movers?.[at] ?? at % view.names.length; // a worker that is older than this page does not say
    if (!row || seat <= column) {
      row = html("li", {}, html("span", { class: "number" }, String(rows.length + 1)));
      rows.push(row);
    }
    const move = html(
      "span",
      { class: "played", "aria-current": at === last ? "step" : null, title: GameBoard.moveWords(text) },
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
  players(null);
  const winner = match.result?.points.indexOf(1);
  const title = !match.result ? "Aborted" : winner >= 0 ? `${match.names[winner]} won` : "Nobody won";
  part("word").replaceChildren(
    html("p", { class: "result" }, title),
    html("p", { class: "whole" }, match.result ? sentence(how(match)) : ""),
  );
  say(title);
}

players(null);
part("word").replaceChildren(
  html("p", { class: "whole" }, data.match.status === "queued" ? "Waiting for a worker." : "About to start."),
);
const source = listen(`/matches/${data.match.id}/events`, ({ view, gone }) => {
  if (gone) {
    source.close();
    over();
    return;
  }
  board.update(modelOf(view, shown !== null));
  shown = view;
  players(view);
  moves(view);
  part("word").replaceChildren(html("p", { class: "whole" }, `Move ${view.ply}, clock ${view.clock}.`));
});
