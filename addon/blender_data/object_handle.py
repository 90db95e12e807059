# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds objects again after an undo or a deletion: Sinew stores only their names and session ids."""

from __future__ import annotations

from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class ObjectHandle:
    """An object, by its name when it was stored, which finds it at once, and its session id, which never changes."""

    name: str
    uid: int

    @staticmethod
    def of(obj: bpy.types.Object) -> ObjectHandle:
        """Returns the handle of an object."""
        return ObjectHandle(obj.name, obj.session_uid)

    def find(self) -> bpy.types.Object | None:
        """Returns the object, or None if it was deleted."""
        obj = bpy.data.objects.get(self.name)
        if obj is not None and obj.session_uid == self.uid:
            return obj
        return next((each for each in bpy.data.objects if each.session_uid == self.uid), None)
