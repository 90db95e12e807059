# SPDX-License-Identifier: GPL-3.0-or-later
"""One set of panels, drawn in the Physics tab of the Properties editor and in the sidebar tab "Sinew"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...solver.scene.settings.flesh_settings import JIGGLE
from ..baking import bake_status
from ..objects.roles import is_brittle, is_flesh, is_rigid, is_sheet, roles_of
from ..properties.role_definitions import BODY, FLESH, ROLE_BY_KEY
from . import (
    activation_layout,
    attachments_layout,
    attributes_layout,
    bake_layout,
    check_layout,
    collision_layout,
    fibres_layout,
    field_weights_layout,
    flesh_layout,
    formulation_layout,
    fracture_layout,
    goal_layout,
    heat_layout,
    main_layout,
    material_layout,
    muscle_layout,
    muscle_lists,
    muscle_shape_layout,
    outliner_menu,
    pass_and_wrap_layout,
    pie_menu,
    pins_layout,
    pressure_layout,
    rigid_body_layout,
    rigid_core_layout,
    role_menus,
    sheet_layout,
    size_and_start_layout,
    status_bar_counts,
    tets_layout,
    user_material_presets,
)
from .attachments_layout import SINEW_UL_attachments
from .property_rows import FLESH_SWITCHES, HEADER_SWITCHES, JIGGLE_SWITCHES
from .softening_list import SINEW_UL_softening

ContextPoll = Callable[[bpy.types.Context], bool]
PanelDrawer = Callable[[bpy.types.UILayout, bpy.types.Context], None]

PANEL_LOCATIONS = {
    "PHYSICS": {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"},
    "SIDEBAR": {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "Sinew"},
}

# of what has a switch; new bodies have a Stretch Limit, which only soft ones read
REFUSED_BY_SHEETS = ("surface_detail", "heat", "core")
REFUSED_BY_RIGID_BODIES = ("plasticity", "surface_detail", "heat", "fracture", "core", "pressure")


def _shown_panels(context: bpy.types.Context) -> set[str]:
    """Returns the names of the panels that the roles of the object have."""
    obj = context.object
    if obj is None:
        return set()
    roles = [ROLE_BY_KEY[key] for key in roles_of(obj)] + ([FLESH] if is_flesh(obj) else [])
    found = {name for role in roles for name in role.panels}
    unneeded = dict.fromkeys(("muscle_shape", "fibres"), not obj.sinew.use_muscle)
    unneeded["sheet"] = not is_sheet(obj)
    unneeded["stretch_limit"] = is_sheet(obj) or is_rigid(obj) or is_brittle(obj)
    for name in _refused_panels(obj):
        # what is on can be switched off
        unneeded[name] = not getattr(obj.sinew, HEADER_SWITCHES[name])
    unneeded["rigid_body"] = not rigid_body_layout.is_shown(obj, context.scene)
    unneeded["advanced"] = not formulation_layout.is_offered(obj)
    return found - {name for name, is_unneeded in unneeded.items() if is_unneeded}


def _refused_panels(obj: bpy.types.Object) -> tuple[str, ...]:
    """Returns the panels with a switch that a body has no use for."""
    if is_sheet(obj):
        return REFUSED_BY_SHEETS
    if is_brittle(obj):
        return (*(name for name in REFUSED_BY_RIGID_BODIES if name != "fracture"), "goal")
    return REFUSED_BY_RIGID_BODIES if is_rigid(obj) else ()


def _make_panels() -> list[type]:
    """Returns the panel classes of both places, parents first."""
    made = []
    for place, where in PANEL_LOCATIONS.items():
        parent = f"SINEW_PT_{place.lower()}"
        made.append(
            _make_panel(parent, "Sinew", where, main_layout.draw_main, _has_role if place == "PHYSICS" else None)
        )
        for name, label, draw, is_closed in PANEL_TABLE:
            values: dict[str, object] = {**where, "bl_parent_id": parent}
            if is_closed:
                values["bl_options"] = {"DEFAULT_CLOSED"}
            if name in HEADER_SWITCHES:
                values["draw_header"] = _header_drawer(HEADER_SWITCHES[name])
            made.append(_make_panel(f"{parent}_{name}", label, values, draw, _panel_poll(name)))
    return made


def _header_drawer(switch: str) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    """Returns what draws the checkbox `switch` before the name of a panel."""

    def draw_header(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        settings = context.object.sinew
        is_locked = bake_status.status(context.scene).is_locked
        # what is on can be switched off, also where it should never have been on
        is_of_flesh = switch in FLESH_SWITCHES or (switch in JIGGLE_SWITCHES and settings.motion == JIGGLE)
        may_be_on = not is_flesh(context.object) or is_of_flesh
        self.layout.enabled = not is_locked and (getattr(settings, switch) or may_be_on)
        self.layout.prop(settings, switch, text="")

    return draw_header


def _has_role(context: bpy.types.Context) -> bool:
    return bool(_shown_panels(context))


def _panel_poll(name: str) -> ContextPoll | None:
    """Returns what says whether a panel is shown; None: always."""
    return None if name in SCENE_PANELS else lambda context: name in _shown_panels(context)


def _make_panel(name: str, label: str, values: dict[str, Any], draw: PanelDrawer, is_shown: ContextPoll | None) -> type:
    def poll(_cls: type, context: bpy.types.Context) -> bool:
        return is_shown is None or is_shown(context)

    def draw_in(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        # names stand beside their fields where there is room, inside them where there is not
        self.layout.use_property_split = self.bl_space_type == "PROPERTIES"
        self.layout.use_property_decorate = False
        draw(self.layout, context)

    body = {
        "bl_options": set(),
        **values,
        "bl_idname": name,
        "bl_label": label,
        "poll": classmethod(poll),
        "draw": draw_in,
        "__doc__": label,
    }
    return type(name, (bpy.types.Panel,), body)


# name (roles have it in their `panels`), label, draw, closed at first
PANEL_TABLE = (
    ("held_by", "Bones", flesh_layout.draw_held_by, False),
    ("material", "Material", material_layout.draw_material, False),
    ("material_paint", "Paint", material_layout.draw_material_paint, True),
    ("stretch_limit", "Stretch Limit", material_layout.draw_stretch_limit, True),
    ("rest_scale", "Rest Scale", material_layout.draw_rest_scale, True),
    ("flesh", "Flesh", flesh_layout.draw_flesh, True),
    ("muscle", "Muscle", muscle_layout.draw_muscle, True),
    ("muscle_shape", "Muscle Shape", muscle_shape_layout.draw_muscle_shape, True),
    ("activation", "Activation", activation_layout.draw_activation, True),
    ("fibres", "Fibres", fibres_layout.draw_fibres, True),
    ("plasticity", "Plasticity", material_layout.draw_plasticity, True),
    ("surface_detail", "Surface Detail", material_layout.draw_surface_detail, True),
    ("heat", "Heat", heat_layout.draw_heat, True),
    ("fracture", "Fracture", fracture_layout.draw_fracture, True),
    ("rigid_body", "Rigid Body", rigid_body_layout.draw_rigid_body, False),
    ("core", "Rigid Core", rigid_core_layout.draw_core, True),
    ("tets", "Tets", tets_layout.draw_tets, False),
    ("sheet", "Sheet", sheet_layout.draw_sheet, False),
    ("pins", "Pins", pins_layout.draw_pins, True),
    ("attachments", "Attachments", attachments_layout.draw_attachments, True),
    ("layers", "Layers", pass_and_wrap_layout.draw_layers, True),
    ("collision", "Collision", collision_layout.draw_collision, True),
    ("goal", "Goal", goal_layout.draw_goal, True),
    ("pressure", "Pressure", pressure_layout.draw_pressure, True),
    ("field_weights", "Field Weights", field_weights_layout.draw_field_weights, True),
    ("size_and_start", "Size and Start", size_and_start_layout.draw_size_and_start, True),
    ("attributes", "Attributes", attributes_layout.draw_attributes, True),
    ("advanced", "Advanced", formulation_layout.draw_advanced, True),
    ("bone", "Bone Mesh", flesh_layout.draw_bone, False),
    ("heat_source", "Heat Source", heat_layout.draw_heat_source, False),
    ("collider", "Collider", collision_layout.draw_collider, False),
    ("check", "Check", check_layout.draw_check, True),
    ("solver", "Solver", bake_layout.draw_solver, True),
    ("cache", "Cache", bake_layout.draw_cache, True),
)
# panels about the scene, shown for every object
SCENE_PANELS = {"check", "solver", "cache"}


def draw_add_button(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Adds Sinew's menu to the buttons of Cloth, Collision and so on, at the top of the Physics tab."""
    obj = context.object
    if obj is None or obj.type not in {"MESH", "EMPTY"}:
        return
    if obj.sinew.result_of is not None:
        self.layout.operator("sinew.activate_body", icon=ROLE_BY_KEY[BODY].icon)
    elif not roles_of(obj):
        self.layout.menu("SINEW_MT_make", icon=ROLE_BY_KEY[BODY].icon)
    else:
        self.layout.operator("sinew.remove", text="Remove from Sinew", icon="X")


CLASSES = (
    SINEW_UL_softening,
    *muscle_lists.CLASSES,
    SINEW_UL_attachments,
    *role_menus.CLASSES,
    *user_material_presets.CLASSES,
    *outliner_menu.CLASSES,
    *pie_menu.CLASSES,
    *_make_panels(),
)
# what is drawn at the end of Blender's own menus, headers and panels
APPENDED = (
    ("PHYSICS_PT_add", draw_add_button),
    ("OUTLINER_MT_object", outliner_menu.draw_menu_entry),
    ("OUTLINER_HT_header", status_bar_counts.draw_outliner_header),
    ("STATUSBAR_HT_header", status_bar_counts.draw_status_bar),
)


def register() -> None:
    """Adds the panels."""
    for each in CLASSES:
        bpy.utils.register_class(each)
    for name, draw in APPENDED:
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    """Takes them away."""
    for name, draw in APPENDED:
        getattr(bpy.types, name).remove(draw)
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
