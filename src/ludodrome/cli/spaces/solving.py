"""Perfect play: `solve`."""

from fractions import Fraction
from importlib.util import find_spec
from math import gcd
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ludodrome.cli import console
from ludodrome.cli.base import (
    NO,
    UNDECIDED,
    Command,
    CommandError,
    Json,
    command_errors,
    examples,
    interruptible,
)
from ludodrome.cli.lazy import lazy_imports
from ludodrome.cli.spaces.boards import Rules, Size, checked_rules, print_json

with lazy_imports():
    from ludodrome import validation
    from ludodrome.games import spaces
    from ludodrome.games.spaces import boards as game_boards
    from ludodrome.games.spaces import counting, equilibria
    from ludodrome.spaces_lab import saved_state

if TYPE_CHECKING:
    from ludodrome.games.spaces.equilibria import Equilibrium, Mixture

app = typer.Typer()


@app.command(
    cls=Command,
    epilog=examples(
        "ludodrome spaces solve 4 --rules live",
        "ludodrome spaces solve 5 --rules live --verify",
        "ludodrome spaces solve 3 --rules live --seen",
    ),
)
def solve(
    size: Size,
    rules: Rules = "written",
    stored: Annotated[bool, typer.Option("--stored", help="Show the stored mixture without solving.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Play all legal boards against the stored mixture.")] = False,
    seen: Annotated[
        bool, typer.Option("--seen", help="Solve the match in which the second seat sees the board.")
    ] = False,
    state: Annotated[
        str | None,
        typer.Option(
            "--state", metavar="FILE", show_default=False, help="Save progress to this file and resume from it."
        ),
    ] = None,
    gap: Annotated[float, typer.Option(metavar="G", min=0.0, help="Stop at this gap, in points.")] = 1e-9,
    json: Json = False,
) -> None:
    """Find perfect play for blind choice: a mixture of boards that no board beats.

    Uses linear programming if all pairings fit, else a double oracle with exact best responses. The gap is proven: no
    legal board does better than this against the mixture. The exit code is 3 if --gap was not reached.
    """
    checked_rules(rules)
    if stored + verify + seen > 1:
        raise CommandError("--stored, --verify and --seen exclude each other: give one of them")
    if seen:
        _solve_seen(size, rules, json)
    elif verify:
        _verify(size, rules, state, json)
    elif stored:
        with console.compiling("spaces"):
            mixture = spaces.perfect(size, rules)
        _show(mixture, {"proven": size <= equilibria.SOLVED[rules]}, json)
    else:
        _solve_blind(size, rules, state, gap, json)


def _solve_blind(size: int, rules: str, state: str | None, gap: float, json: bool) -> None:
    with command_errors(), console.compiling("spaces"):
        _need_highs()

        solving = spaces.Equilibrium(size, rules, saved_state.load_solver_boards(state, size, rules) if state else ())
    try:
        with console.reporting() as report:
            while (solving.gap is None or solving.gap > max(gap, 1e-9)) and not solving.stuck:
                interruptible(
                    lambda: solving.step(report=lambda nodes, value: report(_progress(solving, nodes, value)))
                )
                report(_progress(solving, 0, solving.gap or 0.0))
                if state:
                    with command_errors():
                        saved_state.save_solver_boards(state, size, rules, solving.boards)
    except KeyboardInterrupt:
        if solving.mixture is None:
            raise
    assert solving.mixture is not None
    assert solving.program is not None
    known = {
        "gap": solving.gap,
        "primal": solving.program.primal,
        "dual": solving.program.dual,
        "steps": solving.steps,
        "boards": len(solving.boards),
        "nodes": solving.nodes,
    }
    _show(solving.mixture, known, json)
    if solving.gap is None or solving.gap > max(gap, 1e-9):
        raise typer.Exit(UNDECIDED)


def _progress(solving: "Equilibrium", nodes: int, value: float) -> str:
    gap = "unknown" if solving.gap is None else f"{solving.gap:.6f}"
    boards, made = validation.plural(len(solving.boards), "board"), validation.plural(nodes, "node")
    return f"step {solving.steps}: {boards}, gap {gap}; {made}, best {value:+.4f}"


def _need_highs() -> None:
    if find_spec("highspy") is None:
        raise CommandError("solving needs HiGHS: pip install 'ludodrome[lab]'")


def _verify(size: int, rules: str, state: str | None, json: bool) -> None:
    """Play all boards against the stored mixture."""
    with command_errors(), console.compiling("spaces"):
        total = (
            spaces.count_boards(size, rules)
            if size <= counting.MAX_QUICK_COUNT[rules]
            else saved_state.MAX_INSPECTED + 1
        )
        if total > saved_state.MAX_INSPECTED:
            raise CommandError(f"the boards of size {size} under {rules} are too many to play one by one")
        inspection = saved_state.load_inspection(spaces.perfect(size, rules), state)
    steps = 0
    with console.bar("boards") as progress:
        while not inspection.over:
            interruptible(inspection.step)
            progress(inspection.done, total)
            steps += 1
            if state and (steps % 100 == 0 or inspection.over):
                with command_errors():
                    saved_state.save_inspection(state, inspection)
    known = {"boards": inspection.done, "best_margin": inspection.margin, "beaten": inspection.margin > 0}
    _show(inspection.mixture, known, json)
    if inspection.margin > 0:
        raise typer.Exit(NO)
    if inspection.done != total:
        raise typer.Exit(UNDECIDED)


def _solve_seen(size: int, rules: str, json: bool) -> None:
    """The board that loses least when it is seen, and the match of five rounds."""
    with command_errors(), console.compiling("spaces"):
        search = spaces.LeastLoss(size, rules)
    with console.reporting() as report:
        while not search.over:
            answers, nodes = (
                validation.plural(*one) for one in ((len(search.answers), "answer"), (search.nodes, "node"))
            )
            report(f"{answers}, {nodes}, loses by {search.loss}")
            interruptible(search.step)
    lead = spaces.match_value(search.loss, 5)
    code = spaces.encode_board(search.board)
    if json:
        print_json({"size": size, "rules": rules, "loss": search.loss, "board": code, "lead_of_seat_0": lead})
        return
    console.say(f"when seen, every board loses by at least {search.loss}; {code} loses by exactly that")
    outcome = "a draw" if lead == 0 else f"{spaces.Spaces.seat_name(int(lead < 0))} wins by {abs(lead)}"
    console.say(f"a match of 5 rounds: {outcome}, with perfect play")


def _show(mixture: "Mixture", known: dict[str, Any], json: bool) -> None:
    divisor = gcd(*mixture.weights)
    weights = [weight // divisor for weight in mixture.weights]
    total = sum(weights)
    codes = [game_boards.format_code(board, mixture.size) for board in mixture.boards]
    if json:
        boards = [{"code": code, "weight": weight} for code, weight in zip(codes, weights, strict=True)]
        print_json({"size": mixture.size, "rules": mixture.rules, "mixture": boards, **known})
        return
    rows = [
        (str(Fraction(weight, total)), f"{weight / total:.4f}", code)
        for code, weight in sorted(zip(codes, weights, strict=True), key=lambda one: (-one[1], one[0]))
    ]
    console.show_table(("share", "about", "board"), rows, ("share", "about"))
    for name, value in known.items():
        text = f"{value:,}" if type(value) is int else f"{value:.3g}" if type(value) is float else str(value).lower()
        console.say(f"{name.replace('_', ' ')}: {text}")
