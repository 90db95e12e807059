# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs Sinew's zip into this Blender, bakes with it, and plays the result with the add-on removed.

    python tests/installed/check.py ZIP FOLDER

Runs in a Python that has bpy and none of Sinew's other packages: what the child process computes with has to come
out of the zip. Prints one JSON line; started by run.py. FOLDER is new and holds everything that is written.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
import zipfile
from pathlib import Path

ZIP, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "blender")
os.environ["SINEW_KERNEL_CACHE"] = str(FOLDER / "kernels")
for needed in ("numba", "scipy", "llvmlite", "meshio", "rich"):
    assert importlib.util.find_spec(needed) is None, f"{needed} is here already: the zip's would not be tested"

import bpy

ADDON = "bl_ext.user_default.sinew"
FRAMES = 16
HEIGHT = 1.0


def has_kernels() -> bool:
    """Returns whether the zip brings compiled kernels."""
    with zipfile.ZipFile(ZIP) as packed:
        return any(name.startswith("wheels/sinew_kernels-") for name in packed.namelist())


def compiled() -> int:
    """Returns how many kernels this machine has compiled."""
    return len(list((FOLDER / "kernels").rglob("*.nbc")))


def install() -> None:
    """Installs and enables the zip, as Preferences > Get Extensions > Install from Disk does."""
    bpy.ops.extensions.package_install_files(filepath=str(ZIP), repo="user_default", enable_on_install=True)
    assert ADDON in bpy.context.preferences.addons, "the add-on was not enabled"
    wheels = FOLDER / "blender" / "extensions" / ".local" / "lib"
    found = {path.name for path in wheels.rglob("*") if path.parent.name == "site-packages"}
    assert {"numba", "scipy", "llvmlite"} <= found, f"wheels not installed: {sorted(found)}"
    assert ("sinew_kernels" in found) == has_kernels()
    assert "numba" not in sys.modules and "scipy" not in sys.modules, "registering loads what only the child needs"


TET = """MeshVersionFormatted 1
Dimension 3
Vertices
4
0 0 0 1
1 0 0 1
0 1 0 1
0 0 1 1
Tetrahedra
1
1 2 3 4 1
End
"""


def import_tets() -> None:
    """Reads a file of tets with the zip's own meshio."""
    (FOLDER / "one.mesh").write_text(TET)
    assert bpy.ops.sinew.import_tets(filepath=str(FOLDER / "one.mesh")) == {"FINISHED"}
    assert len(bpy.context.object.data.polygons) == 4 and bpy.context.object.sinew.method == "GIVEN"
    assert "numba" not in sys.modules, "reading tets loads what only the child needs"


def make_scene() -> str:
    """A ball of jelly above a ground, with a Subdivision below Sinew, saved as a .blend; returns its name."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5, location=(0.0, 0.0, HEIGHT))
    ball = bpy.context.object
    bpy.ops.sinew.make_body()
    ball.sinew.preset = "JELLY"
    ball.sinew.youngs_modulus = 2.0e4
    ball.sinew.divisions = 8
    ball.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.ops.sinew.add_ground()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "ball.blend"))
    return str(ball.name)


def heights(name: str) -> dict[int, tuple[float, float]]:
    """Returns (lowest, highest) point of an object as it is shown, at each frame [m]."""
    found = {}
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        shown = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        z = [(shown.matrix_world @ vertex.co).z for vertex in shown.data.vertices]
        found[frame] = (min(z), max(z))
    return found


def main() -> None:
    """Installs, bakes, removes, plays; prints what was found."""
    install()
    import_tets()
    name = make_scene()
    start = time.monotonic()
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    seconds = time.monotonic() - start
    assert (compiled() == 0) == has_kernels(), f"{compiled()} kernels were compiled"
    start = time.monotonic()
    bpy.ops.sinew.delete_bake()
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    warm = time.monotonic() - start
    baked = heights(name)
    bpy.ops.wm.save_mainfile()
    wheel = importlib.import_module("numba") if "numba" in sys.modules else None
    assert wheel is None, "the bake loaded Numba into Blender"

    # free fall of the lowest point until it touches, then flattened; Subdivision pulls the ball in a little
    begin = baked[1][0]
    fallen = [begin - baked[frame][0] for frame in (4, 7)]
    for frame, distance in zip((4, 7), fallen, strict=True):
        time_s = (frame - 1) / bpy.context.scene.render.fps
        assert 0.9 < distance / (0.5 * 9.81 * time_s**2) < 1.2, f"fell {distance} m in {time_s} s"
    lowest = min(low for low, _ in baked.values())
    flattest = min(high - low for low, high in baked.values())
    assert -0.02 < lowest < 0.05, f"lowest point {lowest}"
    assert flattest < 0.97 * (baked[1][1] - baked[1][0]), "it did not deform"

    bpy.ops.extensions.package_uninstall(repo_index=_repo(), pkg_id="sinew")
    assert ADDON not in bpy.context.preferences.addons
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "ball.blend"))
    assert not hasattr(bpy.types, "SINEW_OT_simulate")
    played = heights(name)
    worst = max(abs(a - b) for frame in baked for a, b in zip(baked[frame], played[frame], strict=True))
    assert worst < 1e-6, f"plays differently without the add-on: {worst}"
    print(
        json.dumps(
            {
                "blender": bpy.app.version_string,
                "zip": ZIP.name,
                "kernels_compiled": compiled(),
                "seconds_first_bake": round(seconds, 2),
                "seconds_second_bake": round(warm, 2),
                "lowest_point": round(lowest, 5),
                "flattest": round(flattest, 4),
                "difference_without_addon": worst,
            }
        )
    )


def _repo() -> int:
    repos = bpy.context.preferences.extensions.repos
    return next(index for index, repo in enumerate(repos) if repo.module == "user_default")


if __name__ == "__main__":
    main()
