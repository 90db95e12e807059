# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels lie: by digests of sources, shipped ones first, wherever they were compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.compile_listener import LISTENER
from sinew.solver.runtime.kernel_cache import cache_folder, kernel_target, source_digests

ROOT = Path(__file__).resolve().parent.parent


def _forget() -> None:
    """Lets what is known of files be asked for again."""
    for known in (value for module in (cache_folder, source_digests) for value in vars(module).values()):
        if hasattr(known, "cache_clear"):
            known.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yields the folder of another package that is being developed, whose kernels are kept in a folder beside it."""
    folder = tmp_path / "solver"
    folder.mkdir()
    monkeypatch.setenv(cache_folder.CACHE_VARIABLE, str(tmp_path / "kernels"))
    monkeypatch.setenv(source_digests.DEVELOP_VARIABLE, "1")
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
    assert cache_folder.own_folder(package / "kernels.py") is not None
    _forget()
    monkeypatch.setattr(source_digests, "PROCESS_START", (package / "kernels.py").stat().st_ctime + 60.0)
    os.utime(package / "helper.py", (time.time() + 120.0,) * 2)
    assert cache_folder.own_folder(package / "kernels.py") is None


def test_a_changed_helper_changes_where_kernels_are_kept(package: Path) -> None:
    for name in (
        "linalg/point_stiffness_assembly.py",
        "linalg/vec3.py",
        "linalg/deep.py",
        "linalg/__init__.py",
        "jit.py",
    ):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("# helps\n")
    (package / "linalg" / "other.py").write_text("x = 1\n")
    (package / "linalg" / "point_stiffness_assembly.py").write_text(
        "def f():\n    from .vec3 import (\n        a,  # (b)\n    )\n"
    )
    (package / "linalg" / "vec3.py").write_text("from . import deep\nfrom ..jit import kernel as k\n")

    def folder() -> Path | None:
        _forget()
        return cache_folder.own_folder(package / "linalg" / "point_stiffness_assembly.py")

    first = folder()
    assert first is not None and first.name.startswith("point_stiffness_assembly-")
    (package / "linalg" / "other.py").write_text("x = 2\n")
    assert folder() == first
    for name in ("jit.py", "linalg/deep.py"):
        with (package / name).open("a") as file:
            file.write("\n# changed\n")
        assert folder() != first
        first = folder()


def test_only_a_changed_source_is_parsed_anew(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored, was = package.parent / "kernels", source_digests._read_source

    def read() -> list[str]:
        """Returns which files are read."""
        names: list[str] = []
        with monkeypatch.context() as here:
            here.setattr(source_digests, "_read_source", lambda name, *of: names.append(name) or was(name, *of))
            _forget()
            source_digests.source_infos(stored)
        return names

    (package / "a.py").write_text("from .b import c\n")
    (package / "b.py").write_text("c = 1\n")
    assert read() == ["a.py", "b.py"] and read() == []
    (package / "b.py").write_text("c = 22\n")
    assert read() == ["b.py"] and read() == []
    next(stored.iterdir()).write_text("{")
    assert sorted(read()) == ["a.py", "b.py"]


def test_a_user_has_one_digest_wherever_the_package_lies(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(source_digests.DEVELOP_VARIABLE, "0")
    (package / "a.py").write_text("a = 1\n")
    (package / "b.py").write_text("b = 1\n")

    def name() -> str:
        _forget()
        return cache_folder.version_name()

    first = name()
    assert {cache_folder.own_folder(package / file) for file in ("a.py", "b.py")} == {cache_folder.cache_root() / first}
    os.utime(package / "a.py", (1.0, 1.0))
    assert name() == first
    shutil.copytree(package, package.parent / "elsewhere" / "solver")
    monkeypatch.setattr(source_digests, "PACKAGE_FOLDER", package.parent / "elsewhere" / "solver")
    assert name() == first
    (package.parent / "elsewhere" / "solver" / "b.py").write_text("b = 2\n")
    assert name() != first
    monkeypatch.setenv(kernel_target.TARGET_VARIABLE, "generic")
    assert name() != first, "kernels for another processor are others"


def test_all_is_compiled_where_the_folder_says_so(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(source_digests.DEVELOP_VARIABLE, "0")
    (package / "a.py").write_text("a = 1\n")
    assert not cache_folder.is_all_compiled()
    cache_folder.mark_all_compiled()
    assert cache_folder.is_all_compiled()
    (package / "a.py").write_text("a = 2\n")
    _forget()
    assert not cache_folder.is_all_compiled()


SOURCES = """
from .runtime.jit import kernel

@kernel()
def third(a):
    return a / 3.0
"""
USE = """
import sys
sys.path[:0] = sys.argv[1:]
from sinew.solver.thirds import third
from sinew.solver.runtime.kernel_cache.cache_folder import version_name
with listen():
    assert third(6.0) == 2.0
    first = list(names)
    assert third(6) == 2.0
print(version_name(), first, names)
"""


def _installed(folder: Path) -> Path:
    """Lays out the package as a user has it, with a kernel more."""
    for part in ("__init__.py", "solver/__init__.py"):
        (folder / "sinew" / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, folder / "sinew" / part)
    shutil.copytree(ROOT / "solver" / "runtime", folder / "sinew" / "solver" / "runtime")
    (folder / "sinew" / "solver" / "thirds.py").write_text(SOURCES)
    return folder


BUNDLE_SOURCES = """
from typing import NamedTuple

class Bundle(NamedTuple):
    first: float
    second: float
"""
SUM_SOURCES = """
from .runtime.jit import kernel

@kernel()
def total(bundle):
    return bundle.first + bundle.second
"""
MOVED = """
import sys
from importlib import import_module
sys.path.insert(0, sys.argv[1])
Bundle = import_module("sinew.solver." + sys.argv[2]).Bundle
from sinew.solver.sums import total
assert total(Bundle(1.0, 2.0)) == 3.0
"""


def _use(kernels: Path, *paths: Path) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != source_digests.DEVELOP_VARIABLE}
    environment[cache_folder.CACHE_VARIABLE] = str(kernels)
    command = [sys.executable, "-c", LISTENER + USE, *map(str, paths)]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split(maxsplit=1)


@pytest.mark.slow
def test_shipped_kernels_are_loaded_and_never_written(tmp_path: Path) -> None:
    """Compiled in one folder, shipped from a second, used by a package in a third, in an empty home."""
    name, told = _use(tmp_path / "compiled", _installed(tmp_path / "here"))
    assert told.strip() == "['third'] ['third', 'third']"
    shipped = tmp_path / "site" / cache_folder.SHIPPED_PACKAGE
    shutil.copytree(tmp_path / "compiled" / name, shipped / name)
    (shipped / "__init__.py").touch()
    for path in (shipped / name).glob("*.2.nbc"):
        path.unlink()  # what was compiled for whole numbers was not shipped
    there = _installed(tmp_path / "there")
    os.utime(there / "sinew" / "solver" / "thirds.py", (1.0, 1.0))
    before = sorted((path.name, path.stat().st_mtime_ns) for path in (shipped / name).iterdir())
    assert _use(tmp_path / "home", there, tmp_path / "site") == [name, "[] ['third']\n"]
    assert before == sorted((path.name, path.stat().st_mtime_ns) for path in (shipped / name).iterdir())
    assert _use(tmp_path / "home", there, tmp_path / "site") == [name, "[] []\n"], "the rest is kept in the home"
    (there / "sinew" / "solver" / "more.py").touch()
    other, told = _use(tmp_path / "home", there, tmp_path / "site")
    assert other != name and told.startswith("['third']"), "shipped for other sources"


@pytest.mark.slow
def test_a_kernel_is_compiled_again_where_a_class_of_its_arguments_has_moved(tmp_path: Path) -> None:
    """Its folder stays, since its file does not import that class, but Numba's index names the module of the class."""
    solver = _installed(tmp_path) / "sinew" / "solver"
    (solver / "sums.py").write_text(SUM_SOURCES)
    environment = os.environ | {
        source_digests.DEVELOP_VARIABLE: "1",
        cache_folder.CACHE_VARIABLE: str(tmp_path / "kernels"),
    }
    for module, other in (("bundles", "parcels"), ("parcels", "bundles")):
        (solver / f"{other}.py").unlink(missing_ok=True)
        (solver / f"{module}.py").write_text(BUNDLE_SOURCES)
        command = [sys.executable, "-c", MOVED, str(tmp_path), module]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_kernels_are_compiled_for_the_target() -> None:
    code = "from sinew.solver.runtime.jit import kernel\nf = kernel()(lambda a: a)\nf(1.0)\n"
    code += "print(*f._compiled.targetctx.codegen().magic_tuple()[1:])"
    for chosen in ({}, {kernel_target.TARGET_VARIABLE: "generic"}):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU")}
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=clean | chosen)
        wanted = chosen.get(kernel_target.TARGET_VARIABLE) or kernel_target.kernel_target()
        if wanted != kernel_target.NATIVE:
            assert ended.stdout.strip() == wanted, ended.stderr
