"""The table of built-in bots: what each is called, what it can play, its knobs. A bot's module is imported when used.

This page imports nothing heavy: the command line lists bots without compiling anything.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ludodrome.bots.knobs import DEPTH, LEVEL, NODES, NOISE, SIMS, THREADS, THREE, TIME, Knob
from ludodrome.validation import listing

if TYPE_CHECKING:
    from ludodrome.bots.player import Bot
    from ludodrome.game import Game


WARM_UP = 3
"""Moves that a bot makes before anybody waits for one."""


class Kind(NamedTuple):
    """One built-in bot."""

    name: str
    meaning: str
    knobs: tuple[Knob, ...] = ()
    factory: str = ""
    """``module:function`` in this package; called with (game, name, seed, **params)."""
    by_game: Mapping[str, str] = {}
    """Game id -> the factory for that game, where it differs."""
    cannot: Callable[["Game"], str] = lambda game: ""
    """Why it cannot play a game; empty if it can."""

    @property
    def specs(self) -> list[str]:
        """What it is asked for with: its name, or each of its levels."""
        plain = next((knob for knob in self.knobs if knob.plain), None)
        numbers = range(int(plain.low), int(plain.high) + 1) if plain else ()
        return [f"{self.name}:{number}" for number in numbers] or [self.name]

    def make(self, game: "Game", name: str, seed: int, settings: dict[str, Any]) -> "Bot":
        """A bot of this kind, warmed up: what it needs is compiled or loaded now, and not while a clock runs."""
        from ludodrome.bots.player import Budget

        module, _, function = self.by_game.get(game.id, self.factory).partition(":")
        bot: Bot = getattr(import_module(f"{__package__}.{module}"), function)(game, name, seed, **settings)
        state = game.initial_state()
        for _ in range(WARM_UP):
            seat = game.to_move(state)
            if seat is not None:
                state = game.apply(
                    state, bot.choose(game.observation(state, seat), Budget(nodes=1000, sims=10, depth=3))
                )
        bot.start({})
        return bot


def _only_dots(game: "Game") -> str:
    return "" if game.id == "dots" else "it plays dots alone"


def _one_action(game: "Game") -> str:
    return "" if game.actions_a_turn == 1 else "it looks move by move, and a move here is a whole board"


def _insight(game: "Game") -> str:
    if game.actions_a_turn == 1 and game.evaluator is None:
        return f"it must be told what a position is worth, and {game.id} has no insight"
    return _one_action(game)


BY_GAME = {
    "random": {"spaces": "spaces:make_random"},
    "greedy": {"dots": "dots:make_greedy", "spaces": "spaces:make_greedy"},
    "expert": {"dots": "dots:make_expert", "spaces": "spaces:make_expert"},
    "level": {"dots": "dots:make_level", "spaces": "spaces:make_level"},
}
"""Bot -> game id -> the factory for that game, where it differs from the general one."""

KINDS = {
    kind.name: kind
    for kind in (
        Kind("random", "any legal move, each as likely as the others", (), "baselines:make_random", BY_GAME["random"]),
        Kind(
            "greedy",
            "what is best at once: wins, blocks, free boxes, the best looking position",
            (),
            "baselines:make_greedy",
            BY_GAME["greedy"],
        ),
        Kind("chains", "counts long chains and double-deals", (), "dots:make_chains", {}, _only_dots),
        Kind("alphabeta", "searches by alpha-beta", (DEPTH, NODES, TIME, NOISE), "alphabeta:make_alphabeta", {}, _insight),
        Kind("mcts", "searches by playouts", (SIMS, TIME, THREADS), "mcts:make_mcts", {}, _one_action),
        Kind(
            "expert", "the best there is for the game", (TIME, NODES, THREE), "levels:make_expert", BY_GAME["expert"]
        ),
        Kind("level", "for people, from beginner to expert", (LEVEL,), "levels:make_level", BY_GAME["level"]),
    )
}


def playable(game: "Game") -> list[Kind]:
    """The bots that can play a game."""
    return [kind for kind in KINDS.values() if not kind.cannot(game)]


def bot_names(game: "Game") -> list[str]:
    """The specs of all built-in bots that can play a game, every level among them."""
    return [spec for kind in playable(game) for spec in kind.specs]


def right_specs(game: "Game") -> str:
    """What may be asked for, as a part of a sentence."""
    return listing([*(_pattern(kind) for kind in playable(game)), "py:FILE.py:NAME"])


def _pattern(kind: Kind) -> str:
    first, *more = kind.specs
    return f"{first} to {more[-1]}" if more else first
