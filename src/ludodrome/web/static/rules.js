// The rules page: diagrams that can be played on, and folded chapters that open when a link leads into them.

import { boardModule, pageData, post, say, sentence } from "./api.js";
import { html } from "./draw.js";

const data = pageData();

function unfold() {
  const node = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = node?.closest?.("details");
  if (folded) {
    folded.open = true;
    node.scrollIntoView();
  }
}

async function diagram(figure) {
  const { position, options, still, reply } = data.diagrams[Number(figure.dataset.diagram)];
  const { GameBoard } = await boardModule();
  const bar = html(
    "div",
    { class: "bar" },
    html("span", { class: "word", role: "status" }),
    html("span", { class: "tools" }),
  );
  const again = html("button", { class: "button tight", type: "button", disabled: true }, "Start over");
  if (!still) {
    bar.append(again);
    figure.append(bar);
  }
  let current = null;
  const ask = (extra) => post(`/games/${data.game}/positions`, { options, ...extra });
  const board = new GameBoard(figure.querySelector(".board"), bar, {
    move: async (move) => {
      try {
        const before = current;
        let after = await ask({ state: current.state, move });
        if (reply && after.to_move !== null) after = await ask({ state: after.state, move: reply });
        current = after;
        again.disabled = false;
        paint(true, reply ?? move, before);
      } catch (error) {
        paint(false);
        board.tell(sentence(error.message), true);
      }
    },
    why: async (move) =>
      sentence((await post(`/games/${data.game}/check`, { options, state: current.state, move })).why),
    say,
  });
  const paint = (animate, last = null, before = null) =>
    board.update({
      state: current.state,
      legal: current.legal,
      marks: current.marks,
      last,
      before: before?.state,
      lastSeat: before?.to_move,
      seat: current.to_move ?? 0,
      eyes: still ? 0 : (current.to_move ?? before?.to_move ?? 0),
      interactive: !still && current.to_move !== null,
      flip: false,
      animate,
      analysis: false,
      plain: true,
      word: current.outcome ? sentence(`over: ${current.outcome.reason}`) : "",
    });
  const begin = async () => {
    try {
      current = await ask({ state: position || null });
      again.disabled = true;
      paint(false);
    } catch (error) {
      figure.querySelector("figcaption").textContent = sentence(error.message);
    }
  };
  again.addEventListener("click", begin);
  await begin();
}

addEventListener("hashchange", unfold);
unfold();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) {
        watcher.unobserve(target);
        diagram(target);
      }
  },
  { rootMargin: "300px" },
);
for (const figure of document.querySelectorAll(".diagram")) watcher.observe(figure);
