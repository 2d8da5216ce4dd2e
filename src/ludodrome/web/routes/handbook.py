"""The documentation's pages and files."""

import functools

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from ludodrome.web import handbook
from ludodrome.web.routes.pages import general_page
from ludodrome.web.static_files import Files

router = APIRouter(include_in_schema=False)

KEPT = {"cache-control": "no-cache"}
"""A browser keeps what it has, and asks whether that is still right."""


@router.get("/docs")
def beginning() -> Response:
    """The first page; links in it count from the folder."""
    return RedirectResponse("/docs/")


@router.get("/docs/{address:path}")
async def documentation(request: Request, address: str) -> Response:
    """A page of the documentation, or a file that one needs."""
    wanted = f"{address}{handbook.INDEX}" if not address or address.endswith("/") else address
    if handbook.is_built():
        answer = _site((handbook.SITE / handbook.INDEX).stat().st_mtime_ns).answer(wanted, request.headers)
        if answer is None:
            raise _missing()
        answer.headers.update(KEPT)
        return answer
    if (picture := handbook.picture(wanted)) is not None:
        return FileResponse(picture, headers=KEPT)
    if (page := handbook.plain_page(wanted)) is None:
        raise _missing()
    up = "../" * wanted.count("/")
    return general_page(request, "handbook.html", page=page, index=f"{up}{handbook.INDEX}")


@functools.lru_cache(1)
def _site(built: int) -> Files:
    """The site as it was built then."""
    return Files(handbook.SITE)


def _missing() -> HTTPException:
    return HTTPException(404, "There is no such page of the documentation; it begins at /docs/.")
