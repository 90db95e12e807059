# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about muscles and their fibres."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/simulation/features/muscles.py
    "muscle-not-flesh": (
        '"{name}" is a muscle, but no flesh.',
        "Choose Follow Pose or Jiggle as its Type, or switch Muscle off.",
    ),
    # solver/simulation/fibre_preview.py
    "no-muscles": (
        "Nothing in the scene is a muscle.",
        "Switch on Muscle for a body of flesh.",
    ),
    # solver/simulation/features/muscle_fibres.py
    "fibre-source-missing": (
        'The fibres of "{name}" are to follow {source}, but none is chosen.',
        "Choose it in the panel Fibres, or choose Automatic there.",
    ),
    "fibre-source-points": (
        '"{source}", which gives the fibres of "{name}", has {given} points where it should have {wanted}.',
        "Give as many points as its sizes say.",
    ),
    "tendon-mesh-open": (
        'The Tendon Mesh "{name}" of the muscle "{body}" is not closed, so nothing is inside it.',
        "Close its holes, or give a sheet some thickness with a Solidify modifier.",
    ),
    "tendon-mesh-empty": (
        'No tet of the muscle "{body}" has its middle inside the Tendon Mesh "{name}".',
        "Move it into the muscle or make it thicker, or choose smaller tets (panel Tets).",
    ),
    # addon/export/fibre_objects.py
    "fibre-object-elsewhere": (
        '"{other}", which gives fibres or tendon of "{name}", is not in the scene "{scene}".',
        "Link it to the scene, or choose another object in the panel Fibres.",
    ),
    "fibre-object-type": (
        '"{other}" cannot be the {setting} of "{name}": it is of another type.',
        "Choose another object in the panel Fibres.",
    ),
    # addon/export/validation.py
    "hook-without-object": (
        'The Hook modifier "{modifier}" of the muscle "{name}" has no object, so this end would stand still.',
        "Choose an armature and a bone in it, or make the muscle again (Add, Make Muscle).",
    ),
    "hook-without-bone": (
        'The Hook modifier "{modifier}" of the muscle "{name}" follows the bone "{bone}", which "{rig}" does not have.',
        "Choose another bone in it, or make the muscle again (Add, Make Muscle).",
    ),
    # addon/objects/muscle_setup.py
    "muscle-no-bones": (
        "There are {count} bones for a muscle, which ends on two; hidden armatures do not count.",
        "Add or show an armature, or make the meshes of bones bone meshes (Add, Make Bone Mesh).",
    ),
    # addon/objects/fascia.py, addon/operators/attachments.py
    "fascia-no-bones": (
        'The muscle "{name}" has no bone mesh or collider within {distance} along which it could slide.',
        "Make the bones beside it colliders (Add, Add Collider), or add a row to its Attachments by hand.",
    ),
    "fascia-of-nothing": (
        '"{name}" is no muscle, and nothing else that is selected is one.',
        "Select muscles, or make some first (Add, Make Muscle).",
    ),
    # addon/objects/drawn_muscles.py, addon/operators/draw_muscle.py
    "drawn-points-together": (
        "The points of the drawn muscle are at one place.",
        "Click a bone, and double-click another place on a bone.",
    ),
    "draw-bone-missing": (
        'The scene has no bone "{name}" for the end of a muscle.',
        "Choose a bone mesh, or a bone of an armature that is visible.",
    ),
    "draw-outside-view": (
        "A muscle is drawn in the 3D view.",
        "Move the mouse over it and choose Draw Muscle again.",
    ),
    "draw-obstacle-open": (
        'The mesh of "{other}" is not closed, so the muscle "{name}" is not kept out of it.',
        "Close its holes, then press Rebuild Shape (panel Muscle Shape).",
    ),
    "draw-end-on-bone": (
        "A muscle begins and ends on a bone.",
        "Click its last point on a bone, then press Enter or click twice there.",
    ),
    # addon/objects/muscle_tendon_union.py, addon/operators/join_tendon.py
    "join-without-tendon": (
        "Join Tendon takes a muscle and at least one other mesh.",
        "Select the tendons, then the muscle last, so that it is the active one.",
    ),
    "join-not-closed": (
        '"{name}" has {defects}, so nothing is inside it.',
        "Close it, or press Make Closed Copy (panel Fracture) and use the copy.",
    ),
    "join-shape-keys": (
        'The mesh of "{name}" has shape keys, which a new mesh would not fit.',
        "Remove them, then join the tendon.",
    ),
    "join-apart": (
        'The muscle "{name}" and its tendons do not touch: they would be {count} pieces.',
        "Move each tendon until it reaches into the muscle.",
    ),
    "join-inside": (
        'The surface of the muscle "{name}" meets no surface of a tendon.',
        "Let the tendon come out of the muscle; one inside the belly is a Tendon Mesh (panel Fibres).",
    ),
    "join-voxels": (
        "{count} million voxels are too many.",
        "Choose a larger Voxel Size.",
    ),
    "muscle-is-bone": (
        '"{name}" is a bone mesh, on which muscles end.',
        "Deselect it, or choose Remove from Sinew first to make it a muscle.",
    ),
    "muscle-without-size": (
        'All vertices of "{name}" are at one place.',
        "Deselect it, or model the muscle first.",
    ),
    "muscle-mesh-linked": (
        'The mesh of "{name}" is in another file, and vertex groups of its ends could not be stored here.',
        "Make it a muscle in that file.",
    ),
    "muscle-no-side": (
        'The muscle "{name}" is its own mirror image at the plane x = 0 of the world.',
        "Select muscles that lie on one side only.",
    ),
    "muscle-both-sides": (
        'Both "{name}" and "{other}" are selected, and each would take the place of the other.',
        "Select the muscles of one side only.",
    ),
    "mirror-name-taken": (
        'The mirror image of "{name}" would be called "{other}", but that is no muscle.',
        "Rename it.",
    ),
    # addon/operators/muscles.py
    "mirror-fibre-object": (
        'Both "{name}" and the muscle that it mirrors have "{other}" as {setting}.',
        "If it lies on one side, mirror it too, give it a name of the other side, and mirror the muscle again.",
    ),
    # addon/objects/muscle_setup.py, mirrored_muscles.py
    "leave-edit-mode": (
        '"{name}" is in Edit Mode.',
        "Leave Edit Mode (Tab), then do this again.",
    ),
    "muscle-posed-twice": (
        'The Armature modifier "{modifier}" of the muscle "{name}" also moves the ends, which follow their bones.',
        "Choose a Vertex Group in it that leaves out Muscle Ends, or remove the modifier.",
    ),
    "muscles-none-selected": (
        "No muscle is selected.",
        "Select muscles, or make the selected meshes muscles first (Add, Make Muscle).",
    ),
    "muscle-not-long": (
        'The muscle "{name}" is hardly longer than thick, so its ends are a guess.',
        "Look at its vertex groups Origin and Insertion, and paint them where it is attached.",
    ),
    "muscle-one-bone": (
        'Both ends of the muscle "{name}" are nearest to the bone "{bone}".',
        "Choose another bone in its Hook modifier Origin or Insertion.",
    ),
    "muscle-end-far": (
        'The {end} of the muscle "{name}" is {distance} from the nearest bone, "{bone}".',
        "Choose its bone in the Hook modifier {end}, or move the muscle to the bone.",
    ),
    "muscle-bone-unsure": (
        'The {end} of the muscle "{name}" is nearest to "{bone}", but hardly farther from "{other}".',
        "If that is wrong, choose the bone in the Hook modifier {end}.",
    ),
    "muscle-via-unsure": (
        'Via point {number} of the muscle "{name}" moves with "{bone}", but is hardly nearer to it than to "{other}".',
        "If that is wrong, choose another parent of its empty.",
    ),
    "muscle-mesh-open": (
        'The mesh of the muscle "{name}" has {defects}.',
        "Close it, or choose Robust as its Fill (panel Tets).",
    ),
    # solver/mechanics/muscle/fibres/muscle_region.py
    "muscle-end-missing": (
        'The {end} of the muscle "{name}" touches none of its nodes, so its fibres have no direction.',
        "Paint more of it or move the bone closer, or choose smaller tets (panel Tets).",
    ),
    "muscle-ends-overlap": (
        'Origin and insertion of the muscle "{name}" share {count} of its nodes.',
        "Paint them apart, or choose smaller tets (panel Tets).",
    ),
    "muscle-piece-unattached": (
        'A piece of the muscle "{name}" touches no {end}: {count} tets in {pieces} pieces have no fibre direction.',
        "Join the pieces or extend the {end} to each of them, or choose smaller tets (panel Tets).",
    ),
    # solver/mechanics/muscle/fibres/harmonic_coordinate.py, direction_tensors.py
    "fibres-unconverged": (
        'The linear solve for the fibres of "{name}" did not converge.',
        "Let Sinew make the tets, or repair flat ones.",
    ),
    # solver/mechanics/muscle/fibres/lattice_fibres.py
    "fibre-lattice-too-small": (
        '{count} of {all} tets of "{name}" lie outside the lattice "{lattice}", which gives its fibres.',
        "Scale or move the points of the lattice until it surrounds the muscle.",
    ),
    "fibre-lattice-folded": (
        'The lattice "{lattice}" is flat or folds over itself at {count} tets of "{name}".',
        "Move its points apart there.",
    ),
    "fibre-lattice-flat": (
        'The lattice "{lattice}" has only one point along {axis}, the fibre direction of "{name}".',
        "Raise its Resolution along {axis}, or choose another axis.",
    ),
    # solver/mechanics/muscle/fibres/curve_fibres.py
    "fibre-curves-empty": (
        '"{curves}", which gives the fibres of "{name}", has no curve of any length.',
        "Draw at least one strand along the fibres.",
    ),
    # solver/mechanics/muscle/fibres/build_fibres.py
    "fibres-undefined": (
        '{count} of {all} tets of "{name}" have no fibre direction: the curves near them cross or lie behind tendon.',
        "Draw strands that run one way into every piece of the muscle.",
    ),
    "fibre-curves-far": (
        '"{curves}", which gives the fibres of "{name}", is {distance} m away from it.',
        "Move them onto the muscle, or choose other curves.",
    ),
    "tendon-without-muscle": (
        'The tendons leave nothing of "{name}" to contract: its fibres are at most {length} m long.',
        "Lower Origin Tendon or Insertion Tendon (panel Muscle).",
    ),
    "pennation-without-aponeurosis": (
        '"{name}" has a pennation angle, but no painted aponeurosis towards which fibres could turn.',
        "Paint tendon inside the muscle, or set the angle to zero.",
    ),
}
