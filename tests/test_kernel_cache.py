# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are kept by the digest of their file and of all files that it imports."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from sinew.solver import kernel_cache


def parsed(file: Path) -> set[Path]:
    """Returns the files of the package that a file imports, by Python's own parser."""
    found = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            named = [base / f"{alias.name}.py" for alias in node.names]
            found |= {path for path in (base.with_suffix(".py"), base / "__init__.py", *named) if path.is_file()}
    return {path for path in found if kernel_cache.PACKAGE in path.parents}


def test_imports_are_found_as_the_parser_finds_them() -> None:
    sources = sorted(kernel_cache.PACKAGE.rglob("*.py"))
    assert len(sources) > 300
    for source in sources:
        assert set(kernel_cache._imported(source)) == parsed(source), source


def test_a_changed_helper_changes_where_kernels_are_kept(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "solver"
    package.mkdir()
    for name in ("linear/points.py", "linear/threes.py", "linear/__init__.py", "jit.py", "kernel_cache.py"):
        (package / name).parent.mkdir(exist_ok=True)
        shutil.copy(kernel_cache.PACKAGE / name, package / name)
    (package / "linear" / "other.py").write_text("x = 1\n")
    monkeypatch.setattr(kernel_cache, "PACKAGE", package)
    (package / "linear" / "points.py").write_text("from .threes import (\n    a,  # (b)\n    c,\n)\n")

    def digest() -> str:
        for known in (kernel_cache._digest, kernel_cache._content, kernel_cache._content_digest):
            known.cache_clear()
        kernel_cache._imported.cache_clear()
        kernel_cache._is_source.cache_clear()
        return kernel_cache._digest(package / "linear" / "points.py")

    first = digest()
    (package / "linear" / "other.py").write_text("x = 2\n")
    assert digest() == first
    with (package / "linear" / "threes.py").open("a") as file:
        file.write("\n# changed\n")
    assert digest() != first
