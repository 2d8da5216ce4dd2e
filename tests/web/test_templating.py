"""Files of the page: whole, compressed where that is understood, not sent twice, and fresh when they have changed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from ludodrome.web.app import STATIC
from ludodrome.web.templating import CachedStaticFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.js").write_text("export const a = 1;\n" * 100)
    (tmp_path / "b.css").write_text("a { b: c }")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(Starlette(routes=[Mount("/static", CachedStaticFiles(folder))])) as made:
        yield made


def test_a_file_is_whole_and_compressed_where_that_is_understood(client: TestClient, folder: Path) -> None:
    plain = client.get("/static/deep/a.js", headers={"accept-encoding": "identity"})
    zipped = client.get("/static/deep/a.js", headers={"accept-encoding": "gzip"})
    assert plain.text == zipped.text == (folder / "deep" / "a.js").read_text()
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert int(zipped.headers["content-length"]) < len(plain.content) / 10
    assert plain.headers["content-type"].partition(";")[0] in ("text/javascript", "application/javascript")
    small = client.get("/static/b.css", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in small.headers
    assert small.headers["content-type"] == "text/css; charset=utf-8"
    head = client.head("/static/b.css")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "10")


def test_a_file_that_is_known_is_not_sent_again_unless_it_has_changed(client: TestClient, folder: Path) -> None:
    etag = client.get("/static/b.css").headers["etag"]
    again = client.get("/static/b.css", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    (folder / "b.css").write_text("a { b: d }")
    os.utime(folder / "b.css", (1, 1))
    assert client.get("/static/b.css", headers={"if-none-match": etag}).text == "a { b: d }"


@pytest.mark.parametrize(
    "path", ["", "nothing.js", "deep", "../secret", "deep/../../secret", "%2e%2e/secret", "b.css/"]
)
def test_nothing_else_is_served(client: TestClient, folder: Path, path: str) -> None:
    (folder.parent / "secret").write_text("secret")
    assert client.get(f"/static/{path}").status_code == 404


def test_files_are_only_read(client: TestClient) -> None:
    assert client.post("/static/b.css").status_code == 405


def test_all_files_of_the_page_are_there() -> None:
    with TestClient(Starlette(routes=[Mount("/static", CachedStaticFiles(STATIC))])) as client:
        for path in STATIC.rglob("*.*"):
            assert client.get(f"/static/{path.relative_to(STATIC).as_posix()}").content == path.read_bytes()
