# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about attachments."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/scene/attachment_validation.py
    "attachment-kind": (
        '"{name}" has an attachment of an unknown kind, "{word}".',
        "Choose one of {known}.",
    ),
    "attachment-target-missing": (
        '"{name}" is attached to "{target}", which is not in the simulation.',
        "Make it a body, a collider or a bone mesh, or remove the attachment.",
    ),
    "attach-nothing": (
        'No selected body but "{name}" can be attached to it.',
        "Select the bodies to attach, and then, with Shift, what they are attached to.",
    ),
    "attach-to-nothing": (
        '"{name}" is neither a body, a collider, a bone mesh nor a Wrap, nor an empty.',
        "Make it one of these, or click another object last.",
    ),
    "attachment-damped-target": (
        'A Spring of "{name}" has Damping, which only springs between two bodies have.',
        "Set its Damping to 0, or choose a body as its target.",
    ),
    "attachment-damped-newmark": (
        'A Spring of "{name}" has Damping, but "{other}" steps by Newmark, which does not support it.',
        "Set its Damping to 0, or choose another Stepping.",
    ),
    "attachment-breaks-pose": (
        '"{name}" follows a pose, in which an attachment with a Breaking Force cannot break.',
        "Set its Breaking Force to 0, or give the flesh inertia.",
    ),
    "attachment-breaks-bone": (
        'A bone holds the flesh of "{name}" by a row with a Breaking Force, which only surfaces have.',
        "Set its Breaking Force to 0, or choose Sliding, or Spring with a Spring Stiffness of 0.",
    ),
    "attachment-linked": (
        'The file that "{name}" is linked from contains this attachment, so you cannot remove it here.',
        "Switch it off, or remove it in that file.",
    ),
    "attachment-to-itself": (
        '"{name}" is attached to itself.',
        "Choose another object as the target of the attachment.",
    ),
    "attachment-to-own-wrap": (
        '"{name}" is attached to the Wrap at which it ends, and which moves with it anyway.',
        "Remove the row, or attach the Wrap to what it is to slide on.",
    ),
    "attachment-line-slides": (
        '"{name}" cannot slide along "{target}" or hang on it: no bone mesh or collider rides on this bone.',
        "Parent one to the bone, or choose Fixed, or Spring with a Spring Stiffness above 0.",
    ),
    "attachment-without-surface": (
        '"{name}" is attached to "{target}", which has no faces.',
        "Choose a mesh as the target of the attachment.",
    ),
    "attachment-no-bones": (
        '"{name}" is attached to all bones, and no bone mesh may hold it.',
        "Make a mesh a bone with Add Bone, or remove the row from the panel Attachments.",
    ),
    "attachment-armature-slides": (
        'The bones in the armature of "{name}" have no surface that it could slide along or hang on.',
        "Choose Fixed, or Spring with a Spring Stiffness above 0, for Armature Bones in the panel Attachments.",
    ),
    "attachment-pose-to-motion": (
        '"{name}" follows the pose, but is attached to "{target}", which moves by its own inertia.',
        'Choose the same Type for both, or attach "{target}" to "{name}" instead.',
    ),
    # solver/scene/validation.py, addon/export/hooks.py
    "hook-without-points": (
        '"{name}" hangs on an empty, but no point of it is in the Group of this attachment or within its Reach.',
        "Choose a painted Group in the panel Attachments, or a larger Reach.",
    ),
    # addon/export/hooks.py
    "hook-is-no-spring": (
        '"{name}" can only hang on the empty "{target}" by springs.',
        "Choose Spring as the Kind of this attachment.",
    ),
    # solver/constraints/hooks.py
    "hook-not-finite": (
        'An empty that "{name}" hangs on has no size, or is at no place that is a number, at {time}.',
        "Look at the keys and the Scale of the empty.",
    ),
    # addon/export/attachment_targets.py
    "attachment-without-target": (
        '"{name}" has an attachment without a target.',
        "Choose the other object in the panel Attachments, or remove the row.",
    ),
    "attachment-without-bone": (
        '"{name}" is attached to a bone "{bone}", which "{target}" does not have.',
        "Choose the bone again in the panel Attachments.",
    ),
    "attachment-to-free-wrap": (
        '"{name}" is attached to the Wrap "{target}", at which no body ends, so that nothing moves it.',
        "Choose it as the Wrap of a body in the panel Layers, or remove the row.",
    ),
    # addon/export/input_warnings.py
    "attachment-twice": (
        '"{name}" has several attachments to {target}, and only the first one says how the flesh is held.',
        "Remove the others from the panel Attachments, or switch them off.",
    ),
    # addon/operators/attachments.py
    "bones-hold-flesh-only": (
        '"{name}" is not flesh, and bones hold only flesh.',
        "Set its Type to Follow Pose or Jiggle.",
    ),
    # solver/constraints/attachments/build_attachments.py
    "attachment-out-of-reach": (
        'The surface of "{name}" is {distance} m away from "{target}", farther than the Reach of {reach} m.',
        "Move them closer, raise Reach, or paint the part that is near.",
    ),
    "attachment-reversed-out-of-reach": (
        '"{target}", which stays as it is baked, is attached to "{name}". Of this one, the nearest point that can be '
        "tied is {distance} m away from it, farther than the Reach of {reach} m.",
        'Select "{target}" as well, or press Simulate, which bakes all bodies.',
    ),
    # solver/scene/attachment_validation.py
    "edges-slide": (
        'An attachment of "{name}" is made of edges, which neither slide nor hold exactly.',
        "Choose Spring or Fixed as its Kind with Exact off, or clear its Edges.",
    ),
    "edges-to-armature": (
        'An attachment of "{name}" to the bones of its armature has edges, but these bones have no surface to end on.',
        "Choose One Bone or an object in Attach To, or clear its Edges.",
    ),
    "edges-not-finite": (
        'The edges of an attachment of "{name}" have ends that are no places.',
        "Check the modifiers and shape keys of the mesh of edges.",
    ),
    # addon/export/new_edge_ends.py
    "edges-from-nothing": (
        'No vertex of "{name}" is selected at which an edge could begin.',
        "Select vertices in Edit Mode, and press Make Edges again.",
    ),
    # addon/export/attachment_edges.py
    "edges-of-itself": (
        'An attachment of "{name}" has "{edges}" for its Edges, which is this body or its target.',
        "Draw the edges in a mesh of their own, or press Make Edges in the panel Attachments.",
    ),
    "edges-missing": (
        'An attachment of "{name}" has "{edges}" for its Edges, which is not in the scene.',
        "Add it to the scene, or choose another mesh as the Edges in the panel Attachments.",
    ),
    "edges-none": (
        '"{edges}", the Edges of an attachment of "{name}", has no loose edges: only those without faces count.',
        "Draw an edge from the body to the target, or press Make Edges in the panel Attachments.",
    ),
    # solver/constraints/attachments/edge_places.py, edge_links.py
    "edge-out-of-reach": (
        'An edge between "{name}" and "{target}" ends at ({place}) m, {distance} m away from "{other}", farther than '
        "the Reach of {reach} m.",
        "Snap this end to the surface, or raise Reach in the panel Attachments.",
    ),
    "edge-on-one-body": (
        'Both ends of an edge between "{name}" and "{target}" are at "{name}", the other one at ({place}) m.',
        'Draw the edge from "{name}" to "{target}", and set Reach to less than the distance between them.',
    ),
    "edges-unpainted": (
        'The groups of an attachment of "{name}" are 0 at all of its edges.',
        "Paint where the edges end, or clear Group and Target Group in the panel Attachments.",
    ),
    # solver/constraints/attachments/target_surface.py
    "attachment-target-changes": (
        '"{name}", to which a body is attached, has another number of vertices at {time} s.',
        "Bake its animation without modifiers that change the number of vertices.",
    ),
    "attachment-target-not-finite": (
        'The animation of "{name}", to which a body is attached, gives no numbers at {time} s.',
        "Check its keys and drivers there.",
    ),
    # solver/constraints/attachments/attachment_strength.py
    "attachment-strength": (
        'The Strength of an attachment of "{name}" is {value} at {time} s, which is below zero or no number.',
        "Check its keys and drivers there.",
    ),
}
