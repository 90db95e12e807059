# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about sheets."""

TEXTS: dict[str, tuple[str, str]] = {
    "sheet-no-area": (
        'The sheet "{name}" has no area: {count} of its triangles have none, or there are no triangles.',
        "Delete its loose edges and merge its vertices by distance, or give it another role.",
    ),
    "strand-no-length": (
        '{count} of the strings of "{name}", which are its edges without faces, have no length.',
        "Merge its vertices by distance.",
    ),
    "strand-ends": (
        '{count} of the strings of "{name}" do not join two vertices of it that are not one.',
        "Correct the mesh that the file was written from.",
    ),
    "strands-combined": (
        '"{name}" has strings, its edges without faces, which do not support {feature}.',
        "Change that, or delete these edges in Edit Mode.",
    ),
    "sheet-coarse": (
        'Wrinkles of "{name}" are about {width} m wide, and its edges of {edge} m are too long to show them.',
        "Subdivide it until its edges are {wanted} m long, or raise Bending.",
    ),
    "no-cloth-modifier": (
        '"{name}" has no Cloth modifier to copy from.',
        "Add one, or choose a Sheet Preset.",
    ),
    "sheet-combined": (
        '"{name}" is a sheet, which does not support {feature}.',
        "Change that, or choose another Fill than Sheet under Tets.",
    ),
    "sheet-points-too-far-apart": (
        'The points that carry the sheet "{name}" would be {apart} m apart, and it is only {largest} m large.',
        "Lower its Point Spacing, subdivide it, or turn Carried by Points off.",
    ),
    "bound-to-sheet": (
        '"{name}" is bound to the sheet "{target}", which has no tets for that.',
        "Turn Exact off in the row about it.",
    ),
    "sheets-damped": (
        'The springs between the sheets "{name}" and "{target}" have Damping, and neither has tets that carry it.',
        "Set the Damping of that row to 0, or raise the damping of one of the sheets.",
    ),
    "seams-without-edges": (
        'The sheet "{name}" has Seams, and no edges without faces that could be sewn.',
        "Draw edges between the vertices of its borders in Edit Mode (F), or turn Seams off.",
    ),
    "seams-without-sheet": (
        '"{name}" has seams and is no sheet.',
        "Choose the Fill Sheet under Tets, or leave the seams out.",
    ),
    "seam-ends": (
        '{count} edges of the seams of "{name}" do not join two vertices that have faces.',
        "Delete these edges in Edit Mode, or turn Seams off.",
    ),
    "seams-never-tear": (
        'The seams of "{name}" never tear: Max Sewing Force is not larger than Tears At.',
        "Raise Max Sewing Force, or set it or Tears At to 0.",
    ),
    "seam-force": (
        'At {time} s, the animation gives the seams of "{name}" the force {value}, which is below zero or no number.',
        "Correct the keyframes or drivers of its Max Sewing Force.",
    ),
    "sheet-one-triangle": (
        'The sheet "{name}" is a single triangle, which cannot bend.',
        "Subdivide it.",
    ),
    "sheet-no-uv-area": (
        'The threads of the sheet "{name}" follow its UV map, in which {count} triangles have no area.',
        "Unwrap it again, or let its material be the same in all directions.",
    ),
}
