"""One build for all tests of the release."""

import pytest

from tests.release.building import Release, build


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The sdist and the wheel of a clean checkout."""
    return build(tmp_path_factory.mktemp("release"))
