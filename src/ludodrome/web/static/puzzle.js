// One puzzle: the board, the task, and what is said about the moves tried.

import { boardModule, pageData, post, say, sentence } from "./api.js";
import { chip, html, moves, pause, SEATS } from "./draw.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const { GameBoard } = await boardModule();
/** Milliseconds for each move of a line that is played on the board, and before the board goes back. */
const LINE_PACE = 900,
  LINE_END = 1600;
let attempt = null;
let current = null;
/** Counts the lines played on the board: a new one, or a new attempt, ends the last. */
let played = 0;
let hurried = false;

const board = new GameBoard(part("board"), part("bar"), {
  move: (raw) => tryMove(raw),
  why: async (raw) =>
    sentence(
      (await post(`/games/${data.game}/check`, { options: attempt.options, state: current.position.state, move: raw }))
        .why,
    ),
  say,
});

function tell(kind, text, line = []) {
  const node = html(
    "div",
    {},
    html("p", { class: kind }, text.replace(/(\s)-(?=\d)/g, "$1−")),
    line.length > 1 ? html("p", { class: "line" }, line.join("; ")) : null,
  );
  part("messages").append(node);
  node.scrollIntoView({ block: "nearest" });
}

function paint(animate, interactive, word = attempt.solved ? "Solved." : "One moment.") {
  board.update({
    state: current.position.state,
    legal: current.position.legal,
    marks: current.position.marks,
    last: current.move || null,
    lastSeat: current.lastSeat,
    before: current.before || null,
    seat: current.position.to_move ?? attempt.seat,
    eyes: attempt.seat,
    interactive,
    best: null,
    flip: attempt.seat === 1 && GameBoard.turns,
    animate,
    word,
  });
}

const stepFrom = (from, { position, move }) => ({
  position,
  move,
  before: from.position.state,
  lastSeat: from.position.to_move,
});

/** Plays a line on the board, then goes back to the position of the puzzle; a press on the board goes back at once.
 * Whether it came to its end: another attempt may have begun. */
async function playLine(steps, word) {
  const mine = ++played,
    home = current,
    stay = async (ms) => {
      for (let left = ms; mine === played && !hurried && (left > 0 || board.telling); left -= 50) await pause(50);
    };
  hurried = false;
  part("board").dataset.line = "";
  for (const step of steps) {
    if (mine !== played || hurried) break;
    current = stepFrom(current, step);
    paint(true, false, word);
    await stay(LINE_PACE);
  }
  await stay(LINE_END);
  if (mine !== played) return false;
  delete part("board").dataset.line;
  current = home;
  return true;
}

async function begin() {
  played += 1;
  delete part("board").dataset.line;
  part("messages").replaceChildren();
  part("loom").classList.add("loom");
  try {
    attempt = await post(`/puzzles/${data.game}/${data.number}/attempts`);
    current = { position: attempt.position };
    part("task").textContent = attempt.task;
    say(attempt.task);
    part("messages").append(
      html(
        "p",
        { class: "you" },
        chip(attempt.seat),
        `You are the ${SEATS[attempt.seat]}. A wrong move gets the move that refutes it.`,
      ),
    );
    paint(false, true);
    buttons(true);
  } catch (error) {
    tell("wrong", sentence(error.message));
  } finally {
    part("loom").classList.remove("loom");
  }
}

function buttons(on) {
  for (const id of ["hint", "solution"]) part(id).disabled = !on;
}

async function tryMove(raw) {
  paint(false, false);
  part("loom").classList.add("loom");
  try {
    const answer = await post(`/attempts/${attempt.id}/moves`, { move: raw });
    attempt = { ...attempt, solved: answer.solved };
    for (const [number, step] of answer.steps.entries()) {
      current = stepFrom(current, step);
      paint(true, false);
      if (number < answer.steps.length - 1 && moves()) await pause(450);
    }
    tell(answer.judgement.right ? "right" : "wrong", answer.judgement.sentence, answer.judgement.line);
    say(answer.judgement.sentence);
    part("loom").classList.remove("loom");
    if (!answer.judgement.right && !(await playLine(answer.judgement.steps, answer.judgement.sentence))) return;
    if (answer.solved) {
      buttons(false);
      part("next")?.classList.add("first");
      part("next")?.focus();
    }
  } catch (error) {
    tell("wrong", sentence(error.message));
  }
  part("loom").classList.remove("loom");
  paint(false, !attempt.solved);
}

async function ask(path, name) {
  buttons(false);
  part("loom").classList.add("loom");
  try {
    const answer = await post(`/attempts/${attempt.id}/${path}`);
    tell("", answer[name]);
    say(answer[name]);
    part("loom").classList.remove("loom");
    if (answer.steps) {
      if (!(await playLine(answer.steps, "The solution."))) return;
      paint(false, true);
    }
  } catch (error) {
    tell("wrong", sentence(error.message));
  }
  part("loom").classList.remove("loom");
  buttons(!attempt.solved);
}

part("board").addEventListener("pointerdown", () => {
  hurried = true;
});
part("hint").addEventListener("click", () => ask("hint", "hint"));
part("solution").addEventListener("click", () => ask("solution", "solution"));
part("again").addEventListener("click", begin);
buttons(false);
begin();
