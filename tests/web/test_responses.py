"""JSON as it is sent: what was meant comes out, whatever a stranger's text has in it."""

import json
from typing import Any

import pytest

from ludodrome.web.responses import to_json_bytes


@pytest.mark.parametrize(
    "value",
    [{"a": [1, 2.5, None, True], "b": {"c": "Ü 名 <script>"}}, [], "", {"half": "\ud83d"}, [0.1, 1e300, -(2**53)]],
)
def test_what_is_written_is_what_was_meant(value: Any) -> None:
    assert json.loads(to_json_bytes(value)) == value
