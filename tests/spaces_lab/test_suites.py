"""Tests of boards: sources, expectations, suites, tables, and that nothing is compiled for a test."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ludodrome import spaces
from ludodrome.games.spaces import rounds
from ludodrome.games.spaces.simulation import Round
from ludodrome.jit import COMPILED
from ludodrome.spaces_lab import saved_state, sessions, suites
from ludodrome.spaces_lab.board_builder import BoardBuilder
from ludodrome.spaces_lab.board_sources import BoardReader
from ludodrome.spaces_lab.suites import (
    BoardTest,
    BoardTestResult,
    Expectation,
    parse_expectation,
    parse_suite,
    run_tests,
)

pytestmark = pytest.mark.xdist_group("spaces")

PUBLIC = Path(__file__).parent / "public"
COLLECTION, SESSION = PUBLIC / "my-boards.json", PUBLIC / "session.json"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "ludodrome"


def run(*tests: BoardTest) -> list[BoardTestResult]:
    return list(run_tests(tests, BoardReader()))


def one(player: Any, opponent: Any, **settings: Any) -> BoardTestResult:
    [result] = run(BoardTest("a test", player, opponent, **settings))
    return result


# Expectations


def test_a_round_as_expected_and_not() -> None:
    right = Expectation("player", (3, 2), "goal", 4)
    assert one("3:1:uuf", "3:0:u6uf", expect=right).status == "passed"
    wrong = one("3:1:uuf", "3:0:u6uf", expect=Expectation("tie", (3, 3), "trap", 5, 0.5, 0.0))
    assert wrong.status == "failed"
    assert wrong.messages == [
        "expected tie, got player (3 : 2)",
        "expected 3 : 3, got 3 : 2",
        "expected to end by trap, ended by goal",
        "expected to end in step 5, ended in step 4",
    ]
    lost = one("3:0:u6uf", "3:1:uuf", expect=Expectation(min_won=0.5, max_lost=0.5))
    assert lost.messages == [
        "expected to win at least 50.0%, won 0.0%",
        "expected to lose at most 50.0%, lost 100.0%",
    ]


def test_every_word_for_the_end_of_a_round_can_be_expected() -> None:
    for rules, boards, ended in (
        ("written", ("3:1:uuf", "3:0:u6uf"), "goal"),
        ("written", ("3:1:u6uf", "3:0:5uuf"), "trap"),
        ("written", ("3:1:uuf", "3:1:uuf"), "collision"),
    ):
        assert one(*boards, rules=rules, expect=parse_expectation({"ended": ended})).status == "passed"
    assert parse_expectation({"ended": "complete"}).ended == "complete"


@pytest.mark.parametrize("rules", ["written", "live"])
def test_unfinished_boards_end_complete_where_the_simulator_takes_them(rules: str) -> None:
    """A round of unfinished boards ends by "complete". As long as rounds refuse such boards, the test is an error."""
    board = spaces.parse_board("3:1:u")
    try:
        played: Round | None = spaces.simulate(board, spaces.parse_board("3:0:r"), 3, rules)
    except ValueError:
        played = None
    result = one(board, "3:0:r", rules=rules, expect=parse_expectation({"ended": "complete", "step": 2}))
    if played is None:
        assert result.status == "error"
        assert "(R6)" in result.messages[0]
    else:
        assert result.status == "passed", result.messages
        assert any("(R6)" in note for note in result.notes)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("nobody", "expect is 'player', 'opponent' or 'tie', not 'nobody'"),
        (7, "expect: this is an object with the keys"),
        ({"who": 1}, "there is no key 'who'"),
        ({"ended": "luck"}, "expect.ended is 'goal', 'collision', 'trap' or 'complete', not 'luck'"),
        ({"step": 0}, "expect.step is a whole number from 1"),
        ({"points": [1]}, "expect.points is a list of 2"),
        ({"points": [1, -1]}, "expect.points is a whole number from 0"),
        ({"min_won": 2}, "expect.min_won is a share from 0 to 1, not 2"),
        ({"max_lost": "some"}, "expect.max_lost is a share from 0 to 1, not 'some'"),
    ],
)
def test_expectations_that_are_none(value: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match="expect") as caught:
        parse_expectation(value)
    assert sentence in str(caught.value)


# Sources


def test_boards_by_code_json_file_name_number_and_index() -> None:
    board = spaces.parse_board("3:1:4ur4uf")
    for source in (
        "3:1:4ur4uf",
        board,
        json.dumps(board),
        f"{COLLECTION}#Ted size 3",
        f"{COLLECTION}#2",
        f"{COLLECTION}#index:1",
    ):
        result = one(source, "3:1:uuf")
        assert [spaces.encode_board(one) for one in result.boards()] == ["3:1:4ur4uf", "3:1:uuf"], source
        assert result.status == "passed"


def test_the_board_being_built() -> None:
    assert "no board was built yet" in one("builder", "3:0:uuf").messages[0]
    builder = BoardBuilder(3)
    builder.on_change = lambda one: saved_state.save_draft(one.code, one.rules)
    for command in ("start 1", "up", "trap right", "up", "finish"):
        builder.do(command)
    assert saved_state.load_draft() == saved_state.Draft("3:1:u6uf", "written")
    result = one("builder", "3:0:5uuf", expect=parse_expectation({"points": [1, 0]}))
    assert (result.status, result.sides and result.sides[0].name(0)) == ("passed", "builder")
    saved_state.draft_file().write_text('{"code": 7}')
    assert "a draft is an object with the keys rules and code" in one("builder", "3:0:uuf").messages[0]


def test_random_boards_are_those_of_sample() -> None:
    result = one("4:1:uuuf", "random", rules="live", count=5, seed=3)
    assert result.sides is not None
    assert result.sides[1].boards == spaces.sample(4, 5, "live", 3)
    both = one("random", "random", rules="live", size=3, seed=3)
    assert both.sides is not None
    assert [both.sides[0].boards, both.sides[1].boards] == [spaces.sample(3, 1, "live", s) for s in (4, 3)]
    large = one("random", "random", rules="live", size=50)
    assert large.status == "passed"
    assert "not equally likely" in large.notes[0]
    assert "needs a size" in one("random", "random").messages[0]


def test_generated_boards_by_number() -> None:
    every = list(spaces.generate(3, "live"))
    result = one("generated:5-9", "generated:796", rules="live", size=3)
    assert result.sides is not None
    assert [side.boards for side in result.sides] == [every[4:9], every[795:]]
    assert sum(row.rounds for row in one("generated", "3:1:uuf", rules="live").rows) == 796
    assert "there is no generated:797" in one("generated:797", "3:1:uuf", rules="live").messages[0]
    assert "give a range like generated:1-1000" in one("generated", "5:1:uuuuf").messages[0]
    for wrong in ("generated:0", "generated:9-5", "generated:x", "generated:1-2000000"):
        with pytest.raises(ValueError, match="generated"):
            parse_suite({"tests": [{"player": wrong, "opponent": "3:1:uuf"}]}, "a.json")


def test_the_best_response_wins_as_proven() -> None:
    best = spaces.respond(spaces.parse_board("3:1:uuf"), 3, "live")
    result = one("3:1:uuf", "best-response", rules="live", expect=Expectation("opponent"))
    assert result.status == "passed"
    assert result.played is not None
    assert result.played.points == [best.points[1], best.points[0]]
    assert "the other side must be a board" in one("best-response", "best-response").messages[0]
    assert "answers one board" in one("generated", "best-response", size=2).messages[0]


def test_decks_and_whole_files(tmp_path: Path) -> None:
    deck = tmp_path / "deck.txt"
    deck.write_text("3:1:uuf\n" * 10)
    result = one(f"deck:{deck}", f"deck:{deck}", expect=Expectation("tie"))
    assert (result.status, sum(row.rounds for row in result.rows)) == ("passed", 100)
    deck.write_text("3:1:uuf\n" * 9)
    assert "a deck has 10 boards, and this has 9" in one(f"deck:{deck}", "3:1:uuf").messages[0]
    assert one(f"all:{deck}", "3:1:uuf").rows[8].name == "board 9"


def test_what_is_not_legal_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "boards.txt"
    file.write_text("3:1:uuf\n3:1:u88uf\n3:0:uuf\n")
    result = one(f"all:{file}", "3:2:uuf", rules="live", boards="legal")
    assert [row.name for row in result.rows] == ["board 1", "board 3"]
    assert "board 2 is not legal under live: step 3" in result.notes[0]
    assert "(R13)" in result.notes[0]
    skipped, error, passed = run(
        BoardTest("a", "3:1:u8uf", "3:1:uuf", "live", boards="legal"),
        BoardTest("b", "nowhere.json", "3:1:uuf"),
        BoardTest("c", "3:1:u8uf", "3:0:uuf", "live"),
    )
    assert (skipped.status, error.status, passed.status) == ("skipped", "error", "passed")
    assert "step 3: a trap is set on row 0, on (0,1) (R13)" in skipped.messages[0]
    assert "nowhere.json cannot be read" in error.messages[0]
    assert "(R13)" in passed.notes[0]


def test_boards_of_two_sizes_do_not_meet() -> None:
    assert "these have 3 and 4" in one("3:1:uuf", "4:1:uuuf").messages[0]
    assert "these have 3 and 5" in one("3:1:uuf", "random", size=5).messages[0]


def test_a_board_that_is_not_playable_is_an_error_with_step_and_rule() -> None:
    jump = {"boardSize": 3, "sequence": spaces.parse_board("3:1:uuf")["sequence"][:2]}
    jump["sequence"] = [*jump["sequence"], {"position": {"row": 0, "col": 0}, "type": "piece", "order": 3}]
    result = one(jump, "3:1:uuf")
    assert result.status == "error"
    assert "step 3" in result.messages[0]
    assert "(R4)" in result.messages[0]


# Tables


def test_a_table_counts_what_single_rounds_give() -> None:
    result = one("4:1:uuuf", "random", rules="live", count=50, seed=9, expect=Expectation(min_won=0.99))
    boards = [spaces.format_board(one, 4) for one in spaces.sample(4, 50, "live", 9)]
    points = [spaces.simulate(spaces.parse_board("4:1:uuuf"), board, 4, "live").points for board in boards]
    [row] = result.rows
    assert (row.won, row.drawn, row.lost) == tuple(
        sum(map(how, points)) for how in (lambda p: p[0] > p[1], lambda p: p[0] == p[1], lambda p: p[0] < p[1])
    )
    assert row.points == tuple(map(sum, zip(*points, strict=True)))
    assert result.status == "failed"
    assert f"won {row.won / 50:.1%}" in result.messages[0]
    single = one("3:1:uuf", "generated", rules="live", expect=Expectation(ended="goal"))
    assert "are about one round" in single.messages[0]


def test_the_wilson_interval() -> None:
    low, high = suites.wilson(835, 1000)
    assert (round(low, 4), round(high, 4)) == (0.8107, 0.8567)
    assert suites.wilson(0, 10)[0] == 0
    assert suites.wilson(10, 10)[1] == 1


# Suites

SUITE = """
name = "mine"
notes = "what it is for"
rules = "live"
tags = ["all"]

[[tests]]
name = "first"
player = "boards.txt#1"
opponent = "3:0:uuf"
expect = "tie"
tags = ["quick"]

[[tests]]
player = "3:1:uuf"
opponent = "3:0:u6uf"
rules = "written"
expect = {winner = "player", points = [3, 2]}
"""


def test_a_suite_in_toml_and_the_same_in_json(tmp_path: Path) -> None:
    (tmp_path / "boards.txt").write_text("3:2:uuf\n3:1:uuf\n")
    (tmp_path / "suite.toml").write_text(SUITE)
    suite = sessions.read_tests(str(tmp_path / "suite.toml"))
    assert (suite.name, suite.notes, [test.name for test in suite.tests]) == (
        "mine",
        "what it is for",
        ["first", "test 2"],
    )
    assert [test.rules for test in suite.tests] == ["live", "written"]
    assert [test.tags for test in suite.tests] == [("all", "quick"), ("all",)]
    assert [result.status for result in run(*suite.tests)] == ["passed", "passed"]
    value = {
        "name": "mine",
        "notes": "what it is for",
        "rules": "live",
        "tags": ["all"],
        "tests": [
            {"name": "first", "player": "boards.txt#1", "opponent": "3:0:uuf", "expect": "tie", "tags": ["quick"]},
            {
                "player": "3:1:uuf",
                "opponent": "3:0:u6uf",
                "rules": "written",
                "expect": {"winner": "player", "points": [3, 2]},
            },
        ],
    }
    (tmp_path / "suite.json").write_text(json.dumps(value))
    assert sessions.read_tests(str(tmp_path / "suite.json")).tests == suite.tests


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tests": []}, "a suite has a list of at least one test in 'tests', not a list of 0"),
        ({"test": 1}, "there is no key 'test'; the keys are name"),
        ({"tests": [{"player": "3:1:uuf"}]}, "test 1: a test has a player and an opponent, and this has no opponent"),
        ({"tests": [{"player": 7, "opponent": "random"}]}, "test 1: player is a board"),
        ({"tests": [{"name": 7}]}, "test 1: a test has a player"),
        ({"rules": "mine"}, "rules is 'written' or 'live', not 'mine'"),
        ({"size": 1}, "size is a whole number from 2 to 100, not 1"),
        ({"boards": "nice"}, "boards is 'playable' or 'legal', not 'nice'"),
        ({"tags": "a"}, "tags is a list of texts, not 'a'"),
        ({"tests": [{"player": "2:0:uf", "opponent": "2:0:uf", "name": "x"}] * 2}, "test 2 ('x'): an earlier test has"),
    ],
)
def test_suites_that_are_none(change: dict[str, Any], sentence: str) -> None:
    value = {"tests": [{"player": "3:1:uuf", "opponent": "3:1:uuf"}], **change}
    with pytest.raises(ValueError, match=r"^a") as caught:
        parse_suite(value, "a.toml")
    assert sentence in str(caught.value)


def test_toml_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("name = =")
    with pytest.raises(ValueError, match=r"a\.toml: this is not TOML: .*line 1"):
        sessions.read_tests(str(path))


def test_filters_by_name_and_tag() -> None:
    tests = [BoardTest(name, "2:0:uf", "2:0:uf", tags=tags) for name, tags in (("Left", ("a",)), ("right", ("b", "c")))]
    assert suites.select(tests) == tests
    assert suites.select(tests, names=["LEF"]) == tests[:1]
    assert suites.select(tests, names=["r*t", "l?ft"]) == tests
    assert suites.select(tests, tags=["c", "d"]) == tests[1:]
    assert suites.select(tests, names=["left"], tags=["b"]) == []


# The public tool's files


def test_the_public_collection_is_read_as_it_is() -> None:
    from ludodrome.spaces_lab.board_files import read_boards

    collection = read_boards(str(COLLECTION), alike=False)
    assert (collection.name, collection.indices) == ("trap-issue-testing", [0, 1, 2, 3])
    assert collection.names == ["Ryan size 3", "Ted size 3", "Ryan size 4", "Ted size 4"]
    legal = [spaces.check(board, board["boardSize"], "live") == [] for board in collection.boards]
    assert legal == [False, True, False, True]


def test_every_legal_test_of_the_public_session_gives_its_recorded_result() -> None:
    results = run(*sessions.read_tests(str(SESSION)).tests)
    assert [result.status for result in results] == ["skipped", "skipped", "passed", "passed", "skipped"]
    for result in results:
        if result.status == "skipped":
            assert "(R15)" in result.messages[0]
            assert "(R14)" in result.messages[0]
    played = run(*sessions.read_tests(str(SESSION), boards="playable").tests)
    assert [result.status for result in played] == ["passed"] * 5


def test_a_public_session_with_another_result_fails(tmp_path: Path) -> None:
    value = json.loads(SESSION.read_text())
    value["tests"][2]["result"] |= {"winner": "opponent", "playerScore": 1}
    value["tests"][3]["result"] |= {"collision": True, "opponentFinalPosition": {"row": 0, "col": 0}}
    (tmp_path / "s.json").write_text(json.dumps(value))
    results = run(*sessions.read_tests(str(tmp_path / "s.json")).tests)
    assert results[2].messages == ["expected opponent, got player (3 : 2)", "expected 1 : 2, got 3 : 2"]
    assert results[3].messages == [
        "expected a collision, ended by goal",
        "expected the opponent's piece on (0,0), it is on (2,1)",
    ]


# No compilation for each test


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")
def test_a_hundred_tests_compile_nothing_beyond_the_first() -> None:
    def compiled() -> int:
        modules = [module for name, module in sys.modules.items() if name.startswith("ludodrome.games.spaces")]
        return sum(len(getattr(value, "signatures", ())) for module in modules for value in vars(module).values())

    boards = [spaces.encode_board(spaces.format_board(board, 4)) for board in spaces.sample(4, 101, "live", 1)]
    tests = [
        BoardTest(f"{at}", boards[at], boards[at + 1], rules) for at in range(100) for rules in ("live", "written")
    ]
    tests += [BoardTest(f"table {seed}", boards[0], "random", "live", count=3, seed=seed) for seed in range(20)]
    assert len(run(tests[0], tests[1], tests[-1])) == 3
    before = compiled()
    assert before > 0
    assert rounds.play_round.signatures  # type: ignore[attr-defined]
    results = run(*tests)
    assert {result.status for result in results} == {"passed"}
    assert compiled() == before


def test_generated_boards_far_into_the_list() -> None:
    """Beyond the chunks in which the list is made."""
    result = one("generated:16383-16386", "4:1:uuuf", rules="live")
    assert result.sides is not None
    assert result.sides[0].boards == list(spaces.generate(4, "live", limit=16_386))[-4:]


def test_a_best_response_that_is_not_proven_says_so() -> None:
    code = "40:20:" + "u" * 20 + "r" + "u" * 19 + "f"
    reader = BoardReader()
    found = spaces.respond(spaces.parse_board(code), 40, "live", seconds=0.0)
    assert not found.proven
    reader._responses[json.dumps(spaces.parse_board(code), sort_keys=True), "live"] = found
    [result] = run_tests([BoardTest("a", code, "best-response", "live")], reader)
    assert "the best response is not proven: its margin is" in result.notes[0]
