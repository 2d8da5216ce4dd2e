import sys
from threading import Thread
from types import ModuleType

import pytest

from ludodrome.cli.base import LazyModule, lazy_imports

FOLDER = "lazily_imported"


@pytest.fixture
def package(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / FOLDER  # type: ignore[operator]
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("class Trouble(Exception): pass\n\ndef double(n): return 2 * n\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in (FOLDER, f"{FOLDER}.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("package")
def test_a_module_is_imported_at_its_first_use() -> None:
    with lazy_imports():
        from lazily_imported import inner  # type: ignore[import-not-found]
    assert isinstance(inner, LazyModule)
    assert FOLDER not in sys.modules
    assert inner.double(2) == 4
    assert f"{FOLDER}.inner" in sys.modules


@pytest.mark.usefixtures("package")
def test_exceptions_of_a_lazy_module_can_be_caught() -> None:
    with lazy_imports():
        from lazily_imported import inner
    with pytest.raises(inner.Trouble):
        raise inner.Trouble


def test_a_module_that_is_missing_is_an_error_at_its_first_use() -> None:
    with lazy_imports():
        from nowhere import nothing  # type: ignore[import-not-found]
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        nothing.anything()


def test_imports_of_other_threads_and_after_the_block_are_as_usual() -> None:
    found: list[ModuleType] = []

    def load() -> None:
        from json import decoder

        found.append(decoder)

    with lazy_imports():
        thread = Thread(target=load)
        thread.start()
        thread.join()
    load()
    assert all(type(one) is ModuleType for one in found)
    assert len(found) == 2
