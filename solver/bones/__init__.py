# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones: which nodes of the flesh follow which of them, where they are at a time, and how they pull.

bones = make_bones(scene, meshes, model, tracks, pins)
bones.hold(tracks, time, is_fixed, fixed_target)   # before pins, which win where both hold a node
points = bones.pull(state, model, tracks, time)
"""

from .bones import Bones
from .checks import check_bones
from .hold import Springs
from .make import make_bones

__all__ = ["Bones", "Springs", "check_bones", "make_bones"]
