"""Records as text that people read and write: ``format_records`` and ``parse_records``.

A game is a head of ``[key value]`` lines, each value JSON on one line, then its moves, one a line, in the notation of
the game. After a move, a comment in braces can give the bot's evaluation: score, depth, nodes and time. After that,
``;`` and a JSON object can give more about the turn, such as refusals. ``-`` is a turn without a move. A blank line
separates games; lines that begin with ``%`` are comments. Only the last digest is written: the reader computes the
others.

    [ludodrome "record"]
    [game "tictactoe"]
    [names ["greedy","mine"]]
    ...
    4. B2  ; {"ms":0.4}
    5. A1  {+120/9 350000n 0.35s}
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ludodrome.arena.messages import BadLine, read_json
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records.format import (
    MAX_RECORD_DEPTH,
    SECRET,
    START,
    BadRecord,
    Chain,
    digest,
    first_state,
    header_of,
    rounded,
    to_text,
)
from ludodrome.arena.records.verification import alike, verify
from ludodrome.arena.telemetry import NUMBERS, check_recorded, final_numbers
from ludodrome.game import Game, IllegalMove
from ludodrome.validation import show

COMMENT = "%"
NO_MOVE = "-"
OPENING = {"opening": True}
_HEAD = re.compile(r"\[([a-z_]+) (.*)\]")
_TURN = re.compile(r"([0-9]{1,7})\. (\S.*?)(?:\s+(\{[-+0-9./ens ]{1,100}\}))?(?:\s+; (\{.*\}))?")
_EVALUATION = re.compile(
    r"\{(?P<score>[-+][0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)?(?:/(?P<depth>[0-9]{1,19}))?"
    r"(?: ?(?P<nodes>[0-9]{1,19})n)?(?: ?(?P<seconds>[0-9]+(?:\.[0-9]+)?)s)?\}"
)
_ELSEWHERE = ("turns", "digest", "opening")
_IN_THE_LINE = ("turn", "seat", "move", "digest")


class _Line(NamedTuple):
    number: int
    text: str


def format_records(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of several records."""
    for number, record in enumerate(records):
        if number:
            yield ""
        yield from format_record(record)


def format_record(record: dict[str, Any]) -> Iterator[str]:
    """The lines of one verified record."""
    for key, value in record.items():
        if key not in _ELSEWHERE:
            yield f"[{key} {to_text(value)}]"
    yield f"[digest {to_text(record['digest'])}]"
    game = PlaySpec.from_json({"seed": "0", **record}).make_game()
    state = first_state(game, record)
    entries = [{"turn": number, "move": move, **OPENING} for number, move in enumerate(record["opening"])]
    for entry in entries + record["turns"]:
        more = {key: value for key, value in entry.items() if key not in _IN_THE_LINE}
        written = game.format_move(entry["move"], state) if "move" in entry else NO_MOVE
        comment, rest = _split_evaluation(more)
        yield (
            f"{entry['turn']}. {written}"
            + (f"  {comment}" if comment else "")
            + (f"  ; {to_text(rest)}" if rest else "")
        )
        if "move" in entry:
            state = game.apply(state, entry["move"])


def _split_evaluation(more: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A comment with the evaluation of a turn, and what it does not say; an empty comment if there is none."""
    numbers = final_numbers(more.get("info", ()))
    if not numbers:
        return "", more
    comment = format_evaluation(numbers, more.get("ms"))
    said = _read_evaluation(comment)
    if said is None or any(not alike(said.get(name), numbers.get(name)) for name in NUMBERS):
        return "", more
    rest = {key: value for key, value in more.items() if key != "ms" or not alike(said.get("ms"), value)}
    if more["info"] == [numbers]:
        del rest["info"]
    return comment, rest


def format_evaluation(numbers: dict[str, Any], ms: Any = None) -> str:
    """An evaluation as PGN writes it, in braces: score/depth, nodes, seconds.

    >>> format_evaluation({"score": 120, "depth": 9, "nodes": 350000}, 350)
    '{+120/9 350000n 0.35s}'
    """
    score = f"{numbers['score']:+}" if "score" in numbers else ""
    depth = f"/{numbers['depth']}" if "depth" in numbers else ""
    nodes = f"{numbers['nodes']}n" if "nodes" in numbers else ""
    seconds = f"{ms / 1000:.6f}".rstrip("0").rstrip(".") + "s" if type(ms) in (int, float) else ""
    return "{" + " ".join(part for part in (score + depth, nodes, seconds) if part) + "}"


def _read_evaluation(comment: str) -> dict[str, Any] | None:
    """``ms`` and the numbers of a comment; None if it is not an evaluation."""
    match = _EVALUATION.fullmatch(comment)
    if match is None:
        return None
    found: dict[str, Any] = {}
    if match["score"]:
        whole = match["score"].lstrip("+-").isdecimal()
        found["score"] = int(match["score"]) if whole else float(match["score"])
    found |= {name: int(match[name]) for name in ("depth", "nodes") if match[name]}
    if match["seconds"]:
        found["ms"] = rounded(round(float(match["seconds"]) * 1000, 3))
    return found


def parse_records(text: str) -> Iterator[dict[str, Any]]:
    """Parse the records of a text and verify each; BadRecord names the wrong line."""
    block: list[_Line] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip() and not line.startswith(COMMENT):
            block.append(_Line(number, line.strip()))
        elif not line.strip() and block:
            yield _parse_block(block)
            block = []


def _parse_block(lines: list[_Line]) -> dict[str, Any]:
    head: dict[str, Any] = {}
    turns: list[_Line] = []
    for line in lines:
        if match := _HEAD.fullmatch(line.text):
            if turns or match[1] in head or match[1] in ("turns", "opening"):
                raise _wrong(line, f"[{match[1]} ...] is misplaced here")
            head[match[1]] = _json(line, match[2])
        else:
            turns.append(line)
    try:
        return _Reader(head, lines[0]).record(turns)
    except BadRecord:
        raise
    except KeyError as missing:
        what = "the game that begins here" if head else "this is not a record of a game: it"
        raise _wrong(lines[0], f"{what} has no line [{missing.args[0]} ...]") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise _wrong(lines[0], f"the game that begins here is malformed: {error}") from None


class _Reader:
    """Parses one game of a text by playing it again."""

    def __init__(self, head: dict[str, Any], first: _Line) -> None:
        self.head = head
        self.first = first
        self.game: Game = PlaySpec.from_json({"seed": "0", **head, "opening": []}).make_game()
        self.state = first_state(self.game, {**head, "opening": []})

    def record(self, lines: list[_Line]) -> dict[str, Any]:
        """Build the record from the head and these lines of turns."""
        opening, entries = self._opening(lines)
        top = header_of({**self.head, "opening": opening})
        chain = Chain(top, self.state)
        turns = [self._turn(chain, line) for line in entries]
        elsewhere = (*top, START, *SECRET, "digest", "ms")
        beside = {key: value for key, value in self.head.items() if key not in elsewhere}
        first = {key: self.head[key] for key in (*top, START, *SECRET) if key in self.head}
        record = {**top, **first, "turns": turns}
        record |= {"result": beside.pop("result"), **beside, "ms": self.head["ms"]}
        record["digest"] = self.head.get("digest") or digest(record)
        try:
            verify(record)
        except BadRecord as wrong:
            raise _wrong(self.first, f"the game that begins here does not verify: {wrong}") from None
        return record

    def _opening(self, lines: list[_Line]) -> tuple[list[Any], list[_Line]]:
        """Play the opening; return its moves and the lines of the turns."""
        opening: list[Any] = []
        for place, line in enumerate(lines):
            number, text, more = _parts(line)
            if more != OPENING:
                return opening, lines[place:]
            if number != len(opening):
                raise _wrong(line, f"this is move {len(opening)} of the opening, not {number}")
            opening.append(self._made(line, text))
        return opening, []

    def _turn(self, chain: Chain, line: _Line) -> dict[str, Any]:
        number, text, more = _parts(line)
        if wrong := set(more) & set(_IN_THE_LINE):
            raise _wrong(line, f"{show(min(wrong))} cannot follow the semicolon")
        entry = {"turn": number, "seat": self.game.to_move(self.state)}
        if text != NO_MOVE:
            entry["move"] = self._made(line, text)
        return chain.link({**entry, **more}, self.state)

    def _made(self, line: _Line, text: str) -> Any:
        try:
            move = self.game.parse_move(text, self.state)
        except IllegalMove as wrong:
            raise _wrong(line, str(wrong)) from None
        self.state = self.game.apply(self.state, move)
        return move


def _parts(line: _Line) -> tuple[int, str, dict[str, Any]]:
    """A turn's number, its move and its other keys."""
    match = _TURN.fullmatch(line.text)
    if match is None:
        raise _wrong(line, f'a turn is written like 12. MOVE  ; {{"ms":3}}, not {show(line.text)}')
    more = _json(line, match[4]) if match[4] else {}
    return int(match[1]), match[2], _with_evaluation(line, match[3], more) if match[3] else more


def _with_evaluation(line: _Line, comment: str, more: dict[str, Any]) -> dict[str, Any]:
    """The keys of a turn with those of its comment. What the JSON says too must be the same."""
    said = _read_evaluation(comment)
    if said is None:
        raise _wrong(line, f"an evaluation is written like {{+120/9 350000n 0.35s}}, not {show(comment)}")
    numbers = {name: said[name] for name in NUMBERS if name in said}
    time = {"ms": said["ms"]} if "ms" in said else {}
    if "ms" in more and time and more["ms"] != said["ms"]:
        raise _wrong(line, f"the comment says {said['ms']} ms, and after the semicolon it is {show(more['ms'])}")
    if "info" not in more:
        return {**time, **more, **({"info": [numbers]} if numbers else {})}
    check_recorded(more["info"])
    if final_numbers(more["info"]) != numbers:
        raise _wrong(line, "the comment and the info after the semicolon say different things")
    return {**time, **more}


def _json(line: _Line, text: str) -> Any:
    try:
        return read_json(text.encode("utf-8", "surrogatepass"), MAX_RECORD_DEPTH)
    except BadLine as wrong:
        raise _wrong(line, str(wrong)) from None


def _wrong(line: _Line, sentence: str) -> BadRecord:
    return BadRecord(f"line {line.number}: {sentence}")
