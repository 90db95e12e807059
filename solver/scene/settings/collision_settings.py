# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of colliders, and of how bodies meet others and themselves; `preset_settings.py` has the friction menu."""

from __future__ import annotations

from .field_settings import FIELD_ABSORPTION
from .setting import COLLECTION, Choice, Setting, When, friction, menu, switch, thickness

COLLIDER_SHAPE = menu(
    "collider_shape",
    "Shape",
    "What bodies collide with",
    (
        Choice("MESH", "Mesh", "The object's evaluated mesh", 0),
        Choice("PLANE", "Ground", "An endless plane: everything below the object's local Z = 0 is solid", 1),
    ),
    "MESH",
    field="Collider.shape",
)
COLLIDER_SIDES = menu(
    "collider_sides",
    "Sides",
    "On which side of the faces bodies are kept",
    (
        Choice(
            "AUTO",
            "Automatic",
            "A closed mesh is solid: bodies stay outside, and are pushed out if they begin inside. "
            "An open mesh keeps each body on the side that it comes from",
            0,
        ),
        Choice(
            "FRONT",
            "Front",
            "Bodies stay on the side that the normals point to. They can pass from the back to the front",
            1,
        ),
        Choice("BOTH", "Both", "Nothing passes from either side. Bodies may be outside and inside", 2),
    ),
    "AUTO",
    when=(When("collider_shape", ("MESH",)),),
    field="Collider.sides",
)
USE_COLLISION = switch(
    "use_collision",
    "Enabled",
    "Bodies collide with this object. Switched on around a body, it pushes the body out gently",
    True,
    is_animated=True,
)

COLLIDER_FRICTION = friction(
    "friction",
    "Friction of all bodies on this collider: 0 slides, 0.5 holds on a slope of 27°, 1 on one of 45°",
    "Collider.friction",
)
COLLIDER_THICKNESS = thickness(
    "thickness",
    "Gap that bodies keep from the collider's surface. The Thickness of the body is added to it",
    "Collider.thickness",
)

COLLIDER_SETTINGS = (
    COLLIDER_SHAPE,
    COLLIDER_SIDES,
    USE_COLLISION,
    COLLIDER_FRICTION,
    COLLIDER_THICKNESS,
    FIELD_ABSORPTION,
)

SELF_COLLISION = switch(
    "self_collision",
    "Self Collisions",
    "Keep the body from going through itself where it folds or coils. Slower. "
    "Parts that overlap at rest, such as lips, stay as they are",
    when=(When("motion", ("ELASTIC", "JIGGLE")),),
    field="Collision.self_contact",
)
BODY_FRICTION = friction(
    "body_friction",
    "Friction of this body on other bodies and on itself; between two bodies it is √(μ₁ μ₂). "
    "On a collider, only the collider's Friction counts",
    "Collision.friction",
    "Friction on Bodies",
)
BODY_COLLISION_SETTINGS = (
    BODY_FRICTION,
    thickness(
        "body_thickness",
        "Gap that others keep from the body's surface. Between two bodies, both thicknesses are added",
        "Collision.thickness",
    ),
    SELF_COLLISION,
)
COLLISION_COLLECTION = Setting(
    "collision_collection",
    "Collision Collection",
    "The object collides only with members of this collection whose own Collision Collection allows it. "
    "Empty: with everything",
    COLLECTION,
    None,
    changes_bake=False,  # the pairs that it leaves out are in the digest
)
