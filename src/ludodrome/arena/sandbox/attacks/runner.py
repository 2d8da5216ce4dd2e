"""The program inside the box: run attacks one after another, with a line of output before and after each.

An attack is a function. It returns a sentence if it succeeded, and None if it did not; an OSError or a MemoryError also
means that it was refused. Any other exception is a bug in the attack and proves nothing.

This module and the attacks use only the standard library, since the box has nothing else.
"""

import ctypes
import importlib
import json
import os
import sys
from typing import Any

Given = dict[str, Any]


def run(names: "list[str]", given: "dict[str, Any]") -> None:
    """Run the attacks, each named ``module.function``."""
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
    """Write one line at once, without buffers."""
    os.write(1, json.dumps(message).encode() + b"\n")


def call(number: int, *arguments: Any) -> int:
    """Make a system call by its number on x86_64; OSError if the kernel refuses it."""
    c = ctypes.CDLL(None, use_errno=True)
    c.syscall.restype = ctypes.c_long
    plain = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(c.syscall(ctypes.c_long(number), *plain))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def refusals(tries: "dict[str, Any]") -> "str | None":
    """Run all tries; return the ones that succeeded, or None. A try that returns False failed."""
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
