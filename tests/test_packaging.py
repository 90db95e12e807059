# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shipped: versions agree, no package is forgotten, the zip holds what an artist needs and no more."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
import types
import zipfile
from pathlib import Path

import pytest

import sinew

ROOT = Path(__file__).resolve().parent.parent


def script(name: str) -> types.ModuleType:
    """Loads scripts/NAME.py, which is no part of the package."""
    if str(ROOT / "scripts") not in sys.path:
        sys.path.append(str(ROOT / "scripts"))  # scripts import each other
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build_zip() -> types.ModuleType:
    return script("build_zip")


@pytest.fixture(scope="module")
def libraries() -> types.ModuleType:
    return script("system_libraries")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_versions_agree():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert manifest["version"] == sinew.__version__
    assert f"## {sinew.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_pip_installs_every_package():
    folders = [path.parent for name in ("addon", "solver") for path in (ROOT / name).rglob("__init__.py")]
    found = {".".join(("sinew", *folder.relative_to(ROOT).parts)) for folder in folders}
    assert found | {"sinew"} == set(project()["tool"]["setuptools"]["packages"])


def test_pip_installs_the_mark_of_typed_packages_and_the_zip_no_examples(build_zip):
    assert project()["tool"]["setuptools"]["package-data"] == {"sinew": ["py.typed"]} and (ROOT / "py.typed").is_file()
    assert (ROOT / "examples").is_dir() and "examples" not in build_zip.CONTENT


def test_every_requirement_is_pinned():
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        for line in path.read_text().splitlines():
            assert not line or line.startswith("#") or "==" in line, f"{path.name}: {line}"


def test_peers_are_added_without_making_the_environment_anew(tmp_path, monkeypatch):
    """`make test` after `make bench` does nothing, and downloads no peer."""
    sys.path.insert(0, str(ROOT / "scripts"))
    environment, ran = script("environment"), []
    monkeypatch.setattr(environment, "_run", ran.append)
    monkeypatch.setattr(environment, "_is_version", lambda python, version: True)
    python = environment._python(tmp_path)
    python.parent.mkdir()
    python.touch()
    environment.make(tmp_path, [ROOT / "requirements" / "develop.txt"], editable=True)
    environment.add_peers(tmp_path)
    assert len(ran) == 3 and ran[2][-1].endswith("peers.txt")
    assert not any(option.endswith("peers.txt") for command in ran[:2] for option in command)
    environment.make(tmp_path, [ROOT / "requirements" / "develop.txt"], editable=True)
    environment.add_peers(tmp_path)
    assert len(ran) == 3 and "peers" not in environment.ALL_REQUIREMENTS


def test_the_manifest_of_a_zip_names_system_and_wheels(build_zip):
    python = build_zip.PYTHONS["cp311"]
    text = build_zip.manifest(python, "linux-x64", [Path("x/numba-1-cp311-cp311-linux.whl")])
    manifest = tomllib.loads(text)
    assert manifest["platforms"] == ["linux-x64"]
    assert manifest["wheels"] == ["./wheels/numba-1-cp311-cp311-linux.whl"]
    assert (manifest["blender_version_min"], manifest["blender_version_max"]) == ("4.5.0", "5.1.0")
    assert "network" not in manifest["permissions"] and manifest["id"] == "sinew"


def test_every_blender_gets_its_zip(build_zip, monkeypatch, tmp_path):
    made = []

    def build(tag: str, platform: str, out: Path, has_kernels: bool) -> Path:
        assert has_kernels
        made.append((build_zip.PYTHONS[tag].label, platform))
        zipfile.ZipFile(out / "made.zip", "w").close()
        return out / "made.zip"

    monkeypatch.setattr(build_zip, "build", build)
    monkeypatch.setattr(build_zip, "validate", lambda path: None)
    monkeypatch.setattr(sys, "argv", ["build_zip.py", "--out", str(tmp_path)])
    build_zip.main()
    everywhere = ["linux-x64", "windows-x64", "macos-arm64"]
    wanted = [(label, place) for label in ("blender4.5-5.0", "blender5.1-5.2") for place in everywhere]
    assert made == [*wanted, ("blender5.2-debian", "linux-x64")]


def test_every_zip_says_whether_it_holds_kernels(build_zip, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("wheels/numba-1-cp311-cp311-linux.whl", b"")
    assert "WITHOUT KERNELS" in build_zip.kernels_text(path)
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("wheels/sinew_kernels-1-cp311-cp311-linux.whl", b"0" * 2_000_000)
    assert build_zip.kernels_text(path) == "kernels inside (2.0 MB)"


def test_kernels_are_packed_as_a_wheel_that_pip_and_blender_take(tmp_path):
    kernel_wheel = script("kernel_wheel")
    folder = tmp_path / "cpython-311-0123456789abcdef"
    folder.mkdir()
    for name in (kernel_wheel.STAMP, *(f"pcg.{name}-{end}" for name in ("pcg", "dot") for end in ("7.nbi", "7.1.nbc"))):
        (folder / name).write_bytes(name.encode())
    wheel = tmp_path / "sinew_kernels-1.0+01234567-cp311-cp311-win_amd64.whl"
    kernel_wheel._pack(wheel, "1.0+01234567", folder, {"dot"})
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        kernels = {f"sinew_kernels/{folder.name}/{name}" for name in ("pcg.pcg-7.nbi", "pcg.pcg-7.1.nbc")}
        assert kernels <= names and "sinew_kernels/__init__.py" in names
        assert not any("dot" in name for name in names)  # pcg contains it
        info = "sinew_kernels-1.0+01234567.dist-info"
        assert "Tag: cp311-cp311-win_amd64" in packed.read(f"{info}/WHEEL").decode()
        lines = packed.read(f"{info}/RECORD").decode().splitlines()
        assert {line.split(",")[0] for line in lines} == names
    pytest.importorskip("pip", reason="takes pip")
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
    command += ["--platform", "win_amd64", "--only-binary=:all:", "--no-index", str(wheel)]
    subprocess.run(command, check=True, timeout=120)
    assert (target / "sinew_kernels" / folder.name / kernel_wheel.STAMP).is_file()


def test_kernels_that_only_kernels_call_are_told_from_the_sources(tmp_path):
    source = tmp_path / "pcg.py"
    source.write_text("""
from dots import dot

@kernel()
def pcg(x):
    return dot(x) + step(x)

@jit.kernel(inline=True)
def step(x):
    return dot(x)

@kernel()
def done(x):
    return x

def solve(x):
    return pcg(x) + jit.done(x)
""")
    inner = script("inner_kernels").inner_kernels
    assert inner([source]) == {"step"}
    (tmp_path / "dots.py").write_text("@kernel()\ndef dot(x):\n    return x\n")
    assert inner([source, tmp_path / "dots.py"]) == {"dot", "step"}


def test_scripts_and_solver_agree_about_kernels():
    from sinew.solver.runtime.kernel_cache import cache_folder

    kernel_wheel = script("kernel_wheel")
    assert (kernel_wheel.PACKAGE, kernel_wheel.STAMP) == (cache_folder.SHIPPED_PACKAGE, cache_folder.STAMP)
    assert set(kernel_wheel.TARGETS) == set(kernel_wheel.WHEEL_PLATFORMS) == set(kernel_wheel.SYSTEMS)


def test_the_zip_holds_the_package_only(build_zip):
    names = {path.relative_to(ROOT).as_posix() for path in build_zip.sources()}
    assert {
        "__init__.py",
        "LICENSE",
        "addon/panels/panels.py",
        "solver/scene/scene.py",
        "solver/runtime/jit.py",
    } <= names
    assert {name.split("/")[0] for name in names} <= set(build_zip.CONTENT)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".blend", ".npz"))]


def test_the_zip_needs_no_numpy(build_zip):
    lines = [line for path in build_zip.BUNDLED for line in path.read_text().splitlines()]
    names = {line.partition("==")[0].lower() for line in lines if not line.startswith("#")}
    assert {"numba", "scipy", "meshio"} <= names and "numpy" not in names


def test_missing_libraries_are_named_as_packages(libraries, monkeypatch):
    monkeypatch.setattr(libraries, "PACKAGE_OF_LIBRARY", {"libnowhere.so.7": "libnowhere7", "libc.so.6": "libc6"})
    if sys.platform == "linux":
        assert "libnowhere7" in libraries.missing_packages() and "libc6" not in libraries.missing_packages()


def test_without_rights_one_line_says_what_to_install(libraries, monkeypatch, capsys):
    monkeypatch.setattr(libraries, "missing_packages", lambda: ["libnowhere7", "libgl1"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert libraries.main() == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines if "apt-get" in line] == [
        "sudo apt-get install -y --no-install-recommends libnowhere7 libgl1"
    ]


def test_the_console_command_is_there():
    command = Path(sys.executable).with_name("sinew")
    if not command.exists():
        pytest.skip("this environment was not made by `make`: no editable install")
    result = subprocess.run([command, "--help"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "tetrahedralize" in result.stdout
