# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with flesh and the bones that hold it."""

TEXTS: dict[str, tuple[str, str]] = {
    # flesh
    "flesh-motion": (
        '"{name}" is flesh that is to move by "{motion}", which does not exist.',
        "Choose quasistatic or dynamic.",
    ),
    "flesh-law": ('"{name}" is flesh of a law called "{law}", which does not exist.', "Choose one of {laws}."),
    "flesh-scheme": (
        '"{name}" is flesh that is to step by "{scheme}", which does not exist.',
        "Choose euler or newmark.",
    ),
    "newmark-substeps": (
        '"{name}" is so stiff, or so far out of shape, at {time} that Newmark would cut one step into {needed}; '
        "it makes {most} at most.",
        "Choose Implicit Euler under Scheme, raise Substeps, or lower its Stiffness.",
    ),
    "flesh-combined": (
        '"{name}" is flesh, which {feature} is not made for.',
        "Turn {feature} off for it, or choose Soft Body under Motion.",
    ),
    "flesh-loose": (
        'Nothing holds "{name}", or a part of it with {count} nodes, at {time}, so it has no place to rest.',
        "Give it a Bone or pins there, delete the loose part, or choose Jiggle under Motion.",
    ),
    "pose-not-converged": (
        "Flesh did not come to rest in frame {frame} (residual {residual:.1e}), and Strict is on.",
        "Raise Pose Iterations, pin or bone less of it, or turn Strict off.",
    ),
    # rest shapes that change
    "rest-shape-not-finite": (
        'The rest shape of "{name}" has coordinates in frame {frame} that are not numbers, or other vertices.',
        "Look at its shape keys and the modifiers above Sinew's at that frame.",
    ),
    "rest-shape-inverted": (
        'The rest shape of "{name}" makes {count} of its tets flat or turns them inside out in frame {frame}.',
        "Move its shape keys less there, choose larger tets, or turn Rest Shape from Shape Keys off.",
    ),
    # bones
    "bone-without-faces": ('The bone "{name}" has no faces.', "Give it a closed mesh, or take Bone off it."),
    "bone-body": (
        'The bone "{name}" is to hold "{body}", which is not among the bodies.',
        "Choose another body for it, or none to hold all flesh.",
    ),
    "bone-outside": (
        'The bone "{name}" holds no flesh: its Distance is {distance} m, and the nearest of "{body}" is {away} m away.',
        "Move it into the flesh, set its Distance to {wanted} m or more, or choose a smaller tet size.",
    ),
    "bone-masked": (
        'What is painted leaves the bone "{name}" nothing of "{body}" to hold.',
        "Paint above 0.5 where it is to hold, or clear the Mask of the bone and Paint Attachment of the flesh.",
    ),
    "armature-outside": (
        'None of the {count} armature bones of "{name}" holds any of it.',
        "Raise the Radius of its armature bones, and look whether its vertex groups have their names.",
    ),
    "bone-on-a-line": (
        'All vertices of the bone "{name}" lie on one line, which does not tell how it turns.',
        "Give it a thickness, or move it without deforming it.",
    ),
    "bones-everything": (
        'Bones hold all of "{name}", so nothing is left to simulate.',
        "Lower their Distance, paint masks, or choose a smaller tet size.",
    ),
    "bones-want-the-same": (
        '"{bone}" and "{other}" both want to hold {count} nodes of "{name}"; each node goes to the bone that it is '
        "deeper in or nearer to.",
        "Where that is wrong, move the bones apart, paint their masks, or lower their Distance.",
    ),
    "bone-crowded-out": (
        'Nothing of "{body}" follows {bones}: other bones hold all within reach.',
        "Choose a smaller tet size, or paint the masks of the bones beside it.",
    ),
    "armature-crowded-out": (
        'Nothing of "{body}" follows {bones}: other bones hold all within reach.',
        "Choose a smaller tet size, or lower the Radius of its armature bones.",
    ),
    "bones-hold-few": (
        'Too few points of "{name}" follow bones to turn the flesh along: {bones}.',
        "Choose a smaller tet size, or give them a {setting} of {distance} m or more.",
    ),
    "bones-hold-few-at-all": (
        'Too few points of "{name}" follow bones to turn the flesh along: {bones}.',
        "Choose a smaller tet size, {tet_size} m to begin with.",
    ),
    "pins-against-bones": (
        'Pins and the bone "{bone}" want {count} nodes of "{name}" in different places at the first frame, up to '
        "{distance} m apart; the pins have them.",
        "Take these vertices out of the Pin Group, or paint the mask of the bone.",
    ),
    "bone-not-finite": (
        'The animation of the bone "{name}" gives coordinates at {time} that are not numbers.',
        "Look at its keyframes, constraints and modifiers at that time.",
    ),
    "bone-vertices": (
        'The bone "{name}" has {count} vertices at some frame instead of {wanted}.',
        "Take modifiers off it that change how many it has.",
    ),
    "bone-mirrored": (
        'At {time} the bone "{name}" has a scale of zero or is mirrored, which turns the flesh around it inside out.',
        "Give it a positive scale at that time.",
    ),
    "bone-crushes": (
        'At {time} the bone "{bone}" turns most of the tets of "{name}" that it holds inside out ({count} of {all}).',
        "Look at its modifiers and shape keys at that time, lower its Distance, or use larger tets.",
    ),
    "flesh-crushed": (
        'In frame {frame}, the bone "{bone}" alone turns {count} tets of "{name}" inside out.',
        "Lower its Distance, paint its mask, or deform it less.",
    ),
    "flesh-crushed-between": (
        'In frame {frame}, {count} tets of "{name}" are crushed between the bones "{bone}" and "{other}".',
        "Make the bones thinner towards their joint, leave a gap between them, or paint their masks there.",
    ),
    "flesh-crushed-between-armature": (
        'In frame {frame}, {count} tets of "{name}" are crushed between the armature bones "{bone}" and "{other}".',
        "Lower the Radius of its armature bones, or take the flesh at that joint out of Paint Attachment.",
    ),
    "flesh-crushed-between-both": (
        'In frame {frame}, {count} tets of "{name}" are crushed between "{bone}" and "{other}".',
        "Lower the Radius of its armature bones, make the mesh thinner there, or take the flesh between them out of "
        "Paint Attachment.",
    ),
    # what is said at the end of a bake
    "poses-not-converged": (
        "Flesh did not come to rest in {count} poses: at worst a residual of {residual:.2g} is left in frame {frame}. "
        "The timeline marks such frames.",
        "Look there whether bones come close to each other or leave the flesh. Where it folds, lower the Radius or "
        "Distance of its bones, or bend it less; where it hangs far off them, raise its Stiffness. Else raise Pose "
        "Iterations, or for the first frame set a Pre-Roll.",
    ),
    # what is made flesh or bone in the window
    "flesh-not-held": (
        'Nothing holds the flesh of "{name}", so it has no pose to follow.',
        "Press Make Bone on a mesh inside it, turn on Armature Bones, pin it, or choose Jiggle under Motion.",
    ),
    "armature-as-bone": (
        '"{name}" is an armature, and bones are meshes.',
        "Turn on Armature Bones in the flesh that it poses, or select a mesh that it moves.",
    ),
}
