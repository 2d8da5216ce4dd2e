"""How Spaces is shown: diagrams of the rules, rounds step by step, states for the page, pictures."""

from typing import Any

from ludodrome.game import Game
from ludodrome.game_extras import Diagram, Explanation, Json, actor
from ludodrome.games.spaces.boards import DECK, HIDDEN_TRAP, actions_of, encode_board, read_board, steps_of
from ludodrome.games.spaces.fog import is_in_fog, read_in_fog, seat_steps
from ludodrome.games.spaces.rounds import COLLISION, ENDED
from ludodrome.games.spaces.simulation import simulate
from ludodrome.jit import Array, Record
from ludodrome.painting import CELL, HEIGHTS, INK, PAPER, SEATS, Canvas
from ludodrome.validation import plural

SMALL_SIZE = 10
"""Up to this size the page gets states as they are, and texts have drawings. Larger boards come as codes: a board of
size 100 may have 20,000 steps, which are a megabyte of JSON and 20 kilobytes of code."""
MAX_ROUNDS, MAX_LARGE_ROUNDS = 25, 10
"""The most rounds of a match on the page: up to SMALL_SIZE, and above it."""
DIAGRAMS = (
    Diagram(
        "Goal",
        "You are Blue. Plan a path up to the goal and lay it. Orange has planned one too: watch both run.",
        "rounds 3 live seen 1/1 - -",
        {"size": 3, "rounds": 1, "rules": "live"},
        reply="3:1:u6uf",
    ),
    Diagram(
        "Your turn",
        "A plan with its steps in order. The cross is the trap of step 3.",
        "rounds 3 live seen 1/1 3:1:u6uf -",
        {"size": 3, "rounds": 1, "rules": "live"},
        still=True,
    ),
)


# Rounds


def round_view(boards: list[Any], size: int, rules: str) -> Json:
    """A round on the common grid: the squares of each piece after each step, by seat; traps and points by step."""
    played = simulate(boards[0], boards[1], size, rules)
    return {
        "points": played.points,
        "ended": played.ended,
        "squares": [[list(step.squares[seat]) for step in played.steps] for seat in range(2)],
        "traps": [
            [[step.step, *trap] for step in played.steps if (trap := step.traps[seat]) is not None] for seat in range(2)
        ],
        "events": [
            {"step": step.step, "seat": event.seat, "points": event.points, "reason": event.reason}
            for step in played.steps
            for event in step.events
        ],
    }


def entry_view(entry: Json, size: int, rules: str) -> Json:
    """A round of the history; of an observation it may be in fog."""
    return fog_view(entry, size) if "steps" in entry else round_view(entry["boards"], size, rules)


def fog_view(entry: Json, size: int) -> Json:
    """A round in fog: as ``round_view``; of the boards marked in ``fog`` the traps have a step and no square."""
    boards = [
        read_in_fog(board, size, "a board") if is_in_fog(board) else actions_of(read_board(board, size), size) or b""
        for board in entry["boards"]
    ]
    sides = [seat_steps(board, entry["steps"][seat], seat, size) for seat, board in enumerate(boards)]
    points, events = [0, 0], []
    last = max(entry["steps"]) - 1
    for k in range(last + 1):
        for seat, side in enumerate(sides):
            if k < len(side) and side[k].gained:
                points[seat] += 1
                what = "reaches the goal" if side[k].did == "finish" else f"moves forward to row {side[k].square[0]}"
                events.append({"step": k + 1, "seat": seat, "points": 1, "reason": f"seat {seat} {what}: +1"})
        for seat, side in enumerate(sides):
            ends = k == last
            left = entry["points"][seat] if ends else max(0, points[seat] - (k == len(side) - 1))
            if left < points[seat]:
                collides = ends and entry["ended"] == ENDED[COLLISION]
                row, col = side[min(k, len(side) - 1)].square
                what = f"collides with seat {1 - seat} on" if collides else f"is hit by a trap of seat {1 - seat} at"
                lost = left - points[seat]
                why = f"seat {seat} {what} ({row},{col}): {lost}"
                events.append({"step": k + 1, "seat": seat, "points": lost, "reason": why})
                points[seat] = left
    return {
        "points": entry["points"],
        "ended": entry["ended"],
        "squares": [[list(side[min(k, len(side) - 1)].square) for k in range(last + 1)] for side in sides],
        "traps": [
            [
                [step] if one.trap is None else [step, *one.trap]
                for step, one in enumerate(side, 1)
                if one.did.startswith("trap")
            ]
            for side in sides
        ],
        "events": events,
        "fog": [is_in_fog(board) for board in entry["boards"]],
    }


PIECES, TRAPS, EMPTY = "●◆", "xy", "·"
"""Signs in drawings of rounds; a trap in a place not seen is not drawn."""


def round_frames(view: Json, size: int) -> list[str]:
    """A round as drawings for a terminal, one a step: the grid with pieces and traps, the points, what was won or lost.

    Above SMALL_SIZE a drawing is one line, without the grid.
    """
    frames, points = [], [0, 0]
    traps: dict[tuple[int, int], str] = {}
    for k in range(max(map(len, view["squares"]))):
        events = [event for event in view["events"] if event["step"] == k + 1]
        for event in events:
            points[event["seat"]] += event["points"]
        for seat, laid in enumerate(view["traps"]):
            for _, *square in (trap for trap in laid if trap[0] == k + 1 and len(trap) > 1):
                traps[square[0], square[1]] = TRAPS[seat]
        at = [squares[min(k, len(squares) - 1)] for squares in view["squares"]]
        scored = "  ".join(f"{PIECES[event['seat']]} {event['points']:+d}{_why(event)}" for event in events)
        head = f"step {k + 1}  {points[0]} : {points[1]}"
        if size > SMALL_SIZE:
            where = "  ".join(f"{sign} ({row},{col})" for sign, (row, col) in zip(PIECES, at, strict=True))
            frames.append(f"{head}  {where}  {scored}".rstrip())
        else:
            frames.append("\n".join([head, *_grid_lines(at, traps, size), scored if k else "x y: traps"]))
    return frames


def _why(event: Json) -> str:
    """Why points were lost, in a word."""
    return " trap" if "trap" in event["reason"] else " collision" if "collides" in event["reason"] else ""


def _grid_lines(at: list[list[int]], traps: dict[tuple[int, int], str], size: int) -> list[str]:
    """The common grid with its goals, from row -1 to row ``size``; seat 0 runs up, seat 1 down."""
    lines = []
    for row in range(-1, size + 1):
        cells = []
        for col in range(size):
            here = "".join(sign for sign, square in zip(PIECES, at, strict=True) if square == [row, col])
            ground = traps.get((row, col), EMPTY) if 0 <= row < size else " "
            cells.append(f"{here + ground.strip(EMPTY) if here else ground:<3}")
        lines.append("".join(cells).rstrip())
    return lines


# What a board did, for people who learn the game


def explain(options: Json, before: Json, move: Json, after: Json, seat: int) -> list[Explanation]:
    """What laying a board did, told to the person on ``seat``: the board, and the round if it is complete.

    The keys of a board of the other side begin with ``their``.
    """
    mine = before["to_move"] == seat
    who, whose = actor(before["to_move"], seat), "" if mine else "their "
    if "deck" in move:
        return [Explanation(f"{whose}lay", f"{who} laid a deck of {DECK} boards.")]
    steps = move["sequence"]
    traps = [step for step in steps if step["type"] == "trap"]
    columns = {step["position"]["col"] for step in steps if step["type"] == "piece"}
    many = {0: "without traps", 1: "with one trap"}.get(len(traps), f"with {len(traps)} traps")
    told = [Explanation(f"{whose}lay", f"{who} laid a board of {len(steps)} steps, {many}.")]
    if len(columns) > 1:
        told.append(Explanation(f"{whose}sidestep", "A step to the side earns nothing and takes a step."))
    if traps:
        told.append(Explanation(f"{whose}trap", "A trap takes a step to set, and lies there until the round ends."))
    if len(traps) > 1:
        told.append(Explanation(f"{whose}traps", "Every trap takes a step: time in which the other piece runs on."))
    if any(trap["position"] == _stands(steps, trap["order"]) for trap in traps):
        text = "A trap under a piece of its own side stays there when the piece goes on."
        told.append(Explanation(f"{whose}supermove", text))
    if len(after["history"]) > len(before["history"]):
        told += _explain_round(options, after, seat)
    return told


def _stands(steps: list[Json], order: int) -> Json:
    """The square of the piece before the step of that number."""
    squares: list[Json] = [step["position"] for step in steps[: order - 1] if step["type"] != "trap"]
    return squares[-1]


def _explain_round(options: Json, after: Json, seat: int) -> list[Explanation]:
    entry = after["history"][-1]
    view = entry_view(entry, options["size"], options["rules"])
    own, other = entry["points"][seat], entry["points"][1 - seat]
    score = f"{plural(own, 'point')} for you, {other} for your opponent"
    told = [Explanation("round", f"Both boards ran at once: {score}.")]
    for event in view["events"]:
        mine, step = event["seat"] == seat, event["step"]
        if "goal" in event["reason"]:
            text = "You reached the goal" if mine else "Your opponent reached the goal"
            told.append(Explanation("goal" if mine else "their goal", f"{text} in step {step}: the round ends there."))
        elif "trap" in event["reason"]:
            text = "You were caught by your opponent's trap" if mine else "Your opponent was caught by your trap"
            what = "That costs a point" + (
                ", and the piece stops." if options["rules"] == "live" else ", and the round ends."
            )
            told.append(Explanation("hit" if mine else "caught", f"{text} in step {step}. {what}"))
    if entry["ended"] == ENDED[COLLISION]:
        told.append(Explanation("collision", "Both pieces met on one square: each loses a point, and the round ends."))
    key, text = ("won", "You won the round") if own > other else ("lost", "Your opponent won the round")
    told.append(Explanation("even", "The round is even.") if own == other else Explanation(key, f"{text}."))
    if after["to_move"] is None:
        totals = f"you have {after['totals'][seat]}, your opponent {after['totals'][1 - seat]}"
        ending = "win" if after["winner"] == seat else "draw" if after["winner"] is None else "loss"
        told.append(Explanation(ending, f"All rounds are played, and the points are added up: {totals}."))
    return told


# States and moves for the page


def short_state(state: Json) -> Json:
    """A state of a large grid for the page: boards as codes, and of the history only the last round's.

    In the mode ``deck`` the boards of the history are in ``decks``, two lists of ten codes.
    """
    history = state["history"]
    shown = {**state, "chosen": short_board(state["chosen"])}
    shown["history"] = [{name: value for name, value in entry.items() if name != "boards"} for entry in history]
    if history and state["mode"] == "deck":
        rows, cols = [entry["boards"][0] for entry in history[::DECK]], [entry["boards"][1] for entry in history[:DECK]]
        shown["decks"] = [[encode_board(board) for board in boards] for boards in (rows, cols)]
    elif history:
        shown["history"][-1]["boards"] = [short_board(board) for board in history[-1]["boards"]]
    return shown


def short_board(laid: Any) -> Any:
    """A board as its code, a deck as its codes; what is neither (nothing, or a board in the fog) as it is."""
    if type(laid) is dict and "deck" in laid:
        return {"deck": [encode_board(board) for board in laid["deck"]]}
    return encode_board(laid) if type(laid) is dict and "sequence" in laid else laid


def short_line(state: Json) -> str:
    """The round of a state that is being prepared, or its last one, as a match of one round on one line."""
    laid, history = state["chosen"], state["history"]
    start = f"{state['mode']} {state['size']} {state['rules']} {state['choice']} 1/1"
    if state["mode"] == "deck" or (laid is None and (state["to_move"] is not None or not history)):
        return f"{start} - -"
    if laid is not None:
        return f"{start} {encode_board(laid)} -"
    return f"{start} - {'|'.join(encode_board(board) for board in history[-1]['boards'])}"


def without_grid(drawing: str) -> str:
    """The drawing of a state without the grid of the board that is laid."""
    lines = drawing.split("\n")
    laid = next((number for number, line in enumerate(lines) if line.startswith("laid by seat")), len(lines) - 2)
    return "\n".join([*lines[: laid + 1], lines[-1]])


# Pictures


def paint(game: Game, record: Record) -> Array:
    """Both boards of this round or the last one, each as its owner sees it."""
    deck = game.options["mode"] == "deck"
    slots = [_slot(record, seat, deck) for seat in range(2)]
    boards = [record["boards"][slot, : int(record["lengths"][slot])].tobytes() for slot in slots]
    return paint_boards(boards, game.options["size"])


def paint_boards(boards: list[bytes], size: int) -> Array:
    """Boards, given as actions, side by side: pieces as discs and traps as squares, numbered by step."""
    cell = CELL if size <= 10 else 8
    canvas = Canvas((size + 1) * cell, (len(boards) * (size + 1) - 1) * cell)
    for place, actions in enumerate(boards):
        left = place * (size + 1) * cell
        for square in range(size * size):
            canvas.box((square // size + 1) * cell, left + square % size * cell, cell - 1, cell - 1, HEIGHTS[0])
        for number, (row, col, kind) in enumerate(steps_of(actions, size), 1):
            if actions[number - 1] == size + HIDDEN_TRAP:
                continue
            top, at = (row + 1) * cell, left + col * cell
            if kind == "trap":
                canvas.box(top + cell // 8, at + cell // 8, cell * 3 // 4, cell * 3 // 4, INK)
            else:
                canvas.disc(top + cell // 2, at + cell // 2, cell * 3 // 8, SEATS[place % len(SEATS)])
            if cell == CELL:
                canvas.write(top + cell // 2, at + cell // 2, str(number), PAPER)
    return canvas.pixels


def _slot(record: Record, seat: int, deck: bool) -> int:
    """The index of a seat's board to show."""
    laid = int(record["laid"])
    if deck:
        return seat * 10 + min(max(laid - seat * 10, 0), 9)
    now = laid // 2 * 2
    if now + 1 >= len(record["lengths"]) or not record["lengths"][now : now + 2].any():
        now = max(now - 2, 0)
    return now + seat
