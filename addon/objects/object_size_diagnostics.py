# SPDX-License-Identifier: GPL-3.0-or-later
"""What is doubtful about scale and size of objects, found without filling them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import SinewError
from ..blender_data.rna_serialisation import animated_paths
from ..evaluation.matrix_units import transform_points
from .skeleton import SkeletonBone
from .tet_estimate import measure_object

SCALE_TOLERANCE = 1.0e-4
MAX_MUSCLE_RATIO, MAX_FLESH_RATIO = 3.0, 30.0  # of the size of a body over that of the skeleton
MIN_RATIO = 1.0 / 300.0  # the muscles of an eye are a sixtieth of a body


def scale_findings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """Yields that an object is scaled, where nothing animates its scale."""
    scale = np.array(obj.scale)
    if np.abs(scale - 1.0).max() > SCALE_TOLERANCE and "scale" not in animated_paths(obj):
        text = f"{scale[0]:.3g}" if np.ptp(scale) < SCALE_TOLERANCE else ", ".join(f"{s:.3g}" for s in scale)
        yield SinewError("scale-not-applied", name=obj.name, scale=text)


def size_findings(obj: bpy.types.Object, bones: Sequence[SkeletonBone], unit: float) -> Iterator[SinewError]:
    """Compares the longest side of a body with that of the box around all bones."""
    skeleton = skeleton_size(bones) * unit
    size = measure_object(obj, unit).longest
    if not (skeleton > 0.0 and size > 0.0):
        return
    ratio = size / skeleton
    numbers = {"size": f"{size:.3g}", "skeleton": f"{skeleton:.3g}"}
    if ratio > (MAX_MUSCLE_RATIO if obj.sinew.use_muscle else MAX_FLESH_RATIO):
        yield SinewError("size-unlike-skeleton", name=obj.name, times=f"{ratio:.2g}", **numbers)
    elif ratio < MIN_RATIO:
        yield SinewError("size-beyond-skeleton", name=obj.name, times=f"{1.0 / ratio:.0f}", **numbers)


def skeleton_size(bones: Sequence[SkeletonBone]) -> float:
    """Returns the longest side of the box around bones [Blender units]; 0 for none."""
    points = [np.asarray(bone.line) if bone.line is not None else _box_corners(bone.obj) for bone in bones]
    return float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0


def _box_corners(obj: bpy.types.Object) -> Floats:
    return transform_points(np.array(obj.matrix_world), np.array([list(corner) for corner in obj.bound_box]))
