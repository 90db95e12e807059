# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the bodies of a pass are baked as they are in the scene now, also where some were baked after the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import bpy

from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status, selected_body_caches
from ..cache.bake_passes import BakePass
from ..export.input_digest import body_digests, settings_digest
from ..objects import roles


def is_outdated(
    bake_pass: BakePass, find_digest: Callable[[], str], find_body_digests: Callable[[], Mapping[str, str]]
) -> bool:
    """Whether something that the bake of a pass depends on has changed since.

    Args:
        bake_pass: The pass, which is baked.
        find_digest: Returns the digest of the pass as it is now.
        find_body_digests: Returns those of its bodies, by key.
    """
    head = cache_folder_status.read_status(bake_pass.folder).metadata
    if head is None or not selected_body_caches.newest_first(bake_pass.folder):
        return head is None or head.settings != find_digest()
    now = find_body_digests()
    played = {body.key for body in head.bodies} | selected_body_caches.selected_keys(bake_pass.folder)
    return played != now.keys() or bool(_outdated_keys(bake_pass, now, find_digest))


def outdated_bodies(scene: bpy.types.Scene, bake_pass: BakePass) -> list[bpy.types.Object]:
    """Returns the bodies of a pass that are baked and have changed since, or may have.

    Of caches of earlier versions only the digest of the whole is known: all bodies may have changed where that has.
    """
    changed = _outdated_keys(bake_pass, body_digests(scene, bake_pass), lambda: settings_digest(scene, bake_pass))
    return [obj for obj in bodies_of_pass(scene, bake_pass) if body_key(obj) in changed]


def bodies_of_pass(scene: bpy.types.Scene, bake_pass: BakePass) -> list[bpy.types.Object]:
    """Returns the bodies of a pass."""
    return [obj for obj in roles.bodies(scene) if obj.sinew.bake_pass == bake_pass.number]


def _outdated_keys(bake_pass: BakePass, now: Mapping[str, str], find_digest: Callable[[], str]) -> set[str]:
    """Returns the keys of the bodies whose digest now is not that of what they play."""
    base = bake_pass.folder
    folders = {key: selected_body_caches.folder_of_body(base, key) for key in now}
    found = {
        key for key, value in now.items() if selected_body_caches.read_body_settings(folders[key]).get(key) != value
    }
    head = cache_folder_status.read_status(base).metadata
    is_whole_known = head is not None and not selected_body_caches.read_body_settings(base)
    if is_whole_known and head is not None and head.settings == find_digest():
        return {key for key in found if folders[key] != base}
    return found
