# SPDX-License-Identifier: GPL-3.0-or-later
"""The start of a body (`solver/scene/start.py`) as a property of its object: undo, copies and linked files have it."""

from __future__ import annotations

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.runtime.checksums import sha256
from ...solver.scene.start import Start

PROPERTY, DATA, DIGEST = "sinew_start", "data", "digest"


def store(obj: bpy.types.Object, data: bytes) -> None:
    """Lets a body begin as `Start.to_bytes` says, in the space of the object [Blender units]."""
    obj[PROPERTY] = {DATA: data, DIGEST: sha256(data)}
    obj.update_tag()


def has(obj: bpy.types.Object) -> bool:
    """Whether a body has a start."""
    return PROPERTY in obj


def remove(obj: bpy.types.Object) -> None:
    """Lets a body begin at rest."""
    del obj[PROPERTY]
    obj.update_tag()


def digest_parts(obj: bpy.types.Object) -> list[str]:
    """Returns what changes with the start of a body: nothing without one."""
    return ["start", str(obj[PROPERTY].get(DIGEST, ""))] if has(obj) else []


def read(obj: bpy.types.Object, world_from_object: Floats) -> Start | None:
    """Returns the start of a body in the world [m], or None; the matrix, (4, 4), is world [m] ← object [units].

    Raises:
        BadInput: "start-damaged".
    """
    if not has(obj):
        return None
    return Start.from_bytes(obj[PROPERTY].get(DATA, b""), obj.name).transformed(world_from_object)
