# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of what goes wrong where bodies meet colliders, each other and themselves."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/contact/colliders.py, solver/skins/deforming.py
    "collider-not-finite": (
        'The collider "{name}" is at a place that is not a number at frame {frame}.',
        "Look at its animation, drivers and modifiers at that frame.",
    ),
    "collider-of-another-mesh": (
        'The animation of the collider "{name}" is that of a mesh with another number of vertices.',
        "Bake it again.",
    ),
    # solver/checks.py
    "collider-sides": (
        'The collider "{name}" has the sides "{sides}", which is none of {known}.',
        "Choose one of them.",
    ),
    "collider-shape": (
        'The collider "{name}" has the shape "{shape}", which is none of {known}.',
        "Choose one of them.",
    ),
    "collider-plane-deforms": (
        'The collider "{name}" is a plane without end, which cannot change its shape.',
        "Choose the Shape Mesh.",
    ),
    "ignored-pair-unknown": (
        '"{name}" is to pass through what the scene does not have.',
        "Bake it again.",
    ),
}
