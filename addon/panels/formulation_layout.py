# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the finite element formulation of a body."""

from __future__ import annotations

import bpy

from ...solver.scene.formulation import DEFAULT_FORMULATION
from ..export import formulation
from ..objects import roles
from ..properties import preferences
from .hints import Fix, Hint
from .property_rows import draw_menu, locked_column
from .text_rows import draw_wrapped

FLESH_WITHOUT_METHOD_NOTE = "Flesh has a Law in place of a Method: see the panel Flesh"
INCOMPATIBLE_NOTE = "{method} does not support {feature}: choose another Method, such as Polar, or turn {feature} off"
# the failure of a bake with such a method
REFUSAL = "method-combined"
# notes on switches with a certain value
SWITCH_NOTES = {
    "formulation_one_step": (
        True,
        "If it becomes unstable, raise Substeps Per Frame: stiff and fine bodies need many",
    ),
    "formulation_is_stale": (True, "The body spins up by itself, as in the paper that compares this"),
    "formulation_rotation_field": (
        "EDGES",
        "Soft bodies may fly apart when they hit something: choose Least Squares for them",
    ),
}


def is_offered(obj: bpy.types.Object) -> bool:
    """Whether the panel is shown: for those who do research, and for bodies that have such a formulation."""
    return preferences.offers_research() or formulation.read_formulation(obj.sinew) != DEFAULT_FORMULATION


def draw_advanced(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws by which method the body resists, when to use it, and the switches that it reads."""
    obj, settings = context.object, context.object.sinew
    if roles.is_flesh(obj):
        draw_wrapped(layout, FLESH_WITHOUT_METHOD_NOTE, "INFO", context)
        return
    column = locked_column(layout, context)
    column.prop(settings, "formulation")
    chosen = settings.bl_rna.properties["formulation"].enum_items[settings.formulation]
    draw_wrapped(layout, chosen.description, "INFO", context)
    for name in formulation.relevant_properties(settings):
        column = locked_column(layout, context)
        if settings.bl_rna.properties[name].type == "ENUM":
            draw_menu(column, settings, name)
        else:
            column.prop(settings, name)
        value, note = SWITCH_NOTES.get(name, (None, ""))
        if getattr(settings, name) == value:
            draw_wrapped(layout, note, "INFO", context)


def incompatible_hints(obj: bpy.types.Object) -> list[Hint]:
    """Returns what the method is not made for, with the menu to choose another one."""
    settings = obj.sinew
    method, clashing = formulation.formulation_label(settings), formulation.incompatible_features(settings)
    # one menu, under the last of them
    menu = (Fix("formulation"),)
    return [
        Hint(
            f"method.{feature}",
            INCOMPATIBLE_NOTE.format(method=method, feature=feature),
            menu if feature == clashing[-1] else (),
            "ERROR",
            REFUSAL,
        )
        for feature in clashing
    ]
