"""The puzzles that ship: their files, their claims by exhaustive search, and whether ``expert`` solves them.

The usual run takes a sample of each game, the long one all of them.
"""

import random
from collections import Counter
from dataclasses import replace

import pytest

import ludodrome
from ludodrome.jit import COMPILED
from ludodrome.puzzle import GRADES, MARGIN, RESPOND, SAVE, WIN, Puzzle, format_puzzle, parse_puzzle, puzzles
from tests.exhaustive import Prover, faults
from tests.games.spaces.brute import best_by_force
from tests.tactics import options, read

GAMES = [pytest.param(game_id, marks=pytest.mark.xdist_group(game_id)) for game_id in ludodrome.game_ids()]
FEWEST = 100
SAMPLE = 10
NODES = 300_000
"""What ``expert`` may visit in the usual run: about a third of a second on a quiet core."""
needs_compilation = pytest.mark.skipif(not COMPILED, reason="exhaustive search takes plain Python hours")
BRUTE = {(2, "live"), (2, "written"), (3, "live"), (4, "live")}
"""Sizes and rule sets of spaces whose boards are all tried, and which more in the long run."""
LONG_BRUTE = {(3, "written"), (5, "live")}


def some(game_id: str, long: bool) -> list[Puzzle]:
    """Puzzles of all grades."""
    book = puzzles(game_id)
    return book if long else random.Random(7).sample(book, SAMPLE)


# Files


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_there_are_enough_and_they_differ(game_id: str) -> None:
    book = ludodrome.puzzles(game_id)
    assert len({puzzle.position for puzzle in book}) == len(book) >= FEWEST
    assert [puzzle.number for puzzle in book] == list(range(1, len(book) + 1))
    assert [puzzle.grade for puzzle in book] == sorted(puzzle.grade for puzzle in book)
    assert {puzzle.grade for puzzle in book} == set(GRADES)
    at_once = sum(puzzle.kind == WIN and puzzle.goal == 1 for puzzle in book)
    assert at_once <= len(book) / 10
    assert max(Counter(puzzle.grade for puzzle in book).values()) <= len(book) / 2


@pytest.mark.parametrize("game_id", ludodrome.game_ids())
def test_no_puzzle_is_a_tactic(game_id: str) -> None:
    assert not {tactic.position for tactic in read(game_id)} & {one.position for one in puzzles(game_id)}


@pytest.mark.parametrize("game_id", ["caldera", "santorini", "skysummit"])
def test_there_are_wins_of_several_lengths_and_saves(game_id: str) -> None:
    kinds = Counter((puzzle.kind, puzzle.goal) for puzzle in puzzles(game_id))
    assert {(WIN, 3), (WIN, 5), (WIN, 7), (SAVE, 3), (SAVE, 5)} <= set(kinds)


@pytest.mark.parametrize("game_id", GAMES)
def test_positions_and_solutions_are_written_as_the_game_writes_them(game_id: str) -> None:
    for puzzle in puzzles(game_id):
        game, state = puzzle.game(), puzzle.state()
        assert game.format_state(state) == puzzle.position
        assert game.format_move(game.parse_move(puzzle.solution, state), state) == puzzle.solution
        assert parse_puzzle(format_puzzle(puzzle), game_id, puzzle.number) == puzzle


def test_a_game_may_stand_for_its_id() -> None:
    assert puzzles(ludodrome.make("caldera")) == puzzles("caldera")


@pytest.mark.parametrize("wrong", ["chess", None, 3])
def test_there_is_no_such_game(wrong: object) -> None:
    with pytest.raises(ValueError, match="there is no game"):
        puzzles(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", ["", "1 ; win ; 3", "1 ; wim ; 3 ; 5 ; - ; p ; m", "one ; win ; 3 ; 5 ; - ; p ; m"])
def test_bad_lines(line: str) -> None:
    with pytest.raises(ValueError, match="a line of puzzles has grade, kind"):
        parse_puzzle(line, "dots", 1)


# Claims


@needs_compilation
@pytest.mark.parametrize("game_id", GAMES)
def test_claims_by_exhaustive_search(game_id: str, long: bool) -> None:
    provers: dict[ludodrome.Game, Prover] = {}
    for puzzle in some(game_id, long):
        game = puzzle.game()
        if puzzle.kind in (WIN, SAVE) and game not in provers:
            provers[game] = Prover(game)
        assert faults(puzzle, provers.get(game)) == [], format_puzzle(puzzle)


@needs_compilation
@pytest.mark.parametrize("game_id", ["caldera", "dots", "spaces"])
def test_false_claims_are_noticed(game_id: str) -> None:
    puzzle = next(one for one in puzzles(game_id) if one.kind in (SAVE, MARGIN, RESPOND))
    assert faults(puzzle) == []
    assert faults(replace(puzzle, goal=puzzle.goal + 2)) != []
    if puzzle.kind != RESPOND:
        game, state = puzzle.game(), puzzle.state()
        other = next(
            text for move in game.legal_moves(state) if (text := game.format_move(move, state)) != puzzle.solution
        )
        assert faults(replace(puzzle, solution=other)) != []


@needs_compilation
@pytest.mark.xdist_group("spaces")
def test_the_best_responses_are_the_best_of_all_boards(long: bool) -> None:
    wanted = BRUTE | LONG_BRUTE if long else BRUTE
    for size, rules in sorted(wanted):
        book = [p for p in puzzles("spaces") if (p.options["size"], p.options["rules"]) == (size, rules)]
        laid = [puzzle.state()["chosen"] for puzzle in book]
        _, margins, _ = best_by_force(laid, size, rules)
        assert margins == [puzzle.goal for puzzle in book]


# The expert


def solved(puzzle: Puzzle, spec: str) -> bool:
    game, state = puzzle.game(), puzzle.state()
    move = ludodrome.bot(spec, game).choose(game.observation(state, game.to_move(state)))
    if puzzle.kind != RESPOND:
        return bool(game.format_move(move, state) == puzzle.solution)
    points = game.apply(state, move)["history"][-1]["points"]
    return bool(points[1] - points[0] == puzzle.goal)


@needs_compilation
@pytest.mark.parametrize("game_id", GAMES)
def test_expert_solves_puzzles(game_id: str, long: bool) -> None:
    failed = [puzzle for puzzle in some(game_id, long) if not solved(puzzle, f"expert:nodes={NODES}")]
    assert failed == []


@needs_compilation
@pytest.mark.parametrize("game_id", GAMES)
def test_expert_solves_tactics(game_id: str, long: bool) -> None:
    tactics = read(game_id)
    for tactic in tactics if long else random.Random(7).sample(tactics, SAMPLE):
        game = ludodrome.make(game_id, **options(game_id, tactic.position))
        state = game.parse_state(tactic.position)
        seat = game.to_move(state)
        assert seat is not None
        move = ludodrome.bot(f"expert:nodes={NODES}", game).choose(game.observation(state, seat))
        if game_id == "spaces":  # another board may do as well
            won = game.outcome(game.apply(state, move))
            assert won is not None
            assert won.returns[seat] == (1 if tactic.task.startswith(WIN) else 0), tactic
        else:
            assert game.format_move(move, state) == tactic.move, tactic
