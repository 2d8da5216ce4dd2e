"""A lesson: a game taught in a few steps on its board, each with one idea and one thing to do.

The steps are data of the game's package, in ``lessons.toml`` (docs/how-to/adding-a-game.md describes the fields). The
rules judge the moves: a move is right if it is legal and does what its step asks for, as ``Game.explain_move`` says.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ludodrome.game import Game, IllegalMove
from ludodrome.game_extras import Explanation
from ludodrome.games import find, package_folder
from ludodrome.validation import listing

LESSON_FILE = "lessons.toml"
FIRST_OPPONENT = "level:1"
MAX_REPEAT = 20
RULE_NUMBERS = re.compile(r" \(R\d+(, R\d+)*\)")
LISTS = ("moves", "does", "reply", "takes")
"""Fields of a task that are lists of texts."""


class LessonError(ValueError):
    """A file of lessons is malformed, or the moves made so far are not those of a step."""


class WrongTry(NamedTuple):
    """What is said about certain moves that miss the task."""

    say: str
    moves: tuple[str, ...] = ()
    """These moves, in notation."""
    does: tuple[str, ...] = ()
    """Moves that do all of this."""


class LessonTask(NamedTuple):
    """One thing to do: a move to make, or an illegal one to try."""

    task: str
    moves: tuple[str, ...] = ()
    """The moves that are right, in notation (``a | b``: the first that is legal); the first one is the hint. With
    ``does`` they are examples."""
    does: tuple[str, ...] = ()
    """What a right move and its replies do: keys of ``Game.explain_move``. Then every such move is right."""
    refused: str = ""
    """Part of the sentence that refuses the move: the task is to try something illegal."""
    tries: tuple[Any, ...] = ()
    """Illegal moves as JSON that are refused so; the first one is the hint."""
    reply: tuple[str, ...] = ()
    """The moves of the other side after the right move, in notation; ``a | b`` is the first of these that is legal."""
    refutation: str = ""
    """What the other side does about a legal move that misses the task, where it can."""
    takes: tuple[str, ...] = ()
    """Keys of ``Game.explain_move``: what such a move gives away. The moves that do this are shown until the other side
    can make no more of them; a learner who has to go on before that makes any move."""
    right: str = ""
    """What is said after the right move."""
    miss: str = ""
    """What is said about a legal move that misses the task, after what it did."""
    wrong: tuple[WrongTry, ...] = ()
    """What is said about certain moves instead of ``miss``."""


class LessonStep(NamedTuple):
    """One idea, a position, and the things to do there, usually one."""

    title: str
    idea: str
    position: str
    """On one line; empty for the first position."""
    tasks: tuple[LessonTask, ...]
    options: Mapping[str, Any] = {}
    """Options besides those that the position contains."""

    def game(self, game_id: str) -> Game:
        """The game of this step."""
        kind = find(game_id).game_class()
        return kind(**{**kind.options_from_state(self.position), **self.options})

    def state(self, game: Game) -> Any:
        """The first position of this step."""
        return game.parse_state(self.position) if self.position else game.initial_state()


class Lesson(NamedTuple):
    """The steps of a game, and the game that a learner plays at the end."""

    game_id: str
    steps: tuple[LessonStep, ...]
    options: Mapping[str, Any]
    """Options of the first game, besides those that people meet first."""
    about: str = ""
    """What the first game is like, if these options make it unusual."""

    def first_options(self) -> dict[str, Any]:
        """All options of the first game that are not the defaults."""
        return {**find(self.game_id).game_class().people_options, **self.options}


class LessonVerdict(NamedTuple):
    """What became of a move."""

    right: bool
    legal: bool
    sentence: str
    line: list[tuple[Any, Any]]
    """The move and its replies, each with the position after it."""
    is_last: bool = False
    """Whether the step is done."""


@cache
def has_lesson(game_id: str) -> bool:
    """Whether a game has a lesson."""
    return (package_folder(find(game_id).module) / LESSON_FILE).is_file()


@cache
def lesson(game_id: str) -> Lesson | None:
    """The lesson of a game; None if it has none. Raises LessonError if its file is malformed, ValueError for no game.

    >>> [step.title for step in lesson("dots").steps][0]
    'Close a box'
    """
    entry = find(game_id)
    file = package_folder(entry.module) / LESSON_FILE
    if not has_lesson(game_id):
        return None
    try:
        return parse_lesson(file.read_text("utf-8"), entry.id)
    except (tomllib.TOMLDecodeError, LessonError) as wrong:
        raise LessonError(f"the file {LESSON_FILE} of {entry.id} is malformed: {wrong}") from wrong


def parse_lesson(text: str, game_id: str) -> Lesson:
    """Parse a file of lessons. Raises LessonError or TOMLDecodeError."""
    read = _fields(tomllib.loads(text), ("step", "game", "options", "takes"), "the file")
    shared = _table(read.get("options", {}), "options")
    first = _fields(_table(read.get("game", {}), "[game]"), ("options", "about"), "[game]")
    takes = {"takes": read["takes"]} if "takes" in read else {}
    steps = [_step(step, shared, takes) for step in _tables(read.get("step", []), "[[step]]")]
    options = {**shared, **_table(first.get("options", {}), "options of [game]")}
    return Lesson(game_id, tuple(steps), options, _text(first.get("about", ""), "about"))


def _step(read: dict[str, Any], shared: dict[str, Any], takes: dict[str, Any]) -> LessonStep:
    head = ("title", "idea", "position", "options", "tasks")
    own = {name: read[name] for name in head if name in read}
    rest = {name: value for name, value in read.items() if name not in head}
    parts = _tables(own.pop("tasks", [rest]), "[[step.tasks]]")
    if not parts or (rest and parts[0] is not rest):
        raise LessonError("a step has the fields of one task, or several [[step.tasks]], not both or neither")
    options = {**shared, **_table(own.pop("options", {}), "options of a step")}
    title, idea, position = (_text(own.get(name, ""), name) for name in ("title", "idea", "position"))
    if not title or not idea:
        raise LessonError("every step has a title and an idea")
    tasks = []
    for part in parts:
        repeat = part.get("repeat", 1)
        if type(repeat) is not int or not 1 <= repeat <= MAX_REPEAT:
            raise LessonError(f"repeat is a whole number from 1 to {MAX_REPEAT}")
        tasks += [_task({**takes, **{name: value for name, value in part.items() if name != "repeat"}})] * repeat
    return LessonStep(title, idea, position, tuple(tasks), options)


def _task(read: dict[str, Any]) -> LessonTask:
    fields = _fields(read, LessonTask._fields, "a task")
    wrong = [_wrong_try(one) for one in _tables(fields.get("wrong", []), "wrong")]
    task = LessonTask(**{"task": "", **_read_values(fields, ("tries", "wrong")), "wrong": tuple(wrong)})
    if not task.task or bool(task.refused) != bool(task.tries) or bool(task.moves) == bool(task.refused):
        raise LessonError("a task has a text (task), and moves that are right or tries that are refused")
    return task


def _wrong_try(read: dict[str, Any]) -> WrongTry:
    values = _read_values(_fields(read, WrongTry._fields, "an entry of wrong"), ())
    if "say" not in values:
        raise LessonError("an entry of wrong has no say")
    return WrongTry(**values)


def _read_values(read: dict[str, Any], plain: tuple[str, ...]) -> dict[str, Any]:
    """Texts, and lists of texts as tuples; the fields named ``plain`` are lists of anything."""
    values: dict[str, Any] = {}
    for name, value in read.items():
        if name in LISTS or name in plain:
            if not isinstance(value, list) or not (name in plain or all(isinstance(one, str) for one in value)):
                raise LessonError(f"{name} is a list of texts")
            values[name] = tuple(value)
        else:
            values[name] = _text(value, name)
    return values


def _fields(read: dict[str, Any], names: tuple[str, ...], where: str) -> dict[str, Any]:
    if unknown := read.keys() - set(names):
        raise LessonError(f"{where} has no field {listing(sorted(unknown))}; its fields are {listing(names)}")
    return read


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LessonError(f"{where} is a table")
    return value


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise LessonError(f"{where} is a list of tables")
    return [_table(one, where) for one in value]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise LessonError(f"{where} is a text")
    return value


# What becomes of moves


def play_lesson_moves(game: Game, step: LessonStep, moves: Sequence[Any]) -> Any:
    """The position after right moves of a step and their replies. Raises LessonError if they are not right."""
    state = step.state(game)
    for number, move in enumerate(moves):
        verdict = judge(game, step, number, state, move)
        if not verdict.right:
            raise LessonError("the moves made so far are not those of this step; begin the step again")
        if verdict.line:
            state = verdict.line[-1][1]
    return state


def judge(game: Game, step: LessonStep, number: int, state: Any, move: Any) -> LessonVerdict:
    """Judge a move at task ``number`` of a step, in the position that its tasks have led to."""
    if not 0 <= number < len(step.tasks):
        raise LessonError("this step is done; begin it again, or go on to the next one")
    task, is_last = step.tasks[number], number == len(step.tasks) - 1
    why = _refusal(game, state, move)
    if why is not None:
        right = bool(task.refused) and task.refused in why
        sentence = f"{_sentence(why)} {task.right}" if right else _sentence(why)
        return LessonVerdict(right, False, sentence.strip(), [], right and is_last)
    line, told = _play(game, state, [move, *(() if task.refused else task.reply)])
    if not task.refused and _is_right(game, state, move, task, told):
        return LessonVerdict(True, True, task.right or told[0].text, line, is_last)
    answers = [task.refutation] if task.refutation else []
    line, told = _play(game, state, [move, *answers])
    sentence = _miss(game, state, move, task, told)
    if task.takes:
        line += _taking(game, line[-1][1], set(task.takes), game.to_move(state))
    return LessonVerdict(False, True, sentence, line)


def hint_of(game: Game, task: LessonTask, state: Any) -> Any:
    """The move that a hint shows."""
    return task.tries[0] if task.refused else _parse(game, state, task.moves[0])


def _refusal(game: Game, state: Any, move: Any) -> str | None:
    """Why a move is illegal; None if it is legal."""
    try:
        game.apply(state, move)
    except IllegalMove as wrong:
        return str(wrong)
    return None


def _play(game: Game, state: Any, moves: list[Any]) -> tuple[list[tuple[Any, Any]], list[Explanation]]:
    """Make a move and those replies, in notation, that are legal; the positions, and what all of them did."""
    seat = game.to_move(state)
    assert seat is not None
    line, told = [], []
    for number, move in enumerate(moves):
        if number:
            reply = _parse(game, state, move)
            if reply is None:
                break
            move = reply
        after = game.apply(state, move)
        told += game.explain_move(state, move, after, seat)
        line.append((move, after))
        state = after
    return line, told


def _taking(game: Game, state: Any, keys: set[str], seat: int | None) -> list[tuple[Any, Any]]:
    """The moves that do one of ``keys``, with the positions after them, until the opponent of ``seat`` has no more."""
    line: list[tuple[Any, Any]] = []
    while (mover := game.to_move(state)) is not None and len(line) < MAX_REPEAT:
        after = [(move, game.apply(state, move)) for move in game.legal_moves(state)]
        taking = (one for one in after if keys & {told.key for told in game.explain_move(state, *one, mover)})
        found = next(taking, after[0] if mover == seat else None)
        if found is None:
            break
        line.append(found)
        state = found[1]
    return line


def _parse(game: Game, state: Any, text: str) -> Any:
    """The first move of ``a | b | ...`` that is legal here and written exactly so; None if none is."""
    for one in text.split(" | "):
        try:
            move = game.parse_move(one, state)
        except IllegalMove:
            continue
        if game.format_move(move, state) == one:  # a capture is no move to an empty cell
            return move
    return None


def _is_right(game: Game, state: Any, move: Any, task: LessonTask, told: list[Explanation]) -> bool:
    if task.does:
        return set(task.does) <= {one.key for one in told}
    return _is_among(game, state, move, task.moves)


def _is_among(game: Game, state: Any, move: Any, texts: tuple[str, ...]) -> bool:
    return move in [_parse(game, state, text) for text in texts]


def _miss(game: Game, state: Any, move: Any, task: LessonTask, told: list[Explanation]) -> str:
    """What a move that misses the task did, and what was asked for."""
    keys = {one.key for one in told}
    for one in task.wrong:
        if (one.does and set(one.does) <= keys) or (one.moves and _is_among(game, state, move, one.moves)):
            return f"{told[0].text} {one.say}"
    return f"{told[0].text} {task.miss or f'The task: {task.task}'}"


def _sentence(text: str) -> str:
    """A refusal for people: without the numbers of rules, which are for programs."""
    text = RULE_NUMBERS.sub("", text)
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
