# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators, one subject per file."""

from __future__ import annotations

import bpy

from . import (
    activation_keys,
    activation_poses,
    attachments,
    bodies,
    bone_meshes,
    closed_copy,
    collider_force_curves,
    colliders,
    compile_ahead,
    convert_to_shape_keys,
    copy_settings,
    draw_muscle,
    explain_notes,
    fibres,
    finished_bake,
    flesh,
    flex_controls,
    heat,
    import_tets,
    join_tendon,
    keyframe_decorator,
    modifier_stack,
    muscles,
    orphaned_caches,
    pin_selected_vertices,
    quick,
    select_role,
    self_weight,
    simulate,
    softening_table,
    subdivide_coarse_mesh,
    table_rows,
    takes,
    tet_display,
)

PARTS = (
    bodies,
    flesh,
    muscles,
    draw_muscle,
    join_tendon,
    modifier_stack,
    bone_meshes,
    import_tets,
    colliders,
    collider_force_curves,
    heat,
    softening_table,
    table_rows,
    activation_poses,
    activation_keys,
    flex_controls,
    attachments,
    pin_selected_vertices,
    subdivide_coarse_mesh,
    self_weight,
    simulate,
    compile_ahead,
    finished_bake,
    copy_settings,
    takes,
    convert_to_shape_keys,
    closed_copy,
    orphaned_caches,
    explain_notes,
    keyframe_decorator,
    quick,
    select_role,
    tet_display,
    fibres,
)


def register() -> None:
    """Adds the operators."""
    for part in PARTS:
        for each in part.CLASSES:
            bpy.utils.register_class(each)
    bpy.types.TOPBAR_MT_file_import.append(import_tets.draw_menu_entry)
    bpy.types.VIEW3D_MT_object_quick_effects.append(quick.draw_menu_entries)


def unregister() -> None:
    """Takes them away."""
    bpy.types.VIEW3D_MT_object_quick_effects.remove(quick.draw_menu_entries)
    bpy.types.TOPBAR_MT_file_import.remove(import_tets.draw_menu_entry)
    for part in reversed(PARTS):
        for each in reversed(part.CLASSES):
            bpy.utils.unregister_class(each)
