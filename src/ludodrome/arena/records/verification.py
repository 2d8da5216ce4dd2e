"""Verify a record: apply the rules again from its seed and opening, and compare every fact in it.

Times, standard errors, notes and, since version 2, the bots' own words cannot be verified; nor can the seeds of a
record whose seed is withheld. A refused move is tried again if it was stored whole.
"""

import re
from typing import Any

from ludodrome.arena.adjudication import Adjudicator
from ludodrome.arena.clocks import MAX_FUEL
from ludodrome.arena.conditions import MAX_TRIES, SUBSTITUTE
from ludodrome.arena.play_spec import (
    HASHED,
    VERSIONS,
    PlaySpec,
    aborted_outcome,
    after_opening,
    agreed_draw_outcome,
    forfeit_outcome,
    read_move,
    resignation_outcome,
)
from ludodrome.arena.records.format import (
    KIND,
    START,
    BadRecord,
    Chain,
    digest,
    first_state,
    header_of,
    is_withheld,
    rounded,
    secret_part,
)
from ludodrome.arena.seats import ARENA, CAUSES, ILLEGAL, RESIGNED
from ludodrome.arena.telemetry import check_recorded
from ludodrome.game import IllegalMove, Outcome
from ludodrome.validation import integer, listing, show

REQUIRED = ("turns", "result", "ms", "digest")
OPTIONAL = ("stderr", "notes")
RESIGNATION, ADJUDICATION, AGREEMENT = "resignation", "adjudication", "agreement"
VERDICT = {"seat", "cause", "why", "turn"}
ENTRY = {"turn", "seat", "move", "ms", "refusals", "verdict", "substituted", "log", "info", "fuel", "digest"}


def verify(record: dict[str, Any]) -> None:
    """Play a record again by the rules and compare everything; BadRecord names the turn that does not fit."""
    Verifier(record).check()


class Verifier:
    """Compares one record with the rules."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record

    def check(self) -> None:
        """Raise BadRecord at the first contradiction or malformed value."""
        try:
            self._check_head()
            for entry in self.record["turns"]:
                self._check_turn(entry)
            self._check_result()
            if self.record["digest"] != digest(self.record):
                raise BadRecord("the record's digest does not fit its contents")
        except BadRecord:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            where = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise BadRecord(f"the record is malformed ({where})") from error

    # Head

    def _check_head(self) -> None:
        record = self.record
        if record["ludodrome"] != KIND or record["version"] not in VERSIONS or type(record["version"]) is not int:
            raise BadRecord(f"this is not a record of version {listing(map(str, VERSIONS), 'or')}")
        sealed = is_withheld(record)
        if sealed:
            self._check_commitment(record)
        self.play_spec = PlaySpec.from_json({"seed": "0", **record})
        self.head = header_of(record)
        secret = {} if sealed else secret_part(self.play_spec)
        for name, right in (self.head | secret).items():
            if not alike(record[name], right):
                raise BadRecord(f"{name} is {show(record[name])}, but the rest of the record makes it {show(right)}")
        times = record["ms"]
        if len(times) != len(self.play_spec.bots) or not all(type(one) in (int, float) and one >= 0 for one in times):
            raise BadRecord("ms is a list of times, one a seat")
        start = {START} if sealed and "position" not in record else set()
        unknown = set(record) - set(self.head) - set(secret) - start - set(REQUIRED) - set(OPTIONAL)
        if unknown:
            raise BadRecord(f"the record has the unknown key {show(min(unknown))}")
        self.game = self.play_spec.make_game()
        if len(self.play_spec.bots) != self.game.seats or len(self.play_spec.names) != self.game.seats:
            raise BadRecord(f"{self.game.id} has {self.game.seats} seats here")
        self.state = after_opening(self.game, first_state(self.game, record), self.play_spec.opening)
        self.states = self.game.new_states(1)
        self.states[0] = self.game.encode(self.state)
        self.chain = Chain(self.head, self.state)
        self.number = len(self.play_spec.opening)
        self.verdicts: list[dict[str, Any]] = []
        rules = self.play_spec.conditions.adjudication
        self.adjudicator = None if rules is None else Adjudicator(rules, self.game)
        self.stopped: dict[str, Any] | None = None
        """The turn that ended the game without a move."""

    @staticmethod
    def _check_commitment(record: dict[str, Any]) -> None:
        """Refuse a record without a seed unless it has a commitment to one."""
        if record["version"] == HASHED:
            raise BadRecord("its seed is withheld, so a record of version 1 cannot be verified")
        if type(record["commitment"]) is not str or not re.fullmatch("[0-9a-f]{64}", record["commitment"]):
            raise BadRecord(f"the commitment is 64 hexadecimal digits, not {show(record['commitment'])}")

    # Turns

    def _check_turn(self, entry: dict[str, Any]) -> None:
        number = self.number
        try:
            self._check_entry(entry)
        except BadRecord as wrong:
            raise (wrong if wrong.ply is not None else BadRecord(str(wrong), number)) from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise BadRecord(f"it is malformed ({type(error).__name__}: {error})", number) from error

    def _check_entry(self, entry: dict[str, Any]) -> None:
        if self.stopped is not None:
            raise BadRecord("it follows a turn that ended the game")
        if not set(entry) <= ENTRY:
            raise BadRecord(f"it has the unknown key {show(min(set(entry) - ENTRY))}")
        if not alike(entry["turn"], self.number):
            raise BadRecord(f"it has the number {show(entry['turn'])}")
        mover = self.game.to_move(self.state)
        if mover is None:
            raise BadRecord("it comes after the end of the game")
        if not alike(entry["seat"], mover):
            raise BadRecord(f"seat {show(entry['seat'])} moved, and it was the turn of seat {mover}")
        if "fuel" in entry:
            integer(entry["fuel"], 0, MAX_FUEL * MAX_TRIES, "its fuel", BadRecord)
        if "info" in entry:
            check_recorded(entry["info"])
        self._check_refusals(entry)
        self._check_verdict(entry, mover)
        if "move" in entry:
            self._check_move(entry)
        else:
            self.stopped = entry
        said = entry["digest"]
        if self.chain.link(dict(entry), self.state)["digest"] != said:
            raise BadRecord("its digest does not fit the position and what came before")
        self.number += 1

    def _check_refusals(self, entry: dict[str, Any]) -> None:
        refusals = entry.get("refusals", [])
        for refusal in refusals:
            if refusal.get("cut"):
                continue
            try:
                move = read_move(self.game, self.state, refusal["sent"])
            except IllegalMove:
                continue
            if self.game.is_legal(self.state, move):
                raise BadRecord("a move was refused that is legal")
        if len(refusals) > self.play_spec.conditions.tries:
            raise BadRecord(f"{len(refusals)} answers were refused, more than the policy allows")

    def _check_verdict(self, entry: dict[str, Any], seat: int) -> None:
        verdict = entry.get("verdict")
        substituted = entry.get("substituted", False)
        if verdict is None:
            if substituted or "move" not in entry:
                raise BadRecord("there is no verdict on the seat, and yet its move was not played")
            return
        if set(verdict) != {"cause", "why"} or verdict["cause"] not in CAUSES:
            raise BadRecord(f"{show(verdict)} is not a verdict")
        substitutes = self.play_spec.conditions.policy == SUBSTITUTE and verdict["cause"] != ARENA
        if substituted is not substitutes or ("move" in entry) is not substitutes:
            raise BadRecord(f"under the policy {self.play_spec.conditions.policy} this verdict has another outcome")
        if verdict["cause"] == ILLEGAL and not entry.get("refusals"):
            raise BadRecord("an illegal move is missing")
        self.verdicts.append({"seat": seat, **verdict, "turn": self.number})

    def _check_move(self, entry: dict[str, Any]) -> None:
        if entry.get("substituted") and not alike(entry["move"], self.game.substitute_move(self.state)):
            raise BadRecord("the substituted move is not the first legal move")
        try:
            self.game.apply_to(self.states, entry["move"])
        except IllegalMove as wrong:
            raise BadRecord(f"the move cannot be made: {wrong}") from None
        self.state = self.game.decode(self.states[0])
        if self.adjudicator:
            self.adjudicator.add(entry, self.states)

    # Result

    def _check_result(self) -> None:
        result = self.record["result"]
        ending, decided_by = self._ending(result)
        right = {
            "winner": ending.winner,
            "reason": ending.reason,
            "scores": [rounded(score) for score in ending.scores],
            "returns": [rounded(value) for value in ending.returns],
            "decided_by": decided_by,
            "verdicts": self.verdicts,
            "rated": decided_by != ARENA,
        }
        for name in right.keys() | result.keys():
            if not alike(result[name], right.get(name)):
                raise BadRecord(f"the result's {name} is {show(result[name])}, and the game says otherwise")

    def _ending(self, result: dict[str, Any]) -> tuple[Outcome, str]:
        if result["decided_by"] == ARENA:
            claimed = result["verdicts"][len(self.verdicts) :]
            if len(claimed) > 1 or any(one["cause"] != ARENA for one in [*claimed, *self.verdicts][-1:]):
                raise BadRecord("a game that the arena broke off has one verdict of the arena, its last")
            self.verdicts += claimed
            return aborted_outcome(self.game), ARENA
        if result["decided_by"] == RESIGNATION:
            return self._resignation(result["verdicts"][len(self.verdicts) :]), RESIGNATION
        if result["decided_by"] == ADJUDICATION:
            return self._adjudicated(), ADJUDICATION
        if result["decided_by"] == AGREEMENT:
            if self.stopped is not None or self.game.to_move(self.state) is None:
                raise BadRecord("players cannot agree to a draw in a game that is over", self.number)
            return agreed_draw_outcome(self.game), AGREEMENT
        if self.stopped is not None:
            return forfeit_outcome(self.game, self.stopped["seat"], self.stopped["verdict"]["cause"]), "forfeit"
        ending = self.game.outcome(self.state)
        if ending is None:
            raise BadRecord("the game is not over after the last turn", self.number)
        return ending, "play"

    def _adjudicated(self) -> Outcome:
        """The outcome by the rules of adjudication, applied again to the last position."""
        if self.stopped is not None or self.game.to_move(self.state) is None:
            raise BadRecord("a game that is over cannot be adjudicated", self.number)
        ending = self.adjudicator.judge() if self.adjudicator else None
        if ending is None:
            raise BadRecord("no rule of adjudication in its conditions decides the game here", self.number)
        return ending

    def _resignation(self, claimed: list[Any]) -> Outcome:
        """The outcome of a resignation between two turns; only the last verdict says who resigned."""
        if self.stopped is not None or self.game.to_move(self.state) is None:
            raise BadRecord("a game that is over cannot be resigned", self.number)
        right = len(claimed) == 1 and claimed[0]["cause"] == RESIGNED and type(claimed[0]["why"]) is str
        if not right or not alike(claimed[0]["turn"], self.number) or set(claimed[0]) != VERDICT:
            raise BadRecord("a resigned game has one verdict about it, its last")
        if claimed[0]["seat"] not in range(self.game.seats) or type(claimed[0]["seat"]) is not int:
            raise BadRecord(f"{show(claimed[0]['seat'])} is not a seat that could resign")
        self.verdicts += claimed
        return resignation_outcome(self.game, claimed[0]["seat"])


def alike(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, including their types: true is not 1."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if type(one) is list:
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)
