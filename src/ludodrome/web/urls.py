"""Where things are: the beginning of the API's addresses, and the form of the address that a request has."""

from starlette.types import Scope

API = "/api/v1"


def route_template(scope: Scope) -> str | None:
    """The address of the route that answers, with names in the place of values; None if none does."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return None
    inside = scope["path"].startswith(f"{API}/") and not path.startswith(f"{API}/")
    return f"{API}{path}" if inside else str(path)  # a route knows its router's prefix, and not the API's
