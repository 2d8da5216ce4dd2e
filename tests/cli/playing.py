"""Playing on the full screen in tests: keys and clicks, and what is on the screen."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ludodrome
from ludodrome.bots import bot
from ludodrome.cli.board_input import PickInput
from ludodrome.cli.local_play import LocalPlay, make_opponents
from ludodrome.cli.play_app import PlayApp
from ludodrome.text_board import Pick, TextBoard

SMALL, LARGE = (80, 24), (120, 40)
WAIT = 60.0


def drive(app: PlayApp, story: Callable[[Any], Awaitable[None]], size: tuple[int, int] = SMALL) -> None:
    """Let a story happen on a screen of that size."""

    async def happen() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await story(pilot)

    with ThreadPoolExecutor(1) as pool:  # a browser of another test may keep a loop running in this thread
        pool.submit(asyncio.run, happen()).result()


def screen(app: PlayApp) -> str:
    """What is on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


async def until(pilot: Any, reached: Callable[[], bool]) -> None:
    """Wait until something has happened, at most WAIT seconds."""
    for _ in range(int(WAIT / 0.05)):
        if reached():
            await pilot.pause()
            return
        await pilot.pause(0.05)
    raise AssertionError(f"waited too long; the screen is\n{screen(pilot.app)}")


def new_play(game_id: str, line: str | None = None, against: str = "", **options: Any) -> LocalPlay:
    """A play of two people, or of a person in seat 0 against a bot."""
    game = ludodrome.make(game_id, **options)
    state = game.initial_state() if line is None else game.parse_state(line)
    bots = make_opponents(game, [against], 0, 7) if against else {}
    return LocalPlay(game, [state], bots, seed=7, specs={1: against} if against else {})


def way_to(board: TextBoard, start: str, goal: str) -> list[str]:
    """The arrows from one place to another."""
    arrows = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    paths: dict[str, list[str]] = {start: []}
    for place in (queue := [start]):
        for key, (down, right) in arrows.items():
            if (beside := board.beside(place, down, right)) not in paths:
                paths[beside] = [*paths[place], key]
                queue.append(beside)
    return paths[goal]


async def pick(pilot: Any, picks: list[Pick]) -> None:
    """Make a move with arrows, tab and enter."""
    for one in picks:
        board_input = pilot.app.input
        assert isinstance(board_input, PickInput)
        await pilot.press(*way_to(board_input.board, board_input.cursor, one.place))
        assert board_input.cursor == one.place
        for _ in board_input.picker.choices()[one.place]:
            if str(one) in board_input.note().plain.partition("tab:")[0]:
                break
            await pilot.press("tab")
        await pilot.press("enter")


async def play_on(pilot: Any, choose: Callable[[Any, list[Any]], Any]) -> None:
    """Play to the end with the keyboard."""
    play = pilot.app.play
    while not play.is_over:
        move = choose(play.state, play.game.legal_moves(play.state))
        await pick(pilot, play.game.move_picks(move, play.state)[0])


def random_mover(seed: int) -> Callable[[Any, list[Any]], Any]:
    dice = random.Random(seed)
    return lambda state, moves: dice.choice(moves)


def strong_mover(play: LocalPlay) -> Callable[[Any, list[Any]], Any]:
    engine = bot("alphabeta:depth=2", play.game, 3)
    return lambda state, moves: engine.choose(play.game.observation(state, play.seat()))
