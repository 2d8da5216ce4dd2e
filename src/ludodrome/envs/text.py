"""All games as TextArena environments, for its agents and wrappers.

Importing this module registers ``ludodrome/Santorini-v0`` and so on with TextArena. The arena's referee judges the
moves, with a policy and conditions, and writes a record. Prompts are in ``bots/prompts.py``, answers are read in
``bots/prompts.py``; see docs/how-to/language-models.md.
"""

import copy
from typing import Any

from ludodrome.arena.conditions import conditions
from ludodrome.arena.messages import clean_text
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.referee import Referee
from ludodrome.arena.seats import ILLEGAL, Answer, SeatFault, Turn
from ludodrome.arena.seeds import new_secret
from ludodrome.bots.prompts import (
    MOVE,
    ParsedReply,
    bracketed,
    drawing,
    has_plain_states,
    legal_texts,
    legal_texts_of,
    read_reply,
    refusal_prompt,
    rules_prompt,
    turn_prompt,
)
from ludodrome.envs import env_id, missing_extra
from ludodrome.game import PLAYERS, Game
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
"""The spec of an agent's seat in records."""


class TextEnv(textarena.Env):  # type: ignore[misc]
    """One game between agents that read and write text.

    ``game``: an id. ``legal_moves``: whether agents see them; records say so. ``policy``: what follows a refused answer
    (default: the game's). Further arguments are the game's options; ``reset`` sets santorini's number of players if it
    is not given here. Raises ValueError for wrong arguments.
    """

    def __init__(self, game: str, legal_moves: bool = True, policy: str | None = None, **options: Any) -> None:
        self._id, self._options = find(game).id, options
        self._legal_moves, self._policy = legal_moves, policy
        conditions(make(self._id, **options), policy, "none", legal_moves)
        self.env_id = env_id(self._id)
        self._referee: Referee | None = None

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Start a new game. Without a seed, a random one is used; the record has it."""
        self.game = game = self._make_game(num_players)
        game_conditions = conditions(game, self._policy, "none", self._legal_moves)
        chosen = new_secret() if seed is None else seed
        agents, names = (AGENT,) * game.seats, tuple(f"Player {seat}" for seat in range(game.seats))
        self._actions: list[str] = []
        self._legal: dict[str, int] = {}
        """The legal moves that the player to answer sees, and their places in the list."""
        self._beginning = (num_players, chosen)
        self._referee = Referee(PlaySpec(game.id, game.options, agents, names, game_conditions, chosen))
        self._refusals, self._substituted = [0] * game.seats, [0] * game.seats
        self.state = textarena.State(num_players=game.seats)
        roles = dict(enumerate(names))
        self.state.standard_resets({}, lambda player_id, game_state: rules_prompt(game, player_id), roles)
        for seat in range(game.seats):
            self.state.game_info[seat] |= {"refusals": 0, "substituted": 0, "legal_moves": self._legal_moves}
        self._send_turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play an agent's answer. ``info`` has ``player`` and ``refused``: why the answer was refused, or None."""
        referee = self._running()
        turn = referee.turn
        if not isinstance(action, str):
            raise ValueError(f"an action is a text, not {show(action)}")
        if turn is None:
            return True, {"reason": "the game is over"}
        self._actions.append(action)
        seat, before = turn.seat, referee.state
        shown = referee.states.copy()
        self._send(action, ObservationType.PLAYER_ACTION, seat, seat)
        reading = self._read(action, turn)
        if reading.why:
            self._refusals[seat] += 1
            referee.deliver(Answer(0.0, fault=SeatFault(ILLEGAL, reading.why), sent=clean_text(action)))
        else:
            referee.deliver(Answer(0.0, reading.move))
        self._send_refusals()
        if referee.state != before:
            self._send_move(seat, before, reading.move, shown)
        info = {"player": seat, "refused": reading.why or None}
        if referee.result is None:
            self._send_turn()
            return False, info
        self._finish(referee.result)
        return True, info | {"reason": referee.result["reason"]}

    def _read(self, action: str, turn: Turn) -> ParsedReply:
        """Find the move of an answer; one that is nothing but a move of the list needs no search."""
        referee, legal = self._running(), self._legal
        if not has_plain_states(self.game):
            return read_reply(self.game, turn.observation, action)
        if (text := action.strip()) in legal:
            number = self.game.legal_actions_of(referee.states)[legal[text]]
            return ParsedReply(MOVE, self.game.codec.format_moves([number], referee.states[0])[0], text, "")
        return read_reply(self.game, turn.observation, action, referee.states)

    def get_observation(self) -> tuple[int, list[tuple[int, str, Any]]]:
        """The player to answer, and its new messages: (sender, text, kind)."""
        self._running()
        return self.state.current_player_id, self.state.get_current_player_observation()

    def get_board_str(self) -> str:
        """The public position, for TextArena's wrappers."""
        state = self._running().state
        return drawing(self.game, self.game.observation(state))

    def record(self) -> dict[str, Any]:
        """The record of the finished game. Raises RuntimeError before the end."""
        return self._running().record()

    def __deepcopy__(self, memo: dict[int, Any]) -> "TextEnv":
        """A copy, made by replaying the game: referees cannot be copied."""
        twin = type(self)(self._id, self._legal_moves, self._policy, **self._options)
        twin.env_id = self.env_id
        if self._referee is not None:
            twin.reset(*self._beginning)
            for action in self._actions:
                twin.step(action)
            twin.state = copy.deepcopy(self.state, memo)
        return twin

    def _make_game(self, num_players: int | None) -> Game:
        options = dict(self._options)
        known = [option.name for option in find(self._id).game_class().available]
        if PLAYERS in known and PLAYERS not in options and num_players is not None:
            options[PLAYERS] = num_players
        game = make(self._id, **options)
        if num_players is not None and not is_int(num_players, game.seats, game.seats):
            raise ValueError(f"{game.id} has {game.seats} players here, not {show(num_players)}")
        return game

    def _running(self) -> Referee:
        if self._referee is None:
            raise ValueError("no game has begun: call reset first")
        return self._referee

    def _send(self, text: str, kind: Any, to: int = -1, sender: int = textarena.GAME_ID) -> None:
        self.state.add_observation(text, kind, sender, to)

    def _send_turn(self) -> None:
        """Send the position to the seat to move, with the legal moves if they are shown."""
        referee = self._running()
        turn = referee.turn
        assert turn is not None
        self.state.current_player_id = turn.seat
        states = referee.states if has_plain_states(self.game) else None
        if states is not None:
            legal = legal_texts_of(self.game, states) if self._legal_moves else None
            self._legal = {text: number for number, text in enumerate(legal or ())}
        else:
            legal = legal_texts(self.game, turn.observation, turn.message["legal_moves"])
        board = turn_prompt(self.game, None if states is not None else turn.observation, turn.seat, legal, states)
        self.state.game_state |= {"state": referee.state, "legal_moves": legal, "rendered_board": board}
        self._send(board, ObservationType.GAME_BOARD, turn.seat)

    def _send_refusals(self) -> None:
        for notice in self._running().notices():
            if notice.message["type"] == "refused":
                text = refusal_prompt(notice.message["why"], notice.message["tries_left"])
                self._send(text, ObservationType.GAME_ADMIN, notice.seat)

    def _send_move(self, seat: int, before: Any, move: Any, shown: Any) -> None:
        """Send the move to everybody, unless it is hidden."""
        referee = self._running()
        self.state.turn += 1
        self.state.game_info[seat]["turn_count"] += 1
        played = f"Player {seat} plays"
        if move is None:
            self._substituted[seat] += 1
            move = self.game.substitute_move(before)
            played = f"Player {seat} gave no legal move, and this is played instead:"
        if self.game.has_hidden_information and self.game.hides(referee.state):
            text = f"Player {seat} has laid something face down."
        else:
            text = f"{played} {bracketed(self._notation(move, before, shown))}"
        self._send(text, ObservationType.GAME_ACTION_DESCRIPTION)

    def _notation(self, move: Any, before: Any, shown: Any) -> str:
        """A move in notation; ``shown``: the position before it in compiled form."""
        game = self.game
        if not has_plain_states(game):
            return game.format_move(move, before)
        return game.codec.format_notation(game.codec.parse_move(move, shown), shown[0])

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
        self._send(f"The game is over: {result['reason']}.", ObservationType.GAME_ADMIN)


def register() -> None:
    """Register every game with TextArena: the default, ``-train`` with only the last board, and ``-raw``."""
    wrappers = {
        "default": [LLMObservationWrapper, ActionFormattingWrapper],
        "-train": [GameMessagesAndCurrentBoardObservationWrapper, ActionFormattingWrapper],
    }
    for game_id in GAMES:
        if env_id(game_id) not in ENV_REGISTRY:
            register_with_versions(env_id(game_id), f"{__name__}:TextEnv", wrappers, game=game_id)


register()
