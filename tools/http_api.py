"""docs/reference/http-api.md: every endpoint of the server, from the description that the server gives of itself."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI

from ludodrome.store.database import open_database
from ludodrome.web.app import create_app
from ludodrome.web.urls import API

HEAD = f"""\
# The HTTP API

Everything the pages do goes through `{API}`; paths below are beneath it. Requests and answers are JSON. What is \
refused is answered with `{{"error": "a sentence"}}`: 401 if somebody must sign in, 403 if they may not, 404 if \
there is no such thing, 409 if it cannot be done now, 413 if it is too long, 422 if the form is wrong or the rules \
say no, 429 if that is too often, 503 if the engine is busy. `{API}/openapi.json` says the same for programs. [A \
client for Python](../how-to/client.md) does it from Python; [Serving for others](../how-to/hosting.md) tells of \
accounts, tokens and limits. This page is made by `scripts/reference` from the server's own description.
"""
SOCKETS_HEAD = """
## WebSockets

The messages are told in [The web page](../how-to/web.md), [The league](../how-to/league.md) and \
[The bot protocol](protocol.md).
"""
NOT_FOR_PEOPLE = ("relay",)
"""Sockets between the server's own processes."""
OTHERS = """
## Beside the API

| address | what |
| --- | --- |
| `GET /health` | how the server is; 503 if it cannot do its work |
| `GET /metrics` | numbers for Prometheus; an administrator's token is shown |
| `GET /docs/` | this documentation |
"""
Json = dict[str, Any]


def description() -> tuple[Json, list[tuple[str, str]]]:
    """The server's description of its API, and its WebSockets: path and what it says of itself."""
    with TemporaryDirectory() as folder:
        engine = open_database(Path(folder) / "ludodrome.db", create=True)
        try:
            app = create_app(engine)
            return app.openapi(), list(_sockets(app))
        finally:
            engine.dispose()


def _sockets(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in app.routes:
        inner = getattr(route, "original_router", None)
        for one in inner.routes if inner is not None else ():
            if getattr(one, "methods", None) is None:
                prefix = getattr(route, "include_context").prefix  # noqa: B009 (FastAPI keeps it to itself)
                yield prefix + one.path, one.endpoint.__doc__


def page() -> str:
    """The page."""
    told, sockets = description()
    nouns: dict[str, list[str]] = {}
    for path, methods in told["paths"].items():
        noun = nouns.setdefault(path.removeprefix(API).split("/")[1], [])
        noun += [_endpoint(told, method, path, one) for method, one in methods.items()]
    parts = [HEAD]
    for noun_name, texts in nouns.items():
        parts += [f"\n## {noun_name}\n", *texts]
    parts.append(SOCKETS_HEAD)
    for path, words in sockets:
        if not path.endswith(NOT_FOR_PEOPLE):
            parts.append(f"\n### `WebSocket {path.removeprefix(API)}`\n\n{_prose(words)}\n")
    return "".join([*parts, OTHERS])


def _endpoint(told: Json, method: str, path: str, one: Json) -> str:
    done = next(status for status in one["responses"] if status.startswith("2"))
    words = _prose(one.get("description", ""))
    lines = [f"\n### `{method.upper()} {path.removeprefix(API)}`\n", f"{words} Answers {done}.\n"]
    fields = [*_parameters(one), *_body(told, one)]
    if fields:
        lines += [row("name", "where", "values", "meaning"), row(*["---"] * 4), *fields, ""]
    return "\n".join(lines)


def _parameters(one: Json) -> Iterator[str]:
    for parameter in one.get("parameters", ()):
        if parameter["in"] == "path":
            continue
        schema = parameter.get("schema", {})
        must = "" if parameter.get("required") else _default(schema)
        meaning = parameter.get("description") or schema.get("description", "")
        yield row(f"`{parameter['name']}`", parameter["in"], _values(schema) + must, _prose(meaning))


def _body(told: Json, one: Json) -> Iterator[str]:
    content = one.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema = _resolved(told, media["schema"])
        for name, field in schema.get("properties", {}).items():
            field = _resolved(told, field)
            must = "" if name in schema.get("required", ()) else _default(field)
            yield row(f"`{name}`", "body", _values(field) + must, _prose(field.get("description", "")))


def _resolved(told: Json, schema: Json) -> Json:
    if "$ref" in schema:
        found: Json = told["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _default(schema: Json) -> str:
    return f"; `{json.dumps(schema['default'])}` if left out" if "default" in schema else "; may be left out"


def _values(schema: Json) -> str:
    """What may be given, in words."""
    if "anyOf" in schema:
        return " or ".join(_values(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return _range("a whole number" if kind == "integer" else "a number", schema)
    if kind == "string":
        return f"a text of at most {schema['maxLength']:,} characters" if "maxLength" in schema else "a text"
    if kind == "array":
        most = f"at most {schema['maxItems']:,}" if "maxItems" in schema else "any number"
        return f"a list of {most}"
    plain = {"boolean": "true or false", "object": "an object", "null": "null"}
    return plain.get(str(kind), "any JSON")


def _range(words: str, schema: Json) -> str:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if low is not None and high is not None:
        return f"{words} from {_number(low)} to {_number(high)}"
    return f"{words} from {_number(low)}" if low is not None else words


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def _prose(words: str | None) -> str:
    """A docstring as Markdown on one line."""
    return re.sub(r"``(.+?)``", r"`\1`", " ".join((words or "").split()))


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
