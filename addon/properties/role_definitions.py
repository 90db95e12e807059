# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object may be to Sinew: each role declared once, with its label, icon, tooltip and panels.

The property `role` holds the first role of an object, `extra_roles` those that it has beside it. Files of 0.2.0 have
`role` alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...solver.scene.settings.tables import BODY, BONE, COLLIDER, HEAT_SOURCE, NONE, WRAP


@dataclass(frozen=True)
class Role:
    """A role of objects.

    Attributes:
        key: The identifier in scripts.
        label, tooltip, icon: In the window.
        number: What .blend files store in `role`; never changed.
        panels: Names of the panels that an object of this role has, of `PANEL_TABLE` (addon/panels/panels.py).
        is_combinable: Whether an object may have other roles beside this one.
    """

    key: str
    label: str
    tooltip: str
    icon: str
    number: int
    panels: tuple[str, ...]
    is_combinable: bool = True


ROLES = (
    Role(
        BODY,
        "Body",
        "A soft body: filled with tets, simulated and baked",
        "MOD_SOFT",
        1,
        (
            "material",
            "material_paint",
            "stretch_limit",
            "rest_scale",
            "plasticity",
            "surface_detail",
            "heat",
            "fracture",
            "rigid_body",
            "core",
            "tets",
            "sheet",
            "pins",
            "attachments",
            "layers",
            "collision",
            "goal",
            "pressure",
            "field_weights",
            "size_and_start",
            "attributes",
            "advanced",
        ),
        is_combinable=False,  # its mesh is the result of the bake, which others would have to read
    ),
    Role(
        COLLIDER,
        "Collider",
        "Bodies collide with this object. It may move and deform",
        "MOD_PHYSICS",
        2,
        ("collider", "rigid_body"),
    ),
    Role(
        HEAT_SOURCE,
        "Heat Source",
        "Warms or cools what is near it: an empty, or the surface of a mesh",
        "OUTLINER_OB_FORCE_FIELD",
        3,
        ("heat_source",),
    ),
    Role(
        BONE,
        "Bone Mesh",
        "Flesh follows this mesh, whatever moves it",
        "BONE_DATA",
        4,
        ("bone",),
    ),
    Role(
        WRAP,
        "Wrap",
        "A closed surface around muscles and bones, to which fat holds",
        "MOD_SHRINKWRAP",
        5,
        ("attachments",),
        is_combinable=False,  # it moves with the fat
    ),
)
# A body whose `motion` is Follow Pose or Jiggle. It is not a value of `role`.
FLESH = Role(
    "FLESH",
    "Flesh",
    "A body that bones can hold",
    "MOD_MESHDEFORM",
    0,
    ("held_by", "flesh", "muscle", "muscle_shape", "activation", "fibres"),
)
ROLE_BY_KEY = {role.key: role for role in (*ROLES, FLESH)}

ROLE_ITEMS = (
    (NONE, "None", "Sinew leaves this object alone", "NONE", 0),
    *((role.key, role.label, role.tooltip, role.icon, role.number) for role in ROLES),
)
# flags: what files store, never changed
EXTRA_ROLE_ITEMS = tuple(
    (role.key, role.label, role.tooltip, role.icon, 1 << role.number) for role in ROLES if role.is_combinable
)
