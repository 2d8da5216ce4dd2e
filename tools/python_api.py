"""The pages of docs/reference/api/: the public API in Markdown, from docstrings; ``scripts/reference`` writes them.

Signatures and attributes are read from the source, as they are written there; docstrings are Markdown but for the
double backticks, and their doctests become blocks of code.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

WIDTH = 88
"""Longer signatures have a line for each parameter."""
FENCE = "```"


class ApiPage(NamedTuple):
    """A page: a module, an introduction, and names in groups; a group without a title stands alone."""

    title: str
    module: str
    intro: str
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """None: all public names of the module, in their order."""


LUDODROME = (
    ("Games", ("game_ids", "make", "Game", "Outcome", "Position", "IllegalMove", "BadState", "TooManyMoves")),
    ("Bots", ("bot", "bot_names", "Bot", "Budget")),
    ("Analysis", ("analyse", "Analysis", "solve", "Solution", "puzzles", "Puzzle")),
    (
        "Matches",
        ("play_match", "MatchResult", "PlayerScore", "sprt", "SprtResult", "tournament", "TournamentResult"),
    ),
    ("Many games at once", ("batch", "Batch", "playouts", "Playouts", "perft", "perft_ends")),
)
"""All of ``ludodrome.__all__`` but the module ``spaces``, which has its own page."""

API_PAGES = {
    "ludodrome": ApiPage(
        "ludodrome",
        "ludodrome",
        "What `import ludodrome` gives you; heavy modules are imported on first use. "
        "[First steps](../../tutorials/first-steps.md) uses it.",
        LUDODROME,
    ),
    "spaces": ApiPage(
        "ludodrome.spaces",
        "ludodrome.games.spaces",
        "Boards of spaces, from Python; [The spaces laboratory](../../how-to/spaces-lab.md) says what each is for.",
    ),
    "envs": ApiPage(
        "ludodrome.envs",
        "ludodrome.envs",
        "Environments for learners; they need `ludodrome[rl]`. [Environments for learners](../envs.md) has arguments, "
        "planes and scenarios; `ludodrome.envs.openspiel` and `ludodrome.envs.text` have "
        "[their](../../how-to/openspiel.md) [own](../../how-to/language-models.md) pages.",
    ),
    "datasets": ApiPage(
        "ludodrome.datasets",
        "ludodrome.datasets",
        "[Training](../../how-to/training.md) shows how a dataset is made and read.",
    ),
    "planning": ApiPage(
        "ludodrome.search.planning",
        "ludodrome.search.planning",
        "[Training](../../how-to/training.md) uses it with a network.",
        (("", ("Planner", "Plan")),),
    ),
    "client": ApiPage(
        "ludodrome.client",
        "ludodrome.client",
        "[A client for Python](../../how-to/client.md) shows how it is used.",
        (("", ("Refused", "Client", "Play", "LivePlay", "connect_bot")),),
    ),
    "testing": ApiPage(
        "ludodrome.testing",
        "ludodrome.testing",
        "[Adding a game](../../how-to/adding-a-game.md) tests a game with it.",
    ),
    "game-spec": ApiPage(
        "ludodrome.game_spec",
        "ludodrome.game_spec",
        "What a game package provides. [Adding a game](../../how-to/adding-a-game.md) is the worked example, "
        "[How the kernels work](../../explanation/kernels.md) says why.",
    ),
    "game-extras": ApiPage(
        "ludodrome.game_extras",
        "ludodrome.game_extras",
        "What a game may declare beyond its rules: bots, openings, levels, the page, analysis, environments. `Game` "
        "inherits these declarations, and all have defaults. [Adding a game](../../how-to/adding-a-game.md) says when "
        "you need one.",
    ),
}


def api_page(name: str) -> str:
    """The Markdown of a page."""
    page = API_PAGES[name]
    module = import_module(page.module)
    parts = [f"# `{page.title}`", page.intro, "Generated from docstrings by `scripts/reference`."]
    parts += _prose(inspect.cleandoc(module.__doc__ or ""))
    for title, names in page.groups or (("", _public(module)),):
        parts += [f"## {title}"] if title else []
        for one in names:
            parts += _described(getattr(module, one), one, 3 if title else 2)
    return "\n\n".join(parts) + "\n"


def _public(module: Any) -> tuple[str, ...]:
    """The functions and classes of a module: those of ``__all__``, else those that it defines."""
    names = getattr(module, "__all__", None) or [
        one.name
        for one in _tree(module.__name__).body
        if isinstance(one, ast.ClassDef | ast.FunctionDef) and not one.name.startswith("_")
    ]
    found = {name: getattr(module, name) for name in names}
    return tuple(name for name, thing in found.items() if getattr(thing, "__name__", None) == name)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(import_module(module)))


def _definition(thing: Any) -> ast.ClassDef | ast.FunctionDef:
    """The definition of a class or function in its source."""
    thing = inspect.unwrap(thing)
    for node in ast.walk(_tree(thing.__module__)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == thing.__name__:
            return node
    raise LookupError(f"{thing} is not defined in {thing.__module__}")


def _described(thing: Any, name: str, rank: int) -> Iterator[str]:
    """Heading, signature, text and members of a class or function."""
    node = _definition(thing)
    yield f"{'#' * rank} `{name}`"
    if isinstance(node, ast.FunctionDef):
        yield _code(f"{name}{_signature(node.args, node.returns)}")
        yield from _prose(inspect.cleandoc(thing.__doc__ or ""))
        return
    yield _code(f"class {_class_line(node, name)}")
    yield from _prose(inspect.cleandoc(ast.get_docstring(node) or ""))
    if attributes := list(_attributes(node)):
        yield "\n".join(attributes)
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and not _is_overload(one):
            yield f"{'#' * (rank + 1)} `{name}.{one.name}`"
            yield _code(_method_line(one))
            yield from _prose(inspect.cleandoc(ast.get_docstring(one) or ""))


def _code(text: str) -> str:
    return f"{FENCE}python\n{text}\n{FENCE}"


def _decorators(node: ast.FunctionDef) -> list[str]:
    return [ast.unparse(one).rpartition(".")[2] for one in node.decorator_list]


def _is_overload(node: ast.FunctionDef) -> bool:
    return "overload" in _decorators(node) or "setter" in _decorators(node)


def _method_line(node: ast.FunctionDef) -> str:
    """A method as it is called; a property as an attribute with its type."""
    decorators = _decorators(node)
    if "property" in decorators or "cached_property" in decorators:
        return f"{node.name}: {_type(node.returns)}"
    mark = "classmethod " if "classmethod" in decorators else ""
    return f"{mark}{node.name}{_signature(node.args, node.returns, bound='staticmethod' not in decorators)}"


def _class_line(node: ast.ClassDef, name: str) -> str:
    """A class as it is called, or with its bases if nobody calls it."""
    bases = [ast.unparse(base) for base in node.bases]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return f"{name}{_signature(one.args, None, bound=True)}"
    if "NamedTuple" in bases or any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and not _is_class_variable(one)]
        return name + _listed([_field(one) for one in fields], "")
    return f"{name}({', '.join(bases)})" if bases else name


def _is_class_variable(node: ast.AnnAssign) -> bool:
    return _type(node.annotation).startswith("ClassVar")


def _field(node: ast.AnnAssign) -> str:
    default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
    return f"{ast.unparse(node.target)}: {_type(node.annotation)}{default}"


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """A line for each public attribute that has a docstring or a type."""
    for at, one in enumerate(node.body):
        if not isinstance(one, ast.AnnAssign) or ast.unparse(one.target).startswith("_"):
            continue
        after = node.body[at + 1] if at + 1 < len(node.body) else None
        text = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            first, *more = _markdown(inspect.cleandoc(after.value.value)).split("\n\n")
            text = ": " + " ".join(first.split())
            text += "".join("\n\n" + textwrap.indent(one, "  ") for one in more)
        yield f"- `{ast.unparse(one.target)}` (`{_type(one.annotation)}`){text}"


def _type(node: ast.expr | None) -> str:
    """A type as it is written, without the quotes of names that come later."""
    return "None" if node is None else re.sub(r"['\"]([\w.\[\], |]+)['\"]", r"\1", ast.unparse(node))


def _signature(args: ast.arguments, returns: ast.expr | None, *, bound: bool = False) -> str:
    """The parameters of a function and what it returns."""
    given = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [*[None] * (len(given) - len(args.defaults)), *args.defaults]
    shown = [_parameter(one, default) for one, default in zip(given, defaults, strict=True)]
    if args.posonlyargs:
        shown.insert(len(args.posonlyargs), "/")
    shown = shown[1:] if bound else shown
    if bound and shown[:1] == ["/"]:
        shown = shown[1:]
    if args.vararg:
        shown.append(f"*{_parameter(args.vararg, None)}")
    elif args.kwonlyargs:
        shown.append("*")
    shown += [_parameter(one, default) for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        shown.append(f"**{_parameter(args.kwarg, None)}")
    return _listed(shown, f" -> {_type(returns)}" if returns is not None else "")


def _parameter(node: ast.arg, default: ast.expr | None) -> str:
    kind = f": {_type(node.annotation)}" if node.annotation else ""
    usual = "" if default is None else f" = {ast.unparse(default)}" if kind else f"={ast.unparse(default)}"
    return f"{node.arg}{kind}{usual}"


def _listed(shown: list[str], end: str) -> str:
    line = f"({', '.join(shown)}){end}"
    return line if len(line) <= WIDTH else "(\n" + "".join(f"    {one},\n" for one in shown) + f"){end}"


def _markdown(text: str) -> str:
    """Docstrings have double backticks for code."""
    return text.replace("``", "`")


def _prose(text: str) -> Iterator[str]:
    """The paragraphs of a docstring; doctests as blocks of code."""
    for part in re.split(r"\n{2,}", text):
        if part.startswith(">>> "):
            yield _code(part)
        elif part:
            before, mark, example = part.partition("\n>>> ")
            yield _markdown(before)
            if mark:
                yield _code(f">>> {example}")
