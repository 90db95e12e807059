# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sources have to say so that they do the same on Windows: widths of whole numbers and ends of lines.

NumPy before 2 makes whole numbers of 32 bits there where it is not told how many: 0.2.0's multigrid shifted them by 32.
Files that are opened as text get other ends of lines there, and so other bytes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.source_trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent
WIDTH_DEPENDS_ON_THE_SYSTEM = {"int", "np.int_", "np.uint", "np.long", "np.ulong", "np.intc"}


def says(call: ast.Call, *names: str, place: int | None = None) -> bool:
    """Whether a call has an argument of one of these names, or one at this place."""
    named = any(keyword.arg in names for keyword in call.keywords)
    return named or (place is not None and len(call.args) > place)


def is_whole(node: ast.expr) -> bool:
    """Whether an expression is a whole number, or a list of nothing else."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp):
        return is_whole(node.operand)
    return isinstance(node, ast.List | ast.Tuple) and bool(node.elts) and all(map(is_whole, node.elts))


def is_float(node: ast.expr) -> bool:
    """Whether an expression says by itself that it is no whole number."""
    inner = list(ast.walk(node))
    return any(isinstance(one, ast.Constant) and isinstance(one.value, float | bool) for one in inner) or any(
        ast.unparse(one) in ("np.inf", "np.nan") for one in inner
    )


def leaves_width_open(call: ast.Call) -> bool:
    """Whether the width of the whole numbers that a call makes is left to the system."""
    name = ast.unparse(call.func)
    if name == "np.arange":
        return not says(call, "dtype", place=3)
    if name in ("np.cumsum", "np.cumprod", "np.prod"):
        return not says(call, "dtype", "out")
    if name == "np.full":
        return not says(call, "dtype", place=2) and not is_float(call.args[1])
    if name in ("np.array", "np.asarray"):
        return not says(call, "dtype", place=1) and is_whole(call.args[0])
    if name.endswith(".astype") or name.startswith("np."):
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
        return any(ast.unparse(one) in WIDTH_DEPENDS_ON_THE_SYSTEM for one in given)
    return False


def writes_other_line_ends(call: ast.Call) -> bool:
    """Whether a call writes text and leaves the ends of its lines to the system."""
    name = ast.unparse(call.func)
    if name.endswith(".write_text"):
        return not says(call, "newline")
    if name != "open" and not name.endswith((".open", ".fdopen", "NamedTemporaryFile", "TextIOWrapper")):
        return False
    if ast.unparse(call.func) == "os.open":
        return "O_WRONLY" in ast.unparse(call) and not any(w in ast.unparse(call) for w in ("O_BINARY", "os.devnull"))
    modes = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    is_written = any(mode[:1] in ("w", "a", "x") and len(mode) < 4 and "b" not in mode for mode in modes)
    return (is_written or name.endswith("TextIOWrapper")) and not says(call, "newline")


def found(asks: Callable[[ast.Call], bool], *folders: str) -> Iterator[str]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in nodes_of(path):
                if isinstance(node, ast.Call) and asks(node):
                    yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {ast.unparse(node)[:80]}"


def test_whole_numbers_have_the_same_width_everywhere() -> None:
    wrong = list(found(leaves_width_open, "solver", "addon"))
    assert not wrong, "say dtype=np.int64 (or what it is):\n" + "\n".join(wrong)


def test_text_is_written_with_the_same_line_ends_everywhere() -> None:
    wrong = list(found(writes_other_line_ends, "solver", "addon", "benchmarks", "scripts", "demo_blends"))
    assert not wrong, 'say newline="\\n", or write bytes:\n' + "\n".join(wrong)


@pytest.mark.parametrize(
    "code",
    [
        "np.arange(n)", "np.arange(0, n, 2)", "np.cumsum(counts)", "np.full(n, -1)", "np.full(n, count)",
        "np.array([[0, 1], [-1, 2]])", "x.astype(int)", "np.zeros(n, int)", "np.empty(n, dtype=np.int_)", "np.prod(n)",
    ],
)  # fmt: skip
def test_open_widths_are_found(code: str) -> None:
    assert leaves_width_open(ast.parse(code, mode="eval").body)


@pytest.mark.parametrize(
    "code",
    [
        "np.arange(n, dtype=np.int64)", "np.arange(0, n, 1, np.int32)", "np.cumsum(counts, out=starts)",
        "np.full(n, -1, np.int64)", "np.full(n, 0.5)", "np.full(n, -np.inf)", "np.array([1.0, 2])", "np.array(rows)",
        "x.astype(np.int64)", "np.zeros(n, bool)",
    ],
)  # fmt: skip
def test_widths_that_are_said_are_left_alone(code: str) -> None:
    assert not leaves_width_open(ast.parse(code, mode="eval").body)


@pytest.mark.parametrize(
    ("code", "is_wrong"),
    [
        ("path.write_text(text, encoding='utf-8')", True), ("open(path, 'a', encoding='utf-8')", True),
        ("path.open('w')", True), ("os.open(path, os.O_WRONLY | os.O_CREAT)", True),
        ("path.write_text(text, newline='\\n')", False), ("open(path, 'wb')", False), ("open(path)", False),
        ("Image.open(raw)", False), ("open(path, 'a', newline='\\n')", False),
    ],
)  # fmt: skip
def test_line_ends_are_found(code: str, is_wrong: bool) -> None:
    assert writes_other_line_ends(ast.parse(code, mode="eval").body) is is_wrong
