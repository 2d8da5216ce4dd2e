"""The contract of a game, as checks that ship with the package: every game passes the same ones.

    from ludodrome.testing import CHECKS, CHECKS_ONCE, Tally, walk

``contract.py`` has the contract of ``Game``, ``walking.py`` the walk beside an oracle. Nothing here needs pytest; with
it, ``pytest.register_assert_rewrite("ludodrome.testing")`` before the import gives more detailed failures.
"""

from ludodrome.testing.contract import CHECKS, CHECKS_ONCE
from ludodrome.testing.walking import Tally, examples, walk

__all__ = ["CHECKS", "CHECKS_ONCE", "Tally", "examples", "walk"]
