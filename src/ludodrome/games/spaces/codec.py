"""Moves and states of spaces in JSON and text.

Every refusal is a sentence. A state is read by laying its boards again: everything that follows
from them must match what the state says.
"""

import json
import re
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ludodrome import validation
from ludodrome.game import BadState, IllegalMove
from ludodrome.game_spec import GAME_OVER
from ludodrome.games.spaces import rules
from ludodrome.games.spaces.boards import (
    CHOICES,
    DECK,
    draw,
    format_board,
    format_code,
    format_in_fog,
    is_finished,
    max_steps,
    parse_code,
    step_numbers,
    step_words,
    steps_of,
)
from ludodrome.games.spaces.legality import STEP_FAULTS, iter_faults, read_finished, refusal
from ludodrome.games.spaces.rounds import ENDED
from ludodrome.games.spaces.rules import PAIRINGS, REASONS, lay_steps
from ludodrome.jit import Record, new_states
from ludodrome.search.entry_points import make_kernels
from ludodrome.validation import show

KERNELS = make_kernels(rules.RULES)

# Moves in JSON and text: a board, or a deck of ten
#
# ``Lay`` is what a seat lays in one turn, as actions: ten boards in the mode ``deck``, else one. Its
# shape is read first; the kernels check it while they lay it, and ``legality.py`` finds the reason
# for a refusal.


Lay: TypeAlias = list[bytes]
Options: TypeAlias = dict[str, Any]

_MAX_JSON_STEP = 250
"""Maximum number of characters per step in JSON, with its share of the rest."""


# Laying


def lay_boards(states: Any, boards: Lay, names: list[str]) -> None:
    """Lay boards in order; IllegalMove explains the first that is not legal."""
    done = lay_steps(states, np.frombuffer(b"".join(boards), np.uint8))
    for board, name in zip(boards, names, strict=True):
        if done < len(board):
            size, live = int(states["side"][0]), bool(states["live"][0])
            raise IllegalMove(name + refusal(iter_faults(steps_of(board, size), size, live)))
        done -= len(board)


def board_labels(count: int) -> list[str]:
    """The names of the boards of one move in error sentences."""
    return [""] if count == 1 else [f"board {number}: " for number in range(1, count + 1)]


# JSON


def parse_lay(move: Any, options: Options, grid_allowed: bool = True) -> Lay:
    """The boards of a JSON move, or IllegalMove. Legality is not checked."""
    if options["mode"] != "deck":
        return [read_finished(move, options, grid_allowed)]
    validation.fields(move, ("deck",), "a move in the mode 'deck'", IllegalMove)
    boards = validation.items(move["deck"], DECK, "deck", IllegalMove)
    return [
        _named(read_finished, name, board, options, grid_allowed)
        for board, name in zip(boards, board_labels(DECK), strict=True)
    ]


def format_lay(boards: Lay, options: Options) -> dict[str, Any]:
    """The JSON move of boards, as in ``chosen``."""
    if options["mode"] == "deck":
        return {"deck": [format_board(board, options["size"]) for board in boards]}
    return format_board(boards[0], options["size"])


# Text


def parse_boards_text(text: Any, options: Options) -> Lay:
    """The boards of a code, of ten codes, or of the JSON text of a move, or IllegalMove."""
    most = _MAX_JSON_STEP * (max_steps(options["size"]) + 4) * (DECK if options["mode"] == "deck" else 1)
    if type(text) is not str or len(text) > most:
        raise IllegalMove(f"a move of spaces is a text like 3:1:u6uf, or the board in JSON, not {show(text)}")
    if text.lstrip()[:1] != "{":
        return parse_codes(text, options)
    try:
        move = json.loads(text)
    except (ValueError, RecursionError):
        raise IllegalMove(f"the text begins like JSON but is not valid JSON: {show(text)}") from None
    return parse_lay(move, options)


def parse_codes(text: str, options: Options) -> Lay:
    """The boards of a code, or of ten codes joined by commas, or IllegalMove."""
    codes = text.split(",")
    count = DECK if options["mode"] == "deck" else 1
    if len(codes) != count:
        right = f"{DECK} codes joined by commas" if count > 1 else "one code like 3:1:u6uf"
        raise IllegalMove(f"a move in the mode {options['mode']!r} is {right}, not {len(codes)}")
    return [_named(_parse_finished, name, code, options) for code, name in zip(codes, board_labels(count), strict=True)]


def _parse_finished(code: str, options: Options) -> bytes:
    size, actions = parse_code(code)
    if size != options["size"]:
        raise IllegalMove(f"this is a board of size {size}, and the game's size is {options['size']} (R2)")
    if not is_finished(actions, size):
        raise IllegalMove(refusal(iter_faults(steps_of(actions, size), size, options["rules"] == "live")))
    return actions


def format_codes(boards: Lay, size: int) -> str:
    """The codes of boards, joined by commas."""
    return ",".join(format_code(board, size) for board in boards)


def _named(read: Any, name: str, *arguments: Any) -> bytes:
    """Call ``read``; prefix its error sentence with a name."""
    try:
        board: bytes = read(*arguments)
    except IllegalMove as wrong:
        raise IllegalMove(f"{name}{wrong}") from None
    return board


# Single steps as words: ``start 1``, ``up``, ``trap left``, ``finish``


def explain(fault: int, action: int, record: Record) -> str:
    """The sentence for a fault of a step."""
    size = int(record["side"])
    why = STEP_FAULTS[fault].format(size=size, last=size - 1, row=int(record["row"]))
    return why if fault == GAME_OVER else f"{step_words(size)[action]!r} cannot come here: {why}"


def parse_move(move: Any, states: Any) -> int:
    """The action of a step's word."""
    size = int(states["side"][0])
    action = step_numbers(size).get(move) if type(move) is str else None
    if action is None:
        raise IllegalMove(
            f"a step is one of 'start 0' to 'start {size - 1}', 'up', 'left', 'right', 'trap up', 'trap here' "
            f"and so on, and 'finish', not {show(move)}"
        )
    return action


def format_moves(actions: list[int], record: Record) -> list[str]:
    """The words of steps."""
    words = step_words(int(record["side"]))
    return [words[action] for action in actions]


def parse_notation(text: Any, states: Any, legal: list[int]) -> int:
    """The legal step that a text names; case and extra blanks do not matter."""
    action = parse_move(" ".join(text.lower().split()) if type(text) is str else text, states)
    if action not in legal:
        raise IllegalMove(f"{show(text)} is not a legal step here")
    return action


def format_notation(action: int, record: Record) -> str:
    """The word of a step."""
    return format_moves([action], record)[0]


OPTION_KEYS = ("mode", "size", "rules", "choice", "rounds")
STATE_KEYS = (*OPTION_KEYS, "round", "to_move", "chosen", "history", "totals", "winner", "reason")
ENTRY_KEYS = ("boards", "points", "ended")

_ROUND = re.compile(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})", re.ASCII)


def option_fields(options: dict[str, Any]) -> dict[str, int]:
    """The record fields that hold options."""
    return {
        "side": options["size"],
        "live": options["rules"] == "live",
        "deck": options["mode"] == "deck",
        "choice": CHOICES.index(options["choice"]),
        "rounds": options["rounds"],
    }


# A match


class SpacesMatch(NamedTuple):
    """A match as states, lines and drawings show it."""

    options: dict[str, Any]
    round: int
    to_move: int | None
    chosen: Lay | None
    lays: list[tuple[Lay, Lay]]
    """What both seats laid in each completed turn: boards, or decks."""
    results: list[list[int]]
    """Each round played: points of both seats, how it ended."""
    totals: list[int]
    winner: int | None
    reason: str

    @property
    def size(self) -> int:
        """The option ``size``."""
        return int(self.options["size"])

    @property
    def deck(self) -> bool:
        """Whether the mode is ``deck``."""
        return bool(self.options["mode"] == "deck")


def match_of(states: Any) -> SpacesMatch:
    """The contents of states[0], without the unfinished board or deck."""
    record = states[0]
    size, live, deck, choice, rounds = (int(record[name]) for name in ("side", "live", "deck", "choice", "rounds"))
    each = DECK if deck else 1
    turns = int(KERNELS.turns(states))
    done = turns // 2
    seat, best = int(KERNELS.mover(states)), int(record["winner"])
    boards, lengths = record["boards"], record["lengths"].tolist()

    def lay(index: int) -> Lay:
        return [boards[k, : lengths[k]].tobytes() for k in range(index * each, (index + 1) * each)]

    return SpacesMatch(
        {
            "mode": "deck" if deck else "rounds",
            "size": size,
            "rules": "live" if live else "written",
            "choice": CHOICES[choice],
            "rounds": rounds,
        },
        min(done + 1, rounds),
        None if seat < 0 else seat,
        lay(2 * done + 1 - seat) if turns % 2 else None,
        [(lay(2 * i), lay(2 * i + 1)) for i in range(done)],
        record["results"][: done * each * each].tolist(),
        record["totals"].tolist(),
        None if best < 0 else best,
        REASONS[int(record["reason"])],
    )


def empty_match(options: dict[str, Any]) -> Any:
    """An array of one record in which nothing is laid."""
    states = new_states(rules.dtype_of(options["size"], options["rounds"]), 1)
    for name, value in option_fields(options).items():
        states[name] = value
    KERNELS.reset(states, np.uint64(0))
    return states


def _states_of(lays: list[tuple[Lay, Lay]], chosen: Lay | None, round_: int, options: dict[str, Any]) -> Any:
    """An array of one record in which these boards were laid, or BadState."""
    deck, rounds = options["mode"] == "deck", options["rounds"]
    over = len(lays) == rounds
    if round_ != min(len(lays) + 1, rounds):
        played = f"{len(lays)} of {rounds} rounds played"
        raise BadState(f"round is {min(len(lays) + 1, rounds)} with {played}, not {round_}")
    if over and chosen is not None:
        raise BadState("chosen is null once the game is over")
    states = empty_match(options)
    boards: Lay = []
    names: list[str] = []
    for turn, pair in enumerate(lays):
        for seat in (turn % 2, 1 - turn % 2):  # R24: in the order in which they were laid
            boards += pair[seat]
            where = "the deck" if deck else f"history[{turn}]"
            names += [f"{where} of seat {seat}, {name}" for name in board_labels(len(pair[seat]))]
    if chosen is not None:
        boards += chosen
        names += [f"chosen, {name}" for name in board_labels(len(chosen))]
    try:
        lay_boards(states, boards, names)
    except IllegalMove as wrong:
        raise BadState(str(wrong)) from None
    return states


# JSON


def parse_state(state: Any, options: dict[str, Any]) -> Any:
    """An array of one record, or BadState."""
    validation.fields(state, STATE_KEYS, "a state of spaces", BadState)
    for name in OPTION_KEYS:
        validation.choice(state[name], [options[name]], f"{name} in this game", BadState)
    round_ = validation.integer(state["round"], 1, options["rounds"], "round", BadState)
    lays = _parse_history(state["history"], options)
    states = _states_of(lays, parse_chosen(state["chosen"], options), round_, options)
    match = match_of(states)
    for index, (entry, (a, b, ended)) in enumerate(zip(state["history"], match.results, strict=True)):
        compare(entry["points"], [a, b], f"history[{index}].points")
        compare(entry["ended"], ENDED[ended], f"history[{index}].ended")
    for name in ("totals", "to_move", "winner", "reason"):
        compare(state[name], getattr(match, name), name)
    return states


def compare(value: Any, right: Any, where: str) -> None:
    """Raise BadState if a value is not what follows from the boards."""
    if type(right) is list:
        for index, one in enumerate(validation.items(value, len(right), where, BadState)):
            compare(one, right[index], f"{where}[{index}]")
    elif type(value) is not type(right) or value != right:
        raise BadState(f"{where} is {show(right)} by the boards laid, not {show(value)}")


def parse_chosen(chosen: Any, options: dict[str, Any]) -> Lay | None:
    """What ``chosen`` of a state holds, or BadState."""
    if chosen is None:
        return None
    try:
        return parse_lay(chosen, options, grid_allowed=False)
    except IllegalMove as wrong:
        raise BadState(f"chosen, {wrong}") from None


def _parse_history(history: Any, options: dict[str, Any]) -> list[tuple[Lay, Lay]]:
    """The boards laid in the rounds played."""
    deck, rounds = options["mode"] == "deck", options["rounds"]
    if type(history) is not list or len(history) > (PAIRINGS if deck else rounds):
        most = f"empty or of {PAIRINGS}" if deck else f"of at most {rounds}"
        raise BadState(f"history is a list of rounds, {most}, not {show(history)}")
    pairs = []
    for index, entry in enumerate(history):
        where = f"history[{index}]"
        validation.fields(entry, ENTRY_KEYS, where, BadState)
        pair = []
        for seat, board in enumerate(validation.items(entry["boards"], 2, f"{where}.boards", BadState)):
            try:
                pair.append(read_finished(board, options, grid_allowed=False))
            except IllegalMove as wrong:
                raise BadState(f"{where}.boards[{seat}], {wrong}") from None
        pairs.append(pair)
    if not deck:
        return [([a], [b]) for a, b in pairs]
    return _decks(pairs) if pairs else []


def _decks(pairs: list[list[bytes]]) -> list[tuple[Lay, Lay]]:
    """R25: the two decks of 100 pairings in row order."""
    validation.items(pairs, PAIRINGS, "in the mode 'deck' history, where it is not empty,", BadState)
    own = [pairs[DECK * i][0] for i in range(DECK)]
    other = [pairs[j][1] for j in range(DECK)]
    for index, pair in enumerate(pairs):
        if pair != [own[index // DECK], other[index % DECK]]:
            raise BadState(
                f"history[{index}].boards are board {index // DECK + 1} of seat 0's deck and board {index % DECK + 1} "
                f"of seat 1's, as history[{index // DECK * DECK}] and history[{index % DECK}] have them"
            )
    return [(own, other)]


def format_state(record: Record) -> dict[str, Any]:
    """The JSON state of a record."""
    match = match_of(array_of(record))
    size = match.size
    pairs = [(a, b) for first, second in match.lays for a in first for b in second]
    return {
        **{name: match.options[name] for name in ("mode", "size", "rules", "choice")},
        "round": match.round,
        "rounds": match.options["rounds"],
        "to_move": match.to_move,
        "chosen": None if match.chosen is None else format_lay(match.chosen, match.options),
        "history": [
            _format_entry(record, number, pair, result, size)
            for number, (pair, result) in enumerate(zip(pairs, match.results, strict=True))
        ],
        "totals": match.totals,
        "winner": match.winner,
        "reason": match.reason,
    }


def _format_entry(
    record: Record, number: int, boards: tuple[bytes, bytes], result: list[int], size: int
) -> dict[str, Any]:
    """An entry of the history; of an observation, boards may be in fog."""
    fogged = [False, False] if record["deck"] else record["fogged"][2 * number : 2 * number + 2].tolist()
    entry = {
        "boards": [
            format_in_fog(board, size) if hidden else format_board(board, size)
            for board, hidden in zip(boards, fogged, strict=True)
        ],
        "points": result[:2],
        "ended": ENDED[result[2]],
    }
    return entry | ({"steps": record["done"][2 * number : 2 * number + 2].tolist()} if any(fogged) else {})


def array_of(record: Record) -> Any:
    """An array of one record, for the kernels."""
    states = new_states(record.dtype, 1)
    states[0] = record
    return states


# One line


def parse_line(text: Any, options: dict[str, Any]) -> Any:
    """The record of a one-line form, or BadState."""
    words = text.split() if type(text) is str else []
    if len(words) != 7:
        raise BadState(
            "a position of spaces is mode, size, rules, choice, round/rounds, the board laid or -, "
            f"and the history or -, not {show(text)}"
        )
    for name, word in zip(("mode", "size", "rules", "choice"), words[:4], strict=True):
        if word != str(options[name]):
            raise BadState(f"{name} in this game is {options[name]}, not {show(word)}")
    match = _ROUND.fullmatch(words[4])
    if match is None or int(match[2]) != options["rounds"]:
        raise BadState(f"round and rounds are like 1/{options['rounds']} in this game, not {show(words[4])}")
    try:
        chosen = None if words[5] == "-" else parse_codes(words[5], options)
        lays = [] if words[6] == "-" else _parse_line_history(words[6], options)
    except IllegalMove as wrong:
        raise BadState(str(wrong)) from None
    return _states_of(lays, chosen, int(match[1]), options)


def _parse_line_history(text: str, options: dict[str, Any]) -> list[tuple[Lay, Lay]]:
    turns = text.split(";")
    if len(turns) > options["rounds"]:
        raise BadState(f"the history has at most {options['rounds']} rounds, not {len(turns)}")
    lays = []
    for number, turn in enumerate(turns, 1):
        sides = turn.split("|")
        if len(sides) != 2:
            raise BadState(f"round {number} of the history is two codes joined by |, not {show(turn)}")
        lays.append((parse_codes(sides[0], options), parse_codes(sides[1], options)))
    return lays


def format_line(record: Record) -> str:
    """The one-line form of a record."""
    match = match_of(array_of(record))
    size = match.size
    words = [str(match.options[name]) for name in ("mode", "size", "rules", "choice")]
    chosen = "-" if match.chosen is None else format_codes(match.chosen, size)
    history = ";".join("|".join(format_codes(lay, size) for lay in pair) for pair in match.lays)
    return " ".join([*words, f"{match.round}/{match.options['rounds']}", chosen, history or "-"])


# Drawing


def render(record: Record) -> str:
    """The rounds played, the board laid, and one line about the match."""
    match = match_of(array_of(record))
    size = match.size
    lines = []
    if match.deck:
        results = [f"{a}:{b}" for a, b, _ in match.results]
        lines += [" ".join(results[i : i + DECK]) for i in range(0, len(results), DECK)]
    else:
        for number, ((own, other), (a, b, ended)) in enumerate(zip(match.lays, match.results, strict=True), 1):
            codes = [format_codes(lay, size) for lay in (own, other)]
            lines.append(f"round {number}: {codes[0]} {a} : {b} {codes[1]} ({ENDED[ended]})")
    if match.chosen is not None and match.to_move is not None:
        lines.append(f"laid by seat {1 - match.to_move}: {format_codes(match.chosen, size)}")
        if not match.deck:
            lines.append(draw(steps_of(match.chosen[0], size), size))
    return "\n".join([*lines, _last_line(match)])


def _last_line(match: SpacesMatch) -> str:
    totals = f"totals {match.totals[0]} : {match.totals[1]}"
    if match.to_move is not None:
        return f"round {match.round} of {match.options['rounds']}, {totals}, seat {match.to_move} to lay"
    won = "draw" if match.winner is None else f"seat {match.winner} wins"
    return f"over, {totals}, {won} ({match.reason})"
