"""The built-in bots: their names, the games they play, their parameters, and the specs that ask for them.

A spec is a bot's name, then after a colon its parameters, separated by commas: ``random``,
``alphabeta:depth=6,time=0.5``, ``level:3``. ``make_bot`` also takes ``py:mine.py:MyBot`` (a bot in a file) and
``llm:URL,model=NAME`` (a language model). Bot modules are imported on first use: the command line lists bots without
loading Numba.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.game_extras import extra
from ludodrome.validation import listing, show

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")


class Param(NamedTuple):
    """One parameter: a number from ``low`` to ``high``, or one of a few words."""

    name: str
    meaning: str
    example: str
    """A valid value, for error messages."""
    low: float = 0
    high: float = 0
    whole: bool = True
    words: tuple[str, ...] = ()
    plain: bool = False
    """Whether its value is written without its name, as in ``level:3``."""

    @property
    def values(self) -> str:
        """The valid values, for error messages and tables."""
        if self.words:
            return listing(self.words, "or")
        return f"{'a whole number' if self.whole else 'a number'} from {self.low:,} to {self.high:,}"

    def read(self, text: str, bot: str) -> Any:
        """Parse a value. Raises ValueError if it is not valid; the message names ``bot``."""
        value: Any = None
        if self.words:
            value = text if text in self.words else None
        elif (_WHOLE if self.whole else _DECIMAL).fullmatch(text):
            number = int(text) if self.whole else float(text)
            value = number if self.low <= number <= self.high else None
        if value is not None:
            return value
        if self.plain:
            raise ValueError(f"{bot} is asked for like {bot}:{self.example}, with {self.values}, not with {show(text)}")
        raise ValueError(
            f"the parameter {self.name} of {bot} is {self.values}, "
            f"as in {bot}:{self.name}={self.example}, not {show(text)}"
        )


DEPTH = Param("depth", "plies searched", "6", 1, 60)
NODES = Param("nodes", "positions visited for one move", "100000", 1, 10**12)
SIMS = Param("sims", "playouts for one move", "5000", 1, 10**9)
TIME = Param("time", "seconds for one move", "0.5", 0.005, 86_400, whole=False)
NOISE = Param("noise", "standard deviation of errors in the value of a move, in hundredths", "30", 0, 10_000)
THREADS = Param("threads", "threads that search in parallel; mcts: if only time is limited", "2", 1, 64)
THREE = Param(
    "three",
    "the search for three seats: each for itself, all against it, or playouts",
    "mcts",
    words=("maxn", "paranoid", "mcts"),
)
NETWORK = Param(
    "network",
    "what judges positions: the game's learned evaluation where it has one, or its evaluator",
    "none",
    words=("game", "none"),
)
LEVEL = Param("level", "from 1, the weakest, to 8, which is expert", "3", 1, 8, plain=True)


FILE, LLM = "py", "llm"
"""Prefixes of specs for bots that are not built in."""
MAX_SPEC_LENGTH = 1000

_warmed_up: set[tuple[Any, ...]] = set()
"""Combinations of bot class, game and parameters already warmed up in this process."""


class BotKind(NamedTuple):
    """One kind of built-in bot."""

    name: str
    meaning: str
    params: tuple[Param, ...] = ()
    factory: str = ""
    """``module:function`` in this package, called with (game, name, seed, **params); empty: a game's own kind."""
    why_not: Callable[["Game"], str] = lambda game: ""
    """Why it cannot play a game; an empty string if it can."""
    instant: bool = False
    """Whether it moves at once, without a search."""

    @property
    def specs(self) -> list[str]:
        """The shortest specs: its name, or each of its levels."""
        plain = next((param for param in self.params if param.plain), None)
        numbers = range(int(plain.low), int(plain.high) + 1) if plain else ()
        return [f"{self.name}:{number}" for number in numbers] or [self.name]

    def make(self, game: "Game", name: str, seed: int, params: dict[str, Any]) -> "Bot":
        """Make a bot and warm it up, so that nothing is compiled or loaded while its clock runs."""
        factory = extra(game.bots_module, f"make_{self.name}") or _load(self.factory)
        bot: Bot = factory(game, name, seed, **params)
        # The figures of a budget do not matter for compilation; which limits there are may.
        kinds = (params.get(name) for name in ("level", "three", "threads", "network"))
        key = (type(bot), game, *sorted(params), *kinds)
        if key not in _warmed_up:
            _load("player:warm_up")(bot, game)
            _warmed_up.add(key)
        return bot


def _load(name: str) -> Any:
    """Import the function ``module:function`` of this package."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), function)


def _one_action(game: "Game") -> str:
    return "" if game.actions_a_turn == 1 else "it searches move by move, and a move here is a whole board"


def _needs_evaluator(game: "Game") -> str:
    if game.actions_a_turn == 1 and game.evaluator is None:
        return f"it needs to evaluate positions, and {game.id} has no evaluator"
    return _one_action(game)


BOT_KINDS = {
    kind.name: kind
    for kind in (
        BotKind("random", "any legal move, all equally likely", (), "baselines:make_random", instant=True),
        BotKind(
            "greedy",
            "the best move at first sight: wins, blocks, free boxes, the best evaluation",
            (),
            "baselines:make_greedy",
            instant=True,
        ),
        BotKind(
            "alphabeta",
            "alpha-beta search",
            (DEPTH, NODES, TIME, NOISE, THREADS, NETWORK),
            "alphabeta:make_alphabeta",
            _needs_evaluator,
        ),
        BotKind("mcts", "Monte Carlo tree search", (SIMS, TIME, THREADS), "mcts:make_mcts", _one_action),
        BotKind(
            "expert", "the best search for each game", (TIME, NODES, THREE, THREADS, NETWORK), "levels:make_expert"
        ),
        BotKind("level", "for people, from 1, the weakest, to 8, which is expert", (LEVEL,), "levels:make_level"),
    )
}
"""The kinds that every game has. A game makes its own bot of a kind by ``make_KIND`` in its ``bots_module``."""


BASELINES = ("random", "greedy")


def kinds_of(game: "Game") -> dict[str, BotKind]:
    """All kinds of bots by name: the baselines, the game's own, then the others that every game has."""
    own = {name: BotKind(name, meaning) for name, meaning in game.own_bots}
    return {name: BOT_KINDS[name] for name in BASELINES} | own | BOT_KINDS


def is_built_in(spec: str, game: "Game") -> bool:
    """Whether a spec names a built-in bot, rather than a program, a file or a language model."""
    return spec.partition(":")[0] in kinds_of(game)


def is_instant(spec: str, game: "Game") -> bool:
    """Whether a spec names a built-in bot that moves at once."""
    kind = kinds_of(game).get(spec.partition(":")[0])
    return kind is not None and kind.instant


def playable(game: "Game") -> list[BotKind]:
    """The bots that can play a game."""
    return [kind for kind in kinds_of(game).values() if not kind.why_not(game)]


def bot_names(game: "Game") -> list[str]:
    """The specs of all built-in bots that can play a game, with every level."""
    return [spec for kind in playable(game) for spec in kind.specs]


def valid_specs(game: "Game") -> str:
    """The specs that a game accepts, for error messages."""
    return listing([*(_pattern(kind) for kind in playable(game)), "py:FILE.py:NAME"])


def _pattern(kind: BotKind) -> str:
    first, *more = kind.specs
    return f"{first} to {more[-1]}" if more else first


def make_bot(spec: str, game: "Game", seed: int = 0) -> "Bot":
    """Make the bot that a spec describes, for one game. Raises ValueError if there is no such bot."""
    kind_name = spec.partition(":")[0] if type(spec) is str and len(spec) <= MAX_SPEC_LENGTH else ""
    if kind_name == FILE:
        bot: Bot = _load("files:load")(spec.partition(":")[2])
    elif kind_name == LLM:
        bot = _load("llm:make_llm")(game, spec)
    else:
        kind, params = read_spec(spec, game)
        bot = kind.make(game, spec, seed, params)
    return bot


def read_spec(spec: str, game: "Game") -> tuple[BotKind, dict[str, Any]]:
    """The kind and parameters of a built-in bot. Makes and compiles nothing; raises ValueError for a wrong spec."""
    if type(spec) is not str or len(spec) > MAX_SPEC_LENGTH:
        raise ValueError(f"a bot is named by a string like {_example(game)}, not by {show(spec)}")
    name, colon, rest = spec.partition(":")
    kind = _kind(name, game)
    return kind, parse_params(kind, rest if colon else None)


def _kind(name: str, game: "Game") -> BotKind:
    kind = kinds_of(game).get(name)
    if kind is None:
        raise ValueError(f"there is no bot {show(name)}; the bots of {game.id} are {valid_specs(game)}")
    if why := kind.why_not(game):
        raise ValueError(f"{name} cannot play {game.id}: {why}; the bots of {game.id} are {valid_specs(game)}")
    return kind


def parse_params(kind: BotKind, text: str | None) -> dict[str, Any]:
    """The parameters that a spec sets, by name. ``text``: what follows the colon; None without a colon."""
    params = {param.name: param for param in kind.params}
    plain = next((param for param in kind.params if param.plain), None)
    if text is None and plain is None:
        return {}
    if plain is not None:
        return {plain.name: plain.read(text or "", kind.name)}
    if not params:
        raise ValueError(f"{kind.name} has no parameters: it is just {kind.name!r}, not {show(f'{kind.name}:{text}')}")
    right = listing(f"{param.name}={param.example}" for param in kind.params)
    chosen: dict[str, Any] = {}
    for part in (text or "").split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"a parameter of {kind.name} is set like {right}, not {show(part)}")
        if name not in params:
            raise ValueError(f"{kind.name} has no parameter {show(name)}; its parameters are {right}")
        if name in chosen:
            raise ValueError(f"the parameter {name} of {kind.name} is set twice")
        chosen[name] = params[name].read(value, kind.name)
    return chosen


def _example(game: "Game") -> str:
    return repr(playable(game)[0].name)
