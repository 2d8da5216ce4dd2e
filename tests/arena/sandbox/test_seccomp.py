"""The filter of system calls, run by a small machine of our own, and its numbers against the kernel's headers."""

import errno
import re
import struct
from pathlib import Path

import pytest

from ludodrome.arena.sandbox.seccomp import ALLOWED, CLONE3, CONDITIONAL, program

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
X86_64, I386 = 0xC000003E, 0x40000003
ALLOW, KILL, REFUSED = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM


def decide(number: int, arguments: tuple[int, ...] = (0,) * 6, architecture: int = X86_64) -> int:
    """What the filter says about a call."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments)
    lines = list(struct.iter_unpack("<HBBI", program()))
    at = held = 0
    while True:
        code, then, otherwise, value = lines[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == 0x15:
            at += then if held == value else otherwise
        elif code == 0x35:
            at += then if held >= value else otherwise
        else:
            assert code == 0x06
            return int(value)


def test_what_is_allowed_is_the_list_and_nothing_else() -> None:
    conditional = {number for number, _, _ in CONDITIONAL.values()}
    for number in range(600):
        if number in conditional:
            continue
        if number == CLONE3:
            assert decide(number) == 0x00050000 | errno.ENOSYS
        else:
            assert decide(number) == (ALLOW if number in ALLOWED.values() else REFUSED)


@pytest.mark.parametrize("name", CONDITIONAL)
def test_conditions_look_at_one_argument(name: str) -> None:
    number, argument, values = CONDITIONAL[name]

    def asked(value: int) -> int:
        return decide(number, tuple(value if one == argument else 0xFFFFFFFF for one in range(6)))

    assert [asked(value) for value in values] == [ALLOW] * len(values)
    others = {0, 1, 17, 1031, 0x5412, 0x10000000, 0x3D0F00 | 0x10000000, 0x3D0F00 & ~0x10000, 2**31} - set(values)
    assert {asked(value) for value in others} == {REFUSED}
    assert asked(values[0] | 1 << 40) == ALLOW  # the kernel reads 32 bits of these


def test_other_ways_into_the_kernel_are_the_end() -> None:
    assert decide(39, architecture=I386) == KILL
    assert decide(39 | 0x40000000) == KILL


def test_the_numbers_are_those_of_the_kernel() -> None:
    if not HEADER.exists():
        pytest.skip(f"{HEADER} is not here, so the numbers are compared with nothing")
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())}
    ours = {**ALLOWED, **{name: number for name, (number, _, _) in CONDITIONAL.items()}, "clone3": CLONE3}
    assert {name: numbers[name] for name in ours} == ours
    for name in (
        "socket",
        "connect",
        "fork",
        "vfork",
        "execveat",
        "memfd_create",
        "io_uring_setup",
        "unshare",
        "ptrace",
    ):
        assert numbers[name] not in ours.values()
