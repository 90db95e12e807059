# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake has the same bytes whatever the environment tells NumPy, SciPy, OpenBLAS, glibc and Numba's threads.

The variables stand for other processors: without `reproducible_library_environment` the libraries choose their code by
these.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.flesh_scenes import limb, write_limb
from fixtures.fracture_bake import breaking_scene, write_breaking
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver.runtime.reproducible_library_environment import fix_numeric_environment, has_x86_64_v3
from sinew.solver.scene.scene import Scene, Settings

pytestmark = pytest.mark.slow

# what the environment says → as which a machine it makes this one look to the libraries
VARIABLES: dict[str, dict[str, str]] = {
    "as it is": {},
    "OpenBLAS for an old processor": {"OPENBLAS_CORETYPE": "Nehalem"},
    "OpenBLAS for AVX": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "two BLAS threads": {"OPENBLAS_NUM_THREADS": "2"},
    "NumPy without AVX2": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"},
    "NumPy told what to use": {"NPY_ENABLE_CPU_FEATURES": "AVX2"},
    "glibc without AVX-512": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-ERMS"},
    "glibc that prefers 256 bits": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=Prefer_No_VZEROUPPER,-AVX_Fast_Unaligned_Load"},
    "one thread": {"NUMBA_NUM_THREADS": "1"},
}
AVX512 = {"OPENBLAS for AVX-512": {"OPENBLAS_CORETYPE": "SkylakeX"}}
# bakes every cache that it is given, by the command of users or by that command without the variables
FIXED = "import sys\nfrom sinew.__main__ import main\nfor cache in sys.argv[1:]: assert main(['simulate', cache]) == 0"
AS_TOLD = FIXED.replace("sinew.__main__", "sinew.solver.__main__")


def scenes(folder: Path) -> list[Path]:
    """Writes small scenes: bodies that fall and hang, flesh, and a bar that breaks."""
    write_scene(folder / "tiny", tiny_scene(4))
    write_limb(folder / "limb", Scene((limb(),), (), Settings(frame_end=3)), 60.0)
    write_breaking(folder / "breaking", breaking_scene(8))
    return [folder / name for name in ("tiny", "limb", "breaking")]


def bakes(folder: Path, code: str, variables: dict[str, str]) -> dict[str, bytes]:
    """Returns all files that a child bakes in an environment with nothing but these variables for the libraries."""
    names = ("OPENBLAS", "NPY_", "GLIBC_", "NUMBA_NUM", "OMP_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(names)} | variables
    caches = scenes(folder)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, caches)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return {f"{cache.name}/{name}": data for cache in caches for name, data in baked(cache).items()}


def differing(some: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(name for name in some.keys() | other.keys() if some.get(name) != other.get(name))


def environments() -> dict[str, dict[str, str]]:
    """Returns the variables that this processor can be made to look like another one by."""
    return VARIABLES | (AVX512 if "avx512f" in Path("/proc/cpuinfo").read_text() else {})


@pytest.mark.skipif(not has_x86_64_v3(), reason="nothing is promised between processors without AVX2")
def test_no_variable_changes_a_byte(tmp_path: Path) -> None:
    wanted: dict[str, bytes] = {}
    for number, (name, variables) in enumerate(environments().items()):
        found = bakes(tmp_path / f"fixed-{number}", FIXED, variables)
        wanted = wanted or found
        assert len(found) > 20 and differing(wanted, found) == [], f"{name}: {variables}"


@pytest.mark.long
@pytest.mark.skipif(not has_x86_64_v3(), reason="nothing is promised between processors without AVX2")
def test_which_bytes_the_variables_would_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints it; the number of threads alone may never change one."""
    wanted = bakes(tmp_path / "fixed", FIXED, {})
    for number, (name, variables) in enumerate(environments().items()):
        others = differing(wanted, bakes(tmp_path / f"told-{number}", AS_TOLD, variables))
        with capsys.disabled():
            print(f"\n{name}: {len(others)} of {len(wanted)} files differ: ", end="")
            print(*others[:4], *["…"] * (len(others) > 4), flush=True)
        if variables.keys() == {"NUMBA_NUM_THREADS"}:
            assert others == differing(wanted, bakes(tmp_path / "told", AS_TOLD, {}))


# prints what the environment says when NumPy is first looked for
WATCH = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            sys.meta_path.remove(self)
            print([os.environ.get(name) for name in {0!r}])
sys.meta_path.insert(0, Watch())
"""
BY_COMMAND = "from sinew.__main__ import main\nmain(['--help'])"
BY_BOOTSTRAP = "import runpy\nrunpy.run_path({0!r}, run_name='bootstrap')['main'](['--package-dir', {1!r}, '--help'])"


@pytest.mark.parametrize("way", (BY_COMMAND, BY_BOOTSTRAP))
def test_numpy_is_told_before_it_is_loaded(way: str) -> None:
    """By the command, and by what Blender starts."""
    root = Path(__file__).resolve().parent.parent
    expected: dict[str, str] = {}
    fix_numeric_environment(expected)
    environment = {name: value for name, value in os.environ.items() if name not in expected}
    code = WATCH.format(list(expected)) + way.format(str(root / "solver" / "cli" / "bootstrap.py"), str(root))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.stdout.splitlines()[0] == str(list(expected.values())), ended.stderr


def test_what_is_set_otherwise_is_replaced() -> None:
    environment = {"OPENBLAS_NUM_THREADS": "8", "NPY_ENABLE_CPU_FEATURES": "AVX2", "OPENBLAS_CORETYPE": "SkylakeX"}
    fix_numeric_environment(environment)
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    if has_x86_64_v3():
        assert environment["OPENBLAS_CORETYPE"] == "Haswell" and "NPY_ENABLE_CPU_FEATURES" not in environment
        assert "AVX512F" in environment["NPY_DISABLE_CPU_FEATURES"]
