"""Play specs and conditions: values that travel as JSON, and seeds that reveal nothing about one another."""

from dataclasses import replace
from typing import Any

import pytest

from ludodrome.arena import seeds
from ludodrome.arena.conditions import Conditions, conditions, read_policy
from ludodrome.arena.play_spec import HASHED, PlaySpec, canonical_json, match_id
from ludodrome.games import make
from tests.arena.playing import play_spec


def test_a_play_spec_travels_as_json() -> None:
    one = play_spec("santorini", ("a", "b", "c"), "retry:4", "1s+10s", legal_moves=False, seed=7, players=3)
    again = PlaySpec.from_json(one.to_json())
    assert again == one
    assert again.match == one.match
    assert canonical_json(again.to_json()) == canonical_json(one.to_json())


def test_the_name_of_a_game_depends_on_all_of_it() -> None:
    one = play_spec("dots", ("a", "b"))
    others = [
        replace(one, seed=2),
        replace(one, number=1),
        replace(one, bots=("b", "a")),
        replace(one, names=("x", "b")),
        replace(one, options={"rows": 2}),
        replace(one, opening=("H(0,0)",)),
        replace(one, conditions=replace(one.conditions, start_ms=1)),
    ]
    assert len({each.match for each in [one, *others]}) == len(others) + 1


def test_seeds_are_hashes_of_the_seed_and_the_seat() -> None:
    """Ruling: every random number that a bot is given is a one-way hash of the match seed and its purpose."""
    one = play_spec("santorini", ("a", "b", "c"), players=3)
    assert len(set(one.seat_seeds)) == 3
    assert all(0 <= seed < 2**53 for seed in one.seat_seeds)
    many = {seed for number in range(100) for seed in replace(one, number=number).seat_seeds}
    assert len(many) == 300
    assert replace(one, bots=("x", "y", "z")).seat_seeds == one.seat_seeds


def test_each_game_has_its_policy() -> None:
    policies = {name: conditions(make(name)).policy for name in ("skysummit", "caldera", "spaces", "dots", "santorini")}
    assert policies == {
        "skysummit": "forfeit",
        "caldera": "forfeit",
        "spaces": "forfeit",
        "dots": "substitute",
        "santorini": "retry:10",
    }
    assert [Conditions(policy).tries for policy in policies.values()] == [1, 1, 1, 1, 10]


@pytest.mark.parametrize("text", ["retry:0", "retry:1001", "retry:x", "mercy", "", None, 5])
def test_bad_policies_are_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="a policy is"):
        read_policy(text)


@pytest.mark.parametrize(
    "change", [{"start_ms": -1}, {"start_ms": 1.0}, {"legal_moves": 1}, {"policy": "x"}, {"clock": 5}, {"more": 1}]
)
def test_conditions_are_read_strictly(change: dict[str, Any]) -> None:
    right = Conditions("forfeit").to_json()
    assert Conditions.from_json(right) == Conditions("forfeit")
    with pytest.raises(ValueError, match=r"\w"):
        Conditions.from_json({**right, **change})


def test_seeds_need_the_key() -> None:
    """Ruling: the match seed has 128 bits; nothing given to a bot tells the rest."""
    one = play_spec("spaces", ("a", "b"), seed=seeds.new_secret())
    old = replace(one, version=HASHED)
    assert not set(one.seat_seeds) & set(old.seat_seeds)
    assert str(one.seed) not in str(one.public_json())
    assert one.public_json()["commitment"] == seeds.commitment(one.seed)
    assert one.match == match_id(one.public_json())
    assert seeds.new_secret().bit_length() > 64
    assert PlaySpec.from_json(old.to_json()) == old
    for wrong in (1, "01", "x", "", "1.0", "9" * 200):
        with pytest.raises(ValueError, match="a seed is a text of digits"):
            PlaySpec.from_json({**one.to_json(), "seed": wrong})


def test_purposes_do_not_share_numbers() -> None:
    secret = 12345
    rounds = [seeds.round_seed(secret, number) for number in range(50)]
    found = [*rounds, *map(seeds.opening_seed, rounds), *map(seeds.position_seed, rounds)]
    found += [seeds.seat_seed(seed, game, seat) for seed in rounds for game in range(4) for seat in range(3)]
    assert len(set(found)) == len(found)
