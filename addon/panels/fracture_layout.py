# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about fracture."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.fracture_settings import (
    BREAKING_STRESS,
    FRACTURE_SETTINGS,
    STEPWISE_SETTINGS,
    USE_FRACTURE,
)
from ..baking import frame_report_reader
from ..baking.addon_session import Note
from ..fracture_meshes import transmissive_materials
from ..objects import mesh_defects, roles
from ..runtime.quantity_text import stress_text
from .flesh_locked_rows import draw_flesh_note, feature_column
from .hints import Fix, Hint, draw_hints
from .note_rows import draw_note
from .property_rows import draw_settings
from .text_rows import count_text, draw_wrapped

CLEAR_MATERIAL_NOTE = (
    '"{material}" lets light in: cracks would show early, so the unbroken body is shown until the first crack. '
    "Later cracks still show early"
)


def draw_fracture(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the largest stress so far next to the Breaking Stress, and the fracture settings."""
    obj, settings = context.object, context.object.sinew
    draw_flesh_note(layout, context)
    if settings.use_fracture:
        draw_hints(layout, context, "fracture", defect_hints(obj))
        _draw_fracture_report(layout, context, obj)
    column = feature_column(layout, context, settings.use_fracture)
    draw_settings(column, obj, (BREAKING_STRESS,))
    if settings.breaking_stress > 0.0 and settings.youngs_modulus > 0.0:
        strain = _percent_text(settings.breaking_stress / settings.youngs_modulus)
        column.label(text=f"Reached by a stretch of {strain}", icon="BLANK1")
    elsewhere = {USE_FRACTURE, BREAKING_STRESS, *(STEPWISE_SETTINGS if roles.is_brittle(obj) else ())}
    draw_settings(column, obj, (s for s in FRACTURE_SETTINGS if s not in elsewhere))
    if roles.is_brittle(obj):
        layout.operator("sinew.preview_cracks", icon="MOD_EXPLODE")
    if settings.use_fracture:
        for material in () if roles.is_sheet(obj) else transmissive_materials.transmissive_materials(obj):
            draw_wrapped(layout, CLEAR_MATERIAL_NOTE.format(material=material), "INFO", context)
    # what is made of a bake, not how it is baked: free to be changed at any time
    column = layout.column()
    column.active = settings.use_fracture
    if not roles.is_sheet(obj):
        column.prop(settings, "broken_material")
    column.prop(settings, "separate_pieces")


def _percent_text(share: float) -> str:
    """Returns a share for people: "0.064 %", "150 %"."""
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:,.0f} %"


def _draw_fracture_report(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    report = frame_report_reader.report(context.scene, obj)
    column = layout.column(align=True)
    if roles.is_brittle(obj):  # its stress is known only where it is hit
        if report.pieces is not None:
            column.label(text=_pieces_text(report.pieces), icon="MOD_EXPLODE" if report.pieces > 1 else "INFO")
        return
    if report.largest_stress is None:
        column.label(text="Largest stress: known once it is baked", icon="INFO")
        return
    bears = obj.sinew.breaking_stress
    share = report.largest_stress / bears if bears > 0.0 else 0.0
    compared = (
        f"{100.0 * share:.3g} % of Breaking Stress" if share <= 1.0 else f"above the {stress_text(bears)} it bears"
    )
    stress = f"Largest stress in one piece: {stress_text(report.largest_stress)}, {compared}"
    if report.splits and report.pieces is not None:
        # beside that it has broken, how near it was to that says nothing
        words = "It has cracked" if report.pieces <= 1 else _pieces_text(report.pieces)
        draw_note(column, Note(words, f"{stress}. {report.splits:,} points split"), "MOD_EXPLODE", context)
    else:
        draw_wrapped(column, stress, "INFO", context)
    if report.frames_held:
        words = f"Max Splits Per Step or Max Pieces held cracks back in {count_text(report.frames_held, 'frame')}"
        draw_wrapped(column, words, "ERROR", context)


def _pieces_text(count: int) -> str:
    return f"It has broken into {count_text(count, 'piece')}" if count > 1 else "In one piece so far"


def defect_hints(obj: bpy.types.Object) -> list[Hint]:
    """Returns why the mesh cannot break into closed pieces, and what makes a copy which can; sheets may be open."""
    found = None if roles.is_sheet(obj) else mesh_defects.mesh_defects(obj)
    if found is None:
        return []
    sentence = f"{mesh_defects.defects_text(found)}: pieces of this mesh could not be closed"
    fix = Fix("sinew.remesh_closed", icon="MOD_REMESH")
    return [Hint("open", sentence, (fix,), "ERROR", "breaks-open", is_locked=False)]
