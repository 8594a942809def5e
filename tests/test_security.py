"""What SECURITY.md says of the code itself."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
UNSAFE = {"pickle", "dill", "shelve", "marshal"}  # modules
CALLS = {"eval", "exec", "torch.load"}


def test_nothing_is_unpickled_and_no_text_is_run():
    found = []
    for path in sorted((ROOT / "honeyguide").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found += [f"{path.name}:{node.lineno}"] if _is_unsafe(node) else []
    assert not found


def _is_unsafe(node):
    if isinstance(node, ast.Import):
        return bool(UNSAFE & {name.name for name in node.names})
    if isinstance(node, ast.ImportFrom):
        return node.module in UNSAFE
    if isinstance(node, ast.keyword):
        return node.arg in {"allow_pickle", "shell"} and getattr(node.value, "value", True) is True
    return isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS


def test_every_promise_names_a_test_that_is_there():
    named = re.findall(r"`(tests/[\w/]+(?:\.py)?)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 10
    assert not [name for name in named if not (ROOT / name).exists()]
