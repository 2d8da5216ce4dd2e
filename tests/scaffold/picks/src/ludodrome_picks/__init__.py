"""Picks: a game of two or three seats in which every move is face down until the end."""

from typing import Any

import numpy as np

from ludodrome.game import Cell, Game, Option
from ludodrome.game_spec import Planes
from ludodrome.search.entry_points import make_kernels

from . import codec, rules

FACE_DOWN = 0


class Picks(Game):
    """Pick a number face down."""

    id = "picks"
    title = "Picks"
    available = (Option("players", 2, "number of players", low=2, high=rules.MAX_SEATS),)

    dtype = rules.DTYPE
    num_actions = max_legal = rules.NUMBERS
    max_game_length = rules.MAX_SEATS
    opening_plies = (0, 1)
    reasons = rules.REASONS
    kernels = make_kernels(rules.RULES, observe=rules.observe)
    codec = codec

    def __init__(self, /, **options: Any) -> None:
        super().__init__(**options)
        self.seats = self.options["players"]

    @property
    def planes(self) -> Planes:
        """The numbers by seat, and the seat to move."""
        return Planes(("picks", "to move"), 1, rules.MAX_SEATS, (rules.NUMBERS + 1, 1), np.uint8)

    @property
    def has_hidden_information(self) -> bool:
        """Numbers are face down until all have picked."""
        return True

    def observation(self, state: Any, seat: int | None = None) -> Any:
        """The state; the numbers of other seats are 0 until the end."""
        seen = super().observation(state, seat)
        if not seen["reason"]:
            for other, pick in enumerate(seen["picks"]):
                if pick is not None and other != seat:
                    seen["picks"][other] = FACE_DOWN
        return seen

    def encode_observation(self, observation: Any) -> Any:
        """What is face down is taken for a 1."""
        return self.encode(
            {**observation, "picks": [1 if pick == FACE_DOWN else pick for pick in observation["picks"]]}
        )

    def render_observation(self, observation: Any) -> str:
        """Face down numbers are drawn as a question mark."""
        signs = {None: "-", FACE_DOWN: "?"}
        drawn = "".join(signs.get(pick, str(pick)) for pick in observation["picks"])
        return f"picks {drawn}, {observation['reason'] or codec.next_seat(observation)}"

    def cells(self, state: Any) -> list[list[Cell]]:
        """The numbers by seat."""
        signs = {None: "", FACE_DOWN: "?"}
        return [[Cell(f"seat {seat}", signs.get(one, str(one)), seat) for seat, one in enumerate(state["picks"])]]


GAME = Picks
