"""Make the sample games of the start page: ``python -m tools.sample_games [--redraw] [GAME ...]``.

Each is a game between two strong built-ins, played here, with a drawing of every position by the board of the web page.
With ``--redraw`` the games stay, and only their drawings are made anew: after a change of a board. A game is written to
``sample_game.json`` in the package of the game:

- ``options``, ``bots``, ``moves``, ``returns``: the game, so that anybody can play it through;
- ``box``: the view box of the drawings; ``elements``: parts of drawings, as SVG; ``frames``: for each drawing the
  numbers of its elements; ``still``: the drawing that is shown before, and instead of, any motion.
"""

import json
import re
import sys
from datetime import UTC, datetime
from itertools import product
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.atomic_io import write_whole
from ludodrome.game import Game
from ludodrome.games import BUILT_IN, find, make, package_folder
from ludodrome.web.position_view import board_of, observation_marks
from ludodrome.web.routes.pages import SAMPLE_FILE
from tests.web.serving import browser, server

REDRAW = "--redraw"
FIRST, RIVALS = "expert:nodes=50000", ("level:7", "level:6", "level:5")
MAX_TURNS, SEEDS = 70, range(1, 5)
"""The first game is taken that is short and has a winner: against the strongest rival, with the first seed."""
MAX_OPTIONS = {"rounds": 3}
"""Options that would make a sample long."""
DRAW = """async ([board, positions, turns]) => {
  const { GameBoard } = await import(`/static/boards/${board}.js`);
  const [host, bar, place] = [1, 2, 3].map(() => document.createElement("div"));
  bar.innerHTML = '<span class="word"></span><span class="tools"></span>';
  place.append(host, bar);
  document.body.replaceChildren(place);
  const drawn = new GameBoard(host, bar, { move() {}, why: async () => "", say() {} });
  const drawings = [];
  const keep = () => {
    const svg = host.querySelector("svg").cloneNode(true);
    for (const node of svg.querySelectorAll(".hit, .edge-near, title, defs:empty, [visibility=hidden]")) node.remove();
    for (const node of [...svg.querySelectorAll(".target")].reverse()) node.replaceWith(...node.childNodes);
    for (const node of svg.querySelectorAll("*"))
      for (const { name } of [...node.attributes])
        if (/^(role|tabindex|style|pointer-events|data-|aria-)/.test(name)) node.removeAttribute(name);
    for (const node of [...svg.querySelectorAll("g")].reverse())
      if (!node.attributes.length) node.replaceWith(...node.childNodes);
    const { x, y, width, height } = svg.viewBox.baseVal;
    drawings.push({ box: [x, y, width, height], parts: [...svg.children].map((one) => one.outerHTML) });
  };
  positions.forEach(({ state, marks, to_move }, ply) => {
    const turn = turns[ply - 1];
    drawn.update({ state, marks, legal: [], last: turn?.move ?? null, lastSeat: turn?.seat ?? null,
      before: ply ? positions[ply - 1].state : null, seat: to_move ?? turn?.seat ?? 0, eyes: 0,
      interactive: false, flip: false, animate: false, analysis: false, word: "" });
    const steps = drawn.running === undefined || drawn.running === null ? 0 : drawn.lastStep();
    for (let step = 0; step < steps; step++) {
      drawn.running = step;
      drawn.render();
      keep();
    }
    if (steps) drawn.running = steps;
    drawn.render();
    keep();
  });
  return drawings;
}"""


def sample_game(game_id: str, page: Any, kept: dict[str, Any] | None) -> dict[str, Any]:
    """Play a game, or take the one that is kept, and draw its positions."""
    if kept is None:
        kind = find(game_id).game_class()
        names = {option.name for option in kind.available}
        options = {**kind.people_options, **{name: most for name, most in MAX_OPTIONS.items() if name in names}}
        record = _record(make(game_id, **options))
        kept = {
            "made": datetime.now(UTC).date().isoformat(),
            "command": f"python -m tools.sample_games {game_id}",
            "options": record["options"],
            "bots": record["bots"],
            "moves": [entry["move"] for entry in record["turns"]],
            "returns": record["result"]["returns"],
        }
    game = make(game_id, **kept["options"])
    drawings = page.evaluate(DRAW, [board_of(game_id), *_positions(game, kept["moves"])])
    boxes = {tuple(one["box"]) for one in drawings}
    if len(boxes) != 1:
        raise ValueError(f"the drawings of {game_id} differ in size: {sorted(boxes)}")
    parts = [[_short(part) for part in one["parts"]] for one in drawings]
    parts = [one for at, one in enumerate(parts) if not at or one != parts[at - 1]]
    elements = list(dict.fromkeys(part for one in parts for part in one))
    places = {part: number for number, part in enumerate(elements)}
    return {
        **kept,
        "box": [round(value) for value in drawings[0]["box"]],
        "still": len(parts) * 2 // 3,
        "elements": elements,
        "frames": [[places[part] for part in one] for one in parts],
    }


def _positions(game: Game, moves: list[Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The positions of a game and its turns, as its board gets them."""
    state = game.initial_state()
    states, turns = [state], []
    for move in moves:
        text = game.format_move(move, state)
        turns.append({"seat": game.to_move(state), "move": game.page_move(move, text)})
        state = game.apply(state, move)
        states.append(state)
    positions = [
        {"state": game.page_state(one), "to_move": game.to_move(one), "marks": observation_marks(game, one)}
        for one in states
    ]
    return positions, turns


def _record(game: Game) -> dict[str, Any]:
    """A game that is short and has a winner."""
    for rival, seed in product(RIVALS, SEEDS):
        bots = (FIRST, rival) if seed % 2 else (rival, FIRST)
        record = play(PlaySpec(game.id, game.options, bots, bots, conditions(game, clock="none"), seed, (), seed))
        if len(record["turns"]) <= MAX_TURNS and max(record["result"]["returns"]) > 0:
            return record
    raise ValueError(f"no game of {game.id} is short and has a winner: add seeds")


def _short(part: str) -> str:
    """An element without what a picture does not need."""
    part = part.replace(' xmlns="http://www.w3.org/2000/svg"', "")
    part = re.sub(r"\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), part)
    return re.sub(r"></(?:rect|circle|path|line|polyline|use)>", "/>", part)


def main() -> None:
    """Make all sample games, or those that are named."""
    redraw = sys.argv[1:2] == [REDRAW]
    with server() as address, browser() as running:
        page = running.new_page(base_url=address)
        page.goto("/replay")
        for game_id in sys.argv[2 if redraw else 1 :] or list(BUILT_IN):
            path = package_folder(find(game_id).module) / SAMPLE_FILE
            made = sample_game(game_id, page, json.loads(path.read_text("utf-8")) if redraw else None)
            write_whole(path, json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            print(f"{path.name} of {game_id}: {len(made['frames'])} drawings, {path.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
