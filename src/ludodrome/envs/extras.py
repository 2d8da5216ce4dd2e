"""Packages that are installed apart, and the sentence for whoever misses one."""


def missing_extra(error: ImportError, what: str, extra: str) -> ImportError:
    """The error to raise where a package of an extra could not be imported."""
    name = error.name or "a package"
    return ImportError(f"{what} need {name}, which is not installed: pip install 'ludodrome[{extra}]'", name=error.name)
