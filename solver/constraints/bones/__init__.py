# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones: which nodes of the flesh follow which of them, where they are at a time, and how they pull.

bones = make_bones(scene, meshes, model, tracks, pins)
bones.prescribe(step, is_fixed, fixed_target)   # before pins, which decide where both hold a node
points = bones.point_forces(step)
"""

from .bone_constraint import BoneSprings
from .bone_validation import check_bones
from .bones import BoneConstraints
from .build_bones import make_bones

__all__ = ["BoneConstraints", "BoneSprings", "check_bones", "make_bones"]
