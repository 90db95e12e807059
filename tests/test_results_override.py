# SPDX-License-Identifier: GPL-3.0-or-later
"""A linked character that breaks: its override is hidden, its result is a local object, and both survive a reload."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated
from fixtures.planar_cut import write_broken
from sinew.addon.baking import attach_bake, bake_control, last_failure
from sinew.addon.cache import cache_paths
from sinew.addon.objects import roles
from test_library_override import hero, linked


def test_an_override_breaks_survives_a_reload_and_comes_back(tmp_path: Path) -> None:
    obj = linked(tmp_path)
    roles.make_body(obj)
    obj.sinew.use_fracture = True
    obj.modifiers["Subdivision"].render_levels = obj.modifiers["Subdivision"].levels = 1
    attach_bake.sinew_modifier.move_below_subdivision(obj)
    assert [m.type for m in obj.modifiers] == ["ARMATURE", "SUBSURF", "MESH_CACHE"]
    scene = bpy.context.scene
    cache = tmp_path / "shot.sinew"
    arrays = write_broken(cache, obj, "Hero", opens=4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    cache_paths.remember_bake(scene, cache)
    attach_bake.attach(scene)
    assert not last_failure.failure_text(scene), last_failure.failure_text(scene)
    made = bpy.data.objects["Hero Broken"]
    assert made.library is None and made.override_library is None and made.data.library is None
    bpy.ops.wm.save_mainfile()

    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = next(o for o in bpy.context.scene.objects if o.override_library and o.type == "MESH")
    made = bpy.data.objects["Hero Broken"]
    assert obj.hide_viewport and obj.hide_render and made.sinew.result_of == obj
    assert [m.type for m in made.modifiers] == ["MESH_CACHE"]  # all is flat: no seam to shade over
    for frame in (1, 9):
        assert np.allclose(evaluated(made, frame)[0], arrays["shapes"][frame - 1], atol=1e-6)
    bake_control.delete(bpy.context.scene)
    assert "Hero Broken" not in bpy.data.objects and not obj.hide_viewport and not obj.hide_render
    assert hero() == obj
