# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist may change while a run goes on: colliders, bones, pins, heat sources, gravity, and keyed settings.

Each is a track of the scene whose first value is in live/controls.json. A look compares the present values with those
sent last, so that it does not matter who moves an object: the mouse, a driver, a rig, or the timeline that plays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.scene.adaptive_validation import may_have_bound_nodes
from ...solver.scene.animated_material import MATERIAL_TRACKS
from ...solver.scene.binding_validation import bound_pairs
from ...solver.scene.scene import Scene
from ...solver.scene.settings.activation_settings import NO_SOURCE
from ...solver.scene.settings.heat_settings import SOURCE_EXCHANGE, SOURCE_TEMPERATURE
from ...solver.scene.settings.muscle_settings import ACTIVATION
from ...solver.scene.settings.pin_settings import PIN_STIFFNESS
from ...solver.scene.settings.rest_scale_settings import REST_SCALE
from ...solver.scene.settings.setting import SWITCH, Setting
from ...solver.scene.settings.simulation_settings import AIR_TEMPERATURE, SPEED
from ...solver.scene.track_shapes import track_shapes
from ...solver.scene.tracks import TrackReader
from ..baking.live_state import HandledInput
from ..blender_data.object_handle import ObjectHandle
from ..evaluation.matrix_units import scale_to_metres, scale_translation, transform_points
from ..export.activation_inputs import source_of
from ..export.animated_settings import ANIMATABLE_SETTINGS
from ..export.colliders import plane_matrix
from ..export.deforming_mesh_check import may_deform
from ..export.driven_bones import joint_key
from ..export.participants import Participants
from ..export.setting_range_check import value_reader
from ..objects.attachment_rows import edge_carrier, edge_rows, hook_rows
from ..objects.rigid_body_constraints import carrier
from .moved_channels import Channels, changed_channels

GRAVITY, SCENE_SETTING, SETTING = "gravity", "scene setting", "setting"
JOINT_ENABLED = "joint enabled"
MATRIX, UNIT_MATRIX, PLANE, BONE, POINTS = "matrix", "unit matrix", "plane", "bone", "points"
MOVED = (MATRIX, UNIT_MATRIX, PLANE, BONE, POINTS)  # what has the channels of an object behind it
MAX_POINTS = 2000  # that are pinned and follow their object: each look sends all
# a scale has the shapes of all bodies computed again in every step, whether it changes or not
SETTINGS = {each.name: each for each in ANIMATABLE_SETTINGS if each.kind != SWITCH and each != REST_SCALE}


def find(inputs: Participants, scene: Scene, folder: Path) -> list[HandledInput]:
    """Returns what may be changed in a scene that was written into a folder."""
    found = [HandledInput("gravity", None, GRAVITY)]
    found += [HandledInput(each.name, None, SCENE_SETTING, each.name) for each in (AIR_TEMPERATURE, SPEED)]
    written = folder / "tracks"
    for (obj, key), collider in zip(inputs.colliders.items(), scene.colliders, strict=False):
        if not (written / f"collider.{key}.vertices").exists():  # deforming_colliders.py has what bends
            kind = PLANE if collider.shape == "plane" else MATRIX
            found.append(HandledInput(f"collider.{key}.matrix", ObjectHandle.of(obj), kind))
    for obj, key in inputs.heat_sources.items():
        found.append(HandledInput(f"heat.{key}.matrix", ObjectHandle.of(obj), MATRIX))
        for name, setting in (("temperature", SOURCE_TEMPERATURE), ("exchange", SOURCE_EXCHANGE)):
            found.append(HandledInput(f"heat.{key}.{name}", ObjectHandle.of(obj), SETTING, setting.name))
    found += [*_bones(inputs, folder), *_edge_carriers(inputs, folder), *_joints(inputs, scene, folder)]
    constant = _bodies_of_constant_material(scene)
    for (obj, key), body in zip(inputs.bodies.items(), scene.bodies, strict=True):
        found.append(HandledInput(f"body.{key}.matrix", ObjectHandle.of(obj), UNIT_MATRIX))
        for number, (_, row) in enumerate(hook_rows(obj)):
            found.append(HandledInput(f"body.{key}.hook.{number}.matrix", ObjectHandle.of(row.target), MATRIX))
        unread = MATERIAL_TRACKS if key in constant else ()
        names = (name for name in _settings_of(obj) if name not in unread)
        found += [HandledInput(f"body.{key}.{name}", ObjectHandle.of(obj), SETTING, name) for name in names]
        if 0 < len(body.pinned) <= MAX_POINTS and not may_deform(obj):
            local = np.linalg.inv(scale_to_metres(obj.matrix_world, inputs.unit))
            points = transform_points(local, body.vertices[body.pinned])
            found.append(HandledInput(f"body.{key}.targets", ObjectHandle.of(obj), POINTS, factor=points))
            found.append(
                HandledInput(f"body.{key}.{PIN_STIFFNESS.name}", ObjectHandle.of(obj), SETTING, PIN_STIFFNESS.name)
            )
    shapes = track_shapes(scene)
    return [each for each in found if each.track in shapes]


def _bodies_of_constant_material(scene: Scene) -> set[str]:
    """Returns the keys of bodies whose material the solver refuses to change: rigid ones and bound nodes."""
    bound = {key for pair in bound_pairs(scene) for key in pair}
    return bound | {body.key for body in scene.bodies if body.is_rigid or may_have_bound_nodes(body)}


def _settings_of(obj: bpy.types.Object) -> Iterator[str]:
    """Yields names of settings of a body that count; an activation that something computes is left out."""
    read = value_reader(obj.sinew)
    for name, setting in SETTINGS.items():
        is_computed = setting == ACTIVATION and source_of(obj) != NO_SOURCE
        if setting.counts(read) and not is_computed and name != PIN_STIFFNESS.name:
            yield name


def _bones(inputs: Participants, folder: Path) -> Iterator[HandledInput]:
    """Yields bones that move as a whole; a track has where they came to from the rest pose."""
    tracks, unit = TrackReader(folder, wait=0.0), inputs.unit
    bones = [(key, ObjectHandle.of(obj), "") for obj, key in inputs.bones.items()]
    bones += [(each.key, ObjectHandle.of(each.rig), each.name) for each in inputs.armature_bones]
    for key, handle, name in bones:
        track = f"bone.{key}.matrix"
        now = _bone_matrix(handle, name, unit)
        if now is not None and (folder / "tracks" / track).exists():
            yield HandledInput(track, handle, BONE, name, np.linalg.inv(now) @ tracks.sample(track, 0.0))


def _edge_carriers(inputs: Participants, folder: Path) -> Iterator[HandledInput]:
    """Yields the empties and bones that carry the ends of edges of attachments."""
    tracks, unit = TrackReader(folder, wait=0.0), inputs.unit
    for obj, key in inputs.bodies.items():
        for number, row in edge_rows(obj):
            carrier, track = edge_carrier(row), f"body.{key}.attachment.{number}.matrix"
            if carrier is None or not (folder / "tracks" / track).exists():
                continue
            handle, name = ObjectHandle.of(carrier[0]), carrier[1]
            now = _bone_matrix(handle, name, unit)
            if now is not None:
                yield HandledInput(track, handle, BONE, name, np.linalg.inv(now) @ tracks.sample(track, 0.0))


def _joints(inputs: Participants, scene: Scene, folder: Path) -> Iterator[HandledInput]:
    """Yields what the ends of joints that are no bodies move with, and whether joints act."""
    tracks, unit = TrackReader(folder, wait=0.0), inputs.unit
    joints = {joint.key: joint for joint in scene.joints}
    for obj, key in inputs.joints.items():
        joint = joints[key]
        track, other = f"joint.{joint.key}.matrix", carrier(obj)
        yield HandledInput(f"joint.{joint.key}.enabled", ObjectHandle.of(obj), JOINT_ENABLED)
        now = None if other is None else _finite(scale_to_metres(other.matrix_world, unit))
        if now is not None and (folder / "tracks" / track).exists():
            yield HandledInput(track, ObjectHandle.of(other), BONE, "", np.linalg.inv(now) @ tracks.sample(track, 0.0))
    for obj, key in inputs.bodies.items():  # those at the top of driven bones hang on the bone above
        track = f"joint.{joint_key(key)}.matrix"
        if joint_key(key) in joints and (folder / "tracks" / track).exists():
            rig, above = ObjectHandle.of(obj.parent), obj.parent.data.bones[obj.parent_bone].parent
            name = "" if above is None else above.name
            now = _bone_matrix(rig, name, unit)
            if now is not None:
                yield HandledInput(track, rig, BONE, name, np.linalg.inv(now) @ tracks.sample(track, 0.0))


def _bone_matrix(handle: ObjectHandle, name: str, unit: float) -> Floats | None:
    """Returns world [m] ← the space of a bone mesh, or of a bone of an armature where it has a name, (4, 4)."""
    obj = handle.find()
    if obj is None:
        return None
    if not name:
        return _finite(scale_to_metres(obj.matrix_world, unit))
    posed = obj.pose.bones.get(name)
    return None if posed is None else _finite(scale_to_metres(obj.matrix_world @ posed.matrix, unit))


def values(inputs: Iterable[HandledInput], scene: bpy.types.Scene) -> dict[str, Floats]:
    """Returns the present values, by the names of tracks; what is gone, or no number, is left out."""
    found = {each.track: _value(each, scene) for each in inputs}
    return {track: value for track, value in found.items() if value is not None}


def first_channels(inputs: Iterable[HandledInput]) -> Channels:
    """Returns the channels of all objects that may be moved, and of their parents."""
    found: Channels = {}
    for each in inputs:
        if (obj := _moved_object(each)) is not None:
            changed_channels(found, obj)
    return found


def changes(
    inputs: Sequence[HandledInput], scene: bpy.types.Scene, sent: dict[str, Floats], channels: Channels
) -> Iterator[dict[str, Any]]:
    """Yields commands for what has changed since `sent` and `channels`, which then have it."""
    by_track = {each.track: each for each in inputs}
    for track, value in values(inputs, scene).items():
        if track in sent and not np.array_equal(sent[track], value):
            sent[track] = value
            obj = _moved_object(by_track[track])
            moved = {} if obj is None else changed_channels(channels, obj)
            more = {"channels": moved} if moved else {}
            yield {"command": "set", "track": track, "value": value.tolist(), **more}


def _moved_object(given: HandledInput) -> bpy.types.Object | None:
    return given.owner.find() if given.owner is not None and given.what in MOVED else None


def _value(given: HandledInput, scene: bpy.types.Scene) -> Floats | None:
    unit = scene.unit_settings.scale_length
    if given.what == GRAVITY:
        return np.array(scene.gravity, np.float64) * (unit if scene.use_gravity else 0.0)
    if given.owner is None:
        return _in_range(scene.sinew, given.of)
    obj = given.owner.find()
    if obj is None:
        return None
    if given.what == JOINT_ENABLED:
        constraint = obj.rigid_body_constraint
        return None if constraint is None else np.array(float(constraint.enabled))
    if given.what == SETTING:
        return _in_range(obj.sinew, given.of)
    if given.what == BONE:
        now = _bone_matrix(given.owner, given.of, unit)
        return None if now is None or given.factor is None else now @ given.factor
    if given.what in (UNIT_MATRIX, POINTS):
        matrix = _finite(scale_to_metres(obj.matrix_world, unit))
        return matrix if matrix is None or given.factor is None else transform_points(matrix, given.factor)
    matrix = _finite(scale_translation(obj.matrix_world, unit))
    return plane_matrix(matrix) if matrix is not None and given.what == PLANE else matrix


def _in_range(settings: bpy.types.PropertyGroup, name: str) -> Floats | None:
    value, setting = getattr(settings, name), SETTINGS.get(name)
    limits = setting.limits if isinstance(setting, Setting) else None
    return None if limits is not None and not limits.contains(value) else np.array(value, np.float64)


def _finite(matrix: Floats) -> Floats | None:
    """Returns a matrix that can be inverted, or None: an object without a size is nowhere."""
    is_usable = np.isfinite(matrix).all() and abs(np.linalg.det(matrix[:3, :3])) > 1.0e-300
    return matrix if is_usable else None
