# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are kept by the digest of their file and of all files that it imports."""

from __future__ import annotations

import ast
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sinew.solver.bake.warmup import stamps
from sinew.solver.runtime.kernel_cache import cache_folder, source_digests


def parsed(file: Path) -> set[Path]:
    """Returns the files of the package that a file imports, by Python's own parser."""
    found = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            named = [base / f"{alias.name}.py" for alias in node.names]
            found |= {path for path in (base.with_suffix(".py"), base / "__init__.py", *named) if _is_there(path)}
    return {path for path in found if source_digests.PACKAGE_FOLDER in path.parents}


def _is_there(file: Path) -> bool:
    """Whether there is a file of exactly that name: Windows would take Bones.py for bones.py."""
    return file.is_file() and file.name in os.listdir(file.parent)


def test_imports_are_found_as_the_parser_finds_them() -> None:
    names = {
        file.relative_to(source_digests.PACKAGE_FOLDER).as_posix()
        for file in source_digests.PACKAGE_FOLDER.rglob("*.py")
    }
    assert len(names) > 300
    for name in names:
        found = source_digests.read_source(source_digests.PACKAGE_FOLDER / name, names).imports
        assert {source_digests.PACKAGE_FOLDER / each for each in found} == parsed(
            source_digests.PACKAGE_FOLDER / name
        ), name


def _forget() -> None:
    """Lets what is known of files be asked for again."""
    for known in (value for module in (cache_folder, source_digests, stamps) for value in vars(module).values()):
        if hasattr(known, "cache_clear"):
            known.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yields the folder of another package, whose kernels are kept in a folder beside it."""
    folder = tmp_path / "solver"
    folder.mkdir()
    monkeypatch.setenv(cache_folder.CACHE_VARIABLE, str(tmp_path / "kernels"))
    monkeypatch.setattr(source_digests, "PACKAGE_FOLDER", folder)
    monkeypatch.setattr(source_digests, "PROCESS_START", time.time() + 60.0)
    _forget()
    yield folder
    monkeypatch.undo()
    _forget()


def test_what_changed_since_the_process_began_is_not_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process may run what was there before: it must not lie where others look for what is there now."""
    (package / "kernels.py").write_text("from .helper import a\n")
    (package / "helper.py").write_text("a = 1\n")
    assert cache_folder.cache_folder(package / "kernels.py", "0") is not None
    _forget()
    monkeypatch.setattr(source_digests, "PROCESS_START", (package / "kernels.py").stat().st_ctime + 60.0)
    os.utime(package / "helper.py", (time.time() + 120.0,) * 2)
    assert cache_folder.cache_folder(package / "kernels.py", "0") is None


def test_a_changed_helper_changes_where_kernels_are_kept(package: Path) -> None:
    for name in ("linalg/point_terms.py", "linalg/vec3.py", "linalg/__init__.py", "jit.py", "kernel_cache.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("# helps\n")
    (package / "linalg" / "other.py").write_text("x = 1\n")
    (package / "linalg" / "point_terms.py").write_text("from .vec3 import (\n    a,  # (b)\n    c,\n)\n")

    def digest() -> str:
        _forget()
        return cache_folder._source_digest(package / "linalg" / "point_terms.py")

    first = digest()
    (package / "linalg" / "other.py").write_text("x = 2\n")
    assert digest() == first
    with (package / "linalg" / "vec3.py").open("a") as file:
        file.write("\n# changed\n")
    assert digest() != first


def test_sources_are_read_where_one_has_changed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all that the system tells of it: one of the same size may have been written, with its old time set."""
    kept = package.parent / "kernels"

    def read() -> list[str]:
        """Returns which files are read."""
        names: list[str] = []
        with monkeypatch.context() as here:
            here.setattr(
                source_digests, "read_source", lambda file, all_names: names.append(file.name) or was(file, all_names)
            )
            _forget()
            source_digests.source_infos(kept)
        return names

    was = source_digests.read_source
    file, other = package / "a.py", package / "b.py"
    file.write_text("from .b import c\n")
    other.write_text("c = 1\n")
    assert read() == ["a.py", "b.py"] and read() == []
    before = other.stat()
    time.sleep(0.02)
    other.write_text("c = 2\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    if os.name == "posix":  # Windows tells when a file was made, not when it was put there
        assert read() == ["a.py", "b.py"] and read() == []
    other.unlink()
    assert read() == ["a.py"] and source_digests.source_infos(kept)["a.py"].imports == []
    (package / "c.py").write_text("")
    monkeypatch.setattr(source_digests, "PROCESS_START", time.time() - 60.0)
    assert read() == read() == ["a.py", "c.py"], "what may still be written is not kept"
    assert [path.suffix for path in kept.iterdir()] == [".json"]
    next(kept.iterdir()).write_text("{")
    assert read() == ["a.py", "c.py"]


def test_what_was_kept_in_another_way_counts_as_not_compiled(package: Path) -> None:
    """A mark that stayed would say of kernels that they are there, although none is looked for where they lie."""
    shutil.copy(Path(cache_folder.__file__).with_name("function_cache.py"), package)
    cache_folder.cache_root().mkdir()
    stamps.mark_compiled("held")
    assert list(stamps.compiled_features()) == [{"held"}]
    (package / "function_cache.py").write_text("# kernels are kept otherwise\n")
    _forget()
    assert not any(stamps.compiled_features())
