"""One vocabulary: what docs/glossary.md, the names of modules and classes, and the imports must keep to."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ludodrome.games import BUILT_IN

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ludodrome"
GLOSSARY = ROOT / "docs" / "glossary.md"
MODULES = range(200, 342)
MAX_INNER_IMPORTS = 99
GAME_MODULES = {"spaces": ("spaces_lab", "cli/spaces", "cli/board_builder")}
"""Modules outside ``games/`` that are about one game alone: the laboratory of spaces and its commands."""
PUBLIC_ALIAS = ("__init__.py", "spaces")
"""``ludodrome.spaces`` is documented, so the package names that game once."""


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the package by its path."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}


def test_the_number_of_modules() -> None:
    assert len(trees()) in MODULES


def test_no_public_class_name_is_defined_twice() -> None:
    homes = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_every_word_of_the_glossary_is_used() -> None:
    entries = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \|$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    assert len(entries) > 40
    assert [word for word, _ in entries] == sorted((word for word, _ in entries), key=str.lower)
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(file.read_text("utf-8") for file in sources if file != GLOSSARY).lower()
    for word, meaning in entries:
        assert re.search(rf"(?<!\w){re.escape(word.lower())}s?(?!\w)", text), f"{word} is not used"
        assert meaning.endswith("."), word


# Games carry their own knowledge


def _named_games(path: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The games that a module names: as a string of their own, or by importing from their package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in BUILT_IN:
            yield str(node.value), node.lineno
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[:2] == ["ludodrome", "games"] and len(parts) > 2 and parts[2] in BUILT_IN:
                    yield parts[2], node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[:2] == ["ludodrome", "games"] and len(parts) > 2 and parts[2] in BUILT_IN:
                    yield parts[2], node.lineno


def test_no_module_outside_a_game_names_it() -> None:
    found = []
    for path, tree in trees().items():
        if path.startswith("games/"):
            continue
        for game, line in _named_games(path, tree):
            if not path.startswith(GAME_MODULES.get(game, ("-",))) and (path, game) != PUBLIC_ALIAS:
                found.append(f"{path}:{line} names {game}")
    assert found == []


def test_no_script_or_template_of_the_page_names_a_game() -> None:
    found = []
    quoted = re.compile(rf"""["'/]({"|".join(BUILT_IN)})["'/]""")
    for folder in ("static", "templates"):
        for file in sorted((PACKAGE / "web" / folder).rglob("*")):
            if file.suffix in (".js", ".html") and file.parent.name != "boards":
                lines = enumerate(file.read_text("utf-8").splitlines(), 1)
                found += [f"{file.name}:{number}: {line.strip()}" for number, line in lines if quoted.search(line)]
    assert found == []


# Imports


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _walk(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import below a node with whether it is inside a function, those for type checking left out."""
    for child in ast.iter_child_nodes(node):
        if _is_type_checking(child):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inside
        else:
            deeper = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, deeper)


def test_few_imports_are_inside_functions_and_each_says_why() -> None:
    count, silent = 0, []
    for path, tree in trees().items():
        lines = (PACKAGE / path).read_text("utf-8").splitlines()
        for node, inside in _walk(tree):
            if inside:
                count += 1
                reason = "#" in lines[(node.end_lineno or node.lineno) - 1] or "#" in lines[node.lineno - 1]
                above = node.lineno - 2
                while not reason and re.match(r"\s*(from|import) ", lines[above]):
                    reason = "#" in lines[above]
                    above -= 1
                if not (reason or lines[above].lstrip().startswith("#")):
                    silent.append(f"{path}:{node.lineno}")
    assert silent == []
    assert count <= MAX_INNER_IMPORTS


def _module(path: str) -> str:
    return ".".join(["ludodrome", *Path(path).with_suffix("").parts]).removesuffix(".__init__")


def test_imports_make_no_cycle() -> None:
    modules = {_module(path) for path in trees()}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for path, tree in trees().items():
        for node, _ in _walk(tree):
            names = [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            names = names or [alias.name for alias in node.names]
            for name in names:
                target = name if name in modules else name.rpartition(".")[0]
                if target in modules and target != _module(path):
                    graph[_module(path)].add(target)
    assert _cycles(graph) == []


def _cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Kosaraju's algorithm."""
    order: list[str] = []
    seen: set[str] = set()
    for root in sorted(graph):
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(other, False) for other in graph[node] if other not in seen]
    backwards: dict[str, set[str]] = {node: set() for node in graph}
    for node, others in graph.items():
        for other in others:
            backwards[other].add(node)
    found, taken = [], set()
    for root in reversed(order):
        component, waiting = [], [root]
        while waiting:
            node = waiting.pop()
            if node not in taken:
                taken.add(node)
                component.append(node)
                waiting += backwards[node]
        if len(component) > 1:
            found.append(sorted(component))
    return found


def test_nobody_reaches_into_a_game() -> None:
    found = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                value = node.value
                name = (
                    value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
                )
                if name == "game":
                    found.append(f"{path}:{node.lineno} game.{node.attr}")
    assert found == []


# Old names

OLD_NAMES = (
    *("Verbs", "Insight", "Shelf", "Bell", "Grower", "Thinker", "Classroom", "Programme", "Discipline"),
    *("Assignment", "Desk", "Lessons", "Sights", "rekey", "newroom", "most_legal", "most_actions", "puzzlebook"),
    *("likeness", "treesearch", "languagemodels", "drawers", "simulators", "responders", "appraisers", "crews"),
)


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_name_is_gone(name: str) -> None:
    word = re.compile(rf"(?<![A-Za-z0-9]){name}(?![a-z0-9])")
    found = []
    for folder, ends in (("src", (".py", ".js", ".html")), ("docs", (".md",)), ("tests", (".py",))):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in ends and file != Path(__file__):
                text = file.read_text("utf-8")
                found += [f"{file}: {line.strip()}" for line in text.splitlines() if word.search(line)]
    assert found == []
