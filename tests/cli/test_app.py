import re
import signal
import subprocess
import sys

import pytest

import ludodrome
from ludodrome.cli import Program, base, whole_program
from tests.cli.running import PROGRAM, beside, complaint, in_shell, on_terminal, output, run

COMMANDS = (
    *("games", "rules", "show", "play", "puzzle", "analyse", "solve", "perft", "bench"),
    *("match", "sprt", "tournament", "replay", "rerun", "records", "new-bot", "doctor", "serve", "export", "spaces"),
    *("admin", "evaluate", "mcp", "new-game", "review", "sandbox", "completion", "enter", "network"),
)

HEAVY = {"numba", "numpy", "llvmlite", "scipy", "highspy", "pydantic", "rich", "sqlalchemy", "fastapi"}


def test_version() -> None:
    assert re.fullmatch(rf"ludodrome {re.escape(ludodrome.__version__)}( \([0-9a-f]{{7}}\+?\))?\n", output("--version"))


def test_help_names_every_command() -> None:
    page = output("--help")
    assert set(Program.table) == set(COMMANDS)
    for command in COMMANDS:
        assert f"\n  {command} " in page


def test_the_table_has_the_first_line_of_every_command() -> None:
    for name, command in whole_program().commands.items():
        assert Program.table[name][1] == (command.help or "").partition("\n\n")[0].replace("\n", " ")


def test_help_names_every_command_in_full() -> None:
    page = output("--help")
    for _, text in Program.table.values():
        assert f"  {text}\n" in page


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["chess"], ["games"]])
def test_only_the_module_of_a_command_is_imported(arguments: list[str]) -> None:
    program = [sys.executable, "-X", "importtime", "-m", "ludodrome", *arguments]
    errors = subprocess.run(program, capture_output=True, text=True).stderr
    imported = set(re.findall(r"ludodrome\.cli\.(\w+)$", errors, re.MULTILINE))
    assert imported & {module for module, _ in Program.table.values()} <= set(arguments)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_imports_nothing_heavy(command: str) -> None:
    program = [sys.executable, "-X", "importtime", "-m", "ludodrome", command, "--help"]
    errors = subprocess.run(program, capture_output=True, text=True, check=True).stderr
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in errors.splitlines()}
    assert "typer" in imported
    assert not imported & HEAVY


def test_without_a_command_there_is_help() -> None:
    assert output() == output("--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example(command: str) -> None:
    page = output(command, "--help")
    assert page.startswith(f"Usage: ludodrome {command} ")
    assert f"ludodrome {command}" in page.partition("Examples:")[2]
    assert max(map(len, page.splitlines())) <= 80


def test_help_on_a_terminal_has_bold_headings() -> None:
    code, screen = on_terminal(["--help"])
    assert code == 0
    assert "\x1b[1mUsage\x1b[0m: ludodrome [OPTIONS] COMMAND" in screen


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chess"], "no such command 'chess' (see ludodrome --help)"),
        (["game"], "no such command 'game'. Did you mean 'games', 'new-game'? (see ludodrome --help)"),
        (["--chess"], "no such option: --chess"),
        (["games", "--chess"], "no such option: --chess"),
        (["games", "chess"], "got unexpected extra argument"),
        (["rules"], "missing argument 'GAME'"),
        (["perft", "dots"], "missing argument 'DEPTH'"),
        (["perft", "dots", "deep"], "invalid value for 'DEPTH'"),
        (["perft", "dots", "0"], "invalid value for 'DEPTH'"),
        (["perft", "dots", "-1"], "a depth is a whole number of at least 1, not -1"),
        (["perft", "dots", "-12", "--json"], "a depth is a whole number of at least 1, not -12"),
        (["perft", "dots", "-x"], "no such option: -x"),
        (["bench", "--seconds", "0"], "invalid value for '--seconds'"),
        (["bench", "--seconds", "nan"], "invalid value for '--seconds'"),
        (["play", "dots", "--option"], "requires an argument"),
    ],
)
def test_usage_errors_are_one_sentence(arguments: list[str], sentence: str) -> None:
    result = run(*arguments)
    assert sentence in complaint(result)
    assert result.stdout == ""


@pytest.mark.parametrize("command", [["rules"], ["show"], ["play"], ["perft"], ["bench", "dots"]])
def test_unknown_game(command: list[str]) -> None:
    result = run(*command, "chess", *(["1"] if command == ["perft"] else []))
    assert complaint(result) == (
        "there is no game 'chess'; the games are caldera, dots, santorini, skysummit and spaces"
    )


@pytest.mark.parametrize("command", [["show", "santorini"], ["play", "santorini"], ["perft", "santorini", "1"]])
@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("colour=red", "santorini has no option 'colour'; its options are players"),
        ("players=4", "the option players of santorini is a whole number from 2 to 3, not 4"),
        ("players=-2", "the option players of santorini is a whole number from 2 to 3, not -2"),
        ("players=two", "the option players of santorini is a whole number from 2 to 3, not 'two'"),
        ("players=" + "9" * 5000, "the option players of santorini is a whole number from 2 to 3, not a text of 5000"),
        ("players", "an option is written like turn_limit=50, not 'players'"),
        ("players=", "an option is written like turn_limit=50, not 'players='"),
        ("=3", "an option is written like turn_limit=50, not '=3'"),
    ],
)
def test_bad_options(command: list[str], option: str, sentence: str) -> None:
    assert complaint(run(*command, "--option", option)).startswith(sentence)


def test_an_option_given_twice() -> None:
    assert complaint(run("show", "santorini", "-o", "players=2", "-o", "players=3")) == (
        "the option players is given twice"
    )


@pytest.mark.parametrize(("text", "value"), [("50", 50), ("-5", -5), ("live", "live"), ("5x5", "5x5"), ("٣", "٣")])
def test_an_option_is_a_number_if_it_looks_like_one(text: str, value: object) -> None:
    assert base.read_options([f"k={text}"]) == {"k": value}


@pytest.mark.parametrize("command", ["show", "play", "perft"])
@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("nonsense", "a position of dots is size, h, v, owners, seat to move and nonce, not 'nonsense'"),
        ("", "a position of dots is size, h, v, owners, seat to move and nonce, not ''"),
        ("{", "the state is not JSON: "),
        ("{}", "a state of dots lacks "),
        ("[]", "a state of dots is an object "),
        ("[" * 100_000, "the state is JSON, but nested too deeply"),
    ],
)
def test_bad_states(command: str, state: str, sentence: str) -> None:
    where = {"show": [state], "play": ["--state", state], "perft": ["1", "--state", state]}[command]
    assert complaint(run(command, "dots", *where)).startswith(sentence)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["games"], ["games", "--json"], ["rules", "dots"]])
def test_what_must_answer_at_once_imports_nothing_heavy(arguments: list[str]) -> None:
    program = [sys.executable, "-X", "importtime", "-m", "ludodrome", *arguments]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & {"numba", "numpy", "llvmlite", "scipy", "highspy", "pydantic"}


def test_the_reader_of_a_pipe_may_leave() -> None:
    with subprocess.Popen([*PROGRAM, "rules", "spaces"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("arguments", "sign"), [(["play", "dots"], b"Blue"), (["perft", "skysummit", "9"], b"303,600")]
)
def test_ctrl_c_ends_with_130_and_no_traceback(arguments: list[str], sign: bytes) -> None:
    with beside(*arguments) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if sign in line:
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in errors


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("$L show dots - <&-", 2, b"stdin has no position: it is empty or closed"),
        ("$L show dots - </dev/null", 2, b"stdin has no position: it is empty or closed"),
        ("printf '\\377\\376' | $L show dots -", 2, b"a position of dots is "),
        ("$L games >&-", 1, b"the output cannot be written: stdout is closed"),
        ("$L games >/dev/full", 1, b"the output cannot be written: No space left on device"),
        ("$L --help >/dev/full", 1, b"the output cannot be written: No space left on device"),
        ("$L rules dots >/dev/full", 1, b"the output cannot be written: No space left on device"),
        ("$L show dots >/dev/full", 1, b"the output cannot be written: No space left on device"),
    ],
)
def test_streams_that_cannot_be_used(line: str, code: int, sentence: bytes) -> None:
    done = in_shell(line)
    assert done.returncode == code
    assert done.stdout == b""
    complaints = [text for text in done.stderr.splitlines() if not text.startswith(b"compiling ")]
    assert len(complaints) == 1
    assert complaints[0].startswith(b"ludodrome: " + sentence)


def test_without_stderr_there_is_still_an_exit_code() -> None:
    assert in_shell("$L games 2>&-").stdout.startswith(b"id ")
    done = in_shell("$L rules chess 2>&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert in_shell("$L games <&- >&- 2>&-").returncode == 1


def test_playing_without_stdin_ends_at_once() -> None:
    done = in_shell("$L play dots <&-")
    assert done.returncode == 0
    assert b"You left the game." in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("arguments", ["show dots", "rules dots", "rules spaces", "play dots </dev/null"])
def test_signs_that_an_encoding_lacks_are_replaced(arguments: str, encoding: str) -> None:
    done = in_shell(f"$L {arguments}", PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert b"?" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("hidden", "words", "extra"),
    [
        ("sqlalchemy", ["admin", "accounts"], "database"),
        ("sqlalchemy", ["tournament", "show", "nowhere.db"], "database"),
        ("fastapi", ["serve", "--no-browser"], "web"),
        ("highspy", ["spaces", "solve", "2"], "lab"),
    ],
)
def test_a_missing_extra_is_named_in_one_sentence(hidden: str, words: list[str], extra: str) -> None:
    program = f"import sys; sys.modules[{hidden!r}] = None; sys.argv = ['ludodrome', *{words!r}]; "
    program += "from ludodrome.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert f"pip install 'ludodrome[{extra}]'" in done.stderr
