"""Settings for all tests."""

import pytest

pytest.register_assert_rewrite("ludodrome.testing")
