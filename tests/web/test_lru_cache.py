"""The LRU cache with a time limit."""

from ludodrome.web.concurrency import LruCache


def test_the_least_recently_used_is_evicted() -> None:
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


def test_an_expired_entry_is_evicted() -> None:
    now = [0.0]
    evicted: list[str] = []
    cache = LruCache[str](10, 5.0, evicted.append, clock=lambda: now[0])
    cache.put("a", "first")
    now[0] = 6.0
    assert cache.get("a") is None
    cache.put("b", "second")
    assert evicted == ["first"]


def test_a_key_that_is_put_again_is_the_most_recent() -> None:
    now = [0.0]
    evicted: list[str] = []
    cache = LruCache[str](10, 5.0, evicted.append, clock=lambda: now[0])
    cache.put("a", "first")
    cache.put("b", "second")
    now[0] = 6.0
    assert cache.get("a") is None
    cache.put("a", "third")
    assert sorted(evicted) == ["first", "second"]
    assert (len(cache), cache.get("a")) == (1, "third")


def test_what_is_replaced_is_evicted() -> None:
    evicted: list[str] = []
    cache = LruCache[str](2, 100.0, evicted.append)
    cache.put("a", "first")
    cache.put("b", "second")
    cache.put("a", "third")
    assert evicted == ["first"]
    cache.put("a", "third")
    assert evicted == ["first"]
    cache.put("c", "fourth")
    assert evicted == ["first", "second"]


def test_ids_differ() -> None:
    assert len({LruCache[int].new_id() for _ in range(100)}) == 100
