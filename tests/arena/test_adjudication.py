"""Adjudication: when each rule ends a game, that a proof is never wrong, and that records are checked again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ludodrome.analysis.solving import proven_value
from ludodrome.arena import records
from ludodrome.arena.conditions import Adjudication, Conditions, conditions
from ludodrome.arena.game_loop import play
from ludodrome.arena.matches.tallies import MatchTally, game_result
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.seats import Answer, SeatFault, Turn
from ludodrome.games import make
from ludodrome.splitmix import SplitMix64
from tests.arena.playing import Scripted, first, play_spec
from tests.exhaustive import TooLong, edge_values


def adjudicated(rules: str, game: str = "skysummit", bots: tuple[str, str] = ("a", "b"), **given: Any) -> PlaySpec:
    spec = play_spec(game, bots, **given)
    return replace(spec, conditions=replace(spec.conditions, adjudication=Adjudication.parse(rules)))


def scoring(score: Callable[[int], float | None]) -> Callable[[Turn], Answer]:
    """Answer with the first legal move and a score that depends on the number of the turn."""

    def answer(turn: Turn) -> Answer:
        said = score(turn.number)
        return replace(first(turn), info=() if said is None else ({"score": 0}, {"score": said}))

    return answer


def ended(record: dict[str, Any]) -> tuple[str, int | None, int]:
    """What decided a verified game, who won it, and how many turns it took."""
    records.verify(record)
    records.verify(records.public(record))
    return record["result"]["decided_by"], record["result"]["winner"], len(record["turns"])


# Text and conditions


@pytest.mark.parametrize(
    "text", ["agree:300x8", "margin", "margin:5x6", "engine:250x4", "solver", "solver:999999", "agree:1x1,solver"]
)
def test_rules_are_written_as_they_are_read(text: str) -> None:
    assert str(Adjudication.parse(text)) == text
    right = Conditions("forfeit", adjudication=Adjudication.parse(text))
    assert Conditions.from_json(right.to_json()) == right
    assert right.to_json()["adjudication"] == text


@pytest.mark.parametrize(
    "wrong",
    [
        *["", "agree", "agree:300", "agree:0x8", "agree:300x0", "agree:300x100", "agree:1000000x8", "solver:0"],
        *["solver:1000000", "proof", "solver,", "solver,solver", "agree:+3x8", None, 5, ["solver"]],
    ],
)
def test_wrong_rules_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="adjudication"):
        Adjudication.parse(wrong)


def test_conditions_without_adjudication_are_as_before() -> None:
    assert Conditions("forfeit").to_json().keys() == {"policy", "clock", "legal_moves", "start_ms"}


@pytest.mark.parametrize(
    ("game", "options", "rules", "sentence"),
    [
        ("santorini", {"players": 3}, "agree:3x3", "adjudication by agree is for two seats, and santorini has 3 here"),
        ("skysummit", {}, "margin:3x3", "adjudication by margin is for games of points, and skysummit has none"),
        ("spaces", {}, "margin", "spaces does not say how many points are left; write margin:5x6, for instance"),
        ("spaces", {}, "solver", "adjudication by solver needs a search, but "),
    ],
)
def test_rules_that_do_not_fit_a_game_are_refused(game: str, options: Any, rules: str, sentence: str) -> None:
    made = make(game, **options)
    with pytest.raises(ValueError, match=r"adjudication|points") as refused:
        conditions(made, adjudication=rules)
    assert str(refused.value).startswith(sentence)
    spec = PlaySpec(game, options, ("a",) * made.seats, ("a",) * made.seats, conditions(made))
    with pytest.raises(ValueError, match=r"adjudication|points"):
        play(replace(spec, conditions=replace(spec.conditions, adjudication=Adjudication.parse(rules))), [])


# Agreement


def test_bots_that_agree_end_the_game() -> None:
    seats = [Scripted(scoring(lambda turn: 300)), Scripted(scoring(lambda turn: -310.5))]
    record = play(adjudicated("agree:300x4"), seats)
    assert ended(record) == ("adjudication", 0, 8)
    assert record["result"] == {
        "winner": 0,
        "reason": "adjudicated by agree:300x4",
        "scores": [1, 0],
        "returns": [1, -1],
        "decided_by": "adjudication",
        "verdicts": [],
        "rated": True,
    }
    assert seats[1].heard[-1]["type"] == "over"
    assert seats[1].heard[-1]["reason"] == "adjudicated by agree:300x4"
    tally = MatchTally(("a", "b"), 2)
    tally.add(game_result(record), 0)
    assert tally.decided_by["adjudication"] == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda turn: 300, lambda turn: 300),  # both believe to win
        (lambda turn: -300, lambda turn: -300),
        (lambda turn: 300, lambda turn: -299),
        (lambda turn: 300, lambda turn: None),
        (lambda turn: 300, lambda turn: None if turn % 8 == 7 else -300),
        (lambda turn: 299 if turn % 6 == 4 else 300, lambda turn: -300),
        (lambda turn: 300 if turn % 8 < 4 else -300, lambda turn: -300 if turn % 8 < 4 else 300),
    ],
)
def test_bots_that_do_not_agree_long_enough_play_on(one: Any, other: Any) -> None:
    record = play(adjudicated("agree:300x4"), [Scripted(scoring(one)), Scripted(scoring(other))])
    assert ended(record)[0] == "play"


def test_a_turn_with_a_verdict_is_no_agreement() -> None:
    def failing(turn: Turn) -> Answer:
        right = scoring(lambda number: -300)(turn)
        return replace(right, move=None, fault=SeatFault("error", "no")) if turn.number % 4 == 3 else right

    spec = adjudicated("agree:300x3", policy="substitute")
    assert ended(play(spec, [Scripted(scoring(lambda turn: 300)), Scripted(failing)]))[0] == "play"


def test_a_false_claim_of_agreement_does_not_verify() -> None:
    seats = [Scripted(scoring(lambda turn: 300)), Scripted(scoring(lambda turn: -300))]
    record = play(adjudicated("agree:300x4"), seats)
    record["turns"][-1]["info"][-1]["score"] = -299
    with pytest.raises(records.BadRecord, match="no rule of adjudication in its conditions decides the game here"):
        records.verify(record)


def test_a_claim_without_the_condition_does_not_verify() -> None:
    record = play(play_spec("skysummit", ("a", "b")), [Scripted(first), Scripted(first)])
    record["result"] |= {"decided_by": "adjudication", "reason": "adjudicated by solver"}
    with pytest.raises(records.BadRecord, match="a game that is over cannot be adjudicated"):
        records.verify(record)
    record["turns"].pop()
    with pytest.raises(records.BadRecord, match="no rule of adjudication"):
        records.verify(record)


# Points


@pytest.mark.parametrize("seed", range(6))
def test_a_margin_that_nobody_can_catch_up_names_the_winner_of_the_whole_game(seed: int) -> None:
    spec = adjudicated("margin", "dots", ("random", "greedy"), clock="none", seed=seed, rows=3, cols=3)
    short = play(spec)
    whole = play(replace(spec, conditions=replace(spec.conditions, adjudication=None)))
    how, winner, turns = ended(short)
    assert (how, winner) == ("adjudication", whole["result"]["winner"])
    assert turns < len(whole["turns"])
    boxes = replayed(short)["scores"]
    assert max(boxes) == 5  # of nine: as soon as it was certain


def replayed(record: dict[str, Any]) -> Any:
    """The last state of a record."""
    game = make(record["game"], **record["options"])
    state = records.first_state(game, record)
    for entry in record["turns"]:
        state = game.apply(state, entry["move"])
    return state


def test_a_lead_in_points_counts_after_some_turns() -> None:
    record = play(adjudicated("margin:2x3", "dots", ("random", "greedy"), clock="none", seed=1, rows=3, cols=3))
    how, winner, turns = ended(record)
    assert winner is not None
    game = make("dots", rows=3, cols=3)
    state, leads = records.first_state(game, record), []
    for entry in record["turns"]:
        state = game.apply(state, entry["move"])
        leads.append(state["scores"][winner] - state["scores"][1 - winner])
    assert how == "adjudication"
    assert all(lead >= 2 for lead in leads[-3:])
    assert not any(min(leads[at - 3 : at]) >= 2 for at in range(3, turns))


# Engine and solver


def test_the_engine_decides_when_one_seat_is_far_ahead() -> None:
    record = play(adjudicated("engine:200x2", "skysummit", ("random", "level:5"), clock="nodes=2000", seed=3))
    how, winner, turns = ended(record)
    assert (how, winner) == ("adjudication", 1)
    assert turns >= 2


@pytest.mark.parametrize("game", ["skysummit", "caldera", "santorini", "dots"])
def test_the_solver_decides_when_the_result_is_proven(game: str) -> None:
    options = {"rows": 3, "cols": 3} if game == "dots" else {}
    spec = adjudicated("solver:3000", game, ("random", "greedy"), clock="none", seed=2, **options)
    record = play(spec)
    assert ended(record)[0] == "adjudication"
    assert record["result"]["reason"] == "adjudicated by solver:3000"
    assert records.comparable(play(spec)) == records.comparable(record)
    record["turns"].pop()
    with pytest.raises(records.BadRecord, match=r"no rule of adjudication|says otherwise"):
        records.verify(record)


def positions(game: Any, seed: int, every: int = 1) -> Any:
    """Compiled positions of a random game, the last ones first."""
    rng = SplitMix64(seed)
    states, found = game.encode_array(game.initial_state()), []
    while game.kernels.mover(states) >= 0:
        found.append(states.copy())
        game.kernels.play(states, rng.choice(game.legal_actions_of(states)))
    return found[::-1][::every]


class PlainSearch:
    """Whether a seat can force a win, by the rules alone: no evaluation, no table, every move."""

    def __init__(self, game: Any, limit: int) -> None:
        self.game, self.left = game, limit

    def forces(self, states: Any, seat: int, plies: int) -> bool:
        mover = int(self.game.kernels.mover(states))
        if mover < 0:
            return int(self.game.kernels.winner(states)) == seat
        if not plies:
            return False
        found = (self.forces(self._after(states, action), seat, plies - 1) for action in self._legal(states))
        return any(found) if mover == seat else all(found)

    def _legal(self, states: Any) -> list[int]:
        self.left -= 1
        if self.left < 0:
            raise TooLong
        legal: list[int] = self.game.legal_actions_of(states)
        return legal

    def _after(self, states: Any, action: int) -> Any:
        after = states.copy()
        self.game.kernels.play(after, action)
        return after


def confirmed(game: Any, states: Any, value: int) -> bool:
    """Whether a plain search finds the same winner; False where it would take too long."""
    mover = int(game.kernels.mover(states))
    search = PlainSearch(game, 1500)
    try:
        found = {seat for seat in range(2) for plies in range(1, 7) if search.forces(states, seat, plies)}
    except TooLong:
        return False
    assert found == {1: {mover}, 0: set(), -1: {1 - mover}}[value]
    return True


@pytest.mark.parametrize("game_id", ["skysummit", "caldera", "santorini"])
def test_a_proof_is_never_wrong(game_id: str) -> None:
    """Proven values against a search through the rules alone, with budgets that end in the middle of a search."""
    options = {"turn_limit": 20} if game_id != "santorini" else {}
    game, checked = make(game_id, **options), {1: 0, 0: 0, -1: 0}
    for seed in range(8):
        for states in positions(game, seed)[:3]:
            proven = (proven_value(game, states, nodes) for nodes in (1, 10, 60, 400))
            values = {value for value in proven if value is not None}
            assert len(values) <= 1
            for value in values:
                checked[value] += confirmed(game, states, value)
    assert checked[1] >= 3, checked
    assert checked[-1] >= 1, checked


def test_a_search_that_is_cut_short_proves_no_loss() -> None:
    """The first moves that it tries lose, and one that it has no time for wins."""
    game = make("santorini")
    states = positions(game, 23)[2]
    assert proven_value(game, states, 1000) == 1
    assert {proven_value(game, states, nodes) for nodes in range(40, 90, 3)} == {None, 1}


def test_a_proof_in_dots_is_the_exact_margin() -> None:
    game = make("dots", rows=2, cols=3)
    proven = 0
    for seed in range(6):
        for states in positions(game, seed, 2):
            if len(game.legal_actions_of(states)) > 12:
                continue
            right = max(edge_values(game, states).values())
            for nodes in (1, 5, 50, 5000):
                value = proven_value(game, states, nodes)
                assert value in (None, right)
                proven += value is not None
    assert proven > 50
