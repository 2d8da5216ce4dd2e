"""`ludodrome serve` as a process of its own, for attacks on several of them at once."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from httpx import Client

PATIENCE = 120.0


@contextmanager
def web_process(database: str, folder: Path, *options: str) -> Iterator[str]:
    """The address of a server on a database, once it answers."""
    command = [sys.executable, "-m", "ludodrome", "serve", "--port", "0", "--no-browser", "--db", database]
    environment = {**os.environ, "XDG_DATA_HOME": str(folder)}
    with subprocess.Popen([*command, "--ladder", "off", *options], stdout=subprocess.PIPE, env=environment) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.:]+", process.stdout.readline().decode())
            assert found is not None, "the server did not say where it is"
            with Client(base_url=found[0], timeout=PATIENCE) as client:
                deadline = time.monotonic() + PATIENCE
                while client.get("/health").status_code != 200:  # while it loads its first game, it may be slow
                    assert time.monotonic() < deadline, "the server does not become healthy"
                    time.sleep(0.1)
            yield found[0]
        finally:
            process.terminate()
            process.wait(PATIENCE)
