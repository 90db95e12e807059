# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of Check, which looks through a scene before a bake."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/simulation/diagnostics/surface_diagnostics.py
    "surface-open": (
        'The mesh of "{name}" is open: {count} of its vertices are at open edges.',
        "Fix fills the holes with faces. Or choose Robust as Fill (panel Tets), which covers the faces.",
    ),
    "surface-doubled": (
        '"{name}" has {count} vertices that are doubled, or on faces that are.',
        "Fix merges them and deletes the second faces.",
    ),
    "surface-inside-out": (
        '{count} triangles of "{name}" look inwards.',
        "Fix turns them.",
    ),
    "surface-crossing": (
        'The mesh of "{name}" crosses itself at {count} of its vertices.',
        "Move these parts off each other, or remesh it (Make Closed Copy).",
    ),
    "surface-thin": (
        '{percent} % of the surface of "{name}" lies over parts that are thinner than two of its tets of {tet_size} m.',
        "Fix makes the tets {wanted} m long.",
    ),
    # solver/simulation/diagnostics/muscle_overlap_diagnostics.py
    "muscle-overlaps": (
        '"{name}" lies {depth} m deep in "{other}", more than a tenth of its thickness.',
        "Move the selected vertices out, or the other object.",
    ),
    # solver/simulation/diagnostics/wrap_diagnostics.py
    "wrap-out-with": (
        'The Wrap inside of "{name}" is up to {distance} m outside of it, where "{other}" is up to {beyond} m outside.',
        'Move "{other}" under the skin, or make the skin larger there.',
    ),
    "wrap-out-over": (
        'The Wrap inside of "{name}" is up to {distance} m outside of it, over "{other}", which is only {depth} m '
        "below the skin.",
        'Move "{other}" deeper, make the skin larger there, or make the Wrap again with a smaller Width and Offset.',
    ),
    "wrap-sticks-out": (
        'The Wrap inside of "{name}" is up to {distance} m outside of it.',
        "Move the selected vertices under the skin, or make the skin larger there.",
    ),
    # solver/simulation/diagnostics/muscle_diagnostics.py
    # the bake says it too: solver/simulation/pose_step.py, addon/objects/flesh_supports.py
    "muscle-on-no-bone": (
        'The muscle "{name}" touches no bone: nothing holds its ends.',
        "Fix in the panel Check holds both ends to the bones nearest to them, as Make Muscle does.",
    ),
    "muscle-end-loose": (
        'The {end} of the muscle "{name}" is on no bone.',
        "Fix holds both ends to the bones nearest to them, as Make Muscle does.",
    ),
    "muscle-end-without-tets": (
        'The tets of the muscle "{name}" end {distance} m before its {end}, which is thinner than their {tet_size} m.',
        "Fix chooses Robust as its Fill (panel Tets), whose tets cover it.",
    ),
    "muscle-heads-share-tets": (
        'The heads "{one}" and "{other}" of "{name}" share {count} tets, each of which contracts with one of them.',
        "If the heads lie apart, choose smaller tets (panel Tets), or make each head an object of its own.",
    ),
    # addon/objects/object_size_diagnostics.py and muscle_end_diagnostics.py
    "scale-not-applied": (
        'The scale of "{name}" is {scale} instead of 1.',
        "Fix applies it to the mesh (Object > Apply > Scale), so that its modifiers measure what Sinew simulates.",
    ),
    "size-unlike-skeleton": (
        '"{name}" is {size} m long and the skeleton {skeleton} m, {times} times as much.',
        "Check the unit that the one or the other was imported with, and scale it.",
    ),
    "size-beyond-skeleton": (
        '"{name}" is {size} m long and the skeleton {skeleton} m, a {times}th of it.',
        "Check the unit that the one or the other was imported with, and scale it.",
    ),
    "muscle-ends-on-one-bone": (
        'Both ends of the muscle "{name}" follow the bone "{bone}", so nothing changes its length.',
        "Choose another bone in its Hook modifier Origin or Insertion.",
    ),
    "muscle-end-still": (
        'The {end} of the muscle "{name}" is pinned, but no Hook or Armature modifier lets it follow a bone.',
        "Fix holds both ends to the bones nearest to them, as Make Muscle does.",
    ),
    # addon/baking/scene_check.py
    "nothing-to-check": (
        'Nothing in the scene "{name}" is simulated.',
        "Select a mesh and press Make Body, Make Flesh or Make Muscle.",
    ),
    # addon/objects/diagnostic_fixes.py
    "not-fixed": (
        'Sinew could not fix "{name}": {problem}.',
        "Press Select and repair it by hand.",
    ),
    "mesh-of-others": (
        'The mesh of "{name}" is also that of {count} other objects, which would change with it.',
        "Make it single-user first (Object > Relations > Make Single User > Object & Data).",
    ),
}
