# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of flesh: how it moves, its material law, what is painted on it, and the bones that hold it."""

from __future__ import annotations

from ..serialisation.schema_constraints import greater_than
from .material_settings import DENSITY_GROUP, STIFFNESS_GROUP, VOLUME_GROUP
from .setting import (
    FIELD_DEFAULT,
    OBJECT,
    Choice,
    Setting,
    When,
    length,
    menu,
    spring_stiffness,
    switch,
    weight_group,
)

# identifiers of the menu Type
ELASTIC, POSE, JIGGLE, BRITTLE = "ELASTIC", "POSE", "JIGGLE", "BRITTLE"
# switches of features that flesh cannot have
NON_FLESH_SWITCHES = ("use_plasticity", "use_heat", "use_fracture", "use_core")
IS_ELASTIC, IS_FLESH = When("motion", (ELASTIC,)), When("motion", (POSE, JIGGLE))
FOLLOWS_POSE, JIGGLES = When("motion", (POSE,)), When("motion", (JIGGLE,))
BY_ARMATURE = When("use_armature_bones", (True,))

MOTION = menu(
    "motion",
    "Type",
    "Soft Body for things that fall, Brittle for what is stiff and shatters. Follow Pose and Jiggle for flesh, which "
    "bones can hold",
    (
        Choice(
            ELASTIC,
            "Soft Body",
            "Falls, bounces, flows, melts and breaks. For jelly, clay, wax and rubber (dynamic, linear elasticity)",
            0,
            "elastic",
        ),
        Choice(
            POSE,
            "Follow Pose",
            "Flesh bulges and folds with its bones. It comes to rest on every frame and never swings. "
            "For bodies and limbs (quasistatic, no inertia)",
            1,
            "quasistatic",
        ),
        Choice(
            JIGGLE,
            "Jiggle",
            "Flesh lags behind its bones and swings. For cheeks, bellies and tails (dynamic, with inertia)",
            2,
            "dynamic",
        ),
        Choice(
            BRITTLE,
            "Brittle",
            "Moves as one piece, and breaks where it is hit. For glass, plaster, stone and ceramics "
            "(rigid, static stress under the force of Hertz's law)",
            3,
            "brittle",
        ),
    ),
    ELASTIC,
    field="Flesh.motion",
)
FLESH_LAW = menu(
    "flesh_law",
    "Law",
    "How flesh resists large deformations. Small ones are the same for all laws (hyperelastic law)",
    (
        Choice("NEO_HOOKEAN", "Neo-Hookean", "Rubber-like. Resists being flattened ever harder", 0),
        Choice(
            "STABLE_NEO_HOOKEAN",
            "Stable Neo-Hookean",
            "Made for flesh (Smith, de Goes and Kim, 2018): recovers from any deformation. The one to begin with",
            1,
        ),
        Choice("MOONEY_RIVLIN", "Mooney-Rivlin", "Muscle in biomechanics. Resists being flattened ever harder", 2),
        Choice("COROTATED", "Corotated", "Linear in the principal stretches: as stiff far from rest as near to it", 3),
        Choice(
            "STVK",
            "St. Venant-Kirchhoff",
            "Stiffens when stretched and weakens when squeezed. For small compressions only",
            4,
        ),
    ),
    "STABLE_NEO_HOOKEAN",
    when=(IS_FLESH,),
    field="Flesh.law",
)
JIGGLE_SCHEME = menu(
    "jiggle_scheme",
    "Time Integration",
    "How Jiggle steps through time, which decides how long it swings (time integration scheme)",
    (
        Choice("EULER", "Implicit Euler", "Always stable. Damps the swinging, more so with few Substeps Per Frame", 0),
        Choice(
            "NEWMARK",
            "Newmark",
            "Only Damping stops the swinging. Stiff flesh takes many substeps, so it is slow (modified Newmark)",
            1,
        ),
    ),
    "EULER",
    when=(JIGGLES,),
    field="Flesh.scheme",
)
SELF_CONTACT = switch(
    "self_contact",
    "Self Collisions",
    "Keep flesh from going through itself, so that it lies in folds, as at a bent elbow. Slower",
    True,
    when=(FOLLOWS_POSE,),
    field="Flesh.self_contact",
)
ATTACHMENT_GROUP = weight_group(
    "attachment_group",
    "Attachment Group",
    "Bones hold flesh only under the skin where this vertex group or attribute is above 0.5. "
    "Empty: everywhere within their reach",
    when=(IS_FLESH,),
    field="Flesh.attachment_paint",
)
USE_ARMATURE_BONES = switch(
    "use_armature_bones",
    "Hold by Armature",
    "The deforming bones of the Armature hold the flesh around them. "
    "Where bones compete, the vertex group with the largest weight wins",
    when=(IS_FLESH,),
)
# in 0.2.0 only flesh had them, so that the digest of a bake has them between the settings of flesh
FORMER_FLESH_PAINTS = (STIFFNESS_GROUP, VOLUME_GROUP, DENSITY_GROUP)
# the order is that of the properties, which the digest of a bake depends on
FLESH_SETTINGS = (
    MOTION,
    FLESH_LAW,
    JIGGLE_SCHEME,
    SELF_CONTACT,
    *FORMER_FLESH_PAINTS,
    ATTACHMENT_GROUP,
    switch(
        "rest_from_keys",
        "Rest Shape from Shape Keys",
        "Shape keys change the shape in which the flesh has no stress: a breath, a flexed muscle",
        when=(IS_FLESH,),
    ),
    USE_ARMATURE_BONES,
    length(
        "armature_bone_radius",
        "Radius",
        "Flesh within this distance of a bone of the armature follows the bone. "
        "0: a third of the distance from bone to skin, but at least one tet",
        soft=(None, 1.0),
        when=(IS_FLESH, BY_ARMATURE),
    ),
    switch(
        "use_armature_bone_spring",
        "Hold by Springs",
        "Springs hold the flesh to the bones of the armature, so that it may slip a little. "
        "Off: the bones hold it exactly",
        when=(IS_FLESH, BY_ARMATURE),
    ),
    spring_stiffness(
        "armature_bone_stiffness",
        "Higher holds tighter: 1000 gives 1 cm of sag under the flesh's own weight, 30,000 a third of a millimeter",
        when=(IS_FLESH, BY_ARMATURE, When("use_armature_bone_spring", (True,))),
    ),
)
ARMATURE_SETTINGS = tuple(setting for setting in FLESH_SETTINGS if BY_ARMATURE in setting.when)
# of the panel Bones
ATTACHMENT_SETTINGS = (USE_ARMATURE_BONES, *ARMATURE_SETTINGS, ATTACHMENT_GROUP)
# of the panel Flesh
ELASTICITY_SETTINGS = tuple(
    s for s in FLESH_SETTINGS if s not in (MOTION, SELF_CONTACT, *FORMER_FLESH_PAINTS, *ATTACHMENT_SETTINGS)
)

BONE_DISTANCE = length(
    "bone_distance",
    "Distance",
    "Flesh within this distance of the bone's surface follows it. Flesh inside a closed bone always does",
    soft=(None, 1.0),
    precision=4,
    field="Bone.distance",
)
BONE_STIFFNESS = spring_stiffness(
    "bone_stiffness",
    "Higher holds tighter: 1000 gives 1 cm of sag under the flesh's own weight, 30,000 a third of a millimeter",
    limits=greater_than(0.0, "Spring Stiffness", "1/s²"),
    when=(When("use_bone_spring", (True,)),),
    field="Bone.stiffness",
    otherwise=FIELD_DEFAULT,
)
# of files of earlier versions and of scripts: the add-on makes rows of attachments of them
BONE_HOLD_SETTINGS = (
    BONE_DISTANCE,
    switch(
        "use_bone_spring",
        "Hold by Springs",
        "Springs hold the flesh to this bone, so that it may slip a little. Off: the bone holds it exactly",
    ),
    BONE_STIFFNESS,
    weight_group(
        "bone_mask_group",
        "Mask",
        "Vertex group or attribute of the bone mesh, which holds flesh only where the weight is above 0.5. "
        "Empty: everywhere",
        field="Bone.mask",
    ),
)
BONE_SETTINGS = (
    *BONE_HOLD_SETTINGS,
    Setting(
        "bone_body",
        "Only Body",
        "The bone holds the flesh of this body only. Empty: all flesh within reach",
        OBJECT,
        None,
    ),
    switch(
        "show_attachment",
        "Show Attachment",
        "Show in the viewport which flesh each bone holds, and where attachments hold the surface, each in its color",
        changes_bake=False,
    ),
)
