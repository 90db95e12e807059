# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a run reads at its beginning alone, such as those of tets: whoever changes one is told so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy

from ...solver.runtime.errors import SinewError
from ...solver.scene.settings.setting import Setting
from ...solver.scene.settings.tables import BODY, settings_of_role
from ..baking.live_state import HandledInput
from ..objects import roles

# what fills in other settings, or what only the viewport and bakes read
UNREAD = {"preset", "muscle_preset", "friction_preset", "fibre_color", "bake_pass", "separate_pieces"}
COMPARED = (bool, int, float, str)


def stamp(scene: bpy.types.Scene, inputs: Sequence[HandledInput]) -> dict[tuple[str, str], object]:
    """Returns the values of such settings of all bodies, by the names of object and setting; and who takes part."""
    handled = {(each.owner.name, each.of) for each in inputs if each.owner is not None}
    found: dict[tuple[str, str], object] = {}
    for obj in roles.bodies(scene):
        found[obj.name, ""] = True
        for setting in _settings():
            value = getattr(obj.sinew, setting.name)
            if isinstance(value, COMPARED) and (obj.name, setting.name) not in handled:
                found[obj.name, setting.label] = value
    return found | {(obj.name, ""): True for obj in roles.colliders(scene)}


def _settings() -> list[Setting]:
    return [s for s in settings_of_role(BODY) if s.name not in UNREAD and not s.name.startswith("show_")]


def difference(before: Mapping[tuple[str, str], object], now: Mapping[tuple[str, str], object]) -> SinewError | None:
    """Returns the note about the first setting that has another value than when the run began, or None."""
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            name, label = key
            return SinewError("live-acts-later", name=name, what=label or "The role")
    return None
