# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about sheets."""

TEXTS: dict[str, tuple[str, str]] = {
    "sheet-no-area": (
        'The sheet "{name}" has no area: {count} of its triangles have none, or there are no triangles.',
        "Delete its loose edges and merge its vertices by distance, or give it another role.",
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
