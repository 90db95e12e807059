# SPDX-License-Identifier: GPL-3.0-or-later
"""The fibres of the muscles of a scene at rest, as a bake would find them, without anything else of the scene."""

from __future__ import annotations

from dataclasses import replace

import numpy.typing as npt

from ..runtime.errors import BadInput
from ..scene.scene import Body, Scene
from ..scene.tracks import TrackReader
from .build import build


def fibre_preview(scene: Scene, tracks: TrackReader) -> dict[str, dict[str, npt.NDArray]]:
    """Returns nodes [m], tets and what `Muscles.to_arrays` says of every muscle, by keys.

    Args:
        scene: With at least one muscle.
        tracks: Without any that its bodies need.

    Raises:
        BadInput: There is no muscle, or fibres are not determined; the sentence names it.
    """
    muscles = tuple(_bare(body) for body in scene.bodies if body.muscle is not None)
    if not muscles:
        raise BadInput("no-muscles")
    built = build(Scene(muscles, settings=scene.settings), tracks, lambda stage, body: None)
    found: dict[str, dict[str, npt.NDArray]] = {}
    for number, body in enumerate(built.bodies):
        arrays: dict[str, npt.NDArray] = {"nodes": body.mesh.nodes, "tets": body.mesh.tets}
        for feature in built.features:
            arrays |= feature.to_arrays(number)
        found[body.key] = arrays
    return found


def _bare(body: Body) -> Body:
    """Returns a muscle that nothing holds and that touches nothing."""
    bare = Body(body.vertices, body.triangles, body.material, body.meshing, body.key, body.name)
    return replace(
        bare,
        tet_nodes=body.tet_nodes,
        tets=body.tets,
        simulated_scale=body.simulated_scale,
        flesh=body.flesh,
        muscle=body.muscle,
    )
