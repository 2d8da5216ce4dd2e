"""Each lesson without a browser: positions, tasks, wrong tries; and what they explain is so, as the kernels say."""

import random
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

import ludodrome
from ludodrome.game import Game
from ludodrome.game_extras import Explanation
from ludodrome.puzzle.lessons import (
    LessonError,
    LessonStep,
    LessonTask,
    hint_of,
    judge,
    lesson,
    parse_lesson,
    play_lesson_moves,
)

MOST_TRIES = 60
MAX_IDEA, MAX_TASK, MAX_SENTENCE = 225, 110, 135
CELLS = {"skysummit": r"\b[A-E][1-5]\b", "santorini": r"\b[A-E][1-5]\b", "caldera": r"\b[0-6][0-6]\b"}


def _steps() -> list[Any]:
    return [
        pytest.param(game, number, id=f"{game}-{number}")
        for game in ludodrome.game_ids()
        for number in range(1, len(lesson(game).steps) + 1)  # type: ignore[union-attr]
    ]


def _opened(game_id: str, number: int) -> tuple[Game, LessonStep]:
    found = lesson(game_id)
    assert found is not None
    step = found.steps[number - 1]
    return step.game(game_id), step


def _tasks(game: Game, step: LessonStep) -> Iterator[tuple[int, LessonTask, Any]]:
    """Every task with the position in which it begins, along the hints."""
    state = step.state(game)
    for number, task in enumerate(step.tasks):
        yield number, task, state
        verdict = judge(game, step, number, state, hint_of(game, task, state))
        state = verdict.line[-1][1] if verdict.line else state


def _tries(game: Game, state: Any) -> list[Any]:
    moves = game.legal_moves(state)
    return moves if len(moves) <= MOST_TRIES else random.Random(1).sample(moves, MOST_TRIES)


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_a_lesson_has_eight_to_twelve_steps_with_the_first_game(game_id: str) -> None:
    found = lesson(game_id)
    assert found is not None
    assert 8 <= len(found.steps) + 1 <= 12
    assert len({step.title for step in found.steps}) == len(found.steps)
    game = ludodrome.make(game_id, **found.first_options())
    assert game.to_move(game.initial_state()) == 0


@pytest.mark.parametrize(("game_id", "number"), _steps())
def test_the_hints_lead_through_a_step(game_id: str, number: int) -> None:
    game, step = _opened(game_id, number)
    if step.position:
        assert game.format_state(step.state(game)) == step.position
    seat, made = game.to_move(step.state(game)), []
    for at, task, state in _tasks(game, step):
        assert game.to_move(state) == seat
        move = hint_of(game, task, state)
        verdict = judge(game, step, at, state, move)
        assert verdict.right, verdict.sentence
        assert verdict.legal != bool(task.refused)
        assert len(verdict.line) == (0 if task.refused else 1 + len(task.reply))
        assert verdict.is_last == (at == len(step.tasks) - 1)
        assert task.right
        made.append(move)
        if not verdict.is_last:
            after = play_lesson_moves(game, step, made)
            assert after == (verdict.line[-1][1] if verdict.line else state)
    with pytest.raises(LessonError, match="this step is done"):
        judge(game, step, len(step.tasks), step.state(game), made[0])


@pytest.mark.parametrize(("game_id", "number"), _steps())
def test_every_move_that_is_named_exists_and_is_right(game_id: str, number: int) -> None:
    game, step = _opened(game_id, number)
    for at, task, state in _tasks(game, step):
        for text in task.moves:
            first = next(one for one in text.split(" | ") if _is_legal(game, state, one))
            assert judge(game, step, at, state, game.parse_move(first, state)).right
        for move in task.tries:
            verdict = judge(game, step, at, state, move)
            assert (verdict.right, verdict.legal) == (True, False)
        for wrong in task.wrong:
            assert bool(wrong.moves) != bool(wrong.does)
            for text in wrong.moves:
                verdict = judge(game, step, at, state, game.parse_move(text, state))
                assert not verdict.right
                assert verdict.sentence.endswith(wrong.say)


def _is_legal(game: Game, state: Any, text: str) -> bool:
    try:
        return game.format_move(game.parse_move(text, state), state) == text
    except ludodrome.IllegalMove:
        return False


@pytest.mark.parametrize(("game_id", "number"), _steps())
def test_every_wrong_try_has_its_sentence(game_id: str, number: int) -> None:
    game, step = _opened(game_id, number)
    for at, task, state in _tasks(game, step):
        seat = game.to_move(state)
        assert seat is not None
        said = set()
        for move in _tries(game, state):
            verdict = judge(game, step, at, state, move)
            assert verdict.legal
            if verdict.right:
                continue
            did = game.explain_move(state, move, game.apply(state, move), seat)[0].text
            assert verdict.sentence.startswith(did)
            said.add(verdict.sentence.removeprefix(did).strip())
            if task.refutation and verdict.sentence.endswith(task.miss):
                assert len(verdict.line) == 2
                outcome = game.outcome(verdict.line[-1][1])
                assert outcome is not None
                if game.has_hidden_information is False:
                    assert outcome.winner == 1 - seat
        assert said <= {task.miss, *(wrong.say for wrong in task.wrong)}
        assert "" not in said
        assert said or not task.miss, "there is no wrong try, so nothing is to be said about one"
        for wrong in task.wrong:
            assert wrong.say in said or wrong.moves or task.refutation


def test_wrong_edges_show_what_they_give_away() -> None:
    game, step = _opened("dots", 7)
    state = step.state(game)
    greedy = judge(game, step, 0, state, game.parse_move("V(0,1)", state))
    assert [after["scores"] for _, after in greedy.line][-1] == [2, 4]  # two boxes, then the chain has to be opened
    assert [game.to_move(after) for _, after in greedy.line] == [0, 0, 1, 1, 1, 1, None]
    game, step = _opened("dots", 4)
    gift = judge(game, step, 0, step.state(game), game.parse_move("H(1,0)", step.state(game)))
    assert [after["scores"] for _, after in gift.line] == [[0, 0], [0, 1]]  # then it has nothing more to take


@pytest.mark.parametrize(("game_id", "number"), _steps())
def test_an_illegal_move_gets_the_sentence_of_the_game(game_id: str, number: int) -> None:
    game, step = _opened(game_id, number)
    for at, _, state in _tasks(game, step):
        verdict = judge(game, step, at, state, {"nothing": 1})
        assert (verdict.right, verdict.legal, verdict.line) == (False, False, [])
        assert verdict.sentence[0].isupper()
        assert verdict.sentence[-1] in ".!?"


@pytest.mark.parametrize(("game_id", "number"), _steps())
def test_texts_are_short_and_name_cells_of_the_board(game_id: str, number: int) -> None:
    _, step = _opened(game_id, number)
    texts = [step.idea]
    assert len(step.idea) <= MAX_IDEA
    for task in step.tasks:
        assert len(task.task) <= MAX_TASK
        texts += [task.task, task.right, task.miss, *(wrong.say for wrong in task.wrong)]
        assert max(map(len, texts[1:])) <= MAX_SENTENCE
    for text in filter(None, texts):
        assert text[0].isupper() or text[0].isdigit()
        assert text[-1] in ".!?"
        assert not re.search(r"\b(seat|whoever|ply|he|she|player)\b", text), text
    if game_id in CELLS and step.position:
        assert re.search(CELLS[game_id], " ".join(texts)) or number == 2


# What lessons explain is so


def _keys(told: list[Explanation]) -> set[str]:
    return {one.key for one in told}


def _walks(game: Game, seed: int, most: int = 80) -> Iterator[tuple[Any, Any, Any]]:
    chance, state = random.Random(seed), game.initial_state()
    for _ in range(most):
        if game.to_move(state) is None:
            return
        move = chance.choice(game.legal_moves(state))
        after = game.apply(state, move)
        yield state, move, after
        state = after


def _heights(state: Any) -> list[int]:
    board = state["board"]
    return list(chain.from_iterable(board)) if isinstance(board[0], list) else board


@pytest.mark.parametrize("game_id", ["skysummit", "santorini"])
def test_towers_are_explained_truly(game_id: str) -> None:
    game, seen = ludodrome.make(game_id), set()
    for seed in range(6):
        for before, move, after in _walks(game, seed):
            mover = game.to_move(before)
            told = game.explain_move(before, move, after, 0)
            keys, ending = _keys(told), game.outcome(after)
            seen |= keys
            assert told[0].text.startswith("You" if mover == 0 else "Your opponent")
            domes = _heights(after).count(4) - _heights(before).count(4)
            assert ("dome" in keys) == (domes > 0 and ending is None)
            assert ("win" in keys) == (ending is not None and ending.reason == "reached level 3")
            assert ("stuck" in keys) == (ending is not None and ending.reason == "no legal moves")
            if ending is None and "turn" in keys:
                wins = [one for one in game.legal_moves(after) if _wins(game, after, one)]
                assert ("danger" in keys) == bool(wins)
    assert {"turn", "climb", "down", "dome", "level 3", "danger", "win"} <= seen


def _wins(game: Game, state: Any, move: Any) -> bool:
    ending = game.outcome(game.apply(state, move))
    return ending is not None and ending.reason == "reached level 3"


def test_caldera_is_explained_truly() -> None:
    game, seen = ludodrome.make("caldera", turn_limit=60), set()
    for seed in range(12):
        for before, move, after in _walks(game, seed):
            told = game.explain_move(before, move, after, 0)
            keys, ending = _keys(told), game.outcome(after)
            seen |= keys
            vents = sum(row.count(-1) for row in after["board"]) - sum(row.count(-1) for row in before["board"])
            assert ("eruption" in keys) == (vents > 0)
            assert ("chain" in keys) == (vents > 1)
            lost = sum(len(before[side]) - len(after[side]) for side in ("p0", "p1"))
            assert lost == 0 or keys & {"capture", "enemy lost", "own lost"}
            assert (ending is None) == (not keys & {"win", "loss", "draw"})
            if ending is None:
                takes = [one for one in game.legal_moves(after) if _ends_with(game, after, one, "crown captured")]
                assert ("danger" in keys) == bool(takes)
    assert {"move", "leap", "leap over", "capture", "climb", "forge", "eruption", "danger", "threat"} <= seen


def _ends_with(game: Game, state: Any, move: Any, reason: str) -> bool:
    ending = game.outcome(game.apply(state, move))
    return ending is not None and ending.reason == reason


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (3, 3), (1, 4)])
def test_dots_is_explained_truly(rows: int, cols: int) -> None:
    game, seen = ludodrome.make("dots", rows=rows, cols=cols), set()
    for seed in range(12):
        for before, move, after in _walks(game, seed):
            mover = game.to_move(before)
            assert mover is not None
            keys = _keys(game.explain_move(before, move, after, 0))
            seen |= keys
            won = after["scores"][mover] - before["scores"][mover]
            assert (("double" in keys) * 2 or ("box" in keys) * 1) == won
            assert ("again" in keys) == (won > 0 and after["to_move"] == mover)
            gain = [one for one in game.legal_moves(after) if game.apply(after, one)["scores"] != after["scores"]]
            if not won:
                assert ("gives" in keys) == bool(gain)
                assert ("safe" in keys) == (not gain)
    assert {"edge", "box", "again", "gives", "safe"} <= seen


@pytest.mark.parametrize("options", [{"rules": "live"}, {"rules": "written"}, {"rules": "live", "choice": "blind"}])
def test_spaces_is_explained_truly(options: dict[str, Any]) -> None:
    game, seen = ludodrome.make("spaces", size=2, rounds=4, **options), set()
    for seed in range(10):
        for before, move, after in _walks(game, seed):
            keys = _keys(game.explain_move(before, move, after, 0))
            seen |= keys
            assert ("round" in keys) == (len(after["history"]) > len(before["history"]))
            if "round" in keys:
                own, other = after["history"][-1]["points"]
                assert ("won" in keys, "even" in keys, "lost" in keys) == (own > other, own == other, own < other)
                assert ("collision" in keys) == (after["history"][-1]["ended"] == "collision")
            assert bool(keys & {"win", "draw", "loss"}) == (after["to_move"] is None)
    assert {"lay", "their lay", "trap", "round", "caught", "hit"} <= seen
    assert options["rules"] == "written" or {"goal", "their goal", "won", "lost"} <= seen


def test_a_deck_is_explained_in_a_sentence() -> None:
    game = ludodrome.make("spaces", size=2, mode="deck")
    state = game.initial_state()
    move = {"deck": [game.parse_move(",".join(["2:0:uf"] * 10), state)["deck"][0]] * 10}
    told = game.explain_move(state, move, game.apply(state, move), 1)
    assert [one.text for one in told] == ["Your opponent laid a deck of 10 boards."]


def test_refusals_name_cells_and_workers_as_the_board_does() -> None:
    game, step = _opened("skysummit", 3)
    far = judge(game, step, 0, step.state(game), {"t": "move", "w": 1, "to": 0, "build": 1})
    assert far.sentence == "A1 is not next to worker 2, which is on E4."


def test_refusals_have_no_numbers_of_rules() -> None:
    game, step = _opened("spaces", 1)
    steps = [{"position": {"row": 0, "col": 0}, "type": "piece", "order": 1}]
    move = {"boardSize": 3, "sequence": steps}
    with pytest.raises(ludodrome.IllegalMove, match=r"\(R\d+\)"):
        game.apply(step.state(game), move)
    assert "(R" not in judge(game, step, 0, step.state(game), move).sentence


# Files that are not lessons

STEP = '[[step]]\ntitle = "A"\nidea = "B."\ntask = "C."\nmoves = ["H(0,0)"]\n'


def test_a_step_of_one_task_is_read() -> None:
    (step,) = parse_lesson(STEP, "dots").steps
    assert (step.title, step.idea, step.tasks[0].task, step.tasks[0].moves) == ("A", "B.", "C.", ("H(0,0)",))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("steps = 1", "the file has no field steps"),
        ("step = 1", "is a list of tables"),
        ("step = [1]", "is a table"),
        ("game = 1", "is a table"),
        ("options = 1", "options is a table"),
        ("[[step]]\nidea = 'B.'\ntask = 'C.'\nmoves = ['x']", "every step has a title and an idea"),
        (STEP + "colour = 'red'", "a task has no field colour"),
        (STEP + "repeat = 0", "repeat is a whole number"),
        (STEP + "does = 'box'", "does is a list of texts"),
        (STEP + "right = 1", "right is a text"),
        (STEP + "refused = 'x'", "moves that are right or tries that are refused"),
        (STEP + "wrong = [{ moves = ['x'] }]", "has no say"),
        (STEP + "[[step.tasks]]\ntask = 'D.'\nmoves = ['x']", "not both or neither"),
        ("[[step]]\ntitle = 'A'\nidea = 'B.'\ntasks = []", "not both or neither"),
    ],
)
def test_a_malformed_lesson_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(LessonError, match=re.escape(sentence)):
        parse_lesson(text, "dots")


def test_moves_that_are_not_those_of_a_step_are_refused() -> None:
    game, step = _opened("dots", 2)
    with pytest.raises(LessonError, match="begin the step again"):
        play_lesson_moves(game, step, [game.parse_move("H(0,0)", step.state(game))])
