# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist should know about a body's heat before it is baked, not raised."""

from __future__ import annotations

from ...runtime.errors import SinewError
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader


def heat_warnings(body: Body, scene: Scene, tracks: TrackReader, tet_size: float) -> list[SinewError]:
    """Returns warnings: nothing can melt the body, or a source is too small for its tets of `tet_size` [m].

    That sources have nothing to heat is told with the first body.
    """
    if body.heat is None:
        is_idle = body is scene.bodies[0] and all(other.heat is None for other in scene.bodies)
        return [SinewError("heat-source-idle", name=source.name) for source in scene.heat_sources if is_idle]
    found = []
    animated = [name for name in ("air_temperature", *_tracks_of(scene)) if tracks.has(name)]
    hottest = max(
        body.heat.temperature, scene.settings.air_temperature, *(source.temperature for source in scene.heat_sources)
    )
    if not animated and hottest < body.heat.melting_point:
        numbers = {"melting_point": f"{body.heat.melting_point:g}", "hottest": f"{hottest:g}"}
        found.append(SinewError("melts-never", name=body.name, **numbers))
    for source in scene.heat_sources:
        if source.radius < tet_size:
            numbers = {"radius": f"{source.radius:.3g}", "size": f"{tet_size:.3g}"}
            found.append(SinewError("heat-source-small", name=source.name, body=body.name, **numbers))
    return found


def _tracks_of(scene: Scene) -> list[str]:
    return [f"heat.{source.key}.temperature" for source in scene.heat_sources]
