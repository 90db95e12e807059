# SPDX-License-Identifier: GPL-3.0-or-later
"""The setting that lets objects keep what Blender's own rigid bodies have."""

from __future__ import annotations

from .setting import Choice, When, menu, switch

USE_RIGID_BODY = switch(
    "use_rigid_body",
    "Blender's Rigid Body",
    "Take mass, friction, damping, shape, Passive, Dynamic and Animated from the Rigid Body settings that Blender has "
    "for this object. Of a collider, the friction. Make Rigid switches it on",
    since="0.3",
)

DRIVES_BONE = switch(
    "drives_bone",
    "Drive Bone",
    "The bone that this rigid body is a child of moves as the body does, and so does flesh with weights of that bone",
    when=(When("method", ("RIGID",)),),
    since="0.3",
)
LIMITED, POINT, FIXED, FREE = "LIMITED", "POINT", "FIXED", "FREE"
BONE_JOINT = menu(
    "bone_joint",
    "Joint",
    "How the body hangs at the head of its bone: on the body of the next bone above that has one, or on the bone above "
    "as it is animated",
    (
        Choice(LIMITED, "Limited", "A point, with angles within the IK limits of the bone or its Limit Rotation", 0),
        Choice(POINT, "Point", "A point, whatever limits the bone has", 1),
        Choice(FIXED, "Fixed", "It neither moves nor turns against the body above", 2),
        Choice(FREE, "None", "Nothing holds it, as the hips of a ragdoll", 3),
    ),
    LIMITED,
    when=(When("drives_bone", (True,)),),
    since="0.3",
)
HOLDS_FLESH = switch(
    "holds_flesh",
    "Hold Flesh",
    "Bodies with an Armature modifier and weights of the bone are fixed to this body, and both feel it. "
    "Near joints the flesh stays free",
    default=True,
    when=(When("drives_bone", (True,)),),
    since="0.3",
)

RIGID_BODY_SETTINGS = (USE_RIGID_BODY, DRIVES_BONE, BONE_JOINT, HOLDS_FLESH)
