# SPDX-License-Identifier: GPL-3.0-or-later
"""One set of panels, drawn in the Physics tab of the Properties editor and in the sidebar tab "Sinew"."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from ..baking import bake_status
from ..objects.roles import is_flesh
from . import object_layout
from .softening_list import SINEW_UL_softening

PANEL_LOCATIONS = {
    "PHYSICS": {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"},
    "SIDEBAR": {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "Sinew"},
}


def _panel_roles(context: bpy.types.Context) -> set[str]:
    """Returns what the object is to panels: its role, and whether it is flesh."""
    obj = context.object
    if obj is None or obj.sinew.role == "NONE":
        return set()
    return {obj.sinew.role, "FLESH"} if is_flesh(obj) else {obj.sinew.role}


def _make_panels() -> list[type]:
    """Returns the panel classes of both places, parents first."""
    made = []
    for place, where in PANEL_LOCATIONS.items():
        parent = f"SINEW_PT_{place.lower()}"
        made.append(_make_panel(parent, "Sinew", where, object_layout.draw_main, None, (), place == "PHYSICS"))
        for name, label, draw, roles, closed in PANEL_TABLE:
            values: dict[str, object] = {**where, "bl_parent_id": parent}
            if name in HEADER_SWITCHES:
                values["draw_header"] = _header_drawer(HEADER_SWITCHES[name])
            made.append(
                _make_panel(f"{parent}_{name}", label, values, draw, roles, {"DEFAULT_CLOSED"} if closed else ())
            )
    return made


def _header_drawer(switch: str) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    """Returns what draws the checkbox `switch` before the name of a panel."""

    def draw_header(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        own = context.object.sinew
        is_locked = bake_status.status(context.scene).is_locked
        # what is on can be switched off, also where it should never have been on
        self.layout.enabled = not is_locked and (getattr(own, switch) or not is_flesh(context.object))
        self.layout.prop(own, switch, text="")

    return draw_header


def _make_panel(name, label, values, draw, roles, options=(), meshes_only=False) -> type:  # type: ignore[no-untyped-def]
    def poll(_cls: type, context: bpy.types.Context) -> bool:
        if meshes_only and not _panel_roles(context):
            return False
        return roles is None or bool(_panel_roles(context) & roles)

    def draw_in(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        # names stand beside their fields where there is room, inside them where there is not
        self.layout.use_property_split = self.bl_space_type == "PROPERTIES"
        self.layout.use_property_decorate = False
        draw(self.layout, context)

    body = {
        **values,
        "bl_idname": name,
        "bl_label": label,
        "bl_options": set(options),
        "poll": classmethod(poll),
        "draw": draw_in,
        "__doc__": label,
    }
    return type(name, (bpy.types.Panel,), body)


# name, label, draw, roles for which it is shown (None: all), closed at first
PANEL_TABLE = (
    ("held_by", "Bones", object_layout.draw_held_by, {"FLESH"}, False),
    ("material", "Material", object_layout.draw_material, {"BODY"}, False),
    ("flesh", "Flesh", object_layout.draw_flesh, {"FLESH"}, True),
    ("plasticity", "Plasticity", object_layout.draw_plasticity, {"BODY"}, True),
    ("heat", "Heat", object_layout.draw_heat, {"BODY"}, True),
    ("fracture", "Fracture", object_layout.draw_fracture, {"BODY"}, True),
    ("core", "Rigid Core", object_layout.draw_core, {"BODY"}, True),
    ("tets", "Tets", object_layout.draw_tets, {"BODY"}, False),
    ("pins", "Pins", object_layout.draw_pins, {"BODY"}, False),
    ("collision", "Collision", object_layout.draw_collision, {"BODY"}, True),
    ("motion", "Size and Start", object_layout.draw_motion, {"BODY"}, True),
    ("attributes", "Attributes", object_layout.draw_attributes, {"BODY"}, True),
    ("advanced", "Advanced", object_layout.draw_advanced, {"BODY"}, True),
    ("bone", "Bone", object_layout.draw_bone, {"BONE"}, False),
    ("heat_source", "Heat Source", object_layout.draw_heat_source, {"HEAT"}, False),
    ("collider", "Collider", object_layout.draw_collider, {"COLLIDER"}, False),
    ("solver", "Solver", object_layout.draw_solver, None, True),
    ("cache", "Cache", object_layout.draw_cache, None, True),
)
# panels that are switched on in their header
HEADER_SWITCHES = {"plasticity": "use_plasticity", "heat": "use_heat", "fracture": "use_fracture", "core": "use_core"}

CLASSES: list[type] = []


def draw_add_button(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Adds Sinew's button to those of Cloth, Collision and so on, at the top of the Physics tab."""
    obj = context.object
    if obj is None or obj.type not in {"MESH", "EMPTY"}:
        return
    if obj.sinew.result_of is not None:
        self.layout.operator("sinew.activate_body", icon=object_layout.ROLE_ICONS["BODY"])
    elif obj.sinew.role == "NONE":
        # as Blender's own buttons above: two columns where there is room
        flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=True, align=True)
        if obj.type == "MESH":
            flow.column().operator("sinew.make_body", text="Sinew Body", icon=object_layout.ROLE_ICONS["BODY"])
            flow.column().operator("sinew.make_flesh", text="Sinew Flesh", icon=object_layout.FLESH_ICON)
            flow.column().operator("sinew.make_bone", text="Sinew Bone", icon=object_layout.ROLE_ICONS["BONE"])
            flow.column().operator(
                "sinew.make_collider", text="Sinew Collider", icon=object_layout.ROLE_ICONS["COLLIDER"]
            )
        flow.column().operator(
            "sinew.make_heat_source", text="Sinew Heat Source", icon=object_layout.ROLE_ICONS["HEAT"]
        )
    else:
        self.layout.operator("sinew.remove", text="Remove Sinew", icon="X")


def register() -> None:
    """Adds the panels."""
    CLASSES[:] = [SINEW_UL_softening, *_make_panels()]
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.PHYSICS_PT_add.append(draw_add_button)


def unregister() -> None:
    """Takes them away."""
    bpy.types.PHYSICS_PT_add.remove(draw_add_button)
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
    CLASSES.clear()
