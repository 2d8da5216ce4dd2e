"""Tests of boards: two boards, a rule set and what is expected; suites of them in TOML or JSON, and how they are run.

A test of one board against one is a *round*. A test of several boards on a side is a *table*: every board of the
player meets every board of the opponent, and won, drawn and lost rounds are counted.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ludodrome import validation
from ludodrome.games.spaces.boards import RULE_SETS
from ludodrome.games.spaces.simulation import Packed, Round, simulate, simulate_matrix
from ludodrome.spaces_lab.board_files import read_text, read_value
from ludodrome.spaces_lab.board_sources import DEGREES, PLAYABLE, BoardReader, NotLegal, Side, check_source, code_of
from ludodrome.validation import listing, plural, show

PLAYER, OPPONENT, TIE = WINNERS = ("player", "opponent", "tie")
ENDINGS = ("goal", "collision", "trap", "complete")
PASSED, FAILED, ERROR, SKIPPED = STATUSES = ("passed", "failed", "error", "skipped")
MAX_ROUNDS = 10_000_000
"""Maximum number of rounds of a table."""
_Z = 1.959963984540054
"""The quantile of the normal distribution for an interval of 95 %."""

_SHARED_KEYS = ("notes", "tags", "rules", "size", "count", "seed", "boards")
SUITE_KEYS = ("name", *_SHARED_KEYS, "tests")
TEST_KEYS = ("name", "player", "opponent", "expect", *_SHARED_KEYS)
EXPECT_KEYS = ("winner", "points", "ended", "step", "min_won", "max_lost")


def winner_of(points: Sequence[int]) -> str:
    """``player``, ``opponent`` or ``tie``."""
    return TIE if points[0] == points[1] else PLAYER if points[0] > points[1] else OPPONENT


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The Wilson interval of 95 % of a share.

    >>> [round(end, 3) for end in wilson(5, 10)], wilson(0, 0)
    ([0.237, 0.763], (0.0, 1.0))
    """
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, _Z * _Z
    middle = share + square / (2 * trials)
    reach = _Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    low, high = ((middle + sign * reach) / (1 + square / trials) for sign in (-1, 1))
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


# What is expected


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a test expects; None: anything."""

    winner: str | None = None
    points: tuple[int, int] | None = None
    ended: str | None = None
    step: int | None = None
    """The step in which the round ends."""
    min_won: float | None = None
    """The smallest share of rounds that the player wins."""
    max_lost: float | None = None
    """The largest share of rounds that the player loses."""
    squares: tuple[tuple[int, int] | None, tuple[int, int] | None] | None = None
    """The last squares of the pieces on the common grid; of recorded sessions only."""
    collision: bool | None = None
    """Whether the round ends by a collision; of recorded sessions only."""

    def words(self) -> str:
        """The expectation in a few words."""
        parts = [self.winner or ""]
        parts += [f"{self.points[0]} : {self.points[1]}"] if self.points is not None else []
        parts += [f"ends by {self.ended}"] if self.ended is not None else []
        parts += [f"ends in step {self.step}"] if self.step is not None else []
        parts += [f"wins at least {self.min_won:.1%}"] if self.min_won is not None else []
        parts += [f"loses at most {self.max_lost:.1%}"] if self.max_lost is not None else []
        return ", ".join(filter(None, parts)) or "anything"

    def judge_round(self, played: Round) -> list[str]:
        """What is not as expected of a round, a sentence each."""
        wrong = self._judge_points(played.points)
        if self.ended is not None and played.ended != self.ended:
            wrong.append(f"expected to end by {self.ended}, ended by {played.ended}")
        if self.collision is not None and (played.ended == "collision") != self.collision:
            wrong.append(f"expected {'a' if self.collision else 'no'} collision, ended by {played.ended}")
        if self.step is not None and len(played.steps) != self.step:
            wrong.append(f"expected to end in step {self.step}, ended in step {len(played.steps)}")
        for seat, square in enumerate(self.squares or ()):
            last = played.steps[-1].squares[seat]
            if square is not None and tuple(last) != square:
                wrong.append(f"expected the {WINNERS[seat]}'s piece on {_at(square)}, it is on {_at(last)}")
        winner = winner_of(played.points)
        return wrong + self._judge_shares(int(winner == PLAYER), int(winner == OPPONENT), 1)

    def judge_table(self, rows: Sequence["TableRow"]) -> list[str]:
        """The same of a table: winner and points are those of all rounds together."""
        total = total_row(rows)
        return self._judge_points(total.points) + self._judge_shares(total.won, total.lost, total.rounds)

    def _judge_points(self, points: Sequence[int]) -> list[str]:
        wrong = []
        winner = winner_of(points)
        if self.winner is not None and winner != self.winner:
            wrong.append(f"expected {self.winner}, got {winner} ({points[0]:,} : {points[1]:,})")
        if self.points is not None and tuple(points) != self.points:
            wrong.append(f"expected {self.points[0]:,} : {self.points[1]:,}, got {points[0]:,} : {points[1]:,}")
        return wrong

    def _judge_shares(self, won: int, lost: int, rounds: int) -> list[str]:
        wrong = []
        if self.min_won is not None and won / rounds < self.min_won:
            wrong.append(f"expected to win at least {self.min_won:.1%}, won {won / rounds:.1%}")
        if self.max_lost is not None and lost / rounds > self.max_lost:
            wrong.append(f"expected to lose at most {self.max_lost:.1%}, lost {lost / rounds:.1%}")
        return wrong


def _at(square: Sequence[int]) -> str:
    return f"({square[0]},{square[1]})"


def parse_expectation(value: Any, where: str = "expect") -> Expectation:
    """The expectation of a word (``player``) or of an object; ValueError says what is wrong."""
    if value is None:
        return Expectation()
    if type(value) is str:
        return Expectation(winner=validation.choice(value, WINNERS, where, ValueError))
    _known_keys(value, EXPECT_KEYS, where)
    winner, ended, step, points = (value.get(key) for key in ("winner", "ended", "step", "points"))
    if winner is not None:
        validation.choice(winner, WINNERS, f"{where}.winner", ValueError)
    if ended is not None:
        validation.choice(ended, ENDINGS, f"{where}.ended", ValueError)
    if step is not None:
        validation.integer(step, 1, 10**6, f"{where}.step", ValueError)
    if points is not None:
        validation.items(points, 2, f"{where}.points", ValueError)
        points = tuple(validation.integer(one, 0, 10**12, f"{where}.points", ValueError) for one in points)
    min_won, max_lost = (_share(value.get(key), f"{where}.{key}") for key in ("min_won", "max_lost"))
    return Expectation(winner, points, ended, step, min_won, max_lost)


def _share(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError(f"{where} is a share from 0 to 1, not {show(value)}")
    return float(value)


# Tests and suites


@dataclass(frozen=True, slots=True)
class BoardTest:
    """Two boards, a rule set, and what is expected."""

    name: str
    player: Any
    """The source of the player's boards, see ``board_sources``."""
    opponent: Any
    rules: str = "written"
    expect: Expectation = Expectation()
    size: int | None = None
    """For random and generated boards on both sides."""
    count: int = 1
    """Number of random boards on a side."""
    seed: int = 0
    boards: str = PLAYABLE
    """What boards must be. With ``legal``, a test with a board that is not is skipped, with the reason."""
    notes: str = ""
    tags: tuple[str, ...] = ()
    folder: Path = Path()
    """Where relative paths start."""
    suite: str = ""
    """The name of its suite."""

    @property
    def id(self) -> str:
        """Suite and name."""
        return f"{self.suite}: {self.name}"

    @property
    def sources(self) -> tuple[str, str]:
        """Both sources in a few words."""
        player, opponent = ("JSON" if type(one) is dict else str(one) for one in (self.player, self.opponent))
        return player, opponent


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests of one file."""

    name: str
    tests: tuple[BoardTest, ...]
    notes: str = ""
    path: str = ""


def load_suite(path: str) -> Any:
    """The value in a suite file, TOML if its name ends so, else JSON; ValueError names the place."""
    if not path.endswith(".toml"):
        return read_value(path)
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: this is not TOML: {error}") from error


def parse_suite(value: Any, path: str, **defaults: Any) -> Suite:
    """The suite of a value; ValueError names the test and what is wrong. ``defaults``: where the suite says nothing."""
    _known_keys(value, SUITE_KEYS, path)
    items = value.get("tests")
    if type(items) is not list or not items:
        raise ValueError(f"{path}: a suite has a list of at least one test in 'tests', not {show(items)}")
    name = _text(value.get("name", Path(path).stem), f"{path}: name")
    shared = {**defaults, **{key: value[key] for key in _SHARED_KEYS if key in value and key != "notes"}}
    tests: list[BoardTest] = []
    used: set[str] = set()
    for number, item in enumerate(items, 1):
        title = item.get("name") if type(item) is dict else None
        where = f"{path}, test {number}{f' ({show(title)})' if type(title) is str else ''}"
        test = _parse_test(item, shared, number, name, where)
        if test.name in used:
            raise ValueError(f"{where}: an earlier test has this name")
        used.add(test.name)
        tests.append(test)
    return Suite(name, tuple(tests), _text(value.get("notes", ""), f"{path}: notes"), path)


def _parse_test(item: Any, shared: dict[str, Any], number: int, suite: str, where: str) -> BoardTest:
    _known_keys(item, TEST_KEYS, where)
    for side in ("player", "opponent"):
        if side not in item:
            raise ValueError(f"{where}: a test has a player and an opponent, and this has no {side}")
        check_source(item[side], f"{where}: {side}")
    have = {**shared, **item}
    if have.get("size") is not None:
        validation.integer(have["size"], 2, 100, f"{where}: size", ValueError)
    tags = (*_tags(shared.get("tags", []), where), *_tags(item.get("tags", []), where))
    return BoardTest(
        _text(item.get("name", f"test {number}"), f"{where}: name"),
        item["player"],
        item["opponent"],
        validation.choice(have.get("rules", "written"), RULE_SETS, f"{where}: rules", ValueError),
        parse_expectation(item.get("expect"), f"{where}: expect"),
        have.get("size"),
        validation.integer(have.get("count", 1), 1, 10**6, f"{where}: count", ValueError),
        validation.integer(have.get("seed", 0), 0, 2**63 - 1, f"{where}: seed", ValueError),
        validation.choice(have.get("boards", PLAYABLE), DEGREES, f"{where}: boards", ValueError),
        _text(item.get("notes", ""), f"{where}: notes"),
        tuple(dict.fromkeys(tags)),
        Path(where.partition(", test ")[0]).parent,
        suite,
    )


def _known_keys(value: Any, keys: Sequence[str], where: str) -> None:
    if type(value) is not dict:
        raise ValueError(f"{where}: this is an object with the keys {listing(keys)}, not {show(value)}")
    unknown = next((key for key in value if key not in keys), None)
    if unknown is not None:
        raise ValueError(f"{where}: there is no key {show(unknown)}; the keys are {listing(keys)}")


def _text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise ValueError(f"{where} is a text, not {show(value)}")
    return value


def _tags(value: Any, where: str) -> list[str]:
    if type(value) is not list:
        raise ValueError(f"{where}: tags is a list of texts, not {show(value)}")
    return [_text(one, f"{where}: a tag") for one in value]


def select(tests: Iterable[BoardTest], names: Sequence[str] = (), tags: Sequence[str] = ()) -> list[BoardTest]:
    """The tests that match one of the names (a part, or a pattern with * and ?) and have one of the tags."""
    return [
        test
        for test in tests
        if (not names or any(_matches(test.name, one) for one in names)) and (not tags or {*tags} & {*test.tags})
    ]


def _matches(name: str, pattern: str) -> bool:
    name, pattern = name.lower(), pattern.lower()
    return pattern in name or fnmatchcase(name, pattern)


# Running


@dataclass(frozen=True, slots=True)
class TableRow:
    """One board of the player against all boards of the opponent."""

    name: str
    code: str
    won: int
    drawn: int
    lost: int
    points: tuple[int, int]

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self.won + self.drawn + self.lost


def total_row(rows: Sequence[TableRow]) -> TableRow:
    """All rows together."""
    won, drawn, lost = (sum(getattr(row, word) for row in rows) for word in ("won", "drawn", "lost"))
    points = (sum(row.points[0] for row in rows), sum(row.points[1] for row in rows))
    return TableRow(plural(len(rows), "board"), "", won, drawn, lost, points)


@dataclass(slots=True)
class BoardTestResult:
    """What came of a test."""

    test: BoardTest
    status: str = PASSED
    messages: list[str] = field(default_factory=list)
    """Why it did not pass."""
    notes: list[str] = field(default_factory=list)
    """Boards that are not legal, and how boards were drawn."""
    sides: tuple[Side, Side] | None = None
    played: Round | None = None
    """The round, step by step; None for a table."""
    rows: list[TableRow] = field(default_factory=list)
    sampled: bool = False
    """Whether the opponent's boards are a random sample, so that shares have an interval."""

    @property
    def size(self) -> int:
        """The size of its boards."""
        return self.sides[0].size if self.sides is not None else 0

    def boards(self) -> list[dict[str, Any]]:
        """The two boards of a round, as JSON."""
        return [side.json_board(0) for side in self.sides or ()]

    def summary(self) -> str:
        """The result in a few words: ``3 : 2, goal in step 4``."""
        if self.played is not None:
            points, last = self.played.points, len(self.played.steps)
            return f"{points[0]} : {points[1]}, {self.played.ended} in step {last}"
        if self.rows:
            row = total_row(self.rows)
            return f"{plural(row.rounds, 'round')}: {row.won:,} won, {row.drawn:,} drawn, {row.lost:,} lost"
        return ""


def run_tests(tests: Iterable[BoardTest], reader: BoardReader) -> Iterator[BoardTestResult]:
    """Run tests one after the other, in this process; a test that cannot be run does not stop the others."""
    for test in tests:
        result = BoardTestResult(test)
        try:
            _run(test, result, reader)
        except NotLegal as reason:
            result.status, result.messages = SKIPPED, [str(reason)]
        except ValueError as error:
            result.status, result.messages, result.notes = ERROR, [str(error)], []
        yield result


def _run(test: BoardTest, result: BoardTestResult, reader: BoardReader) -> None:
    sources = (test.player, test.opponent)
    sides = reader.sides(sources, test.folder, test.rules, test.size, test.count, test.seed, test.boards)
    result.sides = sides
    result.notes = [note for side in sides for note in side.notes]
    result.sampled = sides[1].sampled
    if not all(side.uniform for side in sides):
        result.notes.append("random boards of this size are made step by step, so they are not equally likely")
    if len(sides[0].boards) == len(sides[1].boards) == 1:
        player, opponent = result.boards()
        result.played = simulate(player, opponent, sides[0].size, test.rules)
        wrong = test.expect.judge_round(result.played)
    else:
        if test.expect.ended is not None or test.expect.step is not None:
            raise ValueError("`ended` and `step` are about one round, and this test has several boards on a side")
        result.rows = _table(sides, test.rules)
        wrong = test.expect.judge_table(result.rows)
    if wrong:
        result.status, result.messages = FAILED, wrong


def _table(sides: tuple[Side, Side], rules: str) -> list[TableRow]:
    """Play all boards of one side against all of the other, in one call of the kernel."""
    first, second = sides
    if len(first.boards) * len(second.boards) > MAX_ROUNDS:
        raise ValueError(
            f"a table has at most {MAX_ROUNDS:,} rounds, and {len(first.boards):,} x {len(second.boards):,} are more"
        )
    packed = [_packed(side, rules, name) for side, name in zip(sides, ("player", "opponent"), strict=True)]
    own, other = simulate_matrix(packed[0], packed[1], first.size, rules)
    margins = own.astype(np.int32) - other
    return [
        TableRow(
            first.name(at),
            code_of(first.boards[at], first.size),
            int((margins[at] > 0).sum()),
            int((margins[at] == 0).sum()),
            int((margins[at] < 0).sum()),
            (int(own[at].sum()), int(other[at].sum())),
        )
        for at in range(len(first.boards))
    ]


def _packed(side: Side, rules: str, name: str) -> Packed:
    actions = [board for board in side.boards if isinstance(board, bytes)]
    if len(actions) == len(side.boards):
        return Packed.from_actions(actions, side.size, rules == "live")
    return Packed([side.json_board(at) for at in range(len(side.boards))], side.size, rules, f"{name}, board")
