# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about plastic flow, heat and fracture, and about the meshes of broken bodies."""

TEXTS: dict[str, tuple[str, str]] = {
    # hyperelastic laws
    "hyperelastic-law": (
        'There is no elastic law called "{law}".',
        "Choose one of {laws}.",
    ),
    "hyperelastic-extension": (
        'There is no extension "{extension}" below the compression threshold {threshold}.',
        "Choose constant, linear, smooth or none, and a threshold above 0 and up to 1.",
    ),
    # self-weight
    "collapses": (
        '"{name}" is too soft for its size: it collapses under its own weight.',
        "Raise Stiffness to {stiffness}, or set Simulated Size to {size}.",
    ),
    # plastic flow and creep
    "plastic-law": (
        'The plastic law of "{name}" is "{law}", which does not exist.',
        "Choose multiplicative or additive.",
    ),
    "paint-without-vertices": (
        'The painted values of {setting} do not fit the vertices of "{name}".',
        "Choose another vertex group, or clear the field.",
    ),
    "plastic-not-finite": (
        'At {time} the animation of {setting} of "{name}" gives a value that is not a number.',
        "Check its keyframes or driver at that time.",
    ),
    # heat and melting
    "melts-never": (
        '"{name}" cannot melt: its Melting Point is {melting_point} °C, but nothing around it is hotter than '
        "{hottest} °C.",
        "Add a heat source, raise Air Temperature, or turn Heat off.",
    ),
    "heat-source-small": (
        'The Radius of the heat source "{name}" ({radius} m) is smaller than the tets of "{body}" ({size} m), '
        "so it may pass between their nodes.",
        "Choose a larger Radius, or smaller tets (panel Tets).",
    ),
    "heat-source-idle": ('The heat source "{name}" has no body to heat.', "Turn Heat on for a body."),
    "heat-source-flat": ('A scale of the heat source "{name}" is zero.', "Set a scale other than zero."),
    "heat-source-not-finite": (
        'At {time} the animation of the heat source "{name}" gives a position or temperature that is not a number.',
        "Check its animation and its parents at that time.",
    ),
    "air-not-finite": (
        "At {time} the animation of Air Temperature gives a value that is not a number.",
        "Check its keyframes or driver at that time.",
    ),
    "heat-not-finite": (
        'At {time} the temperatures of "{name}" are no longer numbers.',
        "Check its Conductivity and Heat Capacity, and the heat sources near it.",
    ),
    "softening-not-rising": (
        'The temperatures in the Softening Factors of "{name}" do not increase from row to row.',
        "Sort the rows.",
    ),
    # attributes for shaders
    "attribute-without-source": (
        '{attribute} of "{name}" is 0, because {what} is off.',
        "Turn {what} on, or do not write that attribute.",
    ),
    # fracture
    "strength-all-zero": (
        'The painted strength of "{name}" is 0 everywhere, so the body would break into single tets.',
        "Raise weights of its Paint Strength group, or clear the field.",
    ),
    "nothing-breakable": (
        'All of "{name}" is unbreakable.',
        "Remove vertices from its Unbreakable Group, or turn Fracture off.",
    ),
    "pieces-at-limit": (
        '"{name}" reached its limit of {count} pieces at frame {frame} and breaks no further.',
        "Raise Max Pieces, or Breaking Stress.",
    ),
    # cutting the render mesh
    "cut-open": (
        'Sinew cannot cut "{name}" into closed pieces: {edges} of its edges are open or have more than two faces.',
        "Remesh a copy of it (Voxel Remesh), or close its holes and merge its doubles.",
    ),
    "cut-uncovered": (
        'Sinew cannot cut "{name}" into closed pieces: {count} of its triangles lie outside its tets.',
        "Choose Robust under Tets.",
    ),
    "cut-tets": (
        'Sinew cannot cut "{name}" into closed pieces: some of its tets overlap or have no volume.',
        "Choose Robust under Tets.",
    ),
    "cut-not-closed": (
        'Sinew could not close the cracks of "{name}".',
        "Please report this with the file.",
    ),
    "frame-range-empty": ("The frame range {start} to {end} has no frames.", "Set the end after the start."),
    "blend-unreadable": (
        "Sinew cannot open {path}: {problem}.",
        "Check the path, and check that it is a .blend file.",
    ),
    "bake-not-moved": (
        "Sinew could not move the bake beside the file: {problem}. It stays in {path}, which a restart may empty.",
        "Free some space there, then save again.",
    ),
    "folder-in-use": ("{path} contains other files.", "Choose a separate folder for the cache."),
    # results of broken bodies
    "breaks-open": (
        'Sinew cannot break "{name}" into closed pieces: it has {defects}.',
        "Press Make Closed Copy, close the mesh by hand, or turn Fracture off.",
    ),
    "breaks-inside-out": (
        'The faces of "{name}" point inwards, so it has no volume that could break.',
        "Flip them (Edit Mode, Mesh > Normals > Recalculate Outside).",
    ),
    "shape-keys-of-pieces": (
        '"{name}" is in separate pieces, which cannot share the shape keys of one mesh.',
        "Turn Separate Pieces off, convert, and turn it on again.",
    ),
    "cracks-shown-early": (
        'The modifier "{modifier}" of "{name}" changes the broken mesh, so cracks may show before they open.',
        "Move it above Sinew's modifier.",
    ),
    "swapped-at-crack": (
        'The material "{material}" of "{name}" lets light in, so cracks would show before they open.',
        "Sinew shows the unbroken body until the first crack opens. Later cracks still show early.",
    ),
    "copy-not-closed": (
        'A voxel remesh of {size} does not close "{name}".',
        "Choose another Voxel Size, or close the mesh by hand (Mesh > Clean Up > Fill Holes).",
    ),
    "result-other-mesh": (
        'Sinew cannot make the broken mesh of "{name}", because its faces have changed since the bake.',
        "Undo the change to its mesh or modifiers, or simulate again.",
    ),
}
