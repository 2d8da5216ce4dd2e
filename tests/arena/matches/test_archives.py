"""Records of earlier runs: recalled only if the same bots played them, with the seed of the match."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import game_loop, records
from ludodrome.arena.matches.archives import RecordFolder
from ludodrome.arena.play_spec import PlaySpec
from ludodrome.arena.records.archive import RecordFilter
from ludodrome.arena.results import MatchResult
from ludodrome.bots.identity import MANIFEST
from tests.arena.quick import SMALL

pytestmark = pytest.mark.xdist_group("dots")

CRASHING = "raise SystemExit(3)\n"
MENDED = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        answer = {"type": "move", "move": message["legal_moves"][0], "turn": message["turn"]}
        print(json.dumps(answer), flush=True)
"""


def play(folder: Path, bots: list[str], games: int = 4, **more: Any) -> MatchResult:
    usual: dict[str, Any] = {"clock": "none", "workers": 0, "openings": False, "records": folder}
    return ludodrome.play_match(ludodrome.make("dots", **SMALL), bots, games=games, **usual | more)


def test_a_mended_bot_plays_again(tmp_path: Path) -> None:
    """Before, the second run played nothing and showed the crashes of the first as its own."""
    bot, folder = tmp_path / "mine.py", tmp_path / "games"
    bot.write_text(CRASHING)
    bots = [f"mine=cmd:{sys.executable} -S {bot}", "random"]
    first = play(folder, bots, 2)
    assert first.tally.lines["mine"].verdicts["crash"] > 0
    assert play(folder, bots, 2).recalled == 2
    bot.write_text(MENDED)
    mended = play(folder, bots, 2)
    assert mended.recalled == 0
    assert not mended.tally.lines["mine"].verdicts
    assert mended.seed == first.seed
    old, new = first.identities["mine"], mended.identities["mine"]
    (note,) = mended.notes
    assert note.startswith("mine has changed since 2")
    assert note.endswith(f"(mine@{old} then, mine@{new} now): its games are played again")
    kept = [records.read(file) for file in folder.glob("m-*.json")]
    for version in (old, new):
        chosen = [one for one in kept if one in RecordFilter(bot=f"mine@{version}")]
        assert len(chosen) == 2
        assert all(version in one["bot_ids"] for one in chosen)
        for one in chosen:
            records.verify(one)


def test_games_are_recalled_and_said_to_be(tmp_path: Path) -> None:
    first = play(tmp_path, ["greedy", "random"])
    again = play(tmp_path, ["greedy", "random"], 6)
    assert (first.recalled, again.recalled, again.seed) == (0, 4, first.seed)
    (note,) = again.notes
    assert note.startswith("4 of 6 games were recalled from records of 2")
    fresh = play(tmp_path, ["greedy", "random"], fresh=True)
    assert (fresh.recalled, fresh.notes) == (0, [])
    assert fresh.seed != first.seed
    assert play(tmp_path, ["greedy", "random"]).seed == fresh.seed


def test_logs_and_stores_beside_a_bot_are_no_part_of_it(tmp_path: Path) -> None:
    """With --log in the bot's folder every run saw a changed bot and played all games again."""
    bot, log, store = tmp_path / "mine.py", tmp_path / "traffic.jsonl", tmp_path / "cup.db"
    bot.write_text(MENDED)
    bots = [f"mine=cmd:{sys.executable} -S {bot}", "random"]
    first, again = (play(tmp_path / "games", bots, 2, log=log) for _ in range(2))
    assert log.stat().st_size
    assert (first.recalled, again.recalled) == (0, 2)
    assert again.identities == first.identities
    usual: dict[str, Any] = {"clock": "none", "workers": 0, "openings": False, "store": store, "log": log}
    game = ludodrome.make("dots", **SMALL)
    begun = ludodrome.tournament(game, bots, **usual)
    resumed = ludodrome.tournament(game, bots, resume=True, **usual)
    assert [note.partition(",")[0] for note in resumed.notes] == ["2 of 2 games were recalled"]
    assert resumed.records == begun.records


def test_records_without_identities_verify_but_are_not_recalled(tmp_path: Path) -> None:
    bots = ["greedy", "random"]
    for record in play(tmp_path, bots, seed=3).records:
        bare = {name: value for name, value in record.items() if name != "bot_ids"}
        play_spec = PlaySpec.from_json(bare)
        (tmp_path / f"{record['match']}.json").unlink()
        old = game_loop.play(play_spec)
        assert "bot_ids" not in old
        records.verify(old)
        records.write(old, tmp_path)
    again = play(tmp_path, bots, seed=3)
    assert again.recalled == 0
    assert again.notes == [
        "4 recorded games were played again: their records do not say which version of the bots played"
    ]


def test_the_default_seed_cannot_be_guessed_and_a_seed_repeats_a_match(tmp_path: Path) -> None:
    """Before, it was 0, and a bot that knew it foresaw every move of a random one."""
    one, other = (play(tmp_path / name, ["greedy", "random"]) for name in "ab")
    assert one.seed != other.seed
    assert max(one.seed, other.seed).bit_length() > 64
    assert one.to_json()["seed"] == str(one.seed)
    same = play(tmp_path / "c", ["greedy", "random"], seed=one.seed)
    assert [record["turns"][0]["move"] for record in same.records] == [
        record["turns"][0]["move"] for record in one.records
    ]
    assert [record["match"] for record in same.records] == [record["match"] for record in one.records]


def test_a_manifest_may_be_cut_off_or_wrong(tmp_path: Path) -> None:
    folder, match = RecordFolder(tmp_path), {"game": "dots"}
    folder.begin(match, 2**127, {"a": "1"})
    folder.begin({"game": "other"}, 5, {})
    good = (tmp_path / MANIFEST).read_text()
    for bad in ('{"match": {"game": "dots"}, "se', "[]", "null", "{}", '{"match": 1, "seed": "x", "identities": []}'):
        (tmp_path / MANIFEST).write_text(f"{bad}\n{good}{bad}")
        earlier = folder.earlier(match)
        assert earlier is not None
        assert (earlier.seed, earlier.identities) == (2**127, {"a": "1"})
    assert folder.earlier({"game": "spaces"}) is None
    assert RecordFolder(tmp_path, fresh=True).earlier(match) is None


def test_malformed_identities_of_a_record_are_refused(tmp_path: Path) -> None:
    (record,) = play(tmp_path, ["greedy", "random"], 1, swap=False).records
    records.verify(record)
    for wrong in (["a"], "ab", [1, 2], None, ["a" * 65, "b"], []):
        with pytest.raises(records.BadRecord, match="bot_ids"):
            records.verify({**record, "bot_ids": wrong})
    with pytest.raises(records.BadRecord, match="match is"):
        records.verify({**record, "bot_ids": ["a", "b"]})
    assert json.loads(records.to_text(record))["bot_ids"] == record["bot_ids"]


def test_a_tournament_plays_the_games_of_a_changed_bot_again(tmp_path: Path) -> None:
    bot, store = tmp_path / "bot" / "mine.py", tmp_path / "cup.sqlite"
    bot.parent.mkdir()
    bot.write_text(CRASHING)
    bots = [f"mine=cmd:{sys.executable} -S {bot}", "greedy", "random"]
    usual: dict[str, Any] = {"clock": "none", "workers": 0, "openings": False, "store": store}
    game = ludodrome.make("dots", **SMALL)
    first = ludodrome.tournament(game, bots, **usual)
    assert (first.games, first.notes) == (6, [])
    bot.write_text(MENDED)
    again = ludodrome.tournament(game, bots, resume=True, **usual)
    assert (again.seed, again.games, len(again.records)) == (first.seed, 6, 6)
    changed, recalled = again.notes
    assert changed.startswith("mine has changed since the tournament began (mine@")
    assert recalled.startswith("2 of 6 games were recalled, played 2")
    assert not any(verdict for record in again.records for verdict in record["result"]["verdicts"])
    once_more = ludodrome.tournament(game, bots, resume=True, **usual)
    assert once_more.records == again.records
