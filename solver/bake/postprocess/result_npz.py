# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of `result/KEY.npz`, the final mesh of a broken body: the arrays of `FinalMesh` and these.

opens        the frame of the first sample with each broken face open, (f,) float32; 0 on other faces.
             The sample before it is still closed.
vertex_opens of a sheet: the frame of the first sample at which a vertex and its copies are apart, (k,) float32; 1e9 for
             vertices that never part
last_frame   the last frame that `result/KEY.pc2` shows
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...mesh.cutting.final_mesh import FinalMesh
from ...runtime.arrays import Indices
from ..cache import CacheMetadata
from .crack_opening_times import NEVER_OPEN, CrackOpening, TearOpening

NEVER = 1.0e9  # frame of what never opens


def broken_face_pairs(surface: FinalMesh) -> tuple[Indices, Indices]:
    """Returns the broken faces with a partner, (p,), and the two tets of each, (p, 2)."""
    faces = np.flatnonzero(surface.is_broken & (surface.partner >= 0))
    return faces, np.stack([surface.face_tet[faces], surface.face_tet[surface.partner[faces]]], axis=1)


def result_arrays(
    surface: FinalMesh, faces: Indices, opening: CrackOpening, head: CacheMetadata, last: int
) -> dict[str, Any]:
    """Returns the arrays of a final mesh."""
    opens = np.zeros(surface.face_count, np.float32)
    is_open = opening.sample != NEVER_OPEN
    opens[faces[is_open]] = [head.frame_of_sample(number) for number in opening.sample[is_open]]
    arrays = {field.name: getattr(surface, field.name) for field in dataclasses.fields(surface)}
    return {**arrays, "opens": opens, "last_frame": np.int64(last)}


def torn_sheet_arrays(surface: FinalMesh, opening: TearOpening, head: CacheMetadata, last: int) -> dict[str, Any]:
    """Returns the arrays of the final mesh of a sheet."""
    opens = np.full(len(surface.rest), NEVER, np.float32)
    is_open = opening.sample != NEVER_OPEN
    opens[is_open] = [head.frame_of_sample(number) for number in opening.sample[is_open]]
    arrays = {field.name: getattr(surface, field.name) for field in dataclasses.fields(surface)}
    none = np.zeros(surface.face_count, np.float32)
    return {**arrays, "opens": none, "vertex_opens": opens, "last_frame": np.int64(last)}
