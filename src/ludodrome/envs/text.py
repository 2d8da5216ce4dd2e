"""All five games with the interface of TextArena, so that its agents and wrappers drive them unchanged.

Importing this registers ``ludodrome/Santorini-v0`` and its fellows with TextArena. The judging is the arena's: a table
with a policy and conditions, whose record can be had at the end. What agents are told stands in ``bots/prompts.py``,
how their answers are read in ``bots/replies.py``; docs/how-to/language-models.md shows how it is used.
"""

import copy
import secrets
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.messages import clean_text
from ludodrome.arena.play_spec import PlaySpec, first_legal_move
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ILLEGAL, Answer, Fault
from ludodrome.bots.prompts import bracketed, drawing, legal_texts, refusal_prompt, rules_prompt, turn_prompt
from ludodrome.bots.replies import read_reply
from ludodrome.envs import env_id, missing_extra
from ludodrome.game import Game
from ludodrome.games import GAMES, find, make
from ludodrome.validation import is_int, show

try:
    import textarena
    from textarena import ObservationType
    from textarena.envs.registration import ENV_REGISTRY, register_with_versions
    from textarena.wrappers import (
        ActionFormattingWrapper,
        GameMessagesAndCurrentBoardObservationWrapper,
        LLMObservationWrapper,
    )
except ImportError as error:
    raise missing_extra(error, "text environments", "text") from error

AGENT = "text"
"""The spec that records give a seat which an agent played."""
SEED_BITS = 53


class TextEnv(textarena.Env):  # type: ignore[misc]
    """One game among agents who read and write text.

    ``game``: an id. ``legal_moves``: whether agents are shown them; records say so. ``policy``: what follows from an
    answer that is refused, else as the game wants it. Further arguments are the game's options; santorini's number of
    players, unless it is given here, comes from ``reset``.
    """

    def __init__(self, game: str, legal_moves: bool = True, policy: str | None = None, **options: Any) -> None:
        self._id, self._options = find(game).id, options
        self._legal_moves, self._policy = legal_moves, policy
        conditions(make(self._id, **options), policy, "none", legal_moves)
        self.env_id = env_id(self._id)
        self._table: Referee | None = None

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """A new game; without a seed one is drawn, and the record tells it."""
        self.game = game = self._open(num_players)
        agreed = conditions(game, self._policy, "none", self._legal_moves)
        chosen = secrets.randbits(SEED_BITS) if seed is None else seed
        agents, names = (AGENT,) * game.seats, tuple(f"Player {seat}" for seat in range(game.seats))
        self._actions: list[str] = []
        self._beginning = (num_players, chosen)
        self._table = Referee(PlaySpec(game.id, game.options, agents, names, agreed, chosen))
        self._refusals, self._substituted = [0] * game.seats, [0] * game.seats
        self.state = textarena.State(num_players=game.seats)
        roles = dict(enumerate(names))
        self.state.standard_resets({}, lambda player_id, game_state: rules_prompt(game, player_id), roles)
        for seat in range(game.seats):
            self.state.game_info[seat] |= {"refusals": 0, "substituted": 0, "legal_moves": self._legal_moves}
        self._tell_turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """An agent's answer. ``info`` says who answered and, if the answer was refused, why."""
        table = self._running()
        turn = table.turn
        if not isinstance(action, str):
            raise ValueError(f"an action is a text, not {show(action)}")
        if turn is None:
            return True, {"reason": "the game is over"}
        self._actions.append(action)
        seat, before = turn.seat, table.state
        self._say(action, ObservationType.PLAYER_ACTION, seat, seat)
        reading = read_reply(self.game, turn.observation, action)
        if reading.why:
            self._refusals[seat] += 1
            table.deliver(Answer(0.0, fault=Fault(ILLEGAL, reading.why), sent=clean_text(action)))
        else:
            table.deliver(Answer(0.0, reading.move))
        self._tell_refusals()
        if table.state != before:
            self._tell_move(seat, before, reading.move)
        info = {"player": seat, "refused": reading.why or None}
        if table.result is None:
            self._tell_turn()
            return False, info
        self._finish(table.result)
        return True, info | {"reason": table.result["reason"]}

    def get_observation(self) -> tuple[int, list[tuple[int, str, Any]]]:
        """Who is to answer, and what they have not heard yet: sender, text and kind of each message."""
        self._running()
        return self.state.current_player_id, self.state.get_current_player_observation()

    def get_board_str(self) -> str:
        """The position, for TextArena's drawing wrappers: what everybody may see."""
        state = self._running().state
        return drawing(self.game, self.game.observation(state))

    def record(self) -> dict[str, Any]:
        """The record of the finished game; RuntimeError before."""
        return self._running().record()

    def __deepcopy__(self, memo: dict[int, Any]) -> "TextEnv":
        """The same game up to here, played again: tables are not made to be copied."""
        twin = type(self)(self._id, self._legal_moves, self._policy, **self._options)
        twin.env_id = self.env_id
        if self._table is not None:
            twin.reset(*self._beginning)
            for action in self._actions:
                twin.step(action)
            twin.state = copy.deepcopy(self.state, memo)
        return twin

    # Underneath

    def _open(self, num_players: int | None) -> Game:
        options = dict(self._options)
        if self._id == "santorini" and "players" not in options and num_players is not None:
            options["players"] = num_players
        game = make(self._id, **options)
        if num_players is not None and not is_int(num_players, game.seats, game.seats):
            raise ValueError(f"{game.id} has {game.seats} players here, not {show(num_players)}")
        return game

    def _running(self) -> Referee:
        if self._table is None:
            raise ValueError("no game has begun: call reset first")
        return self._table

    def _say(self, text: str, kind: Any, to: int = -1, sender: int = textarena.GAME_ID) -> None:
        self.state.add_observation(text, kind, sender, to)

    def _tell_turn(self) -> None:
        """The seat to move sees the position, and the legal moves if they are shown."""
        table = self._running()
        turn = table.turn
        assert turn is not None
        self.state.current_player_id = turn.seat
        legal = legal_texts(self.game, turn.observation, turn.message["legal_moves"])
        board = turn_prompt(self.game, turn.observation, turn.seat, legal)
        self.state.game_state |= {"state": table.state, "legal_moves": legal, "rendered_board": board}
        self._say(board, ObservationType.GAME_BOARD, turn.seat)

    def _tell_refusals(self) -> None:
        for notice in self._running().notices():
            if notice.message["type"] == "refused":
                text = refusal_prompt(notice.message["why"], notice.message["tries_left"])
                self._say(text, ObservationType.GAME_ADMIN, notice.seat)

    def _tell_move(self, seat: int, before: Any, move: Any) -> None:
        """Everybody hears what was played, unless it lies face down."""
        table = self._running()
        self.state.turn += 1
        self.state.game_info[seat]["turn_count"] += 1
        played = f"Player {seat} plays"
        if move is None:
            self._substituted[seat] += 1
            move = first_legal_move(self.game, before)
            played = f"Player {seat} gave no legal move, and this is played instead:"
        if self.game.observation(table.state) != table.state:
            text = f"Player {seat} has laid something face down."
        else:
            text = f"{played} {bracketed(self.game.format_move(move, before))}"
        self._say(text, ObservationType.GAME_ACTION_DESCRIPTION)

    def _finish(self, result: dict[str, Any]) -> None:
        state = self.state
        state.done = True
        state.rewards = dict(enumerate(result["returns"]))
        forfeits = {verdict["seat"] for verdict in result["verdicts"]} if result["decided_by"] == "forfeit" else set()
        for seat, info in state.game_info.items():
            info |= {
                "reason": result["reason"],
                "decided_by": result["decided_by"],
                "invalid_move": seat in forfeits,
                "refusals": self._refusals[seat],
                "substituted": self._substituted[seat],
            }
        self._say(f"The game is over: {result['reason']}.", ObservationType.GAME_ADMIN)


def register() -> None:
    """Tell TextArena of every game: as agents get it, ``-train`` with the last board alone, and ``-raw``."""
    wrappers = {
        "default": [LLMObservationWrapper, ActionFormattingWrapper],
        "-train": [GameMessagesAndCurrentBoardObservationWrapper, ActionFormattingWrapper],
    }
    for game_id in GAMES:
        if env_id(game_id) not in ENV_REGISTRY:
            register_with_versions(env_id(game_id), f"{__name__}:TextEnv", wrappers, game=game_id)


register()
