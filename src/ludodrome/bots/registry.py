"""The built-in bots: their names, the games they play, their parameters, and the specs that ask for them.

A spec is a bot's name, then after a colon its parameters, separated by commas: ``random``,
``alphabeta:depth=6,time=0.5``, ``level:3``. ``py:mine.py:MyBot`` and ``llm:URL,model=NAME`` are made elsewhere.
Nothing heavy is imported here: the command line lists bots without loading Numba.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.bots.params import DEPTH, LEVEL, NODES, NOISE, SIMS, THREADS, THREE, TIME, Param
from ludodrome.validation import listing, show

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game

WARM_UP_MOVES = 3
FILE, LLM = "py", "llm"
"""The prefixes of specs that name no built-in bot."""
MAX_SPEC_LENGTH = 1000

_warmed_up: set[tuple[Any, ...]] = set()
"""What has been warmed up in this process: bot class, game with options, parameters."""


class BotKind(NamedTuple):
    """One built-in bot."""

    name: str
    meaning: str
    params: tuple[Param, ...] = ()
    factory: str = ""
    """``module:function`` in this package, called with (game, name, seed, **params)."""
    by_game: Mapping[str, str] = {}
    """Game id -> the factory for that game, where it differs."""
    cannot: Callable[["Game"], str] = lambda game: ""
    """Why it cannot play a game; empty if it can."""

    @property
    def specs(self) -> list[str]:
        """The shortest specs: its name, or each of its levels."""
        plain = next((param for param in self.params if param.plain), None)
        numbers = range(int(plain.low), int(plain.high) + 1) if plain else ()
        return [f"{self.name}:{number}" for number in numbers] or [self.name]

    def make(self, game: "Game", name: str, seed: int, params: dict[str, Any]) -> "Bot":
        """Make a bot that is ready: everything its moves need is compiled or loaded now, not on the clock."""
        module, _, function = self.by_game.get(game.id, self.factory).partition(":")
        bot: Bot = getattr(import_module(f"{__package__}.{module}"), function)(game, name, seed, **params)
        # The figures of a budget do not matter for compilation; which limits there are may.
        key = (type(bot), game, *sorted(params), *(params.get(name) for name in ("level", "three", "threads")))
        if key not in _warmed_up:
            _warm_up(bot, game)
            _warmed_up.add(key)
        return bot


def _warm_up(bot: "Bot", game: "Game") -> None:
    """Have a new bot play a few moves with a small budget, then start afresh."""
    from ludodrome.bots.player import Budget  # start-up: imports Numba

    if warm_up := getattr(bot, "warm_up", None):
        warm_up()
    state, budget = game.initial_state(), Budget(nodes=1000, sims=10, depth=3)
    for _ in range(WARM_UP_MOVES):
        seat = game.to_move(state)
        if seat is not None:
            state = game.apply(state, bot.choose(game.observation(state, seat), budget))
    bot.start({})


def _only_dots(game: "Game") -> str:
    return "" if game.id == "dots" else "it plays only dots"


def _one_action(game: "Game") -> str:
    return "" if game.actions_a_turn == 1 else "it searches move by move, and a move here is a whole board"


def _needs_evaluator(game: "Game") -> str:
    if game.actions_a_turn == 1 and game.evaluator is None:
        return f"it needs to evaluate positions, and {game.id} has no evaluator"
    return _one_action(game)


BY_GAME = {
    "random": {"spaces": "spaces:make_random"},
    "greedy": {"dots": "dots:make_greedy", "spaces": "spaces:make_greedy"},
    "expert": {"dots": "dots:make_expert", "spaces": "spaces:make_expert"},
    "level": {"dots": "dots:make_level", "spaces": "spaces:make_level"},
}
"""Bot -> game id -> the factory for that game, where it differs from the general one."""

BOT_KINDS = {
    kind.name: kind
    for kind in (
        BotKind("random", "any legal move, all equally likely", (), "baselines:make_random", BY_GAME["random"]),
        BotKind(
            "greedy",
            "the best move at first sight: wins, blocks, free boxes, the best evaluation",
            (),
            "baselines:make_greedy",
            BY_GAME["greedy"],
        ),
        BotKind("chains", "counts long chains and double-deals", (), "dots:make_chains", {}, _only_dots),
        BotKind(
            "alphabeta",
            "alpha-beta search",
            (DEPTH, NODES, TIME, NOISE),
            "alphabeta:make_alphabeta",
            {},
            _needs_evaluator,
        ),
        BotKind("mcts", "Monte Carlo tree search", (SIMS, TIME, THREADS), "mcts:make_mcts", {}, _one_action),
        BotKind("expert", "the strongest for each game", (TIME, NODES, THREE), "levels:make_expert", BY_GAME["expert"]),
        BotKind("level", "for people, from beginner to expert", (LEVEL,), "levels:make_level", BY_GAME["level"]),
    )
}


def playable(game: "Game") -> list[BotKind]:
    """The bots that can play a game."""
    return [kind for kind in BOT_KINDS.values() if not kind.cannot(game)]


def bot_names(game: "Game") -> list[str]:
    """The specs of all built-in bots that can play a game, with every level."""
    return [spec for kind in playable(game) for spec in kind.specs]


def right_specs(game: "Game") -> str:
    """The specs that a game accepts, for error sentences."""
    return listing([*(_pattern(kind) for kind in playable(game)), "py:FILE.py:NAME"])


def _pattern(kind: BotKind) -> str:
    first, *more = kind.specs
    return f"{first} to {more[-1]}" if more else first


def make_bot(spec: str, game: "Game", seed: int = 0) -> "Bot":
    """Make the bot that a spec describes, for one game. Raises ValueError if there is no such bot."""
    kind_name = spec.partition(":")[0] if type(spec) is str and len(spec) <= MAX_SPEC_LENGTH else ""
    if kind_name == FILE:
        from ludodrome.bots.files import load  # start-up: imports Numba

        return load(spec.partition(":")[2])
    if kind_name == LLM:
        from ludodrome.bots.llm import make_llm  # start-up: imports Numba and http

        return make_llm(game, spec)
    kind, params = read_spec(spec, game)
    return kind.make(game, spec, seed, params)


def read_spec(spec: str, game: "Game") -> tuple[BotKind, dict[str, Any]]:
    """The kind and parameters of a built-in bot. Makes and compiles nothing; raises ValueError for a wrong spec."""
    if type(spec) is not str or len(spec) > MAX_SPEC_LENGTH:
        raise ValueError(f"a bot is named by a text like {_example(game)}, not by {show(spec)}")
    name, colon, rest = spec.partition(":")
    kind = _kind(name, game)
    return kind, parse_params(kind, rest if colon else None)


def _kind(name: str, game: "Game") -> BotKind:
    kind = BOT_KINDS.get(name)
    if kind is None:
        raise ValueError(f"there is no bot {show(name)}; the bots of {game.id} are {right_specs(game)}")
    if why := kind.cannot(game):
        raise ValueError(f"{name} cannot play {game.id}: {why}; the bots of {game.id} are {right_specs(game)}")
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
