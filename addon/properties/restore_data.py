# SPDX-License-Identifier: GPL-3.0-or-later
"""Hidden properties about what Sinew has taken an object out of, from which it is restored."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

HIDDEN_OPTIONS = {"options": {"HIDDEN"}, "override": {"LIBRARY_OVERRIDABLE"}}


class SinewLeftCollection(bpy.types.PropertyGroup):
    """A collection of a rigid body world that an object was taken out of."""

    collection: PointerProperty(
        type=bpy.types.Collection, name="Collection", description="What the object was taken out of", **HIDDEN_OPTIONS
    )


class RestoreData:
    """Written by addon/fracture_meshes/, addon/baking/attach_motion.py, and by object_hiding.py, sinew_modifier.py and
    rigid_body_world.py of addon/blender_data/."""

    result_of: PointerProperty(
        type=bpy.types.Object,
        name="Result of",
        description="The body whose broken mesh this object is",
        **HIDDEN_OPTIONS,
    )
    result_stamp: StringProperty(
        name="Stamp", description="Which bake this object was made of: changes with it", **HIDDEN_OPTIONS
    )
    vertices_stamp: StringProperty(
        name="Plays as Vertices",
        description="Which motion the object of a rigid body cannot have, so that its vertices play it",
        **HIDDEN_OPTIONS,
    )
    result_name: StringProperty(
        name="Made as",
        description="The name that this object got: a duplicate, which is the artist's, has another",
        **HIDDEN_OPTIONS,
    )
    is_replaced: BoolProperty(name="Replaced", description="Whether a result stands in for this body", **HIDDEN_OPTIONS)
    was_hidden_viewport: BoolProperty(
        name="Was Hidden", description="Whether this body was disabled in viewports before", **HIDDEN_OPTIONS
    )
    was_hidden_render: BoolProperty(
        name="Was Hidden in Renders", description="Whether this body was disabled in renders before", **HIDDEN_OPTIONS
    )
    place_before: IntProperty(
        name="Place before",
        description="Where in the stack Sinew's modifier was before it went below Subdivision, from 1 on; 0: there",
        **HIDDEN_OPTIONS,
    )
    is_out_of_world: BoolProperty(
        name="Out of the Rigid Body World",
        description="Whether Sinew has taken this body out of Blender's rigid body world",
        **HIDDEN_OPTIONS,
    )
    left_collections: CollectionProperty(
        type=SinewLeftCollection,
        name="Left Collections",
        description="The collections of Blender's rigid body worlds that Sinew has taken this body out of",
        options={"HIDDEN"},
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
