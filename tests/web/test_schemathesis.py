"""The API does what it says of itself: Schemathesis sends what the description allows, and what it does not."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
import schemathesis
from httpx import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.hosting import Hosted, hosting

API = "/api/v1"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ENDLESS = ("/events", f"{API}/live/{{game_id}}")
"""Streams of events: they are looked at in other tests."""
COSTLY = (f"{API}/checks",)
"""Examinations of programs: what is not refused starts a process for seconds."""
SESSION = (f"{API}/session", f"{API}/account/password", f"{API}/accounts/{{name}}/ban")
"""After these somebody else would ask, or nobody."""
FEW, MANY = 2, 30
POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE


class Questions:
    """Somebody who asks for everything there is."""

    def __init__(self, hosted: Hosted, client: Client, examples: int) -> None:
        self._cookies, self._examples = dict(client.cookies), examples
        self._numbers = count()
        wish = {"game": "dots", "options": {"rows": 1, "cols": 1}, "seats": ["person", "person"]}
        play = client.post(f"{API}/plays", json=wish).json()["id"]
        attempt = client.post(f"{API}/puzzles/dots/1/attempts").json()["id"]
        self._known = {"plays": play, "replays": play, "attempts": attempt}

    def ask(self, operation: Any) -> None:
        """For one operation, in many ways, right and wrong."""
        free = bool(operation.body) or bool(operation.query)
        for mode in (POSITIVE, NEGATIVE) if free else (POSITIVE,):  # every text can stand in a path

            @settings(
                max_examples=self._examples,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                deadline=None,
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def once(case: Any) -> None:
                if next(self._numbers) % 2:
                    self._name_what_is_there(case)
                case.call_and_validate(cookies=self._cookies, timeout=120, checks=CHECKS)

            with suppress(Unsatisfiable):  # nothing can be wrong with what may be anything
                once()

    def _name_what_is_there(self, case: Any) -> None:
        """Things that exist, in place of made-up ones. Nobody waits for what will not happen."""
        path = case.path_parameters or {}
        noun = case.operation.path.removeprefix(f"{API}/").partition("/")[0]
        if "game_id" in path:
            path["game_id"] = "dots"
        if "name" in path and noun in self._known:
            path["name"] = self._known[noun]
        if case.query:
            case.query.pop("after", None)


@pytest.fixture(scope="module")
def described() -> Iterator[tuple[Hosted, Any]]:
    """A server of its own, as it describes itself."""
    with hosting() as running:
        yield running, schemathesis.openapi.from_url(f"{running.address}{API}/openapi.json")


def _operations(schema: Any) -> list[Any]:
    found = [result.ok() for result in schema.get_all_operations()]
    return [one for one in found if not one.path.endswith(ENDLESS) and one.path not in COSTLY]


@pytest.mark.parametrize("caller", ["Chief", None])
def test_the_api_is_as_it_says(described: tuple[Hosted, Any], caller: str | None, long: bool) -> None:
    if caller is None and not long:
        pytest.skip("nobody in particular asks in the long run alone")
    hosted, schema = described
    with hosted.client(caller) as client:
        somebody = Questions(hosted, client, MANY if long else FEW)
        for operation in _operations(schema):
            if caller is None or operation.path not in SESSION:
                somebody.ask(operation)


def test_every_operation_says_what_may_go_wrong(described: tuple[Hosted, Any]) -> None:
    _, schema = described
    for operation in _operations(schema):
        answers = set(operation.definition.raw["responses"])
        assert {"401", "403", "404", "409", "413", "415", "421", "422", "429", "503"} <= answers, operation.label
