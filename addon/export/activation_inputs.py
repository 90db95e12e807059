# SPDX-License-Identifier: GPL-3.0-or-later
"""What activation reads: the objects on the path of a muscle, its rig and stored poses, its file, its flexed shape."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.activation.pose_interpolation import rotations_of_quaternions, same_poses
from ...solver.scene.activation.time_series_files import column_names
from ...solver.scene.settings.activation_settings import BY_LENGTH, BY_POSE, FLEXED_SHAPE, FROM_DATA, NO_SOURCE
from ..objects.flesh_supports import rigs_of
from ..objects.roles import is_flesh
from ..runtime.memo import Memo
from .file_path_resolution import chosen_file
from .tet_file_change_stamp import content_digest, stamp

MAX_FILES = 8  # whose digests are remembered

_digests: Memo[str] = Memo(MAX_FILES)


def is_muscle(obj: bpy.types.Object) -> bool:
    """Whether an object is flesh with fibres that contract."""
    return is_flesh(obj) and obj.sinew.use_muscle


def source_of(obj: bpy.types.Object) -> str:
    """Returns what activates a body beside keys, one of the items of Source."""
    return str(obj.sinew.activation_source) if is_muscle(obj) else NO_SOURCE


def via_objects(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the objects that the path of a muscle runs through, in their order."""
    return [row.object for row in obj.sinew.via_points if row.object is not None]


def response_points(obj: bpy.types.Object) -> Floats:
    """Returns the points of the response curve of a muscle, by rising shares of its range, (k, 2).

    Raises:
        BadInput: Two points are at one share.
    """
    found = np.array(sorted((row.share, row.activation) for row in obj.sinew.response_points)).reshape(-1, 2)
    same = np.flatnonzero(np.diff(found[:, 0]) == 0.0)
    if len(same):
        raise BadInput("response-points-same", name=obj.name, share=found[same[0], 0])
    return found


def rig_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """Returns the rig whose poses activate a muscle: the chosen one, or the first of its modifiers."""
    return obj.sinew.pose_rig or next(iter(rigs_of(obj)), None)


def find_source_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the objects that sources of activation read, each once."""
    found: list[bpy.types.Object] = []
    for obj in bodies:
        if source_of(obj) == BY_LENGTH:
            found += via_objects(obj)
        elif source_of(obj) == BY_POSE:
            rig = rig_of(obj)
            found += [rig] if rig is not None else []
    return list(dict.fromkeys(found))


def check_source(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Makes sure that what the activation of a body reads is there.

    Raises:
        BadInput: An object is not in the scene; there is no rig, no pose, no file or no flexed shape.
    """
    check_flexed_shape(obj)
    for other in find_source_objects([obj]):
        if other not in scene.objects.values():
            raise BadInput("activation-object-elsewhere", name=obj.name, other=other.name, scene=scene.name)
    source = source_of(obj)
    if source == BY_LENGTH:
        response_points(obj)
    if source == BY_POSE:
        if rig_of(obj) is None:
            raise BadInput("pose-rig-none", name=obj.name)
        stored_poses(obj)
    if source == FROM_DATA:
        data_file(obj)


def has_flexed_shape(obj: bpy.types.Object) -> bool:
    """Whether the rest shape of a body follows its activation."""
    settings = obj.sinew
    return is_muscle(obj) and bool(settings.flexed_shape) and FLEXED_SHAPE.counts(lambda name: getattr(settings, name))


def check_flexed_shape(obj: bpy.types.Object) -> None:
    """Makes sure that a muscle has its flexed shape, and that this can be mixed in.

    Raises:
        BadInput: Not so.
    """
    if not has_flexed_shape(obj):
        return
    keys, name = obj.data.shape_keys, obj.sinew.flexed_shape
    if keys is None or name not in keys.key_blocks:
        raise BadInput("flexed-shape-gone", name=obj.name, key=name)
    if not keys.use_relative or keys.key_blocks[name] == keys.reference_key:
        raise BadInput("flexed-shape-not-relative", name=obj.name, key=name)


def stored_poses(obj: bpy.types.Object) -> tuple[list[str], Floats, Floats]:
    """Returns the joints of the poses stored with a muscle, their rotations, (p, j, 3, 3), and activations, (p,).

    Raises:
        BadInput: There are none, one lacks a joint, or two are the same.
    """
    rows = list(obj.sinew.activation_poses)
    if not rows:
        raise BadInput("poses-none", name=obj.name)
    joints = [each.name for each in rows[0].rotations]
    quaternions = np.empty((len(rows), len(joints), 4))
    for number, row in enumerate(rows):
        known = {each.name: each.rotation for each in row.rotations}
        for i, joint in enumerate(joints):
            if joint not in known:
                raise BadInput("pose-without-joint", name=obj.name, pose=row.name, joint=joint)
            quaternions[number, i] = known[joint]
    rotations = rotations_of_quaternions(quaternions)
    same = same_poses(rotations)
    if same is not None:
        raise BadInput("poses-same", name=obj.name, one=rows[same[0]].name, other=rows[same[1]].name)
    return joints, rotations, np.array([row.activation for row in rows])


def joint_rotations(rig: bpy.types.Object, joints: list[str], owner: str) -> Floats:
    """Returns how bones of an evaluated rig are turned against their parents, unit quaternions w, x, y, z, (j, 4).

    Raises:
        BadInput: The rig, whose poses are stored with the muscle `owner`, has no such bone any more.
    """
    found = np.empty((len(joints), 4))
    for i, joint in enumerate(joints):
        bone = rig.pose.bones.get(joint)
        if bone is None:
            raise BadInput("pose-bone-gone", name=owner, rig=rig.name, bone=joint)
        rest, posed = bone.bone.matrix_local, bone.matrix
        if bone.parent is not None:
            rest = bone.parent.bone.matrix_local.inverted_safe() @ rest
            posed = bone.parent.matrix.inverted_safe() @ posed
        found[i] = (rest.inverted_safe() @ posed).to_quaternion()
    return found


def data_file(obj: bpy.types.Object) -> Path:
    """Returns where the file with the activation of a muscle is.

    Raises:
        BadInput: None is chosen.
    """
    path = chosen_file(obj, obj.sinew.activation_file)
    if path is None:
        raise BadInput("data-file-none", name=obj.name)
    return path


def columns_of_file(obj: bpy.types.Object) -> list[str]:
    """Returns the columns of the file that is chosen for a muscle; none where it cannot be read."""
    try:
        return column_names(data_file(obj))
    except BadInput:
        return []


def source_digest(obj: bpy.types.Object) -> str:
    """Returns a digest of the content of the file that activates a muscle; "" where none does."""
    path = chosen_file(obj, obj.sinew.activation_file) if source_of(obj) == FROM_DATA else None
    found = stamp(path) if path is not None else None
    if path is None or found is None:
        return ""
    try:
        return _digests.result(path, found, lambda: content_digest(path))
    except OSError:
        return ""
