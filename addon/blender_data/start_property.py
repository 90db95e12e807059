# SPDX-License-Identifier: GPL-3.0-or-later
"""The start of a body (`solver/scene/start.py`) in its object: undo, copies, linked files and overrides have it.

A property of Sinew's, since Blender forgets custom properties that are added to a library override.
"""

from __future__ import annotations

import base64

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.runtime.checksums import sha256
from ...solver.runtime.errors import BadInput
from ...solver.scene.start import Start


def store(obj: bpy.types.Object, data: bytes) -> None:
    """Lets a body begin as `Start.to_bytes` says, in the space of the object [Blender units]."""
    obj.sinew.start_data, obj.sinew.start_digest = base64.b64encode(data).decode(), sha256(data)
    obj.update_tag()


def has(obj: bpy.types.Object) -> bool:
    """Whether a body has a start."""
    return bool(obj.sinew.start_digest)


def remove(obj: bpy.types.Object) -> None:
    """Lets a body begin at rest."""
    obj.sinew.start_data = obj.sinew.start_digest = ""
    obj.update_tag()


def digest_parts(obj: bpy.types.Object) -> list[str]:
    """Returns what changes with the start of a body: nothing without one."""
    return ["start", obj.sinew.start_digest] if has(obj) else []


def read(obj: bpy.types.Object, world_from_object: Floats) -> Start | None:
    """Returns the start of a body in the world [m], or None; the matrix, (4, 4), is world [m] ← object [units].

    Raises:
        BadInput: "start-damaged".
    """
    if not has(obj):
        return None
    try:
        data = base64.b64decode(obj.sinew.start_data, validate=True)
    except ValueError as problem:
        raise BadInput("start-damaged", name=obj.name) from problem
    return Start.from_bytes(data, obj.name).transformed(world_from_object)
