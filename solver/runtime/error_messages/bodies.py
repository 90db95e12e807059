# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with bodies as they are built and solved."""

TEXTS: dict[str, tuple[str, str]] = {
    # building a simulation
    "nothing-to-simulate": ("The scene has no bodies.", "Make a mesh a body first."),
    "attach-vertices": (
        '"{name}" has {count} vertices where Sinew\'s modifier is; the cache has {wanted}.',
        "Give it the modifiers above Sinew's that it was baked with.",
    ),
    "samples-do-not-divide": (
        "{samples} Samples per Frame do not divide {substeps} Substeps per Frame.",
        "Choose numbers that do, such as {substeps} and {substeps}.",
    ),
    "linear-solver": (
        'There is no linear solver called "{solver}".',
        "Choose one of {known}.",
    ),
    "pins-everything": (
        'Pins of weight 1 hold all of "{name}", so nothing is left to simulate.',
        "Take vertices out of its Pin Group, lower their weights, or choose a smaller tet size.",
    ),
    "pins-without-vertices": ('The pins of "{name}" name vertices that it does not have.', "Bake it again."),
    "tets-without-nodes": ('The tets of "{name}" name nodes that it does not have.', "Repair the file of tets."),
    "collider-flat": (
        'The collider "{name}" has a scale of zero along one axis, or coordinates that are not numbers.',
        "Give it a scale.",
    ),
    "collider-changes-size": (
        'The collider "{name}" changes its scale or shear at frame {frame}, though it was read as one that does not.',
        "Bake it again; it is then read as one that changes its shape.",
    ),
    "body-in-collider": (
        '"{name}" starts {depth} m deep inside the collider "{collider}".',
        "Move one of them, so that they do not touch at the first frame.",
    ),
    "collider-in-body": (
        'The collider "{collider}" starts inside "{name}".',
        "Move one of them; to hold a body from within, use a Pin Group.",
    ),
    "part-lost": (
        '{part} of "{name}" is thinner than its tets and got none.',
        "Choose a tet size of {size} m or less ({times} times the Resolution Divisions), or Robust under Tets.",
    ),
    "parts-lost": (
        '{count} parts of "{name}" are thinner than its tets and got none: {parts}.',
        "Choose a tet size of {size} m or less ({times} times the Resolution Divisions), or Robust under Tets.",
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
        '"{name}" is thinner than its tets in places, so it falls into {count} pieces.',
        "Choose a smaller tet size, or Robust under Tets.",
    ),
    "parts-joined": (
        '{count} tets of "{name}" join surfaces that lie far apart along the mesh, such as lips or fingers.',
        "Choose a smaller tet size to keep them apart; Viewport Display shows them.",
    ),
    "mesh-open": (
        '"{name}" has holes; what is inside was decided by how far the surface winds around it.',
        "Close the holes if the tets are not where you want them.",
    ),
    "volume-changed": (
        'The tets of "{name}" fill {percent} % of its volume.',
        "Choose a smaller tet size for a closer fit.",
    ),
    "volume-multiplied": (
        'The tets of "{name}" have {times} times its volume: it is thinner than they are.',
        "Choose a smaller tet size, or give it thickness (Solidify); else it is as heavy and stiff as its tets.",
    ),
    "gravity-in-shape-free": (
        'Nothing holds "{name}" at the first frame, so it falls in spite of Gravity Already in Shape.',
        "Pin it, or let it touch a collider at the first frame.",
    ),
    "targets-not-finite": (
        'The animation of the pins of "{name}" gives coordinates at {time} that are not numbers.',
        "Look at its modifiers and shape keys at that time.",
    ),
    "step-not-converged": (
        "A step of frame {frame} stopped at a relative residual of {residual:.2g}, above the tolerance.",
        "Raise Max Iterations, lower Volume Preservation, or use more substeps per frame.",
    ),
    "steps-not-converged": (
        "{count} steps ended above the Tolerance: at worst with a relative residual of "
        "{residual:.2g} in frame {frame}.",
        "Raise Max Iterations, lower Volume Preservation, or use more substeps per frame.",
    ),
    "inverted-after-steps": (
        "Up to {count} tets were inside out after a step.",
        "Use more substeps per frame or a stiffer material if the shape looks wrong. The Methods Green and "
        "Hierarchical do not turn them back.",
    ),
    # tets and the solve
    "no-tets": ('"{name}" has no tets inside.', "Choose a smaller tet size."),
    "tets-inverted": (
        '{count} tets of "{name}" are flat or inside out at rest.',
        "Let Sinew make the tets, or repair them.",
    ),
    "solve-not-finite": (
        "The simulation broke down at {time}: positions are no longer numbers.",
        "Use more substeps per frame, or softer pins and slower colliders.",
    ),
}
