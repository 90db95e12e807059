# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators, one subject per file."""

from __future__ import annotations

import bpy

from . import (
    activation_poses,
    attachments,
    bake_activation_to_keys,
    bone_meshes,
    brush,
    build_fibres,
    check,
    closed_copy,
    collider_force_curves,
    colliders,
    compile_ahead,
    convert_to_shape_keys,
    copy_settings,
    delete_orphaned_caches,
    draw_muscle,
    finished_bake,
    fit_length_range,
    flex_controls,
    grab,
    heat_sources,
    import_tets,
    join_tendon,
    kept_start,
    keyframe_decorator,
    live,
    live_clock,
    make_body,
    make_flesh,
    make_wrap,
    move_below_armature,
    muscles,
    note_details,
    pin_selected_vertices,
    preview_cracks,
    quick,
    quick_fat,
    radial_control,
    ragdolls,
    real_time_tets,
    remove_role,
    rigid_bodies,
    select_role,
    self_weight_remedies,
    sheets,
    simulate,
    simulate_selected_bodies,
    softening_table,
    solve_frame,
    subdivide_coarse_mesh,
    table_rows,
    takes,
    tet_display,
)

PARTS = (
    make_body,
    ragdolls,
    rigid_bodies,
    remove_role,
    make_flesh,
    muscles,
    draw_muscle,
    join_tendon,
    move_below_armature,
    bone_meshes,
    import_tets,
    colliders,
    collider_force_curves,
    heat_sources,
    softening_table,
    table_rows,
    activation_poses,
    bake_activation_to_keys,
    fit_length_range,
    flex_controls,
    attachments,
    pin_selected_vertices,
    preview_cracks,
    subdivide_coarse_mesh,
    self_weight_remedies,
    sheets,
    simulate,
    simulate_selected_bodies,
    solve_frame,
    kept_start,
    live,
    live_clock,
    radial_control,
    real_time_tets,
    grab,
    brush,
    compile_ahead,
    finished_bake,
    copy_settings,
    takes,
    convert_to_shape_keys,
    closed_copy,
    delete_orphaned_caches,
    note_details,
    keyframe_decorator,
    quick,
    select_role,
    tet_display,
    build_fibres,
    check,
    make_wrap,
    quick_fat,
)


def register() -> None:
    """Adds the operators."""
    for part in PARTS:
        for each in part.CLASSES:
            bpy.utils.register_class(each)
    grab.register_tools()
    brush.register_tools()
    bpy.types.TOPBAR_MT_file_import.append(import_tets.draw_menu_entry)
    bpy.types.VIEW3D_MT_object_quick_effects.append(quick.draw_menu_entries)
    bpy.types.VIEW3D_MT_object_quick_effects.append(quick_fat.draw_menu_entry)


def unregister() -> None:
    """Takes them away."""
    bpy.types.VIEW3D_MT_object_quick_effects.remove(quick_fat.draw_menu_entry)
    bpy.types.VIEW3D_MT_object_quick_effects.remove(quick.draw_menu_entries)
    bpy.types.TOPBAR_MT_file_import.remove(import_tets.draw_menu_entry)
    brush.unregister_tools()
    grab.unregister_tools()
    for part in reversed(PARTS):
        for each in reversed(part.CLASSES):
            bpy.utils.unregister_class(each)
