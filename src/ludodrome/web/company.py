"""Who sits at a game: the person who began it, friends behind links, bots; who is here, and who wants another game.

What is known of friends' seats is kept in the store; who is here, and offers of a rematch, live as long as the server.
"""

from collections import Counter
from dataclasses import dataclass

from ludodrome.store.plays import FRIEND, Friend, digest_of
from ludodrome.web.positions import Json

PERSON, BOT = "person", "bot"
"""Kinds of seats beside ``friend``. A person is whoever began the game; both are the spec ``person`` in records."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Somebody who looks at a game: which seats they hold, and whether they began it."""

    seats: frozenset[int] = frozenset()
    owner: bool = False


class Company:
    """The seats of one game, and who holds them."""

    def __init__(
        self, kinds: tuple[str, ...], friends: dict[int, Friend], owner: str | None, digest: str | None
    ) -> None:
        self.kinds = kinds
        self.friends = dict(friends)
        self.owner = owner
        self.digest = digest
        """Of the key of an owner without an account."""
        self.offers: set[int] = set()
        """The seats that want another game."""
        self.next: str | None = None
        """The other game."""
        self._here: Counter[int] = Counter()

    @property
    def missing(self) -> list[int]:
        """The seats that nobody has taken yet: the game waits for them."""
        return [seat for seat, friend in self.friends.items() if friend.digest is None]

    @property
    def shared(self) -> bool:
        """Whether people sit here who are not at one screen."""
        return FRIEND in self.kinds

    def is_person(self, seat: int) -> bool:
        """Whether people play it, here or behind a link."""
        return self.kinds[seat] != BOT

    def people(self) -> frozenset[int]:
        """The seats that people play."""
        return frozenset(seat for seat in range(len(self.kinds)) if self.is_person(seat))

    def watcher(self, account: str | None, key: str | None) -> Watcher:
        """What somebody is here. Whoever shows a key is what the key says, and nothing that they are besides."""
        own = frozenset(seat for seat, kind in enumerate(self.kinds) if kind == PERSON)
        if key is None:
            return Watcher(own, True) if account is not None and account == self.owner else Watcher()
        digest = digest_of(key)
        if self.digest == digest:
            return Watcher(own, True)
        return Watcher(frozenset(seat for seat, friend in self.friends.items() if friend.digest == digest))

    def described(self, seat: int, watcher: Watcher) -> Json:
        """A seat, as somebody may know it."""
        friend = self.friends.get(seat)
        link = friend.link if friend is not None and watcher.owner else None
        return {
            "kind": self.kinds[seat],
            "person": self.is_person(seat),
            "yours": seat in watcher.seats,
            "taken": friend is None or friend.digest is not None,
            "here": not self.is_person(seat) or self._here[seat] > 0,
            "link": None if link is None else f"/join/{link}",
            "offers": seat in self.offers,
        }

    def arrive(self, watcher: Watcher) -> bool:
        """Somebody has the game before them; whether others should know."""
        return self._count(watcher, 1)

    def leave(self, watcher: Watcher) -> bool:
        """Somebody has gone; whether others should know."""
        return self._count(watcher, -1)

    def _count(self, watcher: Watcher, step: int) -> bool:
        before = [self._here[seat] > 0 for seat in watcher.seats]
        for seat in watcher.seats:
            self._here[seat] += step
        return self.shared and before != [self._here[seat] > 0 for seat in watcher.seats]
