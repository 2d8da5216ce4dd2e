"""The four scenarios of spaces for learners, as Gymnasium environments, and the styles of their opponents.

    BoardGeneration      build a board step by step against an opponent's board
    BoardSelection       choose one of several boards against an unknown opponent
    OpponentPrediction   predict which of several boards the opponent lays next
    MetaGame             choose a board in every round against an opponent with a style

All observations have the same keys: ``grid``, ``position``, ``traps``, ``score``, ``opponent``, ``step``, ``round``,
``earlier``, ``trap_steps`` and, where boards are chosen, ``candidates``; docs/reference/envs.md explains them.
``information``: "perfect" shows earlier rounds in full; "fog" shows, of the opponent's boards, only the squares that
its piece visited and the steps at which it set traps. ``choice="fog"`` is the game's: blind choice and fog.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ludodrome.envs import missing_extra
from ludodrome.envs.core import check_reset_options
from ludodrome.envs.gym_env import read_number
from ludodrome.envs.observations import HUMAN, MODES, check_render_mode, show_text
from ludodrome.game import checked_count
from ludodrome.games import make
from ludodrome.games.spaces import check, perfect
from ludodrome.games.spaces.boards import (
    BLIND,
    CHOICES,
    FINISH,
    FIRST_TRAP,
    FOG,
    HIDDEN_TRAP,
    checked_size,
    format_code,
    is_live,
)
from ludodrome.games.spaces.display import paint_boards
from ludodrome.games.spaces.fog import in_fog
from ludodrome.games.spaces.legality import read_finished
from ludodrome.games.spaces.rounds import COL_OF_PLACE, ROW_OF_PLACE, shift
from ludodrome.games.spaces.rules import MAX_ROUNDS, longest
from ludodrome.games.spaces.sampling import pool
from ludodrome.games.spaces.simulation import play_boards
from ludodrome.jit import Array, python
from ludodrome.validation import choice as chosen

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
except ImportError as error:
    raise missing_extra(error, "training environments", "rl") from error

CANDIDATES = 8

Observation = dict[str, Array]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


# Rounds and styles. Boards are their actions, ``bytes``. A style chooses a board from a pool; ``perfect`` has its own
# boards. The bots for whole matches are in ``games/spaces/bots.py``.


class RoundResult(NamedTuple):
    """The result of a round between the learner's board and the opponent's."""

    points: tuple[int, int]
    """The learner's, the opponent's."""
    ended: str
    steps: tuple[int, int]
    """The steps of each board that were played."""


class StyleContext(NamedTuple):
    """What an opponent knows when it chooses a board."""

    pool: list[bytes]
    seen: bytes | None
    """The learner's board of this round, if visible."""
    learners: list[bytes]
    """The learner's boards of earlier rounds."""
    turn: int
    """The round, from 0."""
    place: int
    """A random index into the pool, fixed for the match."""
    size: int
    live: bool
    rng: np.random.Generator


def play_round(first: bytes, second: bytes, size: int, live: bool) -> RoundResult:
    """Play a round; the second board is rotated."""
    played = play_boards(first, second, size, live)
    steps = [min(played.last, hit) + 1 for hit in played.hits]
    return RoundResult((played.points[0], played.points[1]), played.ended, (steps[0], steps[1]))


def planes(board: bytes, size: int, turned: bool = False) -> Array:
    """A board's path and traps with the numbers of their steps, [2, size, size] int16; no hidden traps.

    ``turned``: from the other seat's view.
    """
    drawn = np.zeros((2, size, size), np.int16)
    row, col = size - 1, 0
    for number, action in enumerate(board, 1):
        what = action - size
        if what < 0:
            col = action
        elif FIRST_TRAP <= what < FINISH:
            down, right = int(ROW_OF_PLACE[what - FIRST_TRAP]), int(COL_OF_PLACE[what - FIRST_TRAP])
            drawn[1, row + down, col + right] = number
            continue
        elif what in (FINISH, HIDDEN_TRAP):
            continue
        else:
            down, right = python(shift)(what)
            row, col = row + down, col + right
        drawn[0, row, col] = number
    return drawn[:, ::-1, ::-1].copy() if turned else drawn


def trap_steps(board: bytes, size: int, length: int) -> Array:
    """[length] int8: 1 at the steps that set a trap."""
    marks = np.zeros(length, np.int8)
    for number, action in enumerate(board):
        marks[number] = FIRST_TRAP <= action - size < FINISH or action == size + HIDDEN_TRAP
    return marks


# Styles


def random_choice(known: StyleContext) -> bytes:
    """A random board of the pool."""
    return known.pool[int(known.rng.integers(len(known.pool)))]


def constant(known: StyleContext) -> bytes:
    """Always the same board."""
    return known.pool[known.place]


def cycle(known: StyleContext) -> bytes:
    """The boards of the pool in turn."""
    return known.pool[(known.place + known.turn) % len(known.pool)]


def mimic(known: StyleContext) -> bytes:
    """The learner's board of the previous round."""
    return known.learners[-1] if known.learners else known.pool[known.place]


def counter(known: StyleContext) -> bytes:
    """The best board of the pool against the learner's board of this round or the previous one."""
    target = known.seen or (known.learners[-1] if known.learners else None)
    if target is None:
        return known.pool[known.place]
    margins = []
    for board in known.pool:
        own, other = play_round(board, target, known.size, known.live).points
        margins.append(own - other)
    return known.pool[int(np.argmax(margins))]


def equilibrium(known: StyleContext) -> bytes:
    """A board of the equilibrium mixture where it is known, otherwise a straight run."""
    mixture = perfect(known.size, "live" if known.live else "written")
    weights = np.array(mixture.weights, float)
    return mixture.boards[int(known.rng.choice(len(weights), p=weights / weights.sum()))]


STYLES: dict[str, Callable[[StyleContext], bytes]] = {
    "random": random_choice,
    "constant": constant,
    "cycle": cycle,
    "mimic": mimic,
    "counter": counter,
    "perfect": equilibrium,
}
UNKNOWN = "unknown"
"""A random style for each match, which the learner does not see."""


def style_names(but: tuple[str, ...] = ()) -> list[Any]:
    """The styles from which ``unknown`` chooses."""
    return [name for name in STYLES if name not in but]


class Scenario(gymnasium.Env):  # type: ignore[misc]
    """Base class: rounds between a learner and an opponent. Subclasses say what an action does.

    ``seat``: seat 0 lays first in the first round, then they alternate; None: a random seat. ``choice``: under "seen"
    the second chooser sees the first board; "fog" is "blind" with ``information="fog"``. ``boards``: the size of a
    random pool for each match, or a list of JSON boards. Raises ValueError for wrong arguments.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(MODES), "render_fps": 4}
    without: ClassVar[tuple[str, ...]] = ()
    """The styles that the scenario does not have."""

    def __init__(
        self,
        size: int = 3,
        rules: str = "live",
        choice: str = "blind",
        information: str = "perfect",
        opponent: str = UNKNOWN,
        boards: Any = CANDIDATES,
        rounds: int = 1,
        seat: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.size = checked_size(size)
        self.rules, self.live = rules, is_live(rules)
        self.choice = chosen(choice, CHOICES, "choice", ValueError)
        self.information = chosen(information, ("perfect", FOG), "information", ValueError)
        if self.choice == FOG:
            self.choice, self.information = BLIND, FOG
        self.opponent = chosen(opponent, (*style_names(self.without), UNKNOWN), "opponent", ValueError)
        self.rounds = checked_count(rounds, "rounds", 1, MAX_ROUNDS)
        self.seat = None if seat is None else checked_count(seat, "seat", 0, 1)
        self.render_mode = check_render_mode(render_mode)
        self._fixed, self.count = self._read_boards(boards)
        self._steps = longest(self.size)
        self.observation_space = spaces.Dict(self._spaces())
        self._over = True

    def _read_boards(self, boards: Any) -> tuple[list[bytes], int]:
        if not isinstance(boards, (list, tuple)):
            most = len(pool(self.size))
            return [], checked_count(boards, f"the number of boards of size {self.size} to choose from", 1, most)
        options = {"size": self.size, "rules": self.rules, "mode": "rounds"}
        for number, board in enumerate(boards):
            if faults := check(board, self.size, self.rules):
                raise ValueError(f"board {number} is not legal: {faults[0]}")
        checked_count(len(boards), "the number of boards", 1, 1 << 15)
        return [read_finished(board, options) for board in boards], len(boards)

    def _spaces(self) -> dict[str, spaces.Space[Any]]:
        size, steps, before = self.size, self._steps, self.rounds - 1
        return {
            "grid": spaces.Box(0, 2, (size, size), np.int8),
            "position": spaces.Box(-1, size - 1, (2,), np.int16),
            "traps": spaces.Box(0, steps, (2, size, size), np.int16),
            "score": spaces.Box(0, self.rounds * size, (2,), np.int16),
            "opponent": spaces.Box(0, steps, (size, size), np.int16),
            "step": spaces.Box(0, steps, (1,), np.int16),
            "round": spaces.Box(1, self.rounds + 1, (1,), np.int16),
            "earlier": spaces.Box(0, steps, (max(before, 1), 4, size, size), np.int16),
            "trap_steps": spaces.Box(0, 1, (max(before, 1), steps), np.int8),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new match with a new pool, seat and style."""
        check_reset_options(options)
        super().reset(seed=seed)
        rng = self.np_random
        boards = pool(self.size) if not self._fixed else ()
        self.pool = self._fixed or [boards[k] for k in rng.choice(len(boards), self.count, replace=False)]
        self._seat = int(rng.integers(2)) if self.seat is None else self.seat
        styles = style_names(self.without)
        drawn = styles[int(rng.integers(len(styles)))]
        self._style = STYLES[drawn if self.opponent == UNKNOWN else self.opponent]
        self._place = int(rng.integers(len(self.pool)))
        self.learners: list[bytes] = []
        self.opponents: list[bytes] = []
        self.met: list[RoundResult] = []
        self._over = False
        self._begin_round()
        self._show()
        return self._observation(), self._info()

    @property
    def turn(self) -> int:
        """The round, from 0."""
        return len(self.met)

    @property
    def second(self) -> bool:
        """Whether the learner chooses second in this round."""
        return self.turn % 2 != self._seat

    def _begin_round(self) -> None:
        """Let the opponent choose if it chooses first or blindly; show its board under "seen"."""
        self.built = b""
        self._laid = self._opponents_choice(None) if self.second or self.choice == "blind" else None
        self.visible = self._laid if self.second and self.choice == "seen" else None

    def _opponents_choice(self, seen: bytes | None) -> bytes:
        known = StyleContext(
            self.pool, seen, self.learners, self.turn, self._place, self.size, self.live, self.np_random
        )
        return self._style(known)

    def _lay(self, board: bytes) -> RoundResult:
        """Play the round with the learner's board, or the one laid for it."""
        other = self._opponents_choice(board) if self._laid is None else self._laid
        met = play_round(board, other, self.size, self.live)
        self.learners.append(board)
        self.opponents.append(other)
        self.met.append(met)
        self._over = self.turn == self.rounds
        if self._over:
            self.built, self.visible = b"", None
        else:
            self._begin_round()
        return met

    def _check_running(self) -> None:
        if self._over:
            raise ResetNeeded("the match is over, or has not begun: call reset")

    def _refused(self) -> Step:
        """End the match after an illegal action."""
        self._over = True
        self._show()
        return self._observation(), -1.0, True, False, {**self._info(), "illegal": True}

    def _met(self, met: RoundResult, reward: float) -> Step:
        """The results of a step that ended a round."""
        self._show()
        info = {**self._info(), "points": list(met.points), "ended": met.ended}
        return self._observation(), reward, self._over, False, info

    def _observation(self) -> Observation:
        own = planes(self.built, self.size)
        other = planes(self.visible or b"", self.size, turned=True)
        earlier = np.zeros((max(self.rounds - 1, 1), 4, self.size, self.size), np.int16)
        marks = np.zeros((max(self.rounds - 1, 1), self._steps), np.int8)
        for back, turn in enumerate(range(self.turn - 1, max(-1, self.turn - 1 - len(earlier)), -1)):
            earlier[back, :2] = planes(self.learners[turn], self.size)
            earlier[back, 2:], marks[back] = self._recalled(turn)
        totals = np.array([met.points for met in self.met], np.int16).reshape(-1, 2).sum(axis=0)
        return {
            "grid": np.where(own[1] > 0, 2, own[0] > 0).astype(np.int8),
            "position": self._position(own[0]),
            "traps": np.stack([own[1], other[1]]),
            "score": totals.astype(np.int16),
            "opponent": other[0],
            "step": np.array([len(self.built)], np.int16),
            "round": np.array([self.turn + 1], np.int16),
            "earlier": earlier,
            "trap_steps": marks,
            **self._further(),
        }

    def _recalled(self, turn: int) -> tuple[Array, Array]:
        """The visible part of the opponent's board of an earlier round: planes and trap steps."""
        board = self.opponents[turn]
        if self.information == "perfect":
            return planes(board, self.size, turned=True), trap_steps(board, self.size, self._steps)
        fogged = in_fog(board, self.met[turn].steps[1], self.size)
        seen = planes(fogged, self.size, turned=True)
        seen[0] = seen[0] > 0
        return seen, trap_steps(fogged, self.size, self._steps)

    def _position(self, path: Array) -> Array:
        """Row and column of the piece; -1, -1 before the start."""
        if not self.built:
            return np.array([-1, -1], np.int16)
        row, col = divmod(int(path.argmax()), self.size)
        return np.array([row, col], np.int16)

    def _further(self) -> Observation:
        """The keys that a scenario adds to the observation."""
        return {}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask(), "illegal": False}

    def _mask(self) -> Array:
        raise NotImplementedError

    def render(self) -> Any:
        """The latest boards as text or picture; in the mode "human" they are printed. None without a render_mode."""
        if self.render_mode is None:
            return None
        boards = [self.built, self.visible or b""]
        if not any(boards) and self.met:
            boards = [self.learners[-1], self.opponents[-1]]
            if self.information == FOG and not self._over:
                boards[1] = in_fog(boards[1], self.met[-1].steps[1], self.size)
        if self.render_mode == "rgb_array":
            return paint_boards(boards, self.size)
        codes = [format_code(board, self.size) if board else "-" for board in boards]
        totals = [sum(met.points[side] for met in self.met) for side in range(2)]
        number = min(self.turn + 1, self.rounds)
        drawn = f"round {number} of {self.rounds}, totals {totals[0]} : {totals[1]}\nown: {codes[0]}\nother: {codes[1]}"
        return show_text(drawn) if self.render_mode == HUMAN else drawn

    def _show(self) -> None:
        if self.render_mode == HUMAN:
            self.render()


class BoardGeneration(Scenario):
    """Build boards step by step: a start column, then up, left, right, a trap in one of nine places, the finish.

    The actions are those of the game spaces. The reward of a round is the margin of points divided by the size, paid
    with the board's last step; an illegal step ends the match with -1.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.game = make("spaces", size=self.size, rules=self.rules, rounds=1)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._states = self.game.blank()
        self._buffer = self.game.buffer()

    def _begin_round(self) -> None:
        super()._begin_round()
        self.game.kernels.reset(self._states, np.uint64(0))

    def step(self, action: Any) -> Step:
        """Add one step to the board. Raises ResetNeeded if the match is over, ValueError if it is not an integer."""
        self._check_running()
        number = read_number(action)
        kernels = self.game.kernels
        if not 0 <= number < self.game.num_actions or kernels.fault(self._states, number) != 0:
            return self._refused()
        kernels.play(self._states, number)
        self.built += bytes([number])
        if number < self.game.num_actions - 1:
            self._show()
            return self._observation(), 0.0, False, False, self._info()
        met = self._lay(self.built)
        return self._met(met, (met.points[0] - met.points[1]) / self.size)

    def _mask(self) -> Array:
        mask = np.full(self.game.num_actions, self._over, np.int8)
        if not self._over:
            mask[self._buffer[: self.game.kernels.legal(self._states, self._buffer)]] = 1
        return mask


class PoolScenario(Scenario):
    """Base class: the actions are indices into the visible pool of boards."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.action_space = spaces.Discrete(self.count)

    def _spaces(self) -> dict[str, spaces.Space[Any]]:
        shape = (self.count, 2, self.size, self.size)
        return {**super()._spaces(), "candidates": spaces.Box(0, self._steps, shape, np.int16)}

    def _further(self) -> Observation:
        return {"candidates": np.stack([planes(board, self.size) for board in self.pool])}

    def _mask(self) -> Array:
        return np.ones(self.count, np.int8)

    def step(self, action: Any) -> Step:
        """Choose a board by its index. Raises ResetNeeded if the match is over, ValueError if it is not an integer."""
        self._check_running()
        number = read_number(action)
        if not 0 <= number < self.count:
            return self._refused()
        return self._choose(number)

    def _choose(self, number: int) -> Step:
        met = self._lay(self.pool[number])
        return self._met(met, (met.points[0] - met.points[1]) / self.size)


class BoardSelection(PoolScenario):
    """Choose one of several boards against an unknown opponent. Reward: the margin of points divided by the size."""


class MetaGame(PoolScenario):
    """The same over several rounds: the opponent's boards reveal its style."""

    def __init__(self, rounds: int = 5, **settings: Any) -> None:
        super().__init__(rounds=rounds, **settings)


class OpponentPrediction(PoolScenario):
    """Predict which board the opponent lays. Reward: 1 if right, 0 if wrong.

    The opponent plays against random boards of the pool, which are the learner's "own" boards here. Its board is
    visible after the round; under "seen", a board laid before it is visible at once.
    """

    without: ClassVar[tuple[str, ...]] = ("perfect",)

    def __init__(self, rounds: int = 5, **settings: Any) -> None:
        super().__init__(rounds=rounds, **settings)

    def _begin_round(self) -> None:
        super()._begin_round()
        self._random_board = self.pool[int(self.np_random.integers(self.count))]
        self.visible = None
        self.built = self._random_board if self.choice == "seen" and not self.second else b""

    def _choose(self, number: int) -> Step:
        met = self._lay(self._random_board)
        return self._met(met, float(self.opponents[-1] == self.pool[number]))
