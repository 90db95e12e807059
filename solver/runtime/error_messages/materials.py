# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with flow, heat and fracture, and with what broke."""

TEXTS: dict[str, tuple[str, str]] = {
    # hyperelastic laws
    "hyperelastic-law": (
        'There is no elastic law called "{law}".',
        "Choose one of {laws}.",
    ),
    "hyperelastic-extension": (
        'There is no way called "{extension}" to go on below the compression threshold {threshold}.',
        "Choose constant, linear, smooth or none, and a threshold above 0 and up to 1.",
    ),
    # own weight
    "collapses": (
        '"{name}" is too soft for its size and sags into a pancake: its weight presses on its foot with {times} times '
        "its stiffness.",
        "Raise Stiffness to {stiffness} Pa (--youngs-modulus {pascals}), or set Simulated Size to {size} "
        "(--simulated-scale {scale}).",
    ),
    # plastic flow and creep
    "plastic-law": (
        '"{name}" is to flow by a law called "{law}", which does not exist.',
        "Choose multiplicative or additive.",
    ),
    "paint-without-vertices": (
        'What is painted on "{name}" for {setting} does not fit its vertices.',
        "Choose another vertex group, or clear the field.",
    ),
    "plastic-not-finite": (
        'The animation of {setting} of "{name}" gives a value at {time} that is not a number.',
        "Look at its keyframes or driver at that time.",
    ),
    # heat and melting
    "melts-never": (
        'Nothing melts "{name}": it melts at {melting_point} °C, and nothing around it is hotter than {hottest} °C.',
        "Add a heat source, raise Air Temperature, or turn Heat off.",
    ),
    "heat-source-small": (
        'The radius of the heat source "{name}", {radius} m, is smaller than the tets of "{body}" ({size} m), '
        "so it may pass between their corners.",
        "Choose a larger radius or a smaller tet size.",
    ),
    "heat-source-idle": ('The heat source "{name}" has no body to heat.', "Turn Heat on for one."),
    "heat-source-flat": ('The heat source "{name}" has a scale of zero along one axis.', "Give it a scale."),
    "heat-source-not-finite": (
        'The animation of the heat source "{name}" gives a place or temperature at {time} that is not a number.',
        "Look at its animation and its parents at that time.",
    ),
    "air-not-finite": (
        "The animation of Air Temperature gives a value at {time} that is not a number.",
        "Look at its keyframes or driver at that time.",
    ),
    "heat-not-finite": (
        'The temperatures of "{name}" at {time} are no longer numbers.',
        "Look at its Conductivity and Heat Capacity, and at the heat sources near it.",
    ),
    "softening-not-rising": ('The Softening Factors of "{name}" do not rise in temperature.', "Sort the rows."),
    # attributes for shaders
    "attribute-without-source": ('{attribute} of "{name}" is 0: {what} is off.', "Turn {what} on, or leave it out."),
    # breaking
    "strength-all-zero": (
        'The paint of the strength of "{name}" is 0 everywhere, so it would fall to dust.',
        "Paint the group under Breaking Stress, or clear the field.",
    ),
    "nothing-breakable": (
        'All of "{name}" is unbreakable.',
        "Take vertices out of the group Unbreakable, or turn Fracture off.",
    ),
    "pieces-at-limit": (
        '"{name}" has fallen into {count} pieces at frame {frame}, as many as it may; it breaks no further.',
        "Raise Max Pieces, or Breaking Stress.",
    ),
    # cutting the render mesh
    "cut-open": (
        '"{name}" cannot be kept closed when it breaks: it has {edges} open or wrong edges.',
        "Remesh a copy of it (Voxel Remesh), or close its holes and merge its doubles.",
    ),
    "cut-uncovered": (
        '{count} triangles of "{name}" leave its tets, so it cannot be kept closed when it breaks.',
        "Choose Robust under Tets.",
    ),
    "cut-tets": (
        'Tets of "{name}" overlap or have no volume, so it cannot be kept closed when it breaks.',
        "Choose Robust under Tets.",
    ),
    "cut-not-closed": ('The cracks of "{name}" could not be closed.', "Show its tets, and report this with the file."),
    "frame-range-empty": ("The frame range {start} to {end} holds no frames.", "Set the end after the start."),
    "blend-unreadable": ("{path} cannot be opened: {problem}.", "Check the path, and that it is a .blend file."),
    "bake-not-moved": (
        "The bake could not be moved beside the file and stays in {path}, which a restart may empty: {problem}.",
        "Make room there, then save again.",
    ),
    "folder-in-use": ("{path} holds other files.", "Choose a folder of its own for the cache."),
    # results of bodies that broke
    "breaks-open": (
        '"{name}" cannot be kept closed when it breaks: it has {defects}.',
        "Press Make Closed Copy, close it by hand, or turn Fracture off.",
    ),
    "breaks-inside-out": (
        '"{name}" is turned inside out: its faces look inwards, so there is nothing to break.',
        "Turn them round (Edit Mode, Mesh > Normals > Recalculate Outside).",
    ),
    "shape-keys-of-pieces": (
        '"{name}" is shown in separate pieces, which shape keys of one mesh cannot be.',
        "Turn Separate Pieces off, convert, and turn it on again.",
    ),
    "cracks-shown-early": (
        'Modifier "{modifier}" of "{name}" works on the broken mesh, so cracks may show before they open.',
        "Move it above Sinew's modifier.",
    ),
    "swapped-at-crack": (
        'Light gets inside "{name}" through its material "{material}", so cracks would show before they open.',
        "The body itself is shown until the first one opens; later ones show early.",
    ),
    "copy-not-closed": (
        'Voxels of {size} do not close "{name}".',
        "Choose another Voxel Size, or close the mesh by hand (Mesh > Clean Up > Fill Holes).",
    ),
    "result-other-mesh": (
        'The broken mesh of "{name}" cannot be made: its faces are not those that were baked.',
        "Undo the change to its mesh or modifiers, or simulate again.",
    ),
}
