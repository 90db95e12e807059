# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about plasticity, heat, fracture and attributes."""

from __future__ import annotations

import bpy

from ...solver.scene.scene import ATTRIBUTES
from ...solver.scene.settings.fracture import BREAKING_STRESS, FRACTURE_SETTINGS, USE_FRACTURE
from ...solver.scene.settings.heat import HEAT_SETTINGS, HEAT_SOURCE_SETTINGS, SOFTENING, USE_HEAT
from ...solver.scene.settings.plasticity import PLASTICITY_SETTINGS, USE_PLASTICITY
from ...solver.scene.settings.simulation import AIR_TEMPERATURE
from ..baking import bake_status, body_reports
from ..cache.attribute_names import RENAMED_ATTRIBUTES, VELOCITY_ATTRIBUTE
from ..fracture_meshes import material_swap
from ..objects import mesh_defects, roles
from .bake_layout import draw_wrapped
from .property_rows import draw_settings, stress_text
from .softening_list import TEMPERATURE_COLUMN_SHARE

# attributes that materials find under another name
MATERIAL_ATTRIBUTE_NAMES = {**RENAMED_ATTRIBUTES, "velocity": VELOCITY_ATTRIBUTE}
CLEAR_MATERIAL_NOTE = (
    '"{material}" lets light in: cracks would show early, so the unbroken body is shown until the first crack. '
    "Later cracks still show early"
)
NOT_CARRIED_NOTE = "They play from the cache, also without Sinew. Shape keys and Alembic do not carry them"
FLESH_NOTE = "Flesh does not flow, take heat or break: choose Soft Body as Motion for that"


def draw_plasticity(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the settings of plasticity, and the largest plastic strain so far."""
    obj, own = context.object, context.object.sinew
    _draw_flesh_note(layout, context)
    report = body_reports.report(context.scene, obj)
    if report.largest_plastic_strain is not None and own.use_plasticity:
        layout.label(text=f"Largest plastic strain so far: {report.largest_plastic_strain:.3g}", icon="INFO")
    column = _locked_column(layout, context, own.use_plasticity)
    draw_settings(column, obj, (setting for setting in PLASTICITY_SETTINGS if setting != USE_PLASTICITY))


def draw_heat(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how heat comes in, and what it does to the material."""
    obj, own = context.object, context.object.sinew
    _draw_flesh_note(layout, context)
    report = body_reports.report(context.scene, obj)
    if report.hottest is not None and own.use_heat:
        layout.label(text=f"{report.coldest:.4g} to {report.hottest:.4g} °C at the last frame", icon="INFO")
    column = _locked_column(layout, context, own.use_heat)
    draw_settings(column, obj, (setting for setting in HEAT_SETTINGS if setting not in (USE_HEAT, SOFTENING)))
    draw_settings(column, context.scene, (AIR_TEMPERATURE,))
    if own.use_heat and not own.use_plasticity:
        draw_wrapped(column, "Without Plasticity it gets soft, but takes no new shape", "INFO", context)
    # like Add Ground also for a finished bake, whose note may ask for it
    part = layout.column()
    part.enabled = not bake_status.status(context.scene).is_running
    part.operator("sinew.add_heat_source", icon="OUTLINER_OB_FORCE_FIELD")
    _draw_softening(_locked_column(layout, context, own.use_heat), own)


def _draw_softening(layout: bpy.types.UILayout, own: bpy.types.PropertyGroup) -> None:
    column = layout.column(align=True)
    column.use_property_split = False
    header = column.row()
    header.label(text="Softening Factors")
    rows = [row.temperature for row in own.softening]
    if any(a >= b for a, b in zip(rows[:-1], rows[1:], strict=True)):
        part = header.row()
        part.alert = True
        part.operator("sinew.sort_softening", text="", icon="SORTSIZE")
    buttons = header.row(align=True)
    buttons.operator("sinew.add_softening", text="", icon="ADD")
    part = buttons.row(align=True)
    part.enabled = bool(rows)
    part.operator("sinew.remove_softening", text="", icon="REMOVE")
    if rows:
        names = column.split(factor=TEMPERATURE_COLUMN_SHARE, align=True)
        names.label(text="°C")
        names = names.row(align=True)
        for words in ("Stiffness", "Yield Strain", "Flow Rate"):
            names.label(text=words)
    column.template_list("SINEW_UL_softening", "", own, "softening", own, "softening_index", rows=4 if rows else 2)


def draw_fracture(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the body bears beside what it had to bear so far, and how it breaks."""
    obj, own = context.object, context.object.sinew
    _draw_flesh_note(layout, context)
    if own.use_fracture:
        draw_defects(layout, context, obj)
        _draw_fracture_report(layout, context, obj)
    column = _locked_column(layout, context, own.use_fracture)
    draw_settings(column, obj, (BREAKING_STRESS,))
    if own.breaking_stress > 0.0 and own.youngs_modulus > 0.0:
        strain = _percent_text(own.breaking_stress / own.youngs_modulus)
        column.label(text=f"Reached by a stretch of {strain}", icon="BLANK1")
    draw_settings(column, obj, (s for s in FRACTURE_SETTINGS if s not in (USE_FRACTURE, BREAKING_STRESS)))
    if own.use_fracture:
        for material in material_swap.transmissive_materials(obj):
            draw_wrapped(layout, CLEAR_MATERIAL_NOTE.format(material=material), "INFO", context)
    # what is made of a bake, not how it is baked: free to be changed at any time
    column = layout.column()
    column.active = own.use_fracture
    column.prop(own, "broken_material")
    column.prop(own, "separate_pieces")


def _percent_text(share: float) -> str:
    """Returns a share for people: "0.064 %", "150 %"."""
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:,.0f} %"


def _draw_fracture_report(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    report = body_reports.report(context.scene, obj)
    column = layout.column(align=True)
    if report.largest_stress is None:
        column.label(text="Largest stress: known once it is baked", icon="INFO")
        return
    bears = obj.sinew.breaking_stress
    share = report.largest_stress / bears if bears > 0.0 else 0.0
    compared = (
        f"{100.0 * share:.3g} % of Breaking Stress" if share <= 1.0 else f"above the {stress_text(bears)} it bears"
    )
    draw_wrapped(
        column, f"Largest stress in one piece: {stress_text(report.largest_stress)}, {compared}", "INFO", context
    )
    if report.splits:
        pieces = f"{report.pieces:,} pieces" if report.pieces != 1 else "1 piece"
        draw_wrapped(column, f"Cracked: {pieces}, {report.splits:,} points split", "MOD_EXPLODE", context)
    if report.frames_held:
        frames = "1 frame" if report.frames_held == 1 else f"{report.frames_held:,} frames"
        words = f"Splits Per Step or Max Pieces held cracks back in {frames}"
        draw_wrapped(column, words, "ERROR", context)


def draw_defects(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> bool:
    """Draws why the mesh cannot break into closed pieces, and what makes a copy which can; returns whether it did."""
    found = mesh_defects.defects(obj)
    if found is not None:
        draw_wrapped(layout, f"{found.words}: pieces of this mesh could not be closed", "ERROR", context)
        layout.operator("sinew.remesh_closed", icon="MOD_REMESH")
    return found is not None


def draw_attributes(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what is written per vertex for materials."""
    layout.use_property_split = False
    layout.enabled = not bake_status.status(context.scene).is_locked
    chosen = context.object.sinew.attributes
    layout.column(align=True).prop(context.object.sinew, "attributes")
    if chosen:
        names = ", ".join(MATERIAL_ATTRIBUTE_NAMES.get(name, name) for name in ATTRIBUTES if name in chosen)
        draw_wrapped(layout, f"Materials read them with Attribute nodes of these names: {names}", "INFO", context)
        draw_wrapped(layout, NOT_CARRIED_NOTE, "BLANK1", context)


def draw_heat_source(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how a heat source warms what is near it."""
    column = layout.column()
    column.enabled = not bake_status.status(context.scene).is_locked
    draw_settings(column, context.object, HEAT_SOURCE_SETTINGS)


def _locked_column(layout: bpy.types.UILayout, context: bpy.types.Context, is_on: bool) -> bpy.types.UILayout:
    """Returns a column that is locked while they are baked, and grey while they are switched off."""
    column = layout.column()
    column.enabled = not bake_status.status(context.scene).is_locked and not roles.is_flesh(context.object)
    column.active = is_on
    return column


def _draw_flesh_note(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws why all of a panel is grey for flesh."""
    if roles.is_flesh(context.object):
        draw_wrapped(layout, FLESH_NOTE, "INFO", context)
