"""Things that are kept for a while."""

from ludodrome.web.lru_cache import LruCache


def test_the_longest_untouched_falls_off() -> None:
    fallen: list[str] = []
    shelf = LruCache[str](2, 100.0, fallen.append)
    shelf.put("a", "first")
    shelf.put("b", "second")
    assert shelf.find("a") == "first"
    shelf.put("c", "third")
    assert fallen == ["second"]
    assert shelf.find("b") is None
    assert len(shelf) == 2
    shelf.clear()
    assert fallen == ["second", "first", "third"]


def test_what_is_too_old_is_gone() -> None:
    now = [0.0]
    fallen: list[str] = []
    shelf = LruCache[str](10, 5.0, fallen.append, clock=lambda: now[0])
    shelf.put("a", "first")
    now[0] = 6.0
    assert shelf.find("a") is None
    shelf.put("b", "second")
    assert fallen == ["first"]


def test_ids_differ() -> None:
    assert len({LruCache[int].new_id() for _ in range(100)}) == 100
