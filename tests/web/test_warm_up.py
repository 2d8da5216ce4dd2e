"""Compiling before somebody waits: by other processes, once, with a word about how long it takes."""

import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from ludodrome import kernel_cache
from ludodrome.web import warm_up
from ludodrome.web.routes import games as game_routes
from ludodrome.web.warm_up import COMPILING, LOADING, READY, SHOW, UNKNOWN, WAITING, WarmUp, compile_game, is_compiled


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of compiled code."""
    monkeypatch.setattr(warm_up, "compile_shows_beside", lambda games: None)
    monkeypatch.setattr(kernel_cache, "cache_directory", lambda package: tmp_path)
    return tmp_path


def _loaded(game_id: str) -> "Future[Any]":
    done: Future[Any] = Future()
    done.set_result(None)
    return done


def test_a_game_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(game_routes, "warm_up", calls.append)
    monkeypatch.setattr(warm_up, "prepare_show", calls.append)
    assert not is_compiled("dots")
    for _ in range(2):
        compile_game("dots")
    assert calls == ["dots"]
    assert is_compiled("dots")
    assert not is_compiled("dots", SHOW)
    compile_game("dots", SHOW)
    assert calls == ["dots", "dots"]
    assert is_compiled("dots", SHOW)


def test_a_server_says_how_far_it_is(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "core_count", lambda: 1)
    warming = WarmUp(("dots", "caldera"), _loaded)
    assert warming.state("dots").state == WAITING
    assert warming.state("caldera").seconds > warming.state("dots").seconds
    assert warming.state("santorini").state == UNKNOWN
    warming._note_begin("dots")
    state, seconds = warming.state("dots")
    assert state == COMPILING
    assert 0 < seconds <= warm_up.COMPILE_SECONDS
    warming._note_end("dots")
    assert warming.state("dots").state == LOADING
    warming._note_end("caldera")
    warming._load_all()
    assert [warming.state(game).state for game in ("dots", "caldera")] == [READY, READY]
    assert warming.first.result(0) is None


def test_a_game_that_cannot_be_loaded_is_known(cache: Path) -> None:
    def fail(game_id: str) -> "Future[Any]":
        failed: Future[Any] = Future()
        failed.set_exception(ValueError("no"))
        return failed

    warming = WarmUp(("dots",), fail)
    warming._note_end("dots")
    warming._load_all()
    assert str(warming.first.exception(0)) == "no"
    assert warming.state("dots").state == LOADING


def test_what_is_compiled_is_only_loaded(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "first_moves.ready").touch()
    assert WarmUp(("dots",), _loaded).state("dots").state == LOADING
    monkeypatch.setattr(sys, "argv", ["warm_up"])
    warm_up.main()
    assert capsys.readouterr().err == ""
