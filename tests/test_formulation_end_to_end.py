# SPDX-License-Identifier: GPL-3.0-or-later
"""From the menu to the picture: a beam of every method, side by side in one bake, bends as its method does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader
from sinew.solver.scene.settings.formulation_settings import FORMULATION

pytestmark = pytest.mark.slow

NAMES = [choice.identifier for choice in FORMULATION.choices]
LAST = 12


@pytest.fixture(scope="module")
def beams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bpy.types.Object]:
    """Beams by the name of their method, held by one end, baked; and a baked polar one that stands alone."""
    scene = fresh()
    scene.frame_end = LAST
    made = {}
    for number, name in enumerate(NAMES):
        beam = add_box(name, divisions=6)
        for vertex in beam.data.vertices:
            vertex.co.x, vertex.co.y, vertex.co.z = 4.0 * vertex.co.x, vertex.co.y, 0.5 * vertex.co.z
        beam.location.y = 3.0 * number
        roles.make_body(beam)
        own = beam.sinew
        beam.vertex_groups.new(name="Held").add([v.index for v in beam.data.vertices if v.co.x < -1.9], 1.0, "REPLACE")
        own.pin_group, own.divisions, own.youngs_modulus, own.formulation = "Held", 12, 3.0e4, name
        made[name] = beam
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path_factory.mktemp("arrive") / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = CacheReader(Path(bpy.data.filepath).with_suffix(".sinew"))
    assert cache.baked_range() == (1, LAST) and cache.convergence().not_converged == 0
    return made


def shape(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """Returns where the vertices are, from the object's own place, (n, 3)."""
    return world(*evaluated(obj, frame)) - np.array(obj.location)


def volume(obj: bpy.types.Object, frame: int) -> float:
    points = shape(obj, frame)
    obj.data.calc_loop_triangles()
    corners = points[[triangle.vertices[:] for triangle in obj.data.loop_triangles]]
    return abs(np.linalg.det(corners).sum()) / 6.0


def test_every_method_bends_the_beam_in_its_own_way(beams: dict[str, bpy.types.Object]) -> None:
    shapes = {name: shape(beam, LAST) for name, beam in beams.items()}
    for name, found in shapes.items():
        fallen = (shape(beams[name], 1) - found)[:, 2].max()
        assert np.isfinite(found).all() and 0.5 < fallen < 4.0, (name, fallen)
        for other in NAMES[: NAMES.index(name)]:
            assert np.abs(found - shapes[other]).max() > 1e-3, f"{name} is as {other}"


def test_only_the_linear_beam_grows(beams: dict[str, bpy.types.Object]) -> None:
    grown = {name: volume(beam, LAST) / volume(beam, 1) for name, beam in beams.items()}
    assert grown["LINEAR"] > 1.05 and all(grown["LINEAR"] > 1.05 * v for n, v in grown.items() if n != "LINEAR"), grown
