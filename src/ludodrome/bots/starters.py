"""Starter bots: small working bots that ``ludodrome new-bot`` writes.

Each language has a folder in ``templates/``: the protocol, and in ``strategies/`` the choice of moves, one file a game.
``c-wasm`` and ``rust-wasm`` are the same programs as ``c`` and ``rust``, built as WebAssembly.
Python files there end in ``.template``, since they are not modules of this package.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ludodrome.atomic_io import TEMPLATE, files_below, write_new
from ludodrome.games import GAMES
from ludodrome.validation import listing, show

_STRATEGIES = "strategies"
GAMES_WITH_STARTERS = tuple(
    sorted(
        file.name.partition(".")[0]
        for file in files(__package__).joinpath("templates", "python", _STRATEGIES).iterdir()
    )
)
"""The games that have a strategy file."""
_LISTED = "`legal_moves` is null in a match that hides the legal moves; then this bot says that it found none."
_MADE = "`legal_moves` is usually null, because there are too many; so the bot makes its own."


@dataclass(frozen=True, slots=True)
class Language:
    """How starter bots in one language are built and run."""

    strategy: str
    """The file that chooses moves."""
    spec: str
    """The bot's spec, for commands in its folder."""
    build: tuple[str, ...] = ()
    """The commands that build it; empty if none are needed."""
    program: str = ""
    """The program that must be installed to build or run it."""
    folder: str = ""
    """The folder of its templates; by default that of its name."""
    needs: str = ""
    """What else must be installed, as part of a sentence."""


LANGUAGES = {
    "python": Language("strategy.py", "cmd:python3 bot.py", program="python3"),
    "javascript": Language("strategy.mjs", "cmd:node bot.mjs", program="node"),
    "c": Language("strategy.h", "cmd:./bot", ("cc -O2 -o bot bot.c",), "cc"),
    "rust": Language("src/strategy.rs", "cmd:target/release/bot", ("cargo build --release",), "cargo"),
    "java": Language("Strategy.java", "cmd:java -cp build Bot", ("javac -d build *.java",), "javac"),
    "go": Language("strategy.go", "cmd:./bot", ("go build -o bot .",), "go"),
    "c-wasm": Language(
        "strategy.h",
        "wasm:bot.wasm",
        ("clang --target=wasm32-wasi -O2 -o bot.wasm bot.c",),
        "clang",
        "c",
        ", `lld` and `wasi-libc`",
    ),
    "rust-wasm": Language(
        "src/strategy.rs",
        "wasm:target/wasm32-wasip1/release/bot.wasm",
        ("cargo build --release --target wasm32-wasip1",),
        "cargo",
        "rust",
        " and `rustup target add wasm32-wasip1`",
    ),
    "assemblyscript": Language("strategy.ts", "wasm:bot.wasm", ("npm install && npm run build",), "npm"),
}


def write_starter(directory: Path, game: str, language: str) -> list[str]:
    """Write a starter bot into a new or empty folder and return its file names. Raises ValueError if it cannot."""
    if game not in GAMES_WITH_STARTERS:
        raise ValueError(
            f"there is no bot to begin with for {show(game)}; the games are {listing(GAMES_WITH_STARTERS)}"
        )
    if language not in LANGUAGES:
        raise ValueError(f"there is no bot to begin with in {show(language)}; the languages are {listing(LANGUAGES)}")
    return write_new(directory, starter(game, language))


def starter(game: str, language: str) -> dict[str, str]:
    """The files of a starter bot: name -> text."""
    made = LANGUAGES[language]
    folder = files("ludodrome.bots") / "templates"
    texts = {"README.md": _readme((folder / "README.md").read_text("utf-8"), game, made)}
    for name, file in files_below(folder / (made.folder or language)):
        path, _, last = name.rpartition("/")
        if path != _STRATEGIES:
            texts[name.removesuffix(TEMPLATE)] = file.read_text("utf-8")
        elif last.partition(".")[0] == game:
            texts[made.strategy] = file.read_text("utf-8")
    return texts


def one_file(game: str) -> str:
    """The Python starter as a single file."""
    texts = starter(game, "python")
    talk, _, rest = texts["bot.py"].partition("from strategy import choose\n")
    title, _, imports = talk.partition('"""\n\n')
    strategy = texts["strategy.py"].partition('"""\n')[2]
    about = texts["strategy.py"].partition('"""')[2].partition('"""')[0]
    head = f'"""{about}\n\n{title.removeprefix(chr(34) * 3).replace(" Moves are chosen in strategy.py.", "")}"""\n\n'
    return f"{head}{imports.rstrip()}\n{strategy.rstrip()}\n{rest.rstrip()}\n"


def commands(game: str, language: str) -> list[str]:
    """The commands to build, check and play a new bot, in its folder."""
    made = LANGUAGES[language]
    spec = f'"{made.spec}"' if " " in made.spec else made.spec
    return [*made.build, f"ludodrome doctor {game} {spec}", f"ludodrome match {game} {spec} random --games 10"]


def _readme(page: str, game: str, made: Language) -> str:
    words = {
        "title": GAMES[game].title,
        "game": game,
        "strategy": made.strategy,
        "first": f" (this needs `{made.program}`{made.needs})",
        "commands": "\n".join(commands(game, next(name for name, one in LANGUAGES.items() if one is made))),
        "again": "build it" if made.build else "save it",
        "moves": _MADE if GAMES[game].by_steps else _LISTED,
    }
    for name, word in words.items():
        page = page.replace(f"{{{name}}}", word)
    return page
