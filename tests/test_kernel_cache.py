# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are kept by the digest of their file and of all files that it imports."""

from __future__ import annotations

import ast
import os
import shutil
import time
from pathlib import Path

import pytest

from sinew.solver import kernel_cache, warm_marks


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


def _forget() -> None:
    """Lets what is known of files be asked for again."""
    for known in vars(kernel_cache).values():
        if hasattr(known, "cache_clear"):
            known.cache_clear()


def test_what_changed_since_the_process_began_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process may run what was there before: it must not lie where others look for what is there now."""
    package = tmp_path / "solver"
    package.mkdir()
    (package / "kernels.py").write_text("from .helper import a\n")
    (package / "helper.py").write_text("a = 1\n")
    monkeypatch.setattr(kernel_cache, "PACKAGE", package)
    _forget()
    monkeypatch.setattr(kernel_cache, "BEGAN", time.time() + 60.0)
    assert kernel_cache.cache_folder(package / "kernels.py", "0") is not None
    _forget()
    monkeypatch.setattr(kernel_cache, "BEGAN", (package / "kernels.py").stat().st_ctime + 60.0)
    os.utime(package / "helper.py", (time.time() + 120.0,) * 2)
    assert kernel_cache.cache_folder(package / "kernels.py", "0") is None
    _forget()


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
        _forget()
        return kernel_cache._digest(package / "linear" / "points.py")

    first = digest()
    (package / "linear" / "other.py").write_text("x = 2\n")
    assert digest() == first
    with (package / "linear" / "threes.py").open("a") as file:
        file.write("\n# changed\n")
    assert digest() != first


def test_what_was_kept_in_another_way_counts_as_not_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that stayed would say of kernels that they are there, although none is looked for where they lie."""
    package = tmp_path / "solver"
    package.mkdir()
    shutil.copy(kernel_cache.PACKAGE / "kept_kernels.py", package)
    monkeypatch.setenv(kernel_cache.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(warm_marks, "PACKAGE", package)
    warm_marks._sources.cache_clear()
    warm_marks.mark("held")
    assert list(warm_marks.marked()) == [{"held"}]
    (package / "kept_kernels.py").write_text("# kernels are kept otherwise\n")
    warm_marks._sources.cache_clear()
    assert not any(warm_marks.marked())
    warm_marks._sources.cache_clear()
