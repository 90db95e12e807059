# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can be set: `Object.sinew` for a body or collider, `Scene.sinew` for the whole simulation.

Values with a length in their unit (LENGTH, VELOCITY) are in Blender units, as everywhere in Blender, and the
exporter multiplies them by the scene's unit scale. All others are in the SI unit that the tooltip names. Only
what is sampled on every frame can be animated.
"""

from __future__ import annotations

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import presets
from .choices import COLLIDER_SHAPES, INTERIOR_SIZES, METHODS, ROLES, SIZINGS

# a setting that is read once, and one that is sampled on every frame
FIXED = {"options": set(), "override": {"LIBRARY_OVERRIDABLE"}}
SAMPLED = {"options": {"ANIMATABLE"}, "override": {"LIBRARY_OVERRIDABLE"}}

# linear tets lock near incompressible
HIGHEST_POISSON_RATIO = 0.45


def _preset_chosen(settings: SinewObject, _context: bpy.types.Context) -> None:
    presets.apply(settings)


def _material_edited(settings: SinewObject, _context: bpy.types.Context) -> None:
    presets.mark_edited(settings)


def _place_changed(settings: SinewScene, _context: bpy.types.Context) -> None:
    from .baking import cache_look, cache_place, present_bake

    if not cache_place.is_quiet:
        cache_look.forget()
        present_bake.attach(settings.id_data)


class SinewObject(bpy.types.PropertyGroup):
    """What one object is to Sinew and how it behaves; filled in by the panels, read by the exporter."""

    role: EnumProperty(name="Role", items=ROLES, default="NONE", description="What this object is to Sinew", **FIXED)
    key: StringProperty(
        name="Key",
        description="The name of this object's files in the cache",
        options={"HIDDEN"},
        override=FIXED["override"],
    )

    modifier_uid: IntProperty(
        name="Modifier",
        description="Which of this object's modifiers is Sinew's place in the stack, by its persistent_uid",
        options={"HIDDEN"},
        override=FIXED["override"],
    )

    preset: EnumProperty(
        name="Material",
        items=presets.ITEMS,
        default=presets.DEFAULT,
        update=_preset_chosen,
        description="Fills in stiffness, volume preservation, density and damping",
        **FIXED,
    )
    youngs_modulus: FloatProperty(
        name="Stiffness",
        description="Young's modulus E [Pa]: how hard it is to stretch or squeeze the material",
        default=presets.DEFAULT_VALUES["youngs_modulus"],
        min=0.0,
        soft_min=100.0,
        soft_max=1.0e11,
        precision=0,
        step=100000,
        update=_material_edited,
        **FIXED,
    )
    poisson_ratio: FloatProperty(
        name="Volume Preservation",
        description=(
            "Poisson's ratio ν: how much the sides bulge when the material is squeezed. "
            "The slider ends where linear tets become too stiff to trust"
        ),
        default=presets.DEFAULT_VALUES["poisson_ratio"],
        min=0.0,
        max=HIGHEST_POISSON_RATIO,
        precision=3,
        step=1,
        subtype="FACTOR",
        update=_material_edited,
        **FIXED,
    )
    density: FloatProperty(
        name="Density",
        description="Mass per volume ρ [kg/m³]; water has 1000",
        default=presets.DEFAULT_VALUES["density"],
        min=0.0,
        soft_min=10.0,
        soft_max=10000.0,
        precision=1,
        step=1000,
        update=_material_edited,
        **FIXED,
    )
    mass_damping: FloatProperty(
        name="Drag",
        description="Damping by mass α [1/s]: slows every motion, falling too, as if in a thick fluid",
        default=presets.DEFAULT_VALUES["mass_damping"],
        min=0.0,
        soft_max=10.0,
        precision=3,
        step=1,
        update=_material_edited,
        **FIXED,
    )
    stiffness_damping: FloatProperty(
        name="Damping",
        description="Damping by stiffness β [s]: calms wobbling, and leaves falling and turning alone",
        default=presets.DEFAULT_VALUES["stiffness_damping"],
        min=0.0,
        soft_max=1.0,
        precision=4,
        step=1,
        update=_material_edited,
        **FIXED,
    )

    method: EnumProperty(
        name="Method", items=METHODS, default="SMOOTH", description="How the mesh is filled with tets", **FIXED
    )
    tets_path: StringProperty(
        name="File",
        description=(
            "File of tets (.msh, .vtu, .vtk, .mesh, .veg) in the object's own space: "
            "one unit of the file is one of the object's, and they share the origin"
        ),
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=FIXED["override"],
    )
    sizing: EnumProperty(
        name="Sizing", items=SIZINGS, default="DIVISIONS", description="How the size of the tets is given", **FIXED
    )
    divisions: IntProperty(
        name="Resolution Divisions",
        description="Tets along the largest of the object's Dimensions, however it is turned",
        default=12,
        min=1,
        soft_min=4,
        soft_max=64,
        max=1000,
        **FIXED,
    )
    tet_size: FloatProperty(
        name="Tet Size",
        description="Edge length of the tets at the surface [m]",
        default=0.1,
        min=0.0,
        soft_min=0.001,
        soft_max=10.0,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED,
    )
    interior_size: EnumProperty(
        name="Interior",
        items=INTERIOR_SIZES,
        default="1",
        description="How much larger the tets deep inside may get, which saves time (Smooth only)",
        **FIXED,
    )

    use_simulated_size: BoolProperty(
        name="Simulated Size",
        description="Move as if the object were larger or smaller than it is: a large cube need not move like a giant",
        default=False,
        **FIXED,
    )
    simulated_size: FloatProperty(
        name="Longest Side",
        description="What the largest of the object's Dimensions is to be for the physics [m]",
        default=0.2,
        min=0.0,
        soft_min=0.001,
        soft_max=100.0,
        precision=3,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED,
    )
    gravity_in_shape: BoolProperty(
        name="Gravity Already in Shape",
        description="The first frame already sags: keep it still instead of letting it sag twice",
        default=False,
        **FIXED,
    )
    initial_velocity: FloatVectorProperty(
        name="Initial Velocity",
        description="Velocity at the first frame [m/s], in world space",
        size=3,
        default=(0.0, 0.0, 0.0),
        precision=3,
        subtype="VELOCITY",
        unit="VELOCITY",
        **FIXED,
    )

    pin_group: StringProperty(
        name="Pin Group",
        description=(
            "Vertex group or attribute that holds vertices to the animated mesh: "
            "1 holds exactly, less is a spring, 0 is free"
        ),
        **FIXED,
    )
    pin_stiffness: FloatProperty(
        name="Pin Stiffness",
        description=(
            "Stiffness of the pin springs per mass [1/s²]: a spring of weight w pulls with w × this × mass × distance; "
            "0 releases all pins, exact ones too. Can be keyframed"
        ),
        default=1000.0,
        min=0.0,
        soft_max=100000.0,
        precision=1,
        step=1000,
        **SAMPLED,
    )
    affect_group: StringProperty(
        name="Affect",
        description=(
            "Vertex group or attribute that limits the simulation to a part of the mesh; "
            "at its border it fades into the animated mesh. Empty: the whole mesh"
        ),
        **FIXED,
    )

    collider_shape: EnumProperty(
        name="Shape", items=COLLIDER_SHAPES, default="MESH", description="What bodies bump into", **FIXED
    )
    friction: FloatProperty(
        name="Friction",
        description="Coulomb's coefficient of friction μ: 0 slides like ice, 1 grips like rubber on stone",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        precision=2,
        step=1,
        **FIXED,
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Bodies keep this distance from the collider [m]",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED,
    )

    show_tets: BoolProperty(
        name="Tets",
        description="Draw the body's tets in the viewport, as they are in the cache",
        default=False,
        **FIXED,
    )
    show_joined: BoolProperty(
        name="Joined Surfaces",
        description="Draw in colour the tets that join surfaces far apart along the mesh, such as lips or fingers",
        default=True,
        **FIXED,
    )


class SinewScene(bpy.types.PropertyGroup):
    """How the whole scene is simulated and where its cache lies."""

    use_scene_range: BoolProperty(
        name="Scene Frame Range",
        description="Bake the frames of the scene; the first one is the start state",
        default=True,
        **FIXED,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of the bake: the start state",
        default=1,
        min=-1048574,
        max=1048574,
        **FIXED,
    )
    frame_end: IntProperty(
        name="End", description="Last frame of the bake", default=250, min=-1048574, max=1048574, **FIXED
    )
    substeps: IntProperty(
        name="Substeps per Frame",
        description="Steps of time per frame: more are slower, livelier, and catch faster collisions",
        default=4,
        min=1,
        soft_max=20,
        max=1000,
        **FIXED,
    )
    samples_per_frame: IntProperty(
        name="Samples per Frame",
        description=(
            "Shapes written per frame, for motion blur of what turns fast; "
            "more take more disk. Has to divide the Substeps per Frame"
        ),
        default=1,
        min=1,
        soft_max=8,
        max=64,
        **FIXED,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Relative residual ‖b − A v‖ / ‖b‖ at which the solver is content with a step",
        default=1.0e-4,
        min=1.0e-12,
        max=0.1,
        precision=6,
        step=0.01,
        **FIXED,
    )
    max_iterations: IntProperty(
        name="Max Iterations",
        description="Cap of the solver's iterations per step; a step that reaches it is reported",
        default=400,
        min=1,
        soft_max=2000,
        max=100000,
        **FIXED,
    )
    take: StringProperty(
        name="Take",
        description="Name of this attempt: each take has a cache of its own, so that a good one can be kept",
        update=_place_changed,
        **FIXED,
    )
    cache_path: StringProperty(
        name="Cache",
        description="Folder of the cache; empty: beside the .blend file, by its name and the take",
        subtype="DIR_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override={"LIBRARY_OVERRIDABLE"},
        update=_place_changed,
    )
    protect: BoolProperty(
        name="Protect",
        description="Keep this bake: Simulate and Delete Bake are refused until this is off",
        default=False,
        **FIXED,
    )

    # where the present bake lies: written by cache_place.py only
    baked_path: StringProperty(options={"HIDDEN", "PATH_SUPPORTS_BLEND_RELATIVE"}, subtype="DIR_PATH")
    baked_for: StringProperty(options={"HIDDEN"})
    baked_scene: StringProperty(options={"HIDDEN"})
    borrowed: BoolProperty(options={"HIDDEN"})


CLASSES = (SinewObject, SinewScene)


def register() -> None:
    """Adds `Object.sinew` and `Scene.sinew`."""
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.sinew = PointerProperty(type=SinewObject, override={"LIBRARY_OVERRIDABLE"})
    bpy.types.Scene.sinew = PointerProperty(type=SinewScene, override={"LIBRARY_OVERRIDABLE"})


def unregister() -> None:
    """Takes them away; what was set stays in the .blend file."""
    del bpy.types.Scene.sinew
    del bpy.types.Object.sinew
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
