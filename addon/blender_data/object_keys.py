# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of bodies and colliders in files: unique, in plain letters, and stable when an object is renamed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import bpy

from ...solver.scene.settings.tables import BODY

_PLAIN_CHARACTERS = re.compile(r"[A-Za-z0-9_-]+")


def body_key(obj: bpy.types.Object) -> str:
    """Returns the key of a body: that of its bake, or else one from its name."""
    if obj.sinew.key and obj.sinew.key == key_from_name(obj.name):
        return obj.sinew.key
    return unique_keys({*_bodies(), obj})[obj]


def keys_of_bodies() -> dict[bpy.types.Object, str]:
    """Returns the keys of all bodies of the file."""
    return unique_keys(_bodies())


def _bodies() -> list[bpy.types.Object]:
    return [o for o in bpy.data.objects if o.library is None and o.sinew.role == BODY]


def unique_keys(objects: Iterable[bpy.types.Object], others: Iterable[str] = ()) -> dict[bpy.types.Object, str]:
    """Returns a unique key for each object, none of `others`.

    A duplicate of a body has the key of the original, which keeps it.
    """
    keys: dict[bpy.types.Object, str] = {}
    rest = []
    used = set(others)
    for obj in sorted(objects, key=lambda o: (o.sinew.key != key_from_name(o.name), o.name)):
        key = obj.sinew.key
        if _PLAIN_CHARACTERS.fullmatch(key) and key not in used:
            keys[obj] = key
            used.add(key)
        else:
            rest.append(obj)
    for obj in rest:
        keys[obj] = new_key(key_from_name(obj.name), used)
    return keys


def new_key(base: str, taken: set[str]) -> str:
    """Returns a key that is not `taken`, with a number where it has to be, and takes it."""
    key, number = base, 2
    while key in taken:
        key = f"{base}_{number}"
        number += 1
    taken.add(key)
    return key


def key_from_name(name: str) -> str:
    """Returns `name` in plain letters: "Cube.001" is "Cube_001"; names in other scripts end in a digest."""
    plain = re.sub(r"[. ]", "_", name)
    if _PLAIN_CHARACTERS.fullmatch(plain):
        return plain
    return re.sub(r"[^A-Za-z0-9_-]", "_", plain) + "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
