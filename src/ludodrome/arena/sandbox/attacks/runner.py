"""What runs inside the box: attacks, one after another, each with a line before it and a line after it.

An attack is a function. It returns a sentence if it got through, and None if it did not; an OSError or a MemoryError
says that it was refused. Any other exception is a mistake in the attack itself, and proves nothing.

This and the attacks use the standard library alone, since there is nothing else in the box.
"""

import ctypes
import importlib
import json
import os
import sys
from typing import Any

Given = dict[str, Any]


def run(names: "list[str]", given: "dict[str, Any]") -> None:
    """Try the attacks, ``module.function`` each."""
    for name in names:
        say({"began": name})
        module, _, function = name.partition(".")
        attack = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        try:
            escaped, words = attack(given), ""
        except (OSError, MemoryError) as error:
            escaped, words = None, f"{type(error).__name__}: {error}"
        say({"ended": name, "escaped": escaped, "words": words})


def say(message: "dict[str, Any]") -> None:
    """One line, in one piece, past all buffers."""
    os.write(1, json.dumps(message).encode() + b"\n")


def call(number: int, *arguments: Any) -> int:
    """A system call by its number on x86_64; an OSError if the kernel refuses it."""
    c = ctypes.CDLL(None, use_errno=True)
    c.syscall.restype = ctypes.c_long
    plain = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(c.syscall(ctypes.c_long(number), *plain))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def refusals(tries: "dict[str, Any]") -> "str | None":
    """All of these, each by itself: which of them got through, if any did. A try that returns False got nowhere."""
    through = []
    for name, attempt in tries.items():
        try:
            found = attempt()
        except (OSError, MemoryError):
            continue
        if found is not False:
            through.append(f"{name} ({found!r})"[:200])
    return ", ".join(through) or None


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
