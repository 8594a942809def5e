"""The house: few modules beside the packages, few layers, one place for each thing."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "honeyguide"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS = next(
    contract["layers"]
    for contract in SETTINGS["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
)
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def sources():
    return {path.relative_to(PACKAGE): path.read_text() for path in PACKAGE.rglob("*.py")}


def places_of(pattern):
    return {str(path) for path, text in sources().items() if re.search(pattern, text)}


def test_at_most_ten_modules_stand_beside_the_packages():
    assert len(MODULES) <= 10, MODULES


def test_every_package_is_in_exactly_one_of_at_most_eight_layers():
    assert len(LAYERS) <= 8
    named = [name.strip() for layer in LAYERS for name in re.split(r"[|:]", layer)]
    expected = {f"honeyguide.{name}" for name in [*PACKAGES, *MODULES]}
    expected -= {"honeyguide.__init__", "honeyguide.__main__"}
    assert sorted(named) == sorted(expected)


def test_navigators_are_made_in_one_place():
    assert places_of(r"(?<!class )\bNavigator\(") == {"assemble.py"}


def test_files_are_replaced_by_one_function():
    moving = places_of(r"\bos\.(replace|rename)\(|\w+\.rename\(|unfinished\.replace\(")
    assert moving == {"disk/files.py", "recorded/writer.py"}, "a recorded web is a whole folder"


def test_one_module_decides_when_a_host_may_be_asked():
    assert places_of(r"class \w*(Schedule|Politeness|Turns|Backoff)\b") == {"web/host_schedule.py"}
