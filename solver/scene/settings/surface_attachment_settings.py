# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the attachments of a body: what holds it, along what its surface slides, and what ties it by springs."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least
from .setting import (
    COLOR,
    OBJECT,
    TABLE,
    TEXT,
    Choice,
    Setting,
    When,
    length,
    menu,
    spring_stiffness,
    switch,
    weight_group,
)

# identifiers of the menus Attach To and Kind
TO_OBJECT, TO_BONES, TO_ARMATURE, TO_BONE = "OBJECT", "BONES", "ARMATURE", "BONE"
FIXED, SPRING, SLIDING = "FIXED", "SPRING", "SLIDING"

ATTACHMENTS = Setting(
    "attachments",
    "Attachments",
    "What holds this body: bones, other bodies and colliders that it follows, slides along, or is tied to by springs. "
    "What is attached does not also collide",
    TABLE,
    since="0.3",
)
ATTACHMENT_TARGET = Setting(
    "target",
    "Target",
    "The other surface: a body, a collider, a bone mesh, or the Wrap of a body. Bodies feel the attachment, too. "
    "Or an empty, which pulls as a hand that grabs: it takes what it holds when its Strength rises from 0",
    OBJECT,
    None,
    when=(When("target_type", (TO_OBJECT,)),),
)
ATTACHMENT_TARGET_TYPE = menu(
    "target_type",
    "Attach To",
    "What the row is about",
    (
        Choice(TO_OBJECT, "Object", "One other object", 0),
        Choice(TO_BONES, "All Bones", "All bone meshes that may hold the flesh and have no row of their own here", 1),
        Choice(
            TO_ARMATURE,
            "Armature Bones",
            "The deforming bones of the Armature, around which flesh is held within Reach. "
            "A Reach of 0: a third of the distance from bone to skin, but at least one tet",
            2,
        ),
        Choice(
            TO_BONE,
            "One Bone",
            "One bone of an armature. Fixed and Spring hold flesh as the bone meshes do that are parented to it or "
            "weighted to it alone; without any, all flesh within Reach of its line from head to tail follows. "
            "Sliding needs a bone mesh or a collider on it",
            3,
        ),
    ),
    TO_OBJECT,
)
ATTACHMENT_ARMATURE = Setting(
    "armature",
    "Armature",
    "The armature that has the bone",
    OBJECT,
    None,
    when=(When("target_type", (TO_BONE,)),),
)
ATTACHMENT_BONE = Setting(
    "bone",
    "Bone",
    "The bone. Of its line, a Reach of 0 is a third of the distance to the nearest skin, but at least one tet",
    TEXT,
    "",
    when=(When("target_type", (TO_BONE,)),),
)
ATTACHMENT_KIND = menu(
    "kind",
    "Kind",
    "How the two surfaces hold together",
    (
        Choice(SLIDING, "Sliding", "They stay as near as they are at rest, and slide freely, as muscles do", 1),
        Choice(SPRING, "Spring", "Every point is pulled back to the place where it is at rest", 2),
        Choice(FIXED, "Fixed", "Nothing moves against the target. Of bones, all flesh within Reach follows exactly", 3),
    ),
    SLIDING,
    field="Attachment.kind",
)
ATTACHMENT_IS_ON = switch("is_on", "On", "Whether the attachment holds", True, is_animated=True)
ATTACHMENT_REACH = length(
    "reach",
    "Reach",
    "Points of the surface are attached that are less than this from the target at rest. One that slides or is on a "
    "spring is let go when it is pulled off by more. Of bones, all flesh this near and all flesh inside is held",
    0.02,
    soft=(0.001, 1.0),
    precision=4,
    field="Attachment.reach",
)
ATTACHMENT_STRENGTH = Setting(
    "strength",
    "Strength",
    "How strongly both hold together. 1 suits most; 10 keeps them ten times as close; 0 lets go",
    default=1.0,
    limits=at_least(0.0, "Strength"),
    soft=(None, 10.0),
    field="Attachment.strength",
    is_animated=True,
)
ATTACHMENT_STIFFNESS = spring_stiffness(
    "stiffness",
    "Of springs that hold flesh to a bone. Higher holds tighter: 30,000 gives a third of a millimeter of sag under the "
    "flesh's own weight. 0: springs as stiff as the flesh hold its surface alone",
    when=(When("kind", (SPRING,)),),
)
ATTACHMENT_COLOR = Setting(
    "color",
    "Color",
    "In which color the viewport shows what is attached",
    COLOR,
    (1.0, 0.6, 0.25),
    changes_bake=False,
)
ATTACHMENT_GROUP = weight_group(
    "group",
    "Group",
    "Multiplies the Strength of this attachment by a vertex group or attribute. Unpainted is 0. "
    "Bones fix the flesh under the skin where it is above 0.5; without one, they hold it where Attachment Group says",
    field="Attachment.paint",
)
ATTACHMENT_TARGET_GROUP = weight_group(
    "target_group",
    "Target Group",
    "Multiplies the Strength by a vertex group or attribute of the target. Unpainted is 0. "
    "A bone mesh holds what is nearest to where it is above 0.5; without one, where its own Mask says",
    when=(When("target_type", (TO_OBJECT,)),),
    field="Attachment.target_paint",
)
ATTACHMENT_MAY_MISS = switch(
    "may_miss",
    "May Be Out of Reach",
    "No error where this row reaches none of the flesh. Rows made of the settings of earlier versions are so",
)
ATTACHMENT_SURFACE_ONLY = switch(
    "surface_only",
    "Surface Only",
    "Of bones: hold the surface within Reach, and leave the flesh under it free",
    when=(When("kind", (FIXED, SPRING)),),
    field="Attachment.surface_only",
)
ATTACHMENT_IS_EXACT = switch(
    "is_exact",
    "Exact",
    "Between two bodies: points of this one inside of the target or within Reach follow it without any give. Keys "
    "cannot let go. Off: stiff springs at the surface, which keys can let go",
    when=(When("target_type", (TO_OBJECT,)), When("kind", (FIXED,))),
    field="Attachment.is_exact",
)
ATTACHMENT_SPRING_CONSTANT = Setting(
    "spring_constant",
    "Spring Constant",
    "How many newtons all springs of this row together pull per meter. A weight of 10 N at 1,000 N/m hangs 1 cm lower. "
    "0: as stiff as the softer of both materials. Drawn out by more than half of Reach, springs weaken",
    default=0.0,
    unit="N/m",
    limits=at_least(0.0, "Spring Constant", "N/m"),
    soft=(None, 1.0e6),
    precision=0,
    step=10000,
    when=(When("kind", (SPRING,)),),
    field="Attachment.spring_constant",
)
ATTACHMENT_DAMPING = Setting(
    "damping",
    "Damping",
    "Between two bodies: how many newtons all springs of this row together brake per meter a second",
    default=0.0,
    term="Viscous damping coefficient",
    unit="N s/m",
    limits=at_least(0.0, "Damping", "N s/m"),
    soft=(None, 1.0e4),
    precision=1,
    step=100,
    when=(When("kind", (SPRING,)),),
    field="Attachment.damping",
)
ATTACHMENT_COLLIDES = switch(
    "collides",
    "Collide",
    "Both also keep apart where they meet, as skin and the flesh into which it folds. They should not overlap at rest, "
    "and only springs give way to contact. Off: they pass through each other",
    when=(When("target_type", (TO_OBJECT,)),),
    field="Attachment.collides",
    since="0.3",
)
ATTACHMENT_BREAKING_FORCE = Setting(
    "breaking_force",
    "Breaking Force",
    "The sum of the sizes of the forces of all springs of this row above which it lets go for good. Both still do not "
    "collide then. "
    "0: never",
    default=0.0,
    unit="N",
    limits=at_least(0.0, "Breaking Force", "N"),
    soft=(None, 1.0e6),
    precision=1,
    step=1000,
    field="Attachment.breaking_force",
)
ATTACHMENT_EDGES = Setting(
    "edges",
    "Edges",
    "A mesh of loose edges, each from this body to the target. Every edge becomes a spring, or a stiff strut where "
    "Fixed, that keeps its length; the surfaces are not attached, and go on colliding. Ends are at the nearest places "
    "within Reach",
    OBJECT,
    None,
    when=(When("target_type", (TO_OBJECT, TO_BONE)),),
    field="Attachment.edges",
    since="0.3",
)
# of one row of the list
ATTACHMENT_ROW_SETTINGS = (
    ATTACHMENT_TARGET,
    ATTACHMENT_KIND,
    ATTACHMENT_IS_ON,
    ATTACHMENT_REACH,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_GROUP,
    ATTACHMENT_TARGET_TYPE,
    ATTACHMENT_STIFFNESS,
    ATTACHMENT_COLOR,
    ATTACHMENT_ARMATURE,
    ATTACHMENT_BONE,
    ATTACHMENT_TARGET_GROUP,
    ATTACHMENT_MAY_MISS,
    ATTACHMENT_SURFACE_ONLY,
    ATTACHMENT_IS_EXACT,
    ATTACHMENT_SPRING_CONSTANT,
    ATTACHMENT_DAMPING,
    ATTACHMENT_BREAKING_FORCE,
    ATTACHMENT_COLLIDES,
    ATTACHMENT_EDGES,
)
# rows that were made before these came have their defaults, and the digest leaves them out
LATER_ROW_SETTINGS = (
    ATTACHMENT_EDGES,
    ATTACHMENT_IS_EXACT,
    ATTACHMENT_SPRING_CONSTANT,
    ATTACHMENT_DAMPING,
    ATTACHMENT_BREAKING_FORCE,
    ATTACHMENT_COLLIDES,
    ATTACHMENT_ARMATURE,
    ATTACHMENT_BONE,
    ATTACHMENT_TARGET_GROUP,
    ATTACHMENT_MAY_MISS,
    ATTACHMENT_SURFACE_ONLY,
)
