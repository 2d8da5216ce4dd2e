"""Things that are kept for a while."""

from ludodrome.web.lru_cache import LruCache


def test_the_longest_untouched_falls_off() -> None:
    evicted: list[str] = []
    cache = LruCache[str](2, 100.0, evicted.append)
    cache.put("a", "first")
    cache.put("b", "second")
    assert cache.get("a") == "first"
    cache.put("c", "third")
    assert evicted == ["second"]
    assert cache.get("b") is None
    assert len(cache) == 2
    cache.clear()
    assert evicted == ["second", "first", "third"]


def test_what_is_too_old_is_gone() -> None:
    now = [0.0]
    evicted: list[str] = []
    cache = LruCache[str](10, 5.0, evicted.append, clock=lambda: now[0])
    cache.put("a", "first")
    now[0] = 6.0
    assert cache.get("a") is None
    cache.put("b", "second")
    assert evicted == ["first"]


def test_ids_differ() -> None:
    assert len({LruCache[int].new_id() for _ in range(100)}) == 100
