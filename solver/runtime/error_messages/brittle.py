# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about brittle bodies."""

from __future__ import annotations

TEXTS = {
    "brittle-combined": (
        '"{name}" is brittle, which does not support {feature} yet.',
        "Change that, or set Motion of the body to Rigid.",
    ),
    "brittle-beside": (
        '"{name}" is brittle, and "{other}" in its scene has {feature}: these do not go together yet.',
        'Turn that off in "{other}", or set Motion of "{name}" to Rigid.',
    ),
    "brittle-live": (
        '"{name}" is brittle, and breaks in bakes alone.',
        "Bake the scene, or set Motion of the body to Rigid while you run it live.",
    ),
    "crack-preview-not-brittle": (
        '"{name}" is not brittle, so one hit does not tell how it cracks.',
        "Set Motion of the body to Brittle, with Fracture on.",
    ),
    "brittle-stress-not-found": (
        'The stress in "{name}" under a hit was not found at {time}: the solve left {residual} of the load.',
        "Its tets may be too large for its walls: choose more Divisions under Tets, or set Motion to Rigid.",
    ),
}
