"""The command `puzzle`."""

import json
import signal
from pathlib import Path

import pytest

import ludodrome
from ludodrome.cli.puzzle import PuzzleSession
from ludodrome.puzzle import Puzzle, puzzles
from tests.cli.running import beside, complaint, in_shell, on_terminal, output, run


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def first(game_id: str, kind: str, goal: int | None = None) -> Puzzle:
    return next(one for one in puzzles(game_id) if one.kind == kind and goal in (None, one.goal))


def at(puzzle: Puzzle) -> list[str]:
    return ["puzzle", puzzle.game_id, "--number", str(puzzle.number)]


def another_move(puzzle: Puzzle) -> str:
    """A legal move that is not the solution."""
    game, state = puzzle.game(), puzzle.state()
    notations = (game.format_move(move, state) for move in game.legal_moves(state))
    return next(text for text in notations if text != puzzle.solution)


@pytest.mark.parametrize("game_id", ["dots", "spaces"])
def test_a_solution_is_right_and_remembered(game_id: str) -> None:
    puzzle = puzzles(game_id)[0]
    text = output(*at(puzzle), stdin=f"{puzzle.solution}\n")
    assert puzzle.game().name_seats(puzzle.game().render(puzzle.state())) in text
    assert "Right: " in text
    assert "Solved: 1 of 1." in text
    listed = output("puzzle", game_id, "--list").splitlines()
    assert ("✓" in listed[1], "✓" in listed[2]) == (True, False)
    assert "puzzle 2, grade 1" in output("puzzle", game_id, stdin="")
    assert "puzzle 1, grade 1 (solved before)" in output(*at(puzzle), stdin="")


@pytest.mark.parametrize(("game_id", "kind"), [("dots", "margin"), ("caldera", "save")])
def test_another_move_is_wrong_and_refuted(game_id: str, kind: str) -> None:
    puzzle = first(game_id, kind)
    wrong = another_move(puzzle)
    text = output(*at(puzzle), stdin=f"{wrong}\n{puzzle.solution}\n")
    assert ("for you." if game_id == "dots" else "No: that loses in ") in text
    assert f"\n   {wrong}  " in text
    assert "Solved: 1 of 1." in text


def test_a_board_that_is_not_the_best_is_scored() -> None:
    puzzle = next(one for one in puzzles("spaces") if one.goal > 2 and one.options["size"] == 4)
    text = output(*at(puzzle), stdin="4:0:uuuf\n4:3:uuuf\n")
    assert "Not yet: that makes " in text
    assert f"and {puzzle.goal:+d} can be had." in text


@pytest.mark.parametrize("game_id", ["caldera"])
def test_a_win_is_played_to_its_end(game_id: str) -> None:
    puzzle = first(game_id, "win", 5)
    game, state = puzzle.game(), puzzle.state()
    moves = [puzzle.solution]
    for _ in range(3):
        text = output(*at(puzzle), stdin="\n".join([*moves, "solution"]) + "\n")
        if "that is the win" in text:
            break
        shown = text.partition("> solution\n")[2].splitlines()[0]
        moves.append(shown.split("  ")[0])
    assert "Right, and that is the win." in text
    assert text.count("Right") == len(moves) > 1
    assert game.to_move(state) is not None


def test_the_solution_does_not_count_if_it_was_shown() -> None:
    puzzle = puzzles("dots")[0]
    text = output(*at(puzzle), stdin=f"solution\n{puzzle.solution}\n")
    assert f"> solution\n{puzzle.solution}  " in text
    assert "the puzzle does not count as solved" in text
    assert "✓" not in output("puzzle", "dots", "--list")


@pytest.mark.parametrize("game_id", ["dots", "spaces"])
def test_hints_come_to_the_solution(game_id: str) -> None:
    puzzle = puzzles(game_id)[0]
    text = output(*at(puzzle), stdin="hint\nhint\nhint\nhint\n")
    hints = [line for line in text.splitlines() if line.startswith(("It is one of", "Try ", "One of the best"))]
    assert len(hints) == 4
    assert puzzle.solution in hints[-1]
    if game_id == "dots":
        assert all(puzzle.solution in hint for hint in hints)
        assert hints[0].count("(") > hints[1].count("(")


def test_words_and_odd_input() -> None:
    puzzle = puzzles("dots")[0]
    text = output(*at(puzzle), stdin="\n   \nhelp\nmoves\nstate\nrubbish\n\x00\x1b[A\nH(99,99)\nquit\n")
    assert f"> state\n{puzzle.position}\n" in text
    assert puzzle.solution in text.partition("> moves\n")[2].partition("> state")[0]
    for word in PuzzleSession.words:
        assert f" • {word}: " in text
    assert "there is no edge H(99,99)" in text
    assert text.endswith("You left the puzzle.\n")


def test_skip_goes_on() -> None:
    text = output("puzzle", "dots", "--grade", "2", stdin="skip\nskip\n")
    numbers = [one.number for one in puzzles("dots") if one.grade == 2][:3]
    assert [text.index(f"puzzle {number}, grade 2.") for number in numbers] == sorted(
        text.index(f"puzzle {number}, grade 2.") for number in numbers
    )
    assert text.endswith("You left the puzzle.\n")


def test_three_seats_have_a_task_of_their_own() -> None:
    puzzle = next(one for one in puzzles("santorini") if one.options)
    text = output(*at(puzzle), stdin="")
    assert f"Win in {puzzle.goal} plies, 2 of them yours, whatever the two others do." in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chess"], "there is no game 'chess'; the games are caldera, dots, santorini, skysummit and spaces"),
        (["dots", "--number", "0"], "the puzzles of dots are numbered from 1 to "),
        (["dots", "--number", "9999"], "the puzzles of dots are numbered from 1 to "),
        (["dots", "--grade", "6"], "the puzzles of dots have grades 1 to 5, not 6"),
        (["dots", "--grade", "5", "--number", "1"], "puzzle 1 of dots has grade 1, not 5"),
        (["dots", "--grade", "hard"], "invalid value for '--grade'"),
    ],
)
def test_refusals(arguments: list[str], sentence: str) -> None:
    assert complaint(run("puzzle", *arguments)).startswith(sentence)


def test_all_solved(tmp_path: Path) -> None:
    from ludodrome.puzzle.book import SolvedPuzzlesFile

    solved = SolvedPuzzlesFile()
    for puzzle in puzzles("dots"):
        assert solved.add(puzzle) == ""
    assert "of these puzzles." in output("puzzle", "dots")
    assert list(tmp_path.joinpath("ludodrome").iterdir()) == [tmp_path / "ludodrome" / "puzzles.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"solved": 3}', '{"solved": [3, null, {}]}', "[" * 100_000])
def test_a_corrupt_file_counts_as_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ludodrome" / "puzzles.json"
    file.parent.mkdir()
    file.write_text(content, "utf-8")
    puzzle = puzzles("dots")[0]
    assert "Solved: 1 of 1.\n" in output(*at(puzzle), stdin=f"{puzzle.solution}\n")
    assert len(json.loads(file.read_text("utf-8"))["solved"]) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "ludodrome").write_text("a file where the folder should be", "utf-8")
    puzzle = puzzles("dots")[0]
    text = output(*at(puzzle), stdin=f"{puzzle.solution}\n")
    assert "Solved: 1 of 1. (This cannot be saved: " in text


def test_the_list_needs_nothing_heavy() -> None:
    done = in_shell("$L puzzle dots --list | head -2; python3 -c ''")
    assert done.stdout.startswith(b"number")
    code = "import sys; from ludodrome.cli import app; app(['puzzle', 'dots', '--list'], standalone_mode=False)"
    done = in_shell(f"$PYTHON -c \"{code}; assert not set(sys.modules) & {{'numba', 'numpy'}}\"", PYTHON=_python())
    assert done.returncode == 0, done.stderr


def _python() -> str:
    import sys

    return sys.executable


def test_on_a_terminal_it_fits() -> None:
    puzzle = puzzles("dots")[0]
    code, screen = on_terminal(at(puzzle), typed=f"{puzzle.solution}\n")
    assert code == 0
    assert "Right: " in screen
    assert "\x1b[" in screen


def test_ctrl_c_ends_politely() -> None:
    with beside(*at(puzzles("dots")[0])) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if b"Draw the only edge" in line:
                break
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate()
    assert process.returncode == 130
    assert text.endswith(b"You left the puzzle.\n")
    assert b"Traceback" not in errors


def test_the_public_name() -> None:
    assert ludodrome.puzzles is puzzles
    assert ludodrome.Puzzle is Puzzle
