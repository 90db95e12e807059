# SPDX-License-Identifier: GPL-3.0-or-later
"""A digest of everything that a bake reads, fast enough for a panel: when it changes, the bake is Out of Date.

Nothing is evaluated at other frames. Values that are animated or driven change with the playhead, so their
F-curves and drivers are taken instead; evaluated matrices are not taken at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import bpy

from ...solver.runtime.checksums import digest
from ...solver.scene.settings.simulation_settings import PREVIEW
from ..blender_data import sinew_modifier, start_property
from ..blender_data.names_at_first_bake import name_at_first_bake
from ..blender_data.object_keys import body_key
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts
from ..cache import selected_body_caches
from ..cache.bake_passes import BakePass
from ..evaluation.sample_times import preroll
from ..objects import collision_filter
from ..objects.field_objects import acts_on, force_fields
from ..objects.rigid_body_constraints import constraints_of
from ..objects.roles import roles_of
from ..properties.role_definitions import BODY, BONE, HEAT_SOURCE, WRAP
from . import activation_inputs, artist_tet_files, rigid_core
from .attachment_targets import attachment_parts
from .bone_meshes import bones_that_hold
from .crack_guides import find_guide_objects, guide_parts
from .driven_bones import bone_parts
from .fibre_objects import fibre_object_parts, find_fibre_objects
from .fine_regions import find_fine_objects
from .input_digest_parts import field_parts, id_parts, object_parts, preview_parts, scene_parts
from .joints import joint_parts
from .relevant_settings import unread_settings
from .rigid_body import rigid_body_parts

BodyKeys = Mapping[bpy.types.Object, str]


def settings_digest(scene: bpy.types.Scene, bake_pass: BakePass | None = None, is_preview: bool | None = None) -> str:
    """Returns 64 hex digits that change with what a bake of `scene` reads: settings, meshes, animation.

    Args:
        scene: The scene.
        bake_pass: What part of it is baked, which follows earlier ones as their caches are now; None: all at once.
        is_preview: Whether bodies with Preview Tets get these; None: as the scene says.
    """
    if bake_pass is None or bake_pass.is_only:
        keys = _body_keys(scene)
        return digest(_DependencyWalk(scene, is_preview).walk(keys, keys)[0])
    keys = _body_keys(scene, bake_pass.number)
    return digest(
        [*_pass_parts(bake_pass), *_DependencyWalk(scene, is_preview).walk(keys, keys)[0], *_followed(scene, bake_pass)]
    )


def body_digests(
    scene: bpy.types.Scene, bake_pass: BakePass | None = None, is_preview: bool | None = None
) -> dict[str, str]:
    """Returns such a digest of each body of a pass alone, by its key: of itself and of what it meets but other bodies.

    Args:
        scene: The scene.
        bake_pass: The pass; None: all bodies of the scene.
        is_preview: As for `settings_digest`.
    """
    is_only = bake_pass is None or bake_pass.is_only
    before = [] if bake_pass is None or is_only else _pass_parts(bake_pass)
    after = [] if bake_pass is None or is_only else _followed(scene, bake_pass)
    names, walk = _body_keys(scene), _DependencyWalk(scene, is_preview)
    bodies = names if bake_pass is None or is_only else _body_keys(scene, bake_pass.number)
    return {key: digest([*before, *walk.walk({obj: key}, names)[0], *after]) for obj, key in bodies.items()}


def digests(
    scene: bpy.types.Scene, bake_pass: BakePass | None = None, is_preview: bool | None = None
) -> tuple[str, dict[str, str]]:
    """Returns both digests, `settings_digest` and `body_digests`, and looks at most things once for both."""
    if bake_pass is not None and not bake_pass.is_only:
        return settings_digest(scene, bake_pass, is_preview), body_digests(scene, bake_pass, is_preview)
    keys, walk = _body_keys(scene), _DependencyWalk(scene, is_preview)
    return digest(walk.walk(keys, keys)[0]), {k: digest(walk.walk({obj: k}, keys)[0]) for obj, k in keys.items()}


def bake_dependencies(scene: bpy.types.Scene) -> set[bpy.types.ID]:
    """Returns the objects and node trees that a bake of `scene` depends on, taking part or not."""
    keys = _body_keys(scene)
    return _DependencyWalk(scene).walk(keys, keys)[1]


def _body_keys(scene: bpy.types.Scene, number: int | None = None) -> dict[bpy.types.Object, str]:
    """Returns the bodies of a scene, or of the pass of a number, with their keys."""
    bodies = [o for o in scene.objects if o.sinew.role == BODY and number in (None, o.sinew.bake_pass)]
    return {obj: body_key(obj) for obj in bodies}


def _pass_parts(bake_pass: BakePass) -> Parts:
    return [f"pass {bake_pass.number}"]


def _followed(scene: bpy.types.Scene, bake_pass: BakePass) -> Parts:
    """Returns what tells the bakes that a pass follows from others, and whether another one follows it."""
    parts: Parts = [selected_body_caches.content(earlier.folder) for earlier in bake_pass.earlier]
    return [*parts, "its pre-roll is written"] if bake_pass.has_later and preroll(scene) else parts


class _DependencyWalk:
    """Walks through what bodies of a scene depend on; what several bodies share is looked at once."""

    def __init__(self, scene: bpy.types.Scene, is_preview: bool | None = None) -> None:
        self._scene = scene
        self._is_preview = scene.sinew.bake_detail == PREVIEW if is_preview is None else is_preview
        self._ignored = list(collision_filter.ignored_objects(scene))
        self._found: dict[Hashable, tuple[Any, list[bpy.types.ID]]] = {}

    def walk(self, bodies: BodyKeys, names: BodyKeys) -> tuple[Parts, set[bpy.types.ID]]:
        """Returns the parts of the digest of some bodies, and what they are of.

        Args:
            bodies: The bodies, with their keys.
            names: Keys of them and others, which say what is meant where one is named.
        """
        scene = self._scene
        has_heat = any(o.sinew.use_heat for o in bodies)
        ignored = (pair for pair in self._ignored if pair[0] in bodies or pair[1] in bodies)
        pairs = sorted(repr(sorted(names.get(o) or name_at_first_bake(o, o.name) for o in pair)) for pair in ignored)
        holding = set(bones_that_hold(scene, bodies))
        seen: set[bpy.types.ID] = {scene}
        waiting: list[bpy.types.ID] = []
        found = []
        for obj in scene.objects:
            counts = {HEAT_SOURCE: has_heat, BONE: obj in holding, WRAP: False}
            present = [role for role in roles_of(obj) if counts.get(role, True)]
            if not present or (BODY in present and obj not in bodies):
                continue
            seen.add(obj)
            found.append(self._once((obj, *present), waiting, _participant_digest, obj, present, names))
        for joint in constraints_of(scene, bodies):
            found.append(digest(self._once((joint, "joint"), waiting, joint_parts, joint, scene, names)))
        for field in force_fields(scene) if bodies else ():
            excluded = sorted(bodies[body] for body in bodies if not acts_on(field, body))
            found.append(digest([*self._once((field, "field"), waiting, field_parts, field), *excluded]))
        while waiting:
            item = waiting.pop(0)
            if item not in seen:
                seen.add(item)
                found.append(self._once(item, waiting, _named_digest, item))
        # in no order, since that of the objects changes with their names
        previews = preview_parts(bodies) if self._is_preview else []
        return [*scene_parts(scene, bodies), *previews, *sorted(found), *pairs], seen

    def _once(self, key: Hashable, waiting: list[bpy.types.ID], compute: Callable[..., Any], *of: Any) -> Any:
        """Returns what `compute` finds; what that depends on goes into `waiting` each time."""
        if key not in self._found:
            depends: list[bpy.types.ID] = []
            self._found[key] = compute(*of, depends), depends
        value, depends = self._found[key]
        waiting += depends
        return value


def _participant_digest(
    obj: bpy.types.Object, present: Collection[str], names: BodyKeys, waiting: list[bpy.types.ID]
) -> str:
    """Returns the digest of an object in its roles; a body keeps its key when it is renamed."""
    parts = [
        names.get(obj, ""),
        *rna_parts(obj.sinew, unread_settings(obj, present), animated_paths(obj), "sinew."),
    ]
    parts += rigid_body_parts(obj)
    if BODY in present:
        parts += [part for scene in obj.users_scene[:1] for part in bone_parts(obj, scene)]
    if BONE in present:
        parts.append(names.get(obj.sinew.bone_body, ""))
    cut = None
    if BODY in present:
        parts += [artist_tet_files.content_digest(obj)] if obj.sinew.method == "GIVEN" else []
        waiting += [
            *rigid_core.find_core_objects([obj]),
            *activation_inputs.find_source_objects([obj]),
            *find_fibre_objects([obj]),
            *find_fine_objects([obj]),
            *find_guide_objects([obj]),
        ]
        parts += [digest_of_data] if (digest_of_data := activation_inputs.source_digest(obj)) else []
        parts += [*fibre_object_parts(obj), *guide_parts(obj), *attachment_parts(obj, names, waiting)]
        if obj.sinew.wrap is not None:
            waiting.append(obj.sinew.wrap)
            parts += ["wrap", *attachment_parts(obj.sinew.wrap, names, waiting)]
        parts += start_property.digest_parts(obj)
        cut = sinew_modifier.input_modifier_count(obj)
    return digest(parts + object_parts(obj, cut, waiting))


def _named_digest(item: bpy.types.ID, waiting: list[bpy.types.ID]) -> str:
    return digest([name_at_first_bake(item, item.name), *id_parts(item, waiting)])
