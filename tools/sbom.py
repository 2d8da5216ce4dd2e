"""Write the software bill of materials, CycloneDX in JSON: ``python -m tools.sbom [FILE]``.

It lists every package that the two lock files pin, with the hashes of its files, and the licences of those that are
installed here in that version. The same lock files and the same environment give the same bytes. Only the standard
library is needed.
"""

import json
import re
import sys
import uuid
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RUNTIME, DEVELOPMENT = "requirements.lock", "requirements-dev.lock"
PINNED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\\n]+?))?\s*\\?\n"
    r"(?P<hashes>(?:\s+--hash=\S+\s*\\?\n)*)",
    re.MULTILINE,
)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
VERSION = re.compile(r'^__version__ = "([^"]+)"', re.MULTILINE)
LICENCE = "License :: OSI Approved :: "
SHORT = 60
"""Longer texts in the field of the licence are the licence itself, not its name."""
NAMESPACE = uuid.UUID("5b1f7c5e-6f0e-5c7e-9a38-6c75646f6472")


class Pin(NamedTuple):
    """A pinned package of a lock file."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def pins(text: str) -> list[Pin]:
    """The packages that a lock file pins; ValueError if a line is neither a pin, a hash nor a comment."""
    rest = PINNED.sub("", text)
    for line in rest.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            raise ValueError(f"a lock file has lines like name==1.0 and --hash=sha256:..., not {line.strip()!r}")
    return [
        Pin(found["name"], found["version"], found["marker"] or "", tuple(HASH.findall(found["hashes"])))
        for found in PINNED.finditer(text)
    ]


def bill(root: Path = ROOT) -> dict[str, Any]:
    """The bill of materials of a checkout."""
    runtime = pins((root / RUNTIME).read_text("utf-8"))
    known = {(pin.name, pin.version) for pin in runtime}
    development = [pin for pin in pins((root / DEVELOPMENT).read_text("utf-8")) if (pin.name, pin.version) not in known]
    components = [
        *(_component(pin, "required") for pin in runtime),
        *(_component(pin, "excluded") for pin in development),
    ]
    components.sort(key=lambda one: (one["name"], one["version"]))
    found = VERSION.search((root / "src" / "ludodrome" / "__init__.py").read_text("utf-8"))
    if found is None:
        raise ValueError("src/ludodrome/__init__.py does not say its version")
    own = f"pkg:pypi/ludodrome@{found[1]}"
    body: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "ludodrome",
                "version": found[1],
                "purl": own,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": own, "dependsOn": [one["bom-ref"] for one in components if one["scope"] == "required"]}
        ],
    }
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps(body, sort_keys=True))}", **body}


def _component(pin: Pin, scope: str) -> dict[str, Any]:
    address = f"pkg:pypi/{pin.name}@{pin.version}"
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": address,
        "name": pin.name,
        "version": pin.version,
        "purl": address,
        "scope": scope,
        "externalReferences": [
            {
                "type": "distribution",
                "url": address,
                "hashes": [{"alg": "SHA-256", "content": one} for one in pin.hashes],
            }
        ],
    }
    if licences := _licences(pin):
        made["licenses"] = licences
    if pin.marker:
        made["properties"] = [{"name": "python:marker", "value": pin.marker}]
    return made


def _licences(pin: Pin) -> list[dict[str, Any]]:
    """The licences that the installed package declares; none if it is not installed in this version."""
    try:
        about = metadata(pin.name)
    except PackageNotFoundError:
        return []
    if about["Version"] != pin.version:
        return []
    if "License-Expression" in about:
        return [{"expression": about["License-Expression"]}]
    names = [line.removeprefix(LICENCE) for line in about.get_all("Classifier") or () if line.startswith(LICENCE)]
    fields = [field.strip() for field in about.get_all("License") or ()]
    if not names:
        names = [field for field in fields if field and len(field) <= SHORT and "\n" not in field]
    return [{"license": {"name": name}} for name in sorted(names)]


def main() -> None:
    """Write it to the file, or to the standard output."""
    if len(sys.argv) > 2:
        raise SystemExit("usage: python -m tools.sbom [FILE]")
    text = json.dumps(bill(), indent=2) + "\n"
    if len(sys.argv) == 2:
        Path(sys.argv[1]).write_text(text, "utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
