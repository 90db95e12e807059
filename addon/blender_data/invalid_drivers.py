# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that Blender gave up while the add-on was not there.

A driver that finds no property is marked as invalid and never computed again. In a file that is open before the add-on
is registered, that is what becomes of every driver on a setting of Sinew, or that reads one.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy

OWN_PROPERTIES = "sinew"


def retry_drivers() -> int:
    """Lets Blender compute drivers again that it gave up and that are about settings of Sinew; returns how many.

    One that is wrong for another reason is given up again, and Blender says so.
    """
    found = [curve.driver for curve in _drivers() if _is_about_settings(curve)]
    given_up = [driver for driver in found if not driver.is_valid]
    for driver in given_up:
        driver.type = driver.type  # clears the mark, and has relations made again, as setting the mark alone does not
    return len(given_up)


def _drivers() -> Iterator[bpy.types.FCurve]:
    """Yields the drivers of all data-blocks of the file, and of the nodes in these."""
    for rna in bpy.data.bl_rna.properties:
        if rna.type != "COLLECTION":
            continue
        for block in getattr(bpy.data, rna.identifier):
            for owner in (block, getattr(block, "node_tree", None)):
                animation = getattr(owner, "animation_data", None)
                yield from () if animation is None else animation.drivers


def _is_about_settings(curve: bpy.types.FCurve) -> bool:
    targets = (target for variable in curve.driver.variables for target in variable.targets)
    return any(_is_setting(path) for path in (curve.data_path, *(target.data_path for target in targets)))


def _is_setting(path: str) -> bool:
    """Whether a data path leads to a setting of Sinew: its own of an object or scene, not a bone of that name."""
    return path.startswith(f"{OWN_PROPERTIES}.")
