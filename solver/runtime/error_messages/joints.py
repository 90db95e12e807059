# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about joints."""

TEXTS = {
    "joint-kind": (
        'The joint "{name}" is of the kind "{word}", which is none of: {known}.',
        "Choose one of these.",
    ),
    "joint-without-bodies": (
        'The joint "{name}" has no body at either end.',
        "Choose a rigid body, or one with a Rigid Core, for at least one end.",
    ),
    "joint-to-itself": (
        'The joint "{name}" has "{body}" at both ends.',
        "Choose another object for one end, or remove the joint.",
    ),
    "joint-end-missing": (
        'An end of the joint "{name}" is "{end}", which is no body of the scene.',
        "Choose a simulated body for it, or remove the joint.",
    ),
    "joint-soft-end": (
        'The joint "{name}" holds "{body}", which is soft all over: a joint needs a rigid part to hold.',
        "Fill the body as Rigid, give it a Rigid Core, or tie it by Attachments instead.",
    ),
    "bone-driver-without-bone": (
        '"{name}" is to drive a bone, and is no child of one.',
        "Make it a child of the bone (Ctrl P, Bone), or switch Drive Bone off.",
    ),
    "bone-driven-twice": (
        'The bone "{name}" is driven by "{first}" and by "{second}".',
        "Switch Drive Bone off for one of them.",
    ),
    "bone-without-length": (
        'The bone "{name}" has no length, and so no direction that a body could give it.',
        "Move its tail in Edit Mode, or choose another bone.",
    ),
    "bone-limits": (
        'The bone "{name}" has a smallest angle about {axis} above its largest.',
        "Exchange the two limits.",
    ),
    "attachment-to-driven-bone": (
        'A row of Attachments of "{name}" is about the bone "{bone}", which "{driver}" drives.',
        "Remove the row, since Hold Flesh fixes the flesh to that body, or choose the body itself in the row.",
    ),
    "driven-bone-of-pose": (
        '"{name}" follows the pose, and cannot feel the body that drives the bone "{bone}".',
        "Set its Motion to Jiggle, or switch Hold Flesh off for that body.",
    ),
    "ragdoll-no-bones": (
        'The armature "{name}" has no bone to make a rigid body of: none deforms, or none of these is selected.',
        "Select bones in Pose Mode, or switch Deform on for them.",
    ),
    "joint-stepping": (
        'The joint "{name}" holds "{body}", which moves by BDF2: joints do not support that.',
        "Set Stepping of the body to Implicit Euler.",
    ),
    "joint-repeated": (
        '"{first}" is fixed to "{second}" twice, by the joints "{name}" and "{other}".',
        "Remove one of the two joints.",
    ),
    "joint-frame": (
        'The place of the joint "{name}" is no frame of three axes at right angles.',
        "Remove scale and shear from the object that carries the joint.",
    ),
    "joint-limits": (
        'The joint "{name}" has a lower limit of {low} above its upper limit of {high}.',
        "Exchange the two limits.",
    ),
    "joint-spring": (
        'The constraint "{name}" has springs as of Blender 2.7, whose damping is no force.',
        "Set Spring Type under Springs of the constraint to Blender 2.8.",
    ),
    "joint-spring-negative": (
        'A spring of the joint "{name}" has a stiffness or damping of {value}.',
        "Give its springs stiffness and damping of 0 or more.",
    ),
    "joint-other-world": (
        'The constraint "{name}" joins "{body}" to "{end}", which Blender alone moves.',
        'Select "{end}" and press Make Rigid, or make it a collider, which moves as Blender has it.',
    ),
    "joint-end-elsewhere": (
        'The constraint "{name}" joins a body to "{end}", which is not in the scene "{scene}".',
        "Choose another object for it, or clear the field.",
    ),
    "joint-between-passes": (
        'The constraint "{name}" joins "{first}" to "{second}", which are simulated in different passes.',
        "Give both the same Pass under Layers.",
    ),
    "joint-to-baked": (
        'The constraint "{name}" joins "{body}" to "{end}", which is not simulated at the same time.',
        "Simulate all bodies, or select both.",
    ),
    "joint-not-finite": (
        'The animation of the joint "{name}" gives no place at {time}.',
        "Correct the drivers or keys of the object that it follows.",
    ),
}
