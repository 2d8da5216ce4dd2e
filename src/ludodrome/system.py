"""Facts about the machine: usable cores, and addresses that belong to it."""

import ipaddress
import os
from functools import lru_cache


def core_count() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1024)
def is_loopback(address: str) -> bool:
    """Whether a text is a loopback IP address, of version 4 or 6; False for a name.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
