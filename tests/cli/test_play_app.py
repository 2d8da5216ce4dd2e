"""`play` on the full screen, driven by keys and clicks."""

from pathlib import Path
from typing import Any

import pytest

import ludodrome
from ludodrome.arena import records
from ludodrome.cli.board_input import DrawingInput, PickInput
from ludodrome.cli.local_play import LocalPlay
from ludodrome.cli.play_app import PlayApp
from ludodrome.cli.play_widgets import BoardWidget, Story
from ludodrome.text_board import Pick
from tests.cli.playing import LARGE, drive, new_play, pick, play_on, random_mover, screen, strong_mover, until
from tests.cli.running import output

pytestmark = pytest.mark.xdist_group("play_app")

NEARLY_WON = "00000/03200/00111/00000/00000 B3E5 C4D2 8"
ERUPTS = "0000000/0002000/0023200/0033310/0000300/0000000/0000000 c63l61l65s42s64 c13l01l05s33s04 20"
STARTS = [
    ("dots", "", {"rows": 2, "cols": 1}),
    ("skysummit", NEARLY_WON, {}),
    ("santorini", "00000/00000/02320/00100/00000 C2B2 D3C4 10", {}),
    ("caldera", "0000000/0000000/0000000/0001000/0000000/0000000/0000000 c63l61s62 c43l01s02 8", {}),
]


@pytest.mark.parametrize(("game_id", "line", "options"), STARTS, ids=[start[0] for start in STARTS])
def test_a_game_to_its_end_by_keyboard_and_its_record(
    game_id: str, line: str, options: dict[str, Any], tmp_path: Path
) -> None:
    play = new_play(game_id, line or None, **options)
    play.folder = tmp_path
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await play_on(pilot, strong_mover(play))
        await pilot.pause()
        outcome = play.outcome()
        assert outcome is not None
        assert outcome.reason in screen(app)

    drive(app, story)
    assert app.record_path is not None
    record = records.read(app.record_path)
    assert record["bots"] == ["person", "person"]
    assert [entry["move"] for entry in record["turns"]] == [played.move for played in play.moves]
    assert output("replay", "--verify", str(app.record_path)) == "1 of 1 records are correct\n"


def test_spaces_is_laid_with_the_builders_keys_and_run_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Story, "pause", 3600.0)
    play = new_play("spaces", size=3, rounds=2, rules="live", choice="seen")
    play.folder = tmp_path
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("left", "up", "6", "down")
        assert "a piece never goes down (R9)" in screen(app)
        await pilot.press("z", "t", "right", "f")
        assert "finished: enter lays it" in screen(app)
        await pilot.press("enter")
        assert "against 3:0:6uuf" in screen(app)
        await pilot.press("up", "f", "enter")
        assert "1 of 5" in screen(app)
        await pilot.press("right", "right", "right", "left", "space")
        text = screen(app)
        assert "3 of 5" in text
        assert "●'s board" in text
        await pilot.press("enter")
        assert "round 2 of 2" in screen(app)
        assert "round 1: 3:0:6uuf" in screen(app)
        for _ in range(2):
            await pilot.press("up", "f", "enter")
        await pilot.press("escape")
        assert play.is_over

    drive(app, story)
    assert app.record_path is not None
    records.verify(records.read(app.record_path))


def test_a_story_runs_by_itself_pauses_and_is_skipped_by_a_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Story, "pause", 0.05)
    app = PlayApp(new_play("spaces", size=3, rounds=2, choice="seen"))

    async def story(pilot: Any) -> None:
        for _ in range(2):
            await pilot.press("up", "f", "enter")
        assert app._story is not None
        told = app._story
        await pilot.press("space")
        assert told.paused
        await pilot.press("space")
        await until(pilot, lambda: told.is_told)
        assert f"{len(told.frames)} of {len(told.frames)}" in screen(app)
        await pilot.click(BoardWidget)
        assert app._story is None
        assert "round 2 of 2" in screen(app)

    drive(app, story)


def test_a_deck_is_laid_board_by_board() -> None:
    play = new_play("spaces", mode="deck", size=2)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        for number in range(1, 11):
            assert f"board {number} of 10" in screen(app)
            await pilot.press("up", "f", "enter")
        assert len(play.moves) == 1
        assert "Press enter when only you can see the screen" in screen(app)
        assert "2:1:" not in screen(app)

    drive(app, story)


def test_hidden_moves_stay_hidden_from_the_next_person() -> None:
    app = PlayApp(new_play("spaces", size=3, rounds=1, choice="blind"))

    async def story(pilot: Any) -> None:
        await pilot.press("up", "6", "f", "enter")
        assert "3:1:6uuf" not in screen(app)
        await pilot.press("up", "a", "h", "m")
        assert "Press enter when only you" in screen(app)
        await pilot.press("enter")
        assert "Orange to move" in screen(app)
        assert "face down" in screen(app)
        assert "3:1:6uuf" not in screen(app)
        await pilot.press("up", "f", "enter", "enter")
        assert "3:1:6uuf" in screen(app)

    drive(app, story)


def test_by_mouse() -> None:
    play = new_play("skysummit", NEARLY_WON)
    app = PlayApp(play)

    async def click(pilot: Any, name: str) -> None:
        assert isinstance(app.input, PickInput)
        place = next(place for place in app.input.board.places if place.name == name)
        await pilot.click(BoardWidget, offset=(place.column + 2, place.row))
        await pilot.pause()

    async def story(pilot: Any) -> None:
        await click(pilot, "A1")
        assert "A1 cannot be picked now" in screen(app)
        await click(pilot, "E5")
        assert "worker E5, then" in screen(app)
        await click(pilot, "B3")  # another worker instead
        assert "worker B3, then" in screen(app)
        await click(pilot, "B2")
        assert play.is_over

    drive(app, story)
    assert [played.notation for played in play.moves] == ["B3-B2"]


def test_one_place_for_two_actions_is_asked_about() -> None:
    play = new_play("caldera", "0000000/0000000/0000000/0000000/0000000/0000000/0000000 c63s42 c03s02 8")
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("enter", "up")
        assert "enter: move to 32   tab: forge 32" in screen(app)
        await pilot.click("#note")
        assert "enter: forge 32   tab: move to 32" in screen(app)
        place = next(place for place in app.input.board.places if place.name == "52")  # type: ignore[attr-defined]
        await pilot.click(BoardWidget, offset=(place.column, place.row))
        assert not play.moves
        await pilot.press("tab", "enter")
        assert [played.notation for played in play.moves] == ["S42 forges 52"]

    drive(app, story)


def test_an_eruption_is_shown_before_it_is_made() -> None:
    app = PlayApp(new_play("caldera", ERUPTS))

    async def story(pilot: Any) -> None:
        await pilot.press("enter")
        assert "choose a place marked ><" in screen(app)
        await pilot.press("up")
        text = screen(app)
        assert "erupts: 7 cells" in text
        assert text.count("!") == 12  # six cells beside the one under the cursor
        await pilot.press("escape", "left")
        assert "erupts" not in screen(app)

    drive(app, story)


def test_undo_takes_the_bots_answer_back_too() -> None:
    play = new_play("dots", against="random", rows=2, cols=2)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("u")
        assert "There is no move to take back." in screen(app)
        await pilot.press("enter")
        await until(pilot, lambda: len(play.moves) == 2)
        assert "◆ V(" in screen(app) or "◆ H(" in screen(app)
        await pilot.press("u")
        assert play.moves == []
        assert "H(0,0)" in screen(app)
        await pilot.press("enter")
        await until(pilot, lambda: len(play.moves) == 2)

    drive(app, story)
    play.close()


def test_undo_after_the_end_and_while_a_bot_thinks() -> None:
    play = new_play("skysummit", NEARLY_WON)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pick(pilot, [Pick("B3", "worker"), Pick("B2", "win on")])
        assert play.is_over
        assert "reached level 3" in screen(app)
        await pilot.press("u")
        assert not play.is_over
        assert "Blue to move" in screen(app)

    drive(app, story)

    class SlowBot:
        name = "slow"
        asked = 0

        def choose(self, observation: Any, budget: Any = None) -> Any:
            while slow_app._wants_undo is False:
                pass
            return slow.game.legal_moves(slow.state)[0]

        def close(self) -> None:
            pass

    slow = new_play("dots", rows=1, cols=1)
    slow.bots[1] = SlowBot()  # type: ignore[assignment]
    slow_app = PlayApp(slow)

    async def undo(pilot: Any) -> None:
        await pilot.press("enter")
        assert "slow is thinking" in screen(slow_app)
        await pilot.press("enter", "x", "h", "m")
        assert len(slow.moves) == 1
        await pilot.press("u")
        await until(pilot, lambda: not slow.moves)
        assert "Blue to move" in screen(slow_app)

    drive(slow_app, undo)


def test_the_engine_is_off_between_people() -> None:
    app = PlayApp(new_play("skysummit", NEARLY_WON))

    async def story(pilot: Any) -> None:
        for key in ("h", "a"):
            await pilot.press(key)
            assert "the engine is off" in screen(app)
            assert "Hint:" not in screen(app)
            assert "analysis," not in screen(app)
            await pilot.press("down")

    drive(app, story)


def test_hint_and_analysis() -> None:
    app = PlayApp(new_play("skysummit", NEARLY_WON, "random"))

    async def story(pilot: Any) -> None:
        await pilot.press("h")
        await until(pilot, lambda: "Hint: B3-B2" in screen(app))
        assert "*" in screen(app)
        await pilot.press("a")
        await until(pilot, lambda: "+#1 1B3-B2" in screen(app))
        assert "100% ██████████████ ◆" in screen(app)
        await pilot.press("a")
        assert "analysis," not in screen(app)

    drive(app, story)


def test_a_hint_for_a_board_and_its_analysis() -> None:
    app = PlayApp(new_play("spaces", against="random", size=3, rules="live", choice="blind"))

    async def story(pilot: Any) -> None:
        await pilot.press("a", "h")
        await until(pilot, lambda: "Hint: 3:" in screen(app) and screen(app).count("3:") > 1)

    drive(app, story)


def test_help_and_rules() -> None:
    app = PlayApp(new_play("dots"))

    async def story(pilot: Any) -> None:
        await pilot.press("question_mark")
        text = screen(app)
        for words in ("move the cursor", "hint: mark a good move", "resign: press it twice", "( ) last move"):
            assert words in text
        await pilot.press("escape")
        assert "move the cursor" not in screen(app)
        await pilot.press("i")
        assert "Dots and Boxes" in screen(app)
        assert " Goal " in screen(app)
        await pilot.press("q")
        assert "Blue to move" in screen(app)
        await pilot.press("q")

    drive(app, story, LARGE)
    assert app.play.outcome() is None


def test_the_game_goes_on_below_an_open_page() -> None:
    play = new_play("dots", against="random", rows=2, cols=2)
    play.clock = "5m"
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("a", "enter", "question_mark")
        await until(pilot, lambda: len(play.moves) == 2)
        await pilot.pause(0.4)
        await pilot.resize_terminal(100, 30)
        assert "hint: mark a good move" in screen(app)
        await pilot.press("escape", "a")
        assert "Blue to move" in screen(app)

    drive(app, story)
    play.close()


def test_resigning_asks_twice() -> None:
    play = new_play("dots")
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("x")
        assert "Resign for Blue? Press x again" in screen(app)
        await pilot.press("right", "x")
        assert not play.is_over
        await pilot.press("x")
        assert "Orange ◆ wins (Blue resigns)" in screen(app)

    drive(app, story)


def test_the_record_is_chosen_on_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    play = new_play("dots", rows=1, cols=1)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("r")
        assert "when the game is over" in screen(app)
        assert "recording" in screen(app)
        await pilot.press("r")
        assert "This game is not recorded." in screen(app)
        await play_on(pilot, random_mover(1))
        assert app.record_path is None
        await pilot.press("r")
        assert "record: games/m-" in screen(app)

    drive(app, story)
    assert app.record_path is not None
    records.verify(records.read(tmp_path / app.record_path))


def test_moves_are_typed_or_chosen_from_the_list() -> None:
    play = new_play("dots", rows=1, cols=2)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("m")
        assert "7 of 7 moves" in screen(app)
        await pilot.press(*"v0", "left_parenthesis")
        assert "0 of 7 moves" in screen(app)
        await pilot.press("backspace", "backspace")
        assert "3 of 7 moves" in screen(app)
        await pilot.press("down", "enter")
        assert [played.notation for played in play.moves] == ["V(0,1)"]
        await pilot.press("m", *"h 9 9", "enter")
        assert "there is no edge H(9,9)" in screen(app)
        await pilot.press("m", "escape")
        assert "1 ● V(0,1)" in screen(app)

    drive(app, story)


def test_a_game_without_places_on_its_board_has_its_drawing_and_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(ludodrome.make("dots")), "text_board", lambda self, observation, room: None)
    play = new_play("dots", rows=1, cols=1)
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        assert isinstance(app.input, DrawingInput)
        assert "4 of 4 moves" in screen(app)
        for _ in range(4):
            await pilot.press("enter")
        assert play.is_over
        assert "more boxes" in screen(app)

    drive(app, story)


def test_a_clock_runs_out() -> None:
    game = ludodrome.make("dots")
    play = LocalPlay(game, [game.initial_state()], clock="1s+60m")
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        assert "60:01" in screen(app)
        play._asked_at -= 1800
        await until(pilot, lambda: "▶ ● Blue person 60:01" not in screen(app))
        assert not play.is_over
        play._asked_at -= 1900
        await until(pilot, lambda: play.is_over)
        assert "Orange ◆ wins (Blue forfeits: timeout)" in screen(app)
        await pilot.press("u")
        assert "There is no move to take back." in screen(app)

    drive(app, story)


def test_a_bot_that_fails_ends_the_screen_with_a_sentence() -> None:
    play = new_play("dots", rows=1, cols=1, against="random")
    play.bots[1].choose = lambda observation, budget=None: {"orient": "Z"}  # type: ignore[method-assign]
    app = PlayApp(play)

    async def story(pilot: Any) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: app.failure is not None)

    drive(app, story)
    assert "the bot random failed: IllegalMove" in str(app.failure)


def test_a_terminal_that_is_too_small_and_a_board_that_is_too_large() -> None:
    app = PlayApp(new_play("dots", rows=1, cols=21))

    async def story(pilot: Any) -> None:
        assert "This terminal has 50 x 18 characters" in " ".join(screen(app).split())
        await pilot.resize_terminal(80, 24)
        assert "This terminal" not in screen(app)
        assert "20" not in screen(app).splitlines()[1]
        await pilot.press(*["right"] * 45)
        assert "21" in screen(app).splitlines()[1]

    drive(app, story, (50, 18))
