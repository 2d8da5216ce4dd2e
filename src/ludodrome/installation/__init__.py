"""Whether this installation can do its work, part by part, and what to do where it cannot.

``findings`` runs all checks. What concerns packages is in ``packages.py``, what concerns the machine in ``machine.py``.
A bot is examined by ``arena/doctor``.
"""

from collections.abc import Iterator

from ludodrome.installation.findings import OK, PROBLEM, WARNING, Finding

__all__ = ["OK", "PROBLEM", "WARNING", "Finding", "findings"]


def findings(host: str, ports: range) -> Iterator[Finding]:
    """All checks, one after another; the page would be served at the first free port of these."""
    from ludodrome.installation import machine, packages

    yield machine.program()
    yield packages.python()
    yield packages.required()
    yield machine.threads()
    yield machine.cache()
    yield machine.sandbox()
    yield machine.database()
    yield machine.port(host, ports)
    yield machine.browser()
    yield machine.terminal()
    yield from packages.extras()
