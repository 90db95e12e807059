# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses armatures as the bodies that drive their bones are in the running bake, until a strip does.

A strip is an action, which only what an undo step follows may make, and it needs all frames. Until the end the bones
are held where the present frame has them. The objects of the bodies hang on the bones, while their meshes play the bake
in the space of the animation, so they are held there.
"""

from __future__ import annotations

import threading

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.bake.cache import CacheMetadata, layout
from ...solver.bake.cache.pc2 import complete_sample_count, read_samples
from ...solver.mesh.rigid_alignment import fit_rigid_motions, stride_of_enough_points
from ...solver.runtime.arrays import Floats, floats
from ...solver.runtime.errors import SinewError
from ...solver.scene.scene import Scene
from ...solver.scene.tracks import TrackReader
from ..blender_data import held_transform
from ..blender_data.object_handle import ObjectHandle
from ..blender_data.object_keys import body_key
from ..evaluation.matrix_units import transform_points
from ..objects import driven_bones
from ..playback.pose_channels import bone_offsets
from .addon_session import RunningBake, session
from .baked_bone import BakedBone


def show(scene: bpy.types.Scene, bake: RunningBake) -> None:
    """Poses the driven bones as the bake has their bodies in the present frame; where it has none, lets them go."""
    if bake.driver.job.frame is None or bake.only_cuts:
        return
    try:
        if bake.driven is None:
            bake.driven = _find(scene, bake)
        for driven in bake.driven:
            _pose(scene, driven)
    except (OSError, ValueError, SinewError):  # the bodies play on; the bones follow when the bake has ended
        bake.driven = []
        held_transform.let_go_all()


def follow(scene: bpy.types.Scene) -> None:
    """Poses the driven bones for the frame to which the playhead has moved."""
    bake = session.bake
    # a render with a window changes frames in a thread of its own, which may not write
    if bake is None or not bake.driven or threading.current_thread() is not threading.main_thread():
        return
    if scene.session_uid == bake.scene_uid:
        show(scene, bake)


def hide() -> None:
    """Lets the bones go while the file is written or an undo step is read; the next frame shows them again."""
    if session.bake is not None and session.bake.driven:
        held_transform.let_go_all()


def _find(scene: bpy.types.Scene, bake: RunningBake) -> list[BakedBone]:
    bodies = {body_key(obj): obj for obj in driven_bones.driving_bodies(scene) if obj.parent.library is None}
    if not bodies:
        return []
    head, written = CacheMetadata.load(bake.folder), Scene.load(bake.folder / layout.SCENE_FOLDER)
    tracks = TrackReader(bake.folder / layout.SCENE_FOLDER)
    own = {body.key: body for body in written.bodies if body.key in bodies}
    offsets = dict[tuple[str, str], Floats]()
    for rig in {bodies[key].parent for key in own}:
        on_rig = {bodies[key].parent_bone: bodies[key] for key in own if bodies[key].parent == rig}
        found = bone_offsets(scene, on_rig, head.frame_start)
        offsets |= {(rig.name, bone): offset for bone, offset in found.items()}
    made = []
    for key, body in own.items():
        obj, stride = bodies[key], stride_of_enough_points(body.played_count)
        made.append(
            BakedBone(
                file=layout.play_path(bake.folder, key),
                track=f"body.{key}.matrix",
                obj=ObjectHandle.of(obj),
                rig=ObjectHandle.of(obj.parent),
                bone=obj.parent_bone,
                points=floats(body.vertices[: body.played_count : stride]),
                stride=stride,
                first_matrix=floats(tracks.sample(f"body.{key}.matrix", written.settings.start_time)),
                offset=floats(offsets[obj.parent.name, obj.parent_bone]),
                head=head,
                settings=written.settings,
                tracks=tracks,
            )
        )
    return made


def _pose(scene: bpy.types.Scene, driven: BakedBone) -> None:
    rig, obj = driven.rig.find(), driven.obj.find()
    if rig is None or obj is None or driven.bone not in rig.pose.bones:
        return
    number = round((scene.frame_current_final - driven.head.frame_start) * driven.head.samples_per_frame)
    if not 0 <= number < complete_sample_count(driven.file):
        held_transform.let_go([obj, rig])
        return
    time, unit = driven.settings.time(driven.head.frame_of_sample(number)), scene.unit_settings.scale_length
    animated = driven.tracks.sample(driven.track, time)
    played = np.asarray(read_samples(driven.file, number, 1)[0][:: driven.stride], np.float64)
    motions = fit_rigid_motions(driven.points, transform_points(animated, played)[None])
    if motions is None:
        return
    held_transform.hold(obj, Matrix(_in_units(animated, unit)))
    moved = _in_units(motions[0] @ driven.first_matrix, unit)
    held_transform.hold_bone(rig, driven.bone, moved @ np.linalg.inv(driven.offset))


def _in_units(matrix: Floats, unit: float) -> Floats:
    """Returns world [Blender units] ← object space, of world [m] ← object space, (4, 4)."""
    out = matrix.copy()
    out[:3] /= unit
    return out
