# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demos of bodies that shatter bake to, and how far it may be off: as in `pinned_numbers.py`.

Where cracks run changes with round-off, so counts may be off by a third.
"""

from __future__ import annotations

BRITTLE = {
    "vase": (
        24,
        {
            "Vase": {
                "tets": (1912, 100),
                "volume_ratio": (1.0, 1e-3),
                "pieces": (59, 20),
                "x_at_the_end": (0.127, 0.05),
                "height_ratio": (0.647, 0.12),
            }
        },
    ),
    "pane": (
        16,
        {
            "Pane": {"tets": (3058, 150), "volume_ratio": (1.0, 1e-3), "pieces": (89, 30)},
            "Ball": {"volume_ratio": (1.0, 1e-3), "y_at_the_end": (0.498, 0.12)},  # the pane is at 0: it went through
        },
    ),
}
