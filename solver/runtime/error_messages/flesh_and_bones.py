# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about flesh and the bones that hold it."""

TEXTS: dict[str, tuple[str, str]] = {
    # flesh
    "flesh-motion": (
        'The motion of the flesh "{name}" is "{motion}", which does not exist.',
        "Choose quasistatic or dynamic.",
    ),
    "flesh-law": ('The law of the flesh "{name}" is "{law}", which does not exist.', "Choose one of {laws}."),
    "flesh-scheme": (
        'The time integration of the flesh "{name}" is "{scheme}", which does not exist.',
        "Choose euler or newmark.",
    ),
    "newmark-substeps": (
        'At {time} "{name}" is so stiff, or so strongly deformed, that Newmark would need {needed} substeps in one '
        "step; the limit is {most}.",
        "Choose Implicit Euler as Time Integration (panel Flesh), raise Substeps Per Frame, or lower Stiffness.",
    ),
    "flesh-combined": (
        '"{name}" is flesh, which does not support {feature}.',
        "Turn {feature} off for it, or choose Soft Body under Type.",
    ),
    "pose-combined": (
        '"{name}" follows its pose, so it comes to rest on every frame and does not support {feature}.',
        "Choose Jiggle or Soft Body under Type, or turn {feature} off.",
    ),
    "flesh-loose": (
        'At {time} nothing holds "{name}", or a part of it with {count} nodes, so it has no rest position.',
        "Add a bone or pins there, delete the loose part, or choose Jiggle under Type.",
    ),
    # rest shapes that change
    "rest-shape-not-finite": (
        'In frame {frame} the rest shape of "{name}" has coordinates that are not numbers, or other vertices.',
        "Check its shape keys and the modifiers above Sinew's modifier at that frame.",
    ),
    "rest-shape-inverted": (
        'In frame {frame} the rest shape of "{name}" flattens or inverts {count} of its tets.',
        "Move its shape keys less there, choose larger tets, or turn Rest Shape from Shape Keys off.",
    ),
    # bones
    "bone-without-faces": ('The bone "{name}" has no faces.', "Give it a closed mesh, or press Remove from Sinew."),
    "bone-body": (
        'The bone "{name}" is set to hold "{body}", which is not one of the bodies.',
        "Choose another Body for it, or clear the field to hold all flesh.",
    ),
    "bone-outside": (
        'The bone "{name}" holds no flesh: its Reach is {distance} m, but the nearest node of "{body}" is {away} m '
        "away.",
        "Move it into the flesh, set Reach to {wanted} m or more (panel Attachments), or choose smaller tets.",
    ),
    "bone-masked": (
        'The painted weights leave the bone "{name}" nothing of "{body}" to hold.',
        "Paint above 0.5 where the bone holds, or clear the Attachment Group of the flesh and the Group and Target "
        "Group of its attachment.",
    ),
    "armature-outside": (
        'None of the {count} armature bones of "{name}" holds any of it.',
        "Raise the Radius of its armature bones (panel Bones), and check that its vertex groups have the names of the "
        "bones.",
    ),
    "bone-on-a-line": (
        'All vertices of the bone "{name}" lie on one line, so Sinew cannot tell how it rotates.',
        "Give it a thickness, or move it without deforming it.",
    ),
    "bones-everything": (
        'Bones hold all of "{name}", so nothing is left to simulate.',
        "Lower their Distance, paint masks, or choose smaller tets (panel Tets).",
    ),
    "bones-want-the-same": (
        'The bones "{bone}" and "{other}" both reach {count} nodes of "{name}". Each node follows one of them: the '
        "bone that it lies deepest in or, outside both, the nearer one.",
        "If a node follows the wrong bone, move the bones apart, paint the Mask or lower the Distance of a bone mesh, "
        "or lower the Radius of the armature bones (panel Bones).",
    ),
    "bone-crowded-out": (
        'Nothing of "{body}" follows {bones}: other bones hold everything within reach.',
        "Choose smaller tets (panel Tets), or paint the masks of the neighboring bones.",
    ),
    "armature-crowded-out": (
        'Nothing of "{body}" follows {bones}: other bones hold everything within reach.',
        "Choose smaller tets (panel Tets), or lower the Radius of its armature bones (panel Bones).",
    ),
    "bones-hold-few": (
        'These bones hold too few nodes of "{name}" to rotate the flesh: {bones}.',
        "Choose smaller tets (panel Tets), or give them a {setting} of {distance} m or more.",
    ),
    "bones-hold-few-at-all": (
        'These bones hold too few nodes of "{name}" to rotate the flesh: {bones}.',
        "Choose a Tet Size of about {tet_size} m, or more Divisions (panel Tets).",
    ),
    "pins-against-bones": (
        'At the first frame, pins and the bone "{bone}" place {count} nodes of "{name}" differently, up to '
        "{distance} m apart. The nodes follow the pins.",
        "Remove these vertices from the Pin Group, or paint the mask of the bone.",
    ),
    "bone-not-finite": (
        'At {time} the animation of the bone "{name}" gives coordinates that are not numbers.',
        "Check its keyframes, constraints and modifiers at that time.",
    ),
    "bone-vertices": (
        'The bone "{name}" has {count} vertices at some frame, but {wanted} in the rest pose.',
        "Remove the modifiers that change its number of vertices.",
    ),
    "bone-mirrored": (
        'At {time} the bone "{name}" has a scale of zero or is mirrored, which inverts the flesh around it.',
        "Give it a positive scale at that time.",
    ),
    "bone-crushes": (
        'At {time} the bone "{bone}" inverts most of the tets of "{name}" that it holds ({count} of {all}).',
        "Check its modifiers and shape keys at that time, lower its Reach, or use larger tets.",
    ),
    "flesh-crushed": (
        'In frame {frame} the bone "{bone}" alone inverts {count} tets of "{name}".',
        "Lower its Reach, paint its Target Group, or deform it less.",
    ),
    "flesh-crushed-between": (
        'In frame {frame} the bones "{bone}" and "{other}" crush {count} tets of "{name}" between them.',
        "Make the bones thinner towards their joint, leave a gap between them, or paint their masks there.",
    ),
    "flesh-crushed-between-armature": (
        'In frame {frame} the armature bones "{bone}" and "{other}" crush {count} tets of "{name}" between them.',
        "Lower the Radius of its armature bones (panel Bones), or remove the flesh at that joint from the "
        "Attachment Group.",
    ),
    "flesh-crushed-between-both": (
        'In frame {frame} "{bone}" and "{other}" crush {count} tets of "{name}" between them.',
        "Lower the Radius of its armature bones (panel Bones), make the bone mesh thinner there, or remove the flesh "
        "between them from the Attachment Group.",
    ),
    # flesh and bones made in the window
    "flesh-not-held": (
        'Nothing holds the flesh of "{name}", so it has no pose to follow.',
        "Press Make Bone Mesh on a mesh inside it, turn on Hold by Armature, pin it, or choose Jiggle under Type.",
    ),
    # addon/baking/frame_solve.py
    "no-flesh-to-solve": (
        'Nothing in the scene "{name}" is flesh, so nothing comes to rest in a pose.',
        "Press Make Flesh or Make Muscle, or press Simulate for soft bodies.",
    ),
    "solve-attached-to-soft-body": (
        '"{name}" is attached to "{target}", a soft body, which Solve This Frame leaves out.',
        "Switch the attachment off in the panel Attachments, or press Simulate.",
    ),
    "solved-at-rest": (
        "Frame {frame} has the pose of the Rest Frame {rest}, so nothing has moved.",
        "Key the pose of the bones in both frames, or choose another Rest Frame (panel Solver).",
    ),
    # addon/objects/quick_scene.py
    "no-armature": (
        'No Armature modifier poses "{name}".',
        "Select the mesh and then its armature, and press Ctrl+P, With Automatic Weights.",
    ),
    "armature-as-bone": (
        '"{name}" is an armature, so it cannot be a bone mesh.',
        "Turn on Hold by Armature in the flesh that it poses, or select a mesh that it moves.",
    ),
}
