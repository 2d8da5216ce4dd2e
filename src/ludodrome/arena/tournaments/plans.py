"""The plan of a tournament: bots, games and format, read from TOML or made from options, and checked.

The plan decides which games are played, and how; not where.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ludodrome.arena.clocks import Clock
from ludodrome.arena.conditions import Conditions, conditions
from ludodrome.arena.matches.openings import read_book
from ludodrome.arena.matches.scheduler import MatchSettings
from ludodrome.arena.play_spec import HASHED
from ludodrome.arena.seeds import SECRET_BITS, new_secret
from ludodrome.bots.identity import named_with_identity
from ludodrome.games import make
from ludodrome.validation import choice, integer, listing, show

ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT = FORMATS = ("round-robin", "gauntlet", "swiss", "knockout")
MAX_BOTS = 1000
MAX_PAIRS = 100_000
MAX_SPEC = 4000
"""Characters of a spec; the settings of a bots file are part of it."""
MAX_TAGS = 20
"""Tags of a bot."""
MAX_SEED = 2**SECRET_BITS - 1
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,60}")

_KEYS = {
    "name": "a text",
    "format": listing(FORMATS, "or"),
    "games": "a list of game ids, or of tables with id, name, options, clock, policy and openings",
    "bots": "tables with bot, name, home, clock and tags",
    "pairs": "how many openings a meeting is played from, with the seats changed",
    "rounds": "of a Swiss tournament",
    "challengers": "names of bots, in a gauntlet",
    "extra_pairs": "how many pairs a tied meeting of a knockout may go on",
    "home_and_away": "whether a meeting is played in the home games of the two bots",
    "openings": "whether games begin from balanced openings, or a file of openings",
    "seed": "a whole number; without one, it is drawn and kept",
    "clock": "a text like 1s",
    "policy": "a text like forfeit",
    "legal_moves": "whether the bots are shown them",
    "tolerant": "whether lines of a bot that are not JSON are ignored",
    "adjudication": "a text like solver",
}
"""The keys of a plan and their meaning."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in a tournament."""

    name: str
    specs: dict[str, str]
    """Its spec in each game, by the name of the game."""
    home: str | None = None
    """The name of its home game."""
    clock: str | None = None
    """Its own clock, instead of that of the games: a handicap."""
    tags: tuple[str, ...] = ()
    """Words of its author's, shown beside its name; they decide nothing."""


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """A tournament before it is played: bots, games, format."""

    name: str
    format: str
    settings: tuple[MatchSettings, ...]
    entrants: tuple[Entrant, ...]
    pairs: int
    rounds: int
    challengers: tuple[int, ...]
    extra_pairs: int
    home_and_away: bool
    openings: bool
    seed: int
    seed_drawn: bool = False
    """Whether nobody chose the seed; a resumed tournament goes on with the one that it began with."""
    book_hashes: dict[str, str] = field(default_factory=dict)
    """Hashes of the files of openings, by the name of the game."""
    book_files: dict[str, str] = field(default_factory=dict)
    """Their paths, which may change while a tournament is played."""

    @property
    def names(self) -> list[str]:
        """The names of the entrants."""
        return [entrant.name for entrant in self.entrants]

    def settings_of(self, name: str) -> MatchSettings:
        """The settings of one of its games, by name."""
        return next(one for one in self.settings if one.name == name)

    def with_seed(self, seed: int) -> "TournamentPlan":
        """The same plan with another seed."""
        return replace(self, seed=seed, settings=tuple(replace(one, seed=seed) for one in self.settings))

    def with_tags_of(self, other: "TournamentPlan") -> "TournamentPlan":
        """The same plan with the tags that the bots have in another one."""
        tags = {one.name: one.tags for one in other.entrants}
        return replace(self, entrants=tuple(replace(one, tags=tags.get(one.name, ())) for one in self.entrants))

    def with_identities(self, identities: Mapping[str, Mapping[str, str]]) -> "TournamentPlan":
        """The same plan with the bots' identities: by the name of the game, then by spec."""
        settings = (replace(one, identities=dict(identities.get(one.name, {}))) for one in self.settings)
        return replace(self, settings=tuple(settings))

    def to_json(self) -> dict[str, Any]:
        """A plain value; ``from_json`` reads it back."""
        plain = {
            "name": self.name,
            "format": self.format,
            "entrants": [asdict(entrant) for entrant in self.entrants],
            "games": [asdict(one) | {"conditions": one.conditions.to_json()} for one in self.settings],
            "challengers": list(self.challengers),
        }
        same = ("pairs", "rounds", "extra_pairs", "home_and_away", "openings", "seed", "book_hashes")
        return plain | {name: getattr(self, name) for name in same}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "TournamentPlan":
        """Read what ``to_json`` wrote."""
        rest = {key: one for key, one in value.items() if key not in ("games", "entrants", "challengers")}
        older = {"version": HASHED}  # plans from before there were versions
        games = (older | one | {"conditions": Conditions.from_json(one["conditions"])} for one in value["games"])
        return TournamentPlan(
            settings=tuple(MatchSettings(**one) for one in games),
            entrants=tuple(Entrant(**(one | {"tags": tuple(one.get("tags", ()))})) for one in value["entrants"]),
            challengers=tuple(value["challengers"]),
            **rest,
        )


def changed_entrants(plan: TournamentPlan, before: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A sentence for each bot that has changed since the tournament was last played."""
    changes = []
    for one in plan.entrants:
        for on in plan.settings:
            spec = one.specs[on.name]
            old, new = before[on.name].get(spec), on.identities[spec]
            if old is not None and old != new:
                changes.append(
                    f"{one.name} has changed since the tournament began ({named_with_identity(one.name, old)} then, "
                    f"{named_with_identity(one.name, new)} now): its games are played again"
                )
                break
    return changes


def read_plan(path: Path, instead: Mapping[str, Any] = MappingProxyType({})) -> TournamentPlan:
    """Read a plan from a TOML file; ``instead`` overrides its keys. ValueError says what is wrong."""
    try:
        with open(path, "rb") as file:
            value = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the plan {path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except RecursionError as error:
        raise ValueError(f"the plan {path} cannot be read: it is nested too deeply") from error
    try:
        return make_plan({"name": path.stem} | value | dict(instead))
    except ValueError as error:
        raise ValueError(f"the plan {path}: {error}") from error


def make_plan(value: Mapping[str, Any]) -> TournamentPlan:
    """Make a plan from the keys of a TOML file; missing ones have defaults. ValueError says what is wrong."""
    for key in value:
        if key not in _KEYS:
            raise ValueError(f"a plan has no {show(key)}; it has {listing(_KEYS)}")
    seed = integer(value["seed"], 0, MAX_SEED, "the seed", ValueError) if "seed" in value else new_secret()
    kind = choice(value.get("format", ROUND_ROBIN), FORMATS, "the format", ValueError)
    settings = _settings(value, seed)
    books = _book_files(value, [one.name for one in settings])
    by_name = {one.name: one for one in settings}
    entrants = _entrants(value.get("bots"), settings)
    clocks = {one.name: one.clock for one in entrants if one.clock is not None}
    settings = tuple(replace(one, clocks=clocks) for one in settings)
    plan = TournamentPlan(
        _text(value.get("name", "tournament"), "the name"),
        kind,
        settings,
        entrants,
        integer(value.get("pairs", 1), 1, MAX_PAIRS, "pairs", ValueError),
        integer(value.get("rounds", swiss_rounds(len(entrants))), 1, 1000, "rounds", ValueError),
        _challengers(value.get("challengers"), [one.name for one in entrants]),
        integer(value.get("extra_pairs", 10), 0, 1000, "extra_pairs", ValueError),
        _flag(value.get("home_and_away", False), "home_and_away"),
        value.get("openings", True) not in (False, "none"),
        seed,
        "seed" not in value,
        book_hashes={name: _book_hash(by_name[name], file) for name, file in books.items()},
        book_files=books,
    )
    _check_format(plan, value)
    return plan


def swiss_rounds(entrants: int) -> int:
    """The number of rounds after which a single entrant can be first."""
    return max(1, (entrants - 1).bit_length())


def _check_format(plan: TournamentPlan, value: Mapping[str, Any]) -> None:
    """ValueError for parts that do not fit together."""
    for key, kind in (("rounds", SWISS), ("challengers", GAUNTLET), ("extra_pairs", KNOCKOUT)):
        if value.get(key) is not None and plan.format != kind:
            raise ValueError(f"{key} belongs to the format {kind}, and this is {plan.format}")
    for one in plan.settings:
        if one.seats > 2 and (plan.format != ROUND_ROBIN or plan.home_and_away):
            raise ValueError(
                f"{one.name} has {one.seats} seats: it can be played in a round robin, without home and away"
            )
        if len(plan.entrants) < one.seats:
            raise ValueError(f"{one.name} needs {one.seats} bots, and there are {len(plan.entrants)}")
    homeless = [entrant.name for entrant in plan.entrants if entrant.home is None]
    if plan.home_and_away and homeless:
        raise ValueError(f"home and away: every bot names its home game, and there is none for {listing(homeless)}")
    if plan.format == GAUNTLET and len(plan.challengers) == len(plan.entrants):
        raise ValueError("a gauntlet needs a bot that is not a challenger")


def _settings(value: Mapping[str, Any], seed: int) -> tuple[MatchSettings, ...]:
    games = value.get("games")
    if type(games) is not list or not games:
        raise ValueError(f"games is {_KEYS['games']}, not {show(games)}")
    for flag, usual in (("legal_moves", True), ("tolerant", False)):
        _flag(value.get(flag, usual), flag)
    found = [_game_settings(one if type(one) is dict else {"id": one}, value, seed) for one in games]
    _check_distinct([one.name for one in found], "two games are called")
    for number, one in enumerate(found):
        for other in found[:number]:
            if (one.game, one.options, one.conditions) == (other.game, other.options, other.conditions):
                raise ValueError(f"{other.name} and {one.name} are the same game under the same conditions")
    return tuple(found)


def _game_settings(value: dict[str, Any], plan: Mapping[str, Any], seed: int) -> MatchSettings:
    keys = ("id", "name", "options", "clock", "policy", "openings")
    if not ("id" in value and set(value) <= set(keys)):
        raise ValueError(f"a game of a plan has its id and may have {listing(keys[1:])}, not {listing(value)}")
    options = value.get("options", {})
    if type(options) is not dict:
        raise ValueError(f"the options of a game are a table like {{ rows = 3 }}, not {show(options)}")
    game = make(value["id"], **options)
    played = conditions(
        game,
        _word(value, plan, "policy"),
        _word(value, plan, "clock"),
        plan.get("legal_moves", True),
        tolerant=plan.get("tolerant", False),
        adjudication=_word(value, plan, "adjudication"),
    )
    changed = "".join(f" {key}={one}" for key, one in options.items())
    name = _text(value.get("name", game.id + changed), "the name of a game")
    return MatchSettings(name, game.id, game.options, game.seats, played, seed)


def _book_files(value: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """The files of openings: that of a game, or else of the whole plan."""
    whole, found = value.get("openings", True), {}
    if not isinstance(whole, bool | str):
        raise ValueError(f"openings is true, false, or a file of openings, not {show(whole)}")
    for name, one in zip(names, value["games"], strict=True):
        own = one.get("openings") if type(one) is dict else None
        if own is not None and type(own) is not str:
            raise ValueError(f"the openings of {name} are a file, not {show(own)}")
        file = whole if own is None else own
        if isinstance(file, str) and file not in ("drawn", "none"):
            found[name] = file
    return found


def _book_hash(settings: MatchSettings, file: str) -> str:
    return read_book(make(settings.game, **settings.options), file).hash


def _word(value: Mapping[str, Any], plan: Mapping[str, Any], key: str) -> str | None:
    """A text of the game, or else of the whole plan."""
    found = value.get(key, plan.get(key))
    return None if found is None else _text(found, key)


def _entrants(value: Any, settings: Sequence[MatchSettings]) -> tuple[Entrant, ...]:
    if type(value) is not list or not 2 <= len(value) <= MAX_BOTS:
        raise ValueError(f"a tournament has from 2 to {MAX_BOTS} bots, {_KEYS['bots']}, not {show(value)}")
    found = tuple(_entrant(one if type(one) is dict else {"bot": one}, settings) for one in value)
    _check_distinct([one.name for one in found], "two bots are called")
    return found


def _entrant(value: dict[str, Any], settings: Sequence[MatchSettings]) -> Entrant:
    keys = ("bot", "name", "home", "clock", "tags")
    if not ("bot" in value and set(value) <= set(keys)):
        raise ValueError(f"a bot of a plan has bot, its spec, and may have {listing(keys[1:])}, not {listing(value)}")
    games = [one.name for one in settings]
    spec = value["bot"]
    if type(spec) is not dict:
        spec = dict.fromkeys(games, spec)
        name = value.get("name", value["bot"])
    elif "name" in value:
        name = value["name"]
    else:
        raise ValueError("a bot with a spec for each game needs a name")
    name = _text(name, "the name of a bot")
    if set(spec) != set(games):
        raise ValueError(f"{name} has specs for {listing(spec)}, and the games are {listing(games)}")
    specs = {game: _text(spec[game], f"the spec of {name}", MAX_SPEC) for game in games}
    home, clock = value.get("home"), value.get("clock")
    if clock is not None:
        Clock.parse(_text(clock, f"the clock of {name}"))
    home = None if home is None else choice(home, games, f"the home of {name}", ValueError)
    return Entrant(name, specs, home, clock, _tags(value.get("tags", []), name))


def _tags(value: Any, name: str) -> tuple[str, ...]:
    if type(value) not in (list, tuple) or len(value) > MAX_TAGS:
        raise ValueError(f"the tags of {name} are a list of at most {MAX_TAGS} texts, not {show(value)}")
    return tuple(_text(tag, f"a tag of {name}") for tag in value)


def _challengers(value: Any, names: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the challengers. Default: the first bot."""
    if value is None:
        return (0,)
    if type(value) is not list or not value:
        raise ValueError(f"challengers is a list of names of bots, not {show(value)}")
    return tuple(sorted({names.index(choice(one, names, "a challenger", ValueError)) for one in value}))


def _check_distinct(names: Sequence[str], complaint: str) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{complaint} {name}; give one of them another name")


def _text(value: Any, where: str, longest: int = 60) -> str:
    if type(value) is not str or not 1 <= len(value) <= longest or (longest == 60 and not _NAME.fullmatch(value)):
        raise ValueError(f"{where} is a text of 1 to {longest} characters on one line, not {show(value)}")
    return value


def _flag(value: Any, where: str) -> bool:
    return bool(choice(value, (True, False), where, ValueError))
