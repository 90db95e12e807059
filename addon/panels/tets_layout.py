# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the tets of a body."""

from __future__ import annotations

import bpy

from ...solver.scene.formulation import refinement_factor
from ...solver.scene.settings.setting import Setting
from ...solver.scene.settings.tet_settings import (
    COARSEST_SIZE,
    DISPLAY_SETTINGS,
    FILL,
    FINE_COLLECTION,
    FINE_DISTANCE,
    FINE_GROUP,
    INTERIOR_SIZE,
    MAX_STRAIN_VARIATION,
    REFINES_DYNAMICALLY,
    SHOW_TETS,
    TET_SETTINGS,
)
from ..baking import bake_status
from ..export import artist_tet_files, formulation
from ..objects import roles, tet_estimate
from ..objects.initial_settings import is_wire
from .property_rows import draw_fold, draw_row, draw_settings, locked_column

ADAPTIVE_SETTINGS = (
    COARSEST_SIZE,
    FINE_GROUP,
    FINE_COLLECTION,
    FINE_DISTANCE,
    REFINES_DYNAMICALLY,
    MAX_STRAIN_VARIATION,
)
FILL_SETTINGS = (FILL, INTERIOR_SIZE, *ADAPTIVE_SETTINGS)
SIZE_SETTINGS = tuple(setting for setting in TET_SETTINGS if setting not in FILL_SETTINGS)


def draw_tets(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how finely the body is filled, and how many tets that makes."""
    obj, scene = context.object, context.scene
    settings = obj.sinew
    if tet_estimate.has_no_volume(obj) and not roles.is_sheet(obj):
        locked_column(layout, context).operator("sinew.make_sheet", icon="MOD_CLOTH")
    if obj.rigid_body is not None and not roles.is_rigid(obj) and not roles.is_flesh(obj):
        locked_column(layout, context).operator("sinew.make_rigid", text="Make It Rigid", icon="RIGID_BODY")
    _draw_table(locked_column(layout, context), obj, SIZE_SETTINGS)
    words, *refined = _tet_count_text(obj, scene).split("\n")
    layout.label(text=words, icon="MESH_ICOSPHERE")
    refined += [_preview_text(obj, scene)] if tet_estimate.has_preview(settings) else []
    for line in refined:  # behind the others it would be cut off in the sidebar
        layout.label(text=line, icon="BLANK1")
    folded = draw_fold(layout, "tets")
    if folded is None:
        return
    column = locked_column(folded, context)
    _draw_table(column, obj, FILL_SETTINGS)
    if settings.use_fracture and settings.method in ("SMOOTH", "ADAPTIVE"):
        column.label(text="Bodies with Fracture get Robust tets", icon="INFO")
    column = folded.column(heading="Viewport Display")
    draw_settings(column, obj, (SHOW_TETS,))
    if settings.show_tets and bake_status.tet_count(scene, obj) is None:
        column.label(text="Press Simulate to see them", icon="INFO")
    draw_settings(column, obj, (each for each in DISPLAY_SETTINGS if each != SHOW_TETS))


def _draw_table(layout: bpy.types.UILayout, obj: bpy.types.Object, table: tuple[Setting, ...]) -> None:
    """Draws the settings that count."""
    settings = obj.sinew
    for setting in table:
        is_ruled_out = setting in (INTERIOR_SIZE, *ADAPTIVE_SETTINGS) and settings.use_fracture
        if setting.counts(lambda name: getattr(settings, name)) and not is_ruled_out:
            draw_row(layout, obj, setting)


def _tet_count_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    known = bake_status.current_tet_count(scene, obj)
    if known is not None:
        return f"{known:,} tets"
    times = refinement_factor(formulation.read_formulation(obj.sinew))
    if roles.is_rigid(obj):
        return "Moves as one piece"
    if roles.is_sheet(obj):
        return "Its edges are strings" if is_wire(obj) else "Its faces stretch and bend"
    if obj.sinew.method == "GIVEN":
        return _tet_file_text(artist_tet_files.tet_count(obj), times)
    count = tet_estimate.tet_count(obj, scene.unit_settings.scale_length)
    if count < 2:
        return "Hardly a tet fits: choose smaller ones" if count else "No tets: the mesh has no size"
    rounded = _rounded(count)
    return f"About {rounded:,} tets{_refined_text(rounded, times)}"


def _preview_text(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Returns how many tets the body gets at Preview, where its final ones are no fewer."""
    count = tet_estimate.tet_count(obj, scene.unit_settings.scale_length, is_preview=True)
    return f"At Preview: about {_rounded(count):,}"


def _rounded(count: int) -> int:
    """Returns a number to two digits."""
    return round(count, -max(len(str(count)) - 2, 0))


def _refined_text(count: int, times: int) -> str:
    return f"\nRefined: {count * times:,} tets" if times > 1 else ""


def _tet_file_text(found: int | str | None, times: int) -> str:
    """Returns what is said of a file: its number of tets, what is wrong with it, or that it is large."""
    if found is None:
        return "The tets of a large file"
    return found if isinstance(found, str) else f"{found:,} tets{_refined_text(found, times)}"
