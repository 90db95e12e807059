# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about bodies that the solver builds and simulates."""

TEXTS: dict[str, tuple[str, str]] = {
    "goal-on-a-line": (
        'All vertices of "{name}" lie on one line, so they do not say how the body turns with its animation.',
        "Switch off its Goal and Animated, or give the mesh some width.",
    ),
    # building a simulation
    "nothing-to-simulate": ("The scene has no bodies.", "Make a mesh a body first."),
    "attach-vertices": (
        '"{name}" has {count} vertices at Sinew\'s modifier, but the cache has {wanted}.',
        "Restore the modifiers above Sinew's modifier that the body had when it was baked.",
    ),
    "samples-do-not-divide": (
        "{samples} Samples Per Frame do not divide {substeps} Substeps Per Frame evenly.",
        "Set Samples Per Frame to a divisor of {substeps}, such as 1.",
    ),
    "linear-solver": (
        'There is no linear solver called "{solver}".',
        "Choose one of {known}.",
    ),
    "pins-everything": (
        'Pins of weight 1 hold all of "{name}", so nothing is left to simulate.',
        "Remove vertices from its Pin Group, lower their weights, or choose smaller tets (panel Tets).",
    ),
    "pins-without-vertices": ('The pins of "{name}" refer to vertices that it does not have.', "Bake it again."),
    "tets-without-nodes": ('The tets of "{name}" refer to nodes that it does not have.', "Repair the tet file."),
    "collider-flat": (
        'A scale of the collider "{name}" is zero, or one of its coordinates is not a number.',
        "Set a scale other than zero.",
    ),
    "collider-changes-size": (
        'The collider "{name}" changes its scale or shear at frame {frame}, but Sinew exported it as rigid.',
        "Bake it again: Sinew then exports it as deforming.",
    ),
    "body-in-collider": (
        '"{name}" starts {depth} m deep inside the collider "{collider}".',
        "Move one of them, so that they do not touch at the first frame.",
    ),
    "collider-in-body": (
        'The collider "{collider}" starts inside "{name}".',
        "Move one of them. To hold a body from inside, use a Pin Group.",
    ),
    "part-lost": (
        '{part} of "{name}" is thinner than its tets and got none.',
        "Choose a Tet Size of {size} m or less ({times} times the Divisions), or Robust under Tets.",
    ),
    "parts-lost": (
        '{count} parts of "{name}" are thinner than its tets and got none: {parts}.',
        "Choose a Tet Size of {size} m or less ({times} times the Divisions), or Robust under Tets.",
    ),
    "part-without-inside": (
        '{part} of "{name}" has no thickness and got no tets.',
        "Choose Robust under Tets, or give it thickness (Solidify).",
    ),
    "parts-without-inside": (
        '{count} parts of "{name}" have no thickness and got no tets: {parts}.',
        "Choose Robust under Tets, or give them thickness (Solidify).",
    ),
    "pieces-apart": (
        '"{name}" is thinner than its tets in places, so its tets form {count} separate pieces.',
        "Choose smaller tets or Robust (panel Tets).",
    ),
    "parts-joined": (
        '{count} tets of "{name}" join surfaces that are far apart along the mesh, such as lips or fingers.',
        "Choose smaller tets (panel Tets) to separate them. Viewport Display shows these tets.",
    ),
    "pressure-open": (
        '"{name}" has holes, so it holds no pressure.',
        "Close the holes, give it a Solidify modifier if it is a sheet, press Make Closed Copy, or turn Pressure off.",
    ),
    "mesh-open": (
        '"{name}" has holes, so Sinew guessed what is inside.',
        "Close the holes if the tets are in the wrong places.",
    ),
    "soup-covered": (
        '"{name}" is a polygon soup: its faces do not tell what is inside, so Robust tets cover them.',
        "Merge its vertices by distance and recalculate its normals to have it filled, or choose Robust under Tets, so "
        "that Number of Tets counts these tets.",
    ),
    "volume-changed": (
        'The tets of "{name}" fill {percent} % of its volume.',
        "Choose smaller tets (panel Tets) for a closer fit.",
    ),
    "volume-multiplied": (
        'The tets of "{name}" have {times} times its volume, because it is thinner than they are.',
        "Choose smaller tets (panel Tets), or give it thickness (Solidify). Otherwise it is as heavy and stiff as its "
        "tets.",
    ),
    "gravity-in-shape-free": (
        'Nothing holds "{name}" at the first frame, so it falls in spite of Gravity Already in Shape.',
        "Pin it, or let it touch a collider at the first frame.",
    ),
    # solver/simulation/sag_free_flesh.py
    "gravity-in-shape-left": (
        '"{name}" is too soft to carry its weight in the shape that it was modeled in, so it sags.',
        "Raise its Stiffness, or let bones hold more of it.",
    ),
    "targets-not-finite": (
        'At {time} the animation of the pins of "{name}" gives coordinates that are not numbers.',
        "Check its modifiers and shape keys at that time.",
    ),
    "inverted-after-steps": (
        "Up to {count} tets were inverted (inside out) after a step.",
        "If the shape looks wrong, use more Substeps Per Frame or a stiffer material. Green and Hierarchical bodies "
        "do not recover inverted tets.",
    ),
    # tets and the solve
    "no-tets": ('"{name}" has no tets inside.', "Choose smaller tets (panel Tets)."),
    "tets-inverted": (
        '{count} tets of "{name}" are flat or inverted at rest.',
        "Let Sinew make the tets, or repair them.",
    ),
    "solve-not-finite": (
        "The simulation diverged at {time}: positions are no longer numbers.",
        "Use more Substeps Per Frame, softer pins or slower colliders.",
    ),
}
