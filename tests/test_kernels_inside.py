# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that only kernels call are compiled for them alone, and refuse Python instead of ending it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fixtures.source_trees import tree_of
from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.kernel_cache.source_digests import PACKAGE_FOLDER

MARK = "device_only=True"


def _kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any("kernel(" in ast.unparse(d) for d in f.decorator_list)]


def _named(node: ast.AST) -> set[str]:
    """Returns the functions that are called by name somewhere in `node`."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return {part.id for part in calls if isinstance(part, ast.Name)}


def test_what_is_compiled_for_kernels_alone_is_called_by_kernels_alone() -> None:
    trees = {file: tree_of(file) for file in PACKAGE_FOLDER.rglob("*.py")}
    kernels = {file: _kernels(tree) for file, tree in trees.items()}
    inside = {
        (file, f.name) for file, found in kernels.items() for f in found if MARK in ast.unparse(f.decorator_list[0])
    }
    assert len(inside) > 50
    wrong = []
    for file, tree in trees.items():
        others = [node for node in tree.body if node not in kernels[file]]
        called = set[str]().union(*map(_named, others))
        own = {name for where, name in inside if where == file}
        wrong += [f"{file.name}: {name}" for name in sorted(called & (own | _imported(file, tree, inside)))]
    assert not wrong, f"called by Python, but compiled with device_only=True: {wrong}"


def _imported(file: Path, tree: ast.Module, inside: set[tuple[Path, str]]) -> set[str]:
    """Returns the names of `device_only` that a file imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            source = file.parents[node.level - 1].joinpath(*(node.module or "").split(".")).with_suffix(".py")
            names |= {alias.name for alias in node.names if (source, alias.name) in inside}
    return names


@kernel(device_only=True)
def half(a):
    """Returns a / 2."""
    return 0.5 * a


@kernel()
def quarter(a):
    """Returns a / 4."""
    return half(half(a))


def test_python_is_refused_before_and_after_a_kernel_has_called() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="half is compiled for kernels only"):
            half(1.0)
        assert quarter(1.0) == 0.25
