# SPDX-License-Identifier: GPL-3.0-or-later
"""Some bodies in the rest pose without anything else of their scene, for what is found out before a bake."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.scene.scene import Scene
from ..evaluation.matrix_units import scale_to_metres
from ..evaluation.sample_times import rest_frame
from ..evaluation.scene_copy import SceneCopy
from ..export.participants import find_participants
from ..export.scene_reader import read_scene


def read_at_rest(
    scene: bpy.types.Scene, bodies: Collection[bpy.types.Object]
) -> tuple[Scene, dict[bpy.types.Object, Floats]]:
    """Returns a scene of bodies alone in the rest pose, and their matrices, world [m] ← object space, (4, 4) each.

    Raises:
        BadInput: A body cannot be read.
    """
    inputs = find_participants(scene)
    inputs = replace(
        inputs,
        bodies={obj: inputs.bodies[obj] for obj in bodies},
        colliders={},
        heat_sources={},
        bones={},
        armature_bones=[],
        force_fields={},
        joints={},
        reads_attachments=False,
    )
    with SceneCopy(scene, inputs.modifier_counts) as scene_copy:
        scene_copy.set_frame(rest_frame(scene))
        matrices = {obj: scale_to_metres(scene_copy.matrix(obj), inputs.unit) for obj in bodies}
        return read_scene(scene_copy, inputs, None), matrices
