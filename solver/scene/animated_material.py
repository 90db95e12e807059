# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a body at a time, where the tracks "body.KEY.NAME" change them, and the material that they make."""

from __future__ import annotations

from dataclasses import replace

from ..runtime.errors import SolveFailed
from .material import Material
from .scene import Body
from .settings.material_settings import MATERIAL_SETTINGS
from .settings.setting import Setting
from .tracks import TrackReader

MATERIAL_TRACKS = tuple(setting.name for setting in MATERIAL_SETTINGS)


def keyed_names(body: Body, tracks: TrackReader) -> frozenset[str]:
    """Returns which values of the material of a body tracks change."""
    return frozenset(name for name in MATERIAL_TRACKS if tracks.has(f"body.{body.key}.{name}"))


def material_at(body: Body, tracks: TrackReader, time: float) -> Material:
    """Returns what a body is made of at a time [s]; raises as `value_at`."""
    has_track = (setting for setting in MATERIAL_SETTINGS if tracks.has(f"body.{body.key}.{setting.name}"))
    values = {setting.name: value_at(body, setting, tracks, time) for setting in has_track}
    return replace(body.material, **values) if values else body.material


def body_at(body: Body, tracks: TrackReader, time: float) -> Body:
    """Returns a body with the material that it has at a time [s]; raises as `material_at`."""
    return replace(body, material=material_at(body, tracks, time)) if keyed_names(body, tracks) else body


def value_at(body: Body, setting: Setting, tracks: TrackReader, time: float) -> float:
    """Returns the value of a setting of a body, which has a track, at a time [s].

    Raises:
        SolveFailed: "animated-value": it is outside of the range of the setting, or no number.
    """
    return track_value(body, setting, tracks, f"body.{body.key}.{setting.name}", time)


def track_value(body: Body, setting: Setting, tracks: TrackReader, track: str, time: float) -> float:
    """Returns the value of a setting of a body, or of a part of it, that a track has at a time [s]; as `value_at`."""
    value, limits = float(tracks.sample(track, time)), setting.limits
    if limits is not None and not limits.contains(value):
        raise SolveFailed(
            "animated-value",
            name=body.name,
            setting=setting.label,
            time=round(time, 3),
            value=f"{value:.6g}",
            range=limits.text_for(value),
        )
    return value
