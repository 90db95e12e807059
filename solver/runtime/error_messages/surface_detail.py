# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about surface detail."""

TEXTS = {
    "surface-detail-combined": (
        '"{name}" has Surface Detail, which does not support {feature}.',
        "Switch one of the two off.",
    ),
    "surface-detail-coarse": (
        'The faces of "{name}" are {edge} m long, and particles of its Surface Detail {spacing} m apart: dents are not '
        "drawn that fine.",
        "Subdivide the mesh, or lower Particles per Tet.",
    ),
}
