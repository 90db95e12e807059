# SPDX-License-Identifier: GPL-3.0-or-later
"""What an export reads of meshes ahead, in slices between which Blender's window answers: weights, then triangles."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

import bpy

from . import prefetched_triangles, prefetched_vertex_weights


def prefetch_meshes(objects: Collection[bpy.types.Object]) -> Iterator[None]:
    """Returns the slices that read ahead of mesh objects; it keeps no object, which may go between two slices."""
    return chain(prefetched_vertex_weights.prefetch(objects), prefetched_triangles.prefetch(objects))


def forget_meshes() -> None:
    """Forgets what was read ahead."""
    prefetched_vertex_weights.forget()
    prefetched_triangles.forget()
