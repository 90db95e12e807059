# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the pictures of docs/first_muscle.md from those that the window test takes in a real Blender.

ONLY=first_muscle make test-window
.venv/bin/python scripts/first_muscle_pictures.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
TAKEN, SHOWN = ROOT / "build" / "window", ROOT / "docs" / "images" / "first_muscle"
QUALITY = 80
VIEW = (2, 28, 1052, 776)  # of the screen: the 3D view with its sidebar, and the timeline [pixels]
PICTURES = {
    "ends_in_color": "61b-its-ends-in-color",
    "activation_keyed": "61c-activation-keyed",
    "contracted": "62-the-first-muscle",
}


def main() -> None:
    """Cuts the view out of each picture and writes it as .webp."""
    SHOWN.mkdir(exist_ok=True)
    for name, taken in PICTURES.items():
        with Image.open(TAKEN / f"{taken}.png") as found:
            found.convert("RGB").crop(VIEW).save(SHOWN / f"{name}.webp", quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
