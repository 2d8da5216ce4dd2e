"""The software bill of materials has every pinned package, and the workflows make it and audit the lock files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ludodrome
from tools.sbom import DEVELOPMENT, RUNTIME, bill, pins

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


def _pinned(name: str) -> set[tuple[str, str]]:
    """The pins of a lock file, read by the line."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    split = (
        re.split(r"==| ", line, maxsplit=2)[:2] for line in lines if "==" in line and not line.startswith((" ", "#"))
    )
    return {(name, version) for name, version in split}


def test_it_has_every_pinned_package() -> None:
    found = bill()
    components = found["components"]
    there = {(one["name"], one["version"]) for one in components}
    assert there == _pinned(RUNTIME) | _pinned(DEVELOPMENT)
    assert len(there) == len(components) > 120
    required = {(one["name"], one["version"]) for one in components if one["scope"] == "required"}
    assert required == _pinned(RUNTIME)
    hashes = sum(len(one["externalReferences"][0]["hashes"]) for one in components)
    assert hashes >= max((ROOT / name).read_text("utf-8").count("--hash=sha256:") for name in (RUNTIME, DEVELOPMENT))
    assert all(one["externalReferences"][0]["hashes"] for one in components)


def test_its_shape_is_that_of_cyclonedx() -> None:
    found = bill()
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found["serialNumber"])
    assert found["metadata"]["component"]["version"] == ludodrome.__version__
    references = [one["bom-ref"] for one in found["components"]]
    assert len(set(references)) == len(references)
    allowed = {"type", "bom-ref", "name", "version", "purl", "scope", "externalReferences", "licenses", "properties"}
    for one in found["components"]:
        assert set(one) <= allowed
        assert one["type"] == "library"
        assert re.fullmatch(r"pkg:pypi/[a-z0-9._-]+@[^@]+", one["purl"])
        assert one["scope"] in ("required", "excluded")
        for reference in one["externalReferences"]:
            assert reference["type"] == "distribution"
            assert all(re.fullmatch(r"[0-9a-f]{64}", entry["content"]) for entry in reference["hashes"])
        for licence in one.get("licenses", ()):
            assert ("expression" in licence) != ("license" in licence)
    licensed = [one for one in found["components"] if one.get("licenses")]
    assert len(licensed) > 50, "the installed packages say their licences"
    (dependencies,) = found["dependencies"]
    assert set(dependencies["dependsOn"]) <= set(references)


def test_it_is_deterministic(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        subprocess.run([sys.executable, "-m", "tools.sbom", str(tmp_path / name)], check=True, cwd=ROOT)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text("utf-8")) == bill()


def test_a_line_that_pins_nothing_is_refused() -> None:
    assert [one.name for one in pins("# a comment\na==1 \\\n    --hash=sha256:" + "0" * 64 + "\n")] == ["a"]
    for line in ("a>=1\n", "-e .\n", "https://example.org/a.whl\n"):
        with pytest.raises(ValueError, match="a lock file has lines like"):
            pins(line)


def test_the_workflows_use_it() -> None:
    release = (WORKFLOWS / "release.yml").read_text("utf-8")
    assert "python -m tools.sbom dist/" in release
    audit = (WORKFLOWS / "audit.yml").read_text("utf-8")
    for name in (RUNTIME, DEVELOPMENT):
        assert f"--requirement {name}" in audit
    page = (ROOT / "docs" / "reference" / "releases.md").read_text("utf-8")
    for command in ("pip-audit", "scripts/sbom"):
        assert command in page
