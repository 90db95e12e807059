# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of armature bones: towards an end that two of them share, a line holds less and less around it.

Nodes at the distance ρ from two lines that meet in a joint run into each other where the joint bends by more than
2 arctan(s / ρ), s their way from the joint along the line. What is held ends on a cone, ρ = s tan 25°, so a joint bends
by 130° before it crushes what lies between.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...scene.flesh import Bone

JOINT_CONE_SLOPE = float(np.tan(np.radians(25.0)))


def shared_line_ends(bones: Sequence[Bone]) -> list[list[int]]:
    """Returns for each of the bones of a body which ends of its line it shares with others: 0, 1, both or none.

    An end is shared where another line begins or ends no farther away than either of them reaches. Both have to
    hold exactly: springs give way.
    """
    shared: list[list[int]] = [[] for _ in bones]
    lines = [number for number, bone in enumerate(bones) if not len(bone.triangles) and bone.stiffness is None]
    for one in lines:
        for end in (0, 1):
            own = np.asarray(bones[one].vertices)[end]
            for other in lines:
                reach = min(bones[one].distance, bones[other].distance)
                gaps = np.linalg.norm(np.asarray(bones[other].vertices) - own, axis=1)
                if other != one and gaps.min() <= reach:
                    shared[one].append(end)
                    break
    return shared


def is_outside_cones(bone: Bone, ends: Sequence[int], points: Floats) -> Bools:
    """Returns which points [m], (n, 3), lie outside the cones of the joints at these ends of a line, (n,)."""
    clear = np.ones(len(points), bool)
    line = np.asarray(bone.vertices, np.float64)
    for end in ends:
        axis = line[1 - end] - line[end]
        axis = axis / max(float(np.sqrt(axis @ axis)), 1e-300)
        away = points - line[end]
        along = np.einsum("ni,i->n", away, axis)
        across = np.sqrt(np.maximum(np.einsum("ni,ni->n", away, away) - along**2, 0.0))
        clear &= across <= JOINT_CONE_SLOPE * along
    return clear
