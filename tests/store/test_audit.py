"""The audit log, deletion and export of accounts, on both kinds of database."""

import json
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from ludodrome.store import accounts, announcements, audit, league_bots, league_matches, plays
from ludodrome.store.audit import Actor
from ludodrome.store.group_commit import GroupCommitter
from ludodrome.store.models import AnnouncementRow

MATCH: dict[str, Any] = {"game": "dots", "options": {}, "names": ["one", "two"]}
CHIEF = Actor("chief", "Chief", "203.0.113.1")


def _topics(engine: Engine) -> list[tuple[str, str]]:
    """What was announced, where the database keeps it."""
    with Session(engine) as session:
        return [
            (row.topic, row.subject) for row in session.scalars(select(AnnouncementRow).order_by(AnnouncementRow.id))
        ]


def test_changes_are_recorded_and_announced(engine: Engine) -> None:
    ada = accounts.add_account(engine, "Ada", "hash", address="203.0.113.9").id
    accounts.sign_in(engine, ada, "", "203.0.113.9")
    row, _ = accounts.add_token(engine, ada, "laptop", ["play"], CHIEF)
    accounts.revoke(engine, ada, row.id, CHIEF)
    accounts.set_password(engine, ada, "other", by=CHIEF)
    accounts.set_admin(engine, ada, True, CHIEF)
    accounts.set_banned(engine, ada, True, CHIEF)
    found = audit.entries(engine)
    assert [one.action for one in found] == [
        *("account-banned", "admin-granted", "password-changed", "token-revoked", "token-made", "sign-in", "sign-up")
    ]
    assert {one.subject for one in found} == {"Ada"}
    assert [(one.actor, one.address) for one in found[-2:]] == [("Ada", "203.0.113.9")] * 2
    assert (found[0].actor_id, found[0].actor, found[0].address) == CHIEF
    if engine.dialect.name == "sqlite":
        topics = _topics(engine)
        assert topics == [(announcements.TOKEN, row.id), *[(announcements.ACCOUNT, ada)] * 3]


def test_what_is_looked_for(engine: Engine) -> None:
    ada, eve = (accounts.add_account(engine, name, "hash").id for name in ("Ada", "Eve"))
    accounts.set_banned(engine, eve, True, Actor(ada, "Ada"))
    assert [one.action for one in audit.entries(engine, ada)] == ["account-banned", "sign-up"]
    assert [one.action for one in audit.entries(engine, "Eve")] == ["account-banned", "sign-up"]
    assert [one.subject for one in audit.entries(engine, action="sign-up")] == ["Eve", "Ada"]
    (newest,) = audit.entries(engine, most=1)
    assert newest.action == "account-banned"
    assert len(audit.entries(engine, before=newest.id)) == 2


def test_old_entries_go(engine: Engine) -> None:
    ada = accounts.add_account(engine, "Ada", "hash").id
    with engine.begin() as connection:
        connection.execute(text("UPDATE audit_log SET at = at - :age"), {"age": audit.KEEP_MS + 1})
    assert audit.entries(engine) == []
    accounts.sign_in(engine, ada, "")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT action FROM audit_log")).scalars().all() == ["sign-in"]


def test_failures_are_counted_together(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = accounts.add_account(engine, "Ada", "hash")
    for address in ("203.0.113.1", "203.0.113.2", "203.0.113.1"):
        audit.note_failure(engine, audit.SIGN_IN_FAILED, ada, address)
    found = audit.entries(engine, action=audit.SIGN_IN_FAILED)
    assert [(one.subject, one.address, one.details["times"]) for one in found] == [
        ("Ada", "203.0.113.2", 1),
        ("Ada", "203.0.113.1", 2),
    ]
    monkeypatch.setattr(audit, "MAX_FAILURES", 4)
    for number in range(50):
        audit.note_failure(engine, audit.SIGN_IN_FAILED, None, f"198.51.100.{number}")
    rest = audit.entries(engine, action=audit.SIGN_IN_FAILED)
    assert len(rest) == 5
    assert (rest[0].address, rest[0].details) == ("", {"times": 48})


def test_second_factors(engine: Engine) -> None:
    ada = accounts.add_account(engine, "Ada", "hash").id
    assert not accounts.drop_second_factor(engine, ada)
    for secret in ("AAAA", "BBBB"):
        accounts.begin_second_factor(engine, ada, secret)
    known = accounts.credentials(engine, "ADA")
    assert known is not None
    assert not known.second_factor
    assert accounts.confirm_second_factor(engine, ada, 7, ["abcd-efgh"])
    assert not accounts.confirm_second_factor(engine, ada, 8, [])
    with pytest.raises(ValueError, match="is on"):
        accounts.begin_second_factor(engine, ada, "CCCC")
    assert [accounts.use_step(engine, ada, step) for step in (6, 7, 8, 8, 10, 9)] == [
        *(False, False, True, False, True, False)
    ]
    assert [accounts.use_recovery(engine, ada, "abcd-efgh") for _ in range(2)] == [True, False]
    found = accounts.second_factor(engine, ada)
    assert found is not None
    assert (found.secret, found.recovery) == ("BBBB", [])
    assert accounts.drop_second_factor(engine, ada)
    assert accounts.second_factor(engine, ada) is None


def test_one_key_for_known_browsers(engine: Engine) -> None:
    key = accounts.device_key(engine)
    assert len(key) == 32
    assert accounts.device_key(engine) == key


def _fill(engine: Engine) -> tuple[str, dict[str, str]]:
    """An account with something of everything."""
    accounts.ensure_local(engine)
    ada = accounts.add_account(engine, "Ada", "hash").id
    eve = accounts.add_account(engine, "Eve", "hash").id
    secrets = {"session": accounts.sign_in(engine, ada, "a browser")}
    _, secrets["token"] = accounts.add_token(engine, ada, "laptop", ["play"])
    accounts.begin_second_factor(engine, ada, "GEZDGNBVGY3TQOJQ")
    accounts.confirm_second_factor(engine, ada, 1, ["abcd-efgh"])
    plays.add_solved(engine, ada, "0123456789ab")
    secrets["bot"] = "bot secret"
    remote = league_bots.enter_remote(engine, "dots", ada, "Lovelace", secrets["bot"])
    uploaded = league_bots.enter_uploaded(engine, "dots", ada, "Engine", "print('mine')", [])
    other = league_bots.enter_remote(engine, "dots", eve, "Other", "other secret")
    league_matches.queue(engine, "ladder", [("m-1", MATCH, [remote, other], 0)], None)
    event = league_matches.add_event(
        engine, "dots", "tournament", "Cup", {}, {"Engine": uploaded, "Other": other}, 1, ada
    )
    league_matches.queue(engine, "tournament", [("m-2", MATCH, [other, other], 0)], event)
    committer = GroupCommitter(engine)
    try:
        for name, link in (("over", None), ("open", plays.new_link(1))):
            friends = {} if link is None else {1: link}
            spec = {"game": "dots", "names": ["Ada", "Guest"], "seed": 12345}
            plays.begin(committer, plays.StoredPlay(name, ada, None, spec, ("person", "friend"), friends, ()))
            secrets[f"link of {name}"] = str(link.link) if link else "none at all"
            move = plays.PlayEvent("move", {"move": ["H", 0, 0]})
            record = {"match": "m", "result": {"won": 0}, "moves": [1]}
            plays.add(committer, "here", name, 1, move, plays.PlayEnd(record) if name == "over" else None).result()
    finally:
        committer.close()
    return ada, secrets | {"remote": remote, "uploaded": uploaded, "event": event}


def test_an_export_has_everything_but_secrets(engine: Engine) -> None:
    ada, secrets = _fill(engine)
    parts = list(audit.export_account(engine, ada))
    found = json.loads("".join(parts))
    assert found["account"]["name"] == "Ada"
    assert found["account"]["second_factor"] is not None
    assert [one["browser"] for one in found["sessions"]] == ["a browser"]
    assert [one["label"] for one in found["tokens"]] == ["laptop"]
    assert found["solved_puzzles"] == ["0123456789ab"]
    assert {one["name"] for one in found["bots"]} == {"Lovelace", "Engine"}
    assert sorted(version["source"] for one in found["bots"] for version in one["versions"]) == ["", "print('mine')"]
    assert [one["name"] for one in found["events"]] == ["Cup"]
    over, running = sorted(found["plays"], key=lambda one: one["id"], reverse=True)
    assert over["record"]["moves"] == [1]
    assert (running["record"], running["names"]) == (None, ["Ada", "Guest"])
    assert {one["action"] for one in found["audit"]} == {"sign-up", "sign-in", "token-made", "second-factor-on"}
    text_ = "".join(parts)
    for name in ("session", "token", "bot", "link of open"):
        assert secrets[name] not in text_
    for secret in ("hash", "GEZDGNBVGY3TQOJQ", "12345", accounts.digest("bot secret")):
        assert f'"{secret}"' not in text_
        assert f": {secret}" not in text_
    with pytest.raises(ValueError, match="no such account"):
        list(audit.export_account(engine, "nobody"))


def test_what_a_deleted_account_leaves(engine: Engine) -> None:
    ada, known = _fill(engine)
    audit.delete_account(engine, ada, Actor(ada, "Ada"))
    assert accounts.account_of(engine, ada) is None
    assert accounts.session_of(engine, known["session"]) is None
    assert accounts.token_of(engine, known["token"]) is None
    assert league_bots.bot_of_token(engine, known["bot"]) is None
    assert plays.solved_puzzles(engine, ada) == set()
    for name in ("remote", "uploaded"):
        bot = league_bots.find_bot(engine, known[name])
        assert bot is not None
        assert (bot.owner, bot.here) == (None, False)
        assert bot.retired is not None
        (version,) = league_bots.versions(engine, bot.id)  # it stays for its ratings, without anything of the owner's
        assert (version.size, version.identity, version.findings) == (0, "", [])
        assert not league_bots.source_of(engine, version.id)
    for name in ("over", "open"):
        play = plays.find(engine, name)
        assert play is not None
        assert play.owner is None
    assert plays.record_of(engine, "over") is not None
    matches = [league_matches.find_match(engine, name) for name in ("m-1", "m-2")]
    assert [one and one.status for one in matches] == ["dropped", "dropped"]
    event = league_matches.find_event(engine, known["event"])
    assert event is not None
    assert (event.status, event.asked_by) == ("dropped", None)
    assert audit.entries(engine, most=1)[0].action == "account-deleted"
    if engine.dialect.name == "sqlite":
        topics = set(_topics(engine))
        assert {(announcements.ACCOUNT, ada), (announcements.BOT, known["remote"])} <= topics
        assert announcements.TOKEN in {topic for topic, _ in topics}
    for account, sentence in (("local", "cannot be deleted"), ("nobody", "no such account")):
        with pytest.raises(ValueError, match=sentence):
            audit.delete_account(engine, account, CHIEF)
    accounts.add_account(engine, "Ada", "hash")  # the name is free
