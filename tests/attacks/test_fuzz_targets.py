"""Every parser of untrusted input, fed with damaged and random bytes: only its documented errors come out, in time."""

import ast
import importlib.util
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ludodrome
from tests.attacks.targets import EXEMPT, MAX_BYTES, Target, targets
from tests.hostile import damaged

ROOT = Path(__file__).parents[2]
TOKENS = (
    *(b"", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\n", b"\r\n", b"\x1b[2J", b" ", b"\t"),
    *(b"-1", b"0", b"9" * 30, b"9" * 5000, b"1e999", b"NaN", b"-0.0", b"\xd9\xa3", b"\xc2\xb2", b"0x10", b"1_0"),
    *(b"null", b"true", b"[]", b"{}", b'""', b"[" * 300, b'{"a":' * 300, b'"\\ud800"', b"\\u0000"),
    *(b":", b"=", b",", b"#", b"//", b"../", b"%00", b"%2e%2e", b"'", b'"', b"<", b";", b"|", b"@"),
    *(b"x" * 70, b"x" * 300, b"a/" * 600, b"__class__", b"postgresql://", b"bytes=-5", b"q=0.0001"),
)
SECONDS = 3.0
"""Processor time that one input may take, at most."""
NOT_SENTENCES = (UnicodeError, json.JSONDecodeError)
"""Errors of Python that say nothing to a person."""
NAMES = [*targets()]


def _mutated(target: Target) -> st.SearchStrategy[bytes]:
    """Bytes: random ones, good ones with pieces replaced, removed or repeated, and JSON damaged in its structure."""
    piece = st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8), st.text(max_size=4).map(_utf8))
    change = st.tuples(
        st.sampled_from(("insert", "replace", "remove", "repeat")), st.floats(0, 1), st.floats(0, 1), piece
    )
    edited = st.builds(_edit, st.sampled_from(target.corpus), st.lists(change, min_size=1, max_size=4))
    structured = st.builds(_damage, st.sampled_from(target.corpus), st.integers(0, 2**32))
    return st.one_of(edited, structured, edited, st.binary(max_size=60), st.text(max_size=30).map(_utf8))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _edit(seed: bytes, changes: list[tuple[str, float, float, bytes]]) -> bytes:
    data = seed
    for kind, start, share, piece in changes:
        at = int(start * len(data))
        end = min(len(data), at + 1 + int(share * min(16, len(data))))
        middle = {"insert": piece + data[at:end], "replace": piece, "remove": b"", "repeat": data[at:end] * 3}[kind]
        data = data[:at] + middle + data[end:]
    return data


def _damage(seed: bytes, number: int) -> bytes:
    """A JSON value with something broken inside it; other inputs as they are, cut off."""
    try:
        return json.dumps(damaged(json.loads(seed), random.Random(number)), default=repr).encode()[: 64 * MAX_BYTES]
    except (ValueError, RecursionError, TypeError):
        return seed[: number % (len(seed) + 1)]


def _run(target: Target, data: bytes) -> None:
    """Fail if these bytes break the target, or take long."""
    refusal: Exception | None = None
    begun = time.process_time()
    try:
        target.call(data)
    except target.allowed as refused:
        refusal = refused
    spent = time.process_time() - begun
    assert spent < SECONDS, f"{target.name}: {spent:.1f} seconds for {data[:80]!r}"
    assert not isinstance(refusal, NOT_SENTENCES), f"{target.name}: {refusal!r} for {data[:80]!r}"
    assert refusal is None or len(str(refusal)) >= 8, f"{target.name} refuses {data[:80]!r} without a sentence"


@pytest.mark.parametrize("name", NAMES)
def test_only_documented_errors_come_out(name: str, long: bool) -> None:
    target = targets()[name]
    for seed in target.corpus:  # compiles what is needed, without a clock
        try:
            target.call(seed)
        except target.allowed:
            continue
    few = 15 if target.slow else 60

    @settings(max_examples=20 * few if long else few)
    @given(_mutated(target))
    def run(data: bytes) -> None:
        _run(target, data)

    run()


@pytest.mark.parametrize("name", NAMES)
def test_a_good_input_is_accepted(name: str) -> None:
    """Else a target would test nothing but its first line."""
    target = targets()[name]
    assert any(_accepts(target, seed) for seed in target.corpus)


def _accepts(target: Target, seed: bytes) -> bool:
    try:
        target.call(seed)
    except target.allowed:
        return False
    return True


@pytest.mark.parametrize("table", ["games", "bots"])
def test_an_empty_table_in_a_plan_is_refused_with_a_sentence(table: str) -> None:
    """Found by the target ``plan``: it was an IndexError."""
    good = targets()["plan"].corpus[0]
    with pytest.raises(ValueError, match=r"of a plan has .*, not nothing"):
        targets()["plan"].call(good + f"[[{table}]]\n".encode())


def _parsers() -> Iterator[str]:
    """Every public function and static method whose name says that it parses."""
    package = Path(ludodrome.__file__).parent
    form = re.compile(r"(parse|read|load)(_\w+)?|from_(json|text)")
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and form.fullmatch(node.name):
                yield f"{module}.{node.name}"
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                for inner in node.body:
                    static = isinstance(inner, ast.FunctionDef) and any(
                        isinstance(one, ast.Name) and one.id in ("staticmethod", "classmethod")
                        for one in inner.decorator_list
                    )
                    if static and isinstance(inner, ast.FunctionDef) and form.fullmatch(inner.name):
                        yield f"{module}.{node.name}.{inner.name}"


def test_every_parser_has_a_target() -> None:
    found = set(_parsers())
    covered = {name for target in targets().values() for name in target.covers}
    assert found - covered - set(EXEMPT) == set(), "a new parser needs a target in targets.py, or a reason in EXEMPT"
    assert set(EXEMPT) <= found, "exempt, but gone"
    assert covered <= found, "covered, but gone"
    assert not set(EXEMPT) & covered


@pytest.mark.parametrize("name", NAMES)
def test_under_atheris(name: str, long: bool) -> None:
    if not long:
        pytest.skip("minutes of coverage-guided fuzzing: --long")
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed (pip install atheris): no target was fuzzed by coverage")
    runs = "300" if targets()[name].slow else "20000"
    asked = [sys.executable, "-m", "tests.attacks.targets", name, "--runs", runs]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    if targets()[name].covers:
        assert "no interesting inputs" not in done.stderr, "no coverage was seen: the parser is not instrumented"
