"""Ctrl-C while Numba compiles: heeded afterwards, with the compiler still whole."""

import signal
import subprocess
import sys

import pytest

from ludodrome.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")

PROGRAM = """
import signal, sys, threading
import numba
from numba.core import event
from ludodrome import kernel_cache, jit

@numba.njit
def inner(x):
    return x + 1

@numba.njit
def outer(x):
    return inner(x) * 2

class Press(event.Listener):
    def on_start(self, event):
        if event.data["dispatcher"] is inner:
            for _ in range(int(sys.argv[1])):
                signal.raise_signal(signal.SIGINT)
            print("pressed", flush=True)
    def on_end(self, event):
        print("compiled", event.data["dispatcher"].py_func.__name__, flush=True)

def work():
    try:
        outer(1)
    except KeyboardInterrupt:
        print("interrupted", flush=True)

with event.install_listener("numba:compile", Press()):
    if sys.argv[2] == "main":
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        try:
            thread.join()
        except KeyboardInterrupt:
            kernel_cache.end_compiling()
            print("interrupted", flush=True)
print(outer(1), signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)
"""


def pressed(times: int, thread: str) -> tuple[int, list[str]]:
    """A process in which a thread compiles one function for another, and Ctrl-C is pressed in the midst of it."""
    program = [sys.executable, "-c", PROGRAM, str(times), thread]
    done = subprocess.run(program, capture_output=True, text=True, check=False, preexec_fn=_heed)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def _heed() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_main_thread_is_interrupted_when_all_is_compiled() -> None:
    lines = ["pressed", "compiled inner", "compiled outer", "interrupted", "4 True"]
    assert pressed(1, "main") == (0, lines)


def test_nothing_changes_without_ctrl_c() -> None:
    assert pressed(0, "main") == (0, ["pressed", "compiled inner", "compiled outer", "4 True"])


def test_the_second_ends_the_process_at_once() -> None:
    assert pressed(2, "main") == (-signal.SIGINT, [])


def test_who_waits_for_another_thread_lets_it_end_what_it_compiles() -> None:
    code, lines = pressed(1, "other")
    assert code == 0
    assert lines.index("compiled outer") < lines.index("interrupted")
