import json
import re

import pytest

import ludodrome
from ludodrome.cli.console import show_markdown
from ludodrome.games import GAMES
from tests.cli.running import on_terminal, output


def test_games_lists_every_game() -> None:
    lines = output("games").splitlines()
    assert lines[0].split() == ["id", "title", "summary"]
    for entry, line in zip((GAMES[game_id] for game_id in ludodrome.game_ids()), lines[1:], strict=True):
        assert line.startswith(entry.id)
        assert entry.title in line
        assert line.rstrip().endswith(entry.summary)


def test_games_as_json() -> None:
    games = json.loads(output("games", "--json"))["games"]
    assert [game["id"] for game in games] == ludodrome.game_ids()
    assert all(
        game == {"id": GAMES[game["id"]].id, "title": GAMES[game["id"]].title, "summary": GAMES[game["id"]].summary}
        for game in games
    )


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
@pytest.mark.parametrize("plain", [[], ["--plain"]])
def test_rules_in_a_pipe_are_markdown(game_id: str, plain: list[str]) -> None:
    assert output("rules", game_id, "--full", *plain) == GAMES[game_id].rules()
    shown = output("rules", game_id, *plain)
    assert shown.startswith(GAMES[game_id].rules_for_people())
    assert shown.endswith(f"`ludodrome rules {game_id} --full`.\n")
    assert "**R1" not in shown


def test_rules_on_a_terminal_are_drawn() -> None:
    code, screen = on_terminal(["rules", "skysummit", "--full"])
    assert code == 0
    assert "\x1b[" in screen
    assert "R1. Players and workers." in screen
    assert "**R1" not in screen


def test_plain_rules_on_a_terminal() -> None:
    _, screen = on_terminal(["rules", "skysummit", "--plain", "--full"])
    assert screen == GAMES["skysummit"].rules()


@pytest.mark.parametrize("pager", ["/nonexistent", "/", "/nonexistent --with options"])
def test_a_pager_that_does_not_start(pager: str) -> None:
    code, screen = on_terminal(["rules", "dots"], PAGER=pager)
    assert code == 0
    assert screen.endswith(on_terminal(["rules", "dots"])[1])
    assert "Traceback" not in screen


def test_without_a_shell_rules_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "/bin/sh")

    monkeypatch.setattr("subprocess.Popen", refuse)
    show_markdown("# A page\n\nand its text\n\n## A part\n\nand more\n", paged=True)
    page = capsys.readouterr().out
    assert page.index("A page") < page.index("and its text") < page.index("and more")


def test_games_on_a_narrow_terminal() -> None:
    for columns in (20, 40, 60):
        code, screen = on_terminal(["games"], COLUMNS=str(columns))
        assert code == 0
        plain = re.sub(r"\x1b\[[0-9;]*m", "", screen)
        assert max(map(len, plain.splitlines())) <= columns
        for entry in GAMES.values():
            assert entry.id in plain
            words = iter(plain.split())
            assert all(word in words for word in entry.summary.split())


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_a_drawing_is_not_wrapped_on_a_narrow_terminal(game_id: str) -> None:
    game = ludodrome.make(game_id)
    _, screen = on_terminal(["show", game_id], COLUMNS="20")
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen)
    assert game.name_seats(game.render(game.initial_state())) in plain
    assert f"\nto move      {game.seat_name(0)} ●\n" in plain


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_show_the_initial_position(game_id: str) -> None:
    game = ludodrome.make(game_id)
    shown = output("show", game_id)
    start = game.initial_state()
    assert game.name_seats(game.render(start)) in shown
    assert f"one line     {game.format_state(start)}\n" in shown
    assert f"to move      {game.seat_name(0)} ●\n" in shown
    assert "legal moves  " in shown


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
@pytest.mark.parametrize("way", ["argument", "stdin"])
def test_show_reads_what_it_prints(game_id: str, way: str) -> None:
    as_json, drawn = output("show", game_id, "--json"), output("show", game_id)
    assert json.loads(as_json) == ludodrome.make(game_id).initial_state()
    line = next(text for text in drawn.splitlines() if text.startswith("one line")).removeprefix("one line").strip()
    for state in (as_json, line):
        given, stdin = (state, "") if way == "argument" else ("-", state)
        assert output("show", game_id, given, stdin=stdin) == drawn
        assert output("show", game_id, given, "--json", stdin=stdin) == as_json


def test_show_with_options() -> None:
    assert "legal moves  45\n" in output("show", "santorini", "--option", "players=3")


def test_show_a_finished_game() -> None:
    shown = output("show", "skysummit", "00000/03200/00111/00000/00000 B2E5 C4D2 9")
    assert "over         Blue ● wins (reached level 3), scores 1 : 0\n" in shown
    assert "legal moves  0\n" in shown


def test_show_a_draw() -> None:
    line = "00000/00000/00000/00000/00000 A1A2 B1B2 2"
    assert "over         drawn (turn limit: draw), scores 0.5 : 0.5\n" in output(
        "show", "skysummit", line, "-o", "turn_limit=2"
    )


def test_show_more_moves_than_can_be_listed() -> None:
    assert "121,439,363" in output("show", "spaces")


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_show_on_a_terminal_is_coloured(game_id: str) -> None:
    code, screen = on_terminal(["show", game_id])
    assert code == 0
    colour = "61" if game_id == "santorini" else "24"
    assert f"\x1b[1;38;5;{colour}m{ludodrome.make(game_id).seat_name(0)}" in screen
