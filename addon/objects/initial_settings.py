# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings that a new body begins with where nobody has chosen any: they suit the size of the object.

Blender's defaults stay what they were, so that files of earlier versions keep theirs.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.scene.settings.flesh_settings import ELASTIC
from ...solver.scene.settings.fracture_settings import CRACK_ADVANCES, NEW_BODY_CRACK_ADVANCES
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.preset_settings import MATERIAL_PRESET
from ...solver.scene.settings.setting import Setting
from ...solver.scene.settings.stretch_limit_settings import STRETCH_LIMIT_SETTINGS
from ...solver.scene.settings.tet_settings import FILL, TET_SETTINGS
from ..properties.role_definitions import BODY, COLLIDER
from . import bone_rows, roles, tet_estimate

JELLY_BY_SIZE, FLESH_BY_SIZE = "JELLY_BY_SIZE", "FLESH_BY_SIZE"


def make_new_body(obj: bpy.types.Object) -> None:
    """Makes `obj` a soft body; one that was none gets the first settings."""
    is_new = obj.sinew.role != BODY
    roles.make_body(obj)
    if is_new:
        is_sheet = is_wire(obj) or (is_cloth(obj) and not _is_chosen(obj, FILL))
        _choose_tets(obj)
        _limit_stretch(obj)
        if not _is_chosen(obj, CRACK_ADVANCES):
            obj.sinew.crack_advances = NEW_BODY_CRACK_ADVANCES
        if not _is_chosen(obj, MATERIAL_PRESET, *MATERIAL_SETTINGS):
            obj.sinew.preset = JELLY_BY_SIZE
        if is_sheet:
            obj.sinew.method = "SHEET"


def is_cloth(obj: bpy.types.Object) -> bool:
    """Whether the mesh of `obj` is an open surface around no volume, as a grid is, and no polygon soup."""
    mesh = obj.data
    edges = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    faces = np.bincount(edges)
    is_joined = len(mesh.polygons) == 1 or bool((faces > 1).any())
    return is_joined and bool((faces == 1).any()) and tet_estimate.has_no_volume(obj)


def is_wire(obj: bpy.types.Object) -> bool:
    """Whether the mesh of `obj` has edges and no faces: strings, which are those of a sheet."""
    return len(obj.data.edges) > 0 and len(obj.data.polygons) == 0


def make_new_rigid_body(obj: bpy.types.Object) -> None:
    """Makes `obj` a body that moves as one piece; what Blender has as a Passive rigid body becomes a collider."""
    if obj.rigid_body is not None and obj.rigid_body.type == "PASSIVE":
        make_new_collider(obj)
        return
    make_new_body(obj)
    obj.sinew.use_rigid_body = obj.rigid_body is not None
    obj.sinew.motion, obj.sinew.method = ELASTIC, "RIGID"


def make_new_collider(obj: bpy.types.Object) -> None:
    """Makes `obj` a collider; one that was none has the friction that Blender has for a rigid body."""
    if not roles.has_role(obj, COLLIDER) and obj.rigid_body is not None:
        obj.sinew.use_rigid_body = True
    roles.make_collider(obj)


def make_new_flesh(obj: bpy.types.Object) -> None:
    """Makes `obj` flesh that is at the first frame as it was modeled; what is flesh already keeps its settings."""
    is_new = not roles.is_flesh(obj)
    has_material = obj.sinew.role == BODY
    roles.make_flesh(obj)
    if not is_new:
        return
    _choose_tets(obj)
    _limit_stretch(obj)
    bone_rows.write_bone_rows(obj)
    obj.sinew.gravity_in_shape = True
    if not has_material:
        obj.sinew.preset = FLESH_BY_SIZE


def _choose_tets(obj: bpy.types.Object) -> None:
    if _is_chosen(obj, *TET_SETTINGS):
        return
    obj.sinew.sizing = "COUNT"
    if tet_estimate.has_no_volume(obj):
        obj.sinew.method = "ROBUST"


def _limit_stretch(obj: bpy.types.Object) -> None:
    if not _is_chosen(obj, *STRETCH_LIMIT_SETTINGS):
        obj.sinew.use_stretch_limit = True


def _is_chosen(obj: bpy.types.Object, *settings: Setting) -> bool:
    """Whether anybody has given a value to one of the settings, be it the default."""
    return any(obj.sinew.is_property_set(setting.name) for setting in settings)
