# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies whose rest shape changes: where their nodes are at rest now, and what that makes of a model.

It is kept in the state, per node of the body as it was built, as `rest.KEY` [m], (n, 3).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mechanics.model import rest_shape_inverses as shapes_of
from ...mechanics.state import State
from ...mechanics.state_fields import REST_FIELD
from ...mesh.embedding import Binding
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import SolveFailed
from ...scene.scene import Body, Scene, Settings
from ...scene.tracks import TrackReader
from .interior_extension import InteriorExtension, make_interior_extension

MIN_VOLUME_RATIO = 0.01  # volume of a tet over what it was built with, below which it counts as flat


@dataclass(frozen=True, eq=False)
class ReshapedBody:
    """A body whose rest shape changes.

    Attributes:
        key, name: The body's.
        number: Which of the model's bodies it is.
        tets: Its tets in the model.
        corners: Nodes of its tets, numbered as they were built, (m, 4).
        Dm: Rest edge matrices of its tets as built [m], (m, 3, 3).
        extension: From its surface to its nodes.
    """

    key: str
    name: str
    number: int
    tets: slice
    corners: Indices
    Dm: Floats
    extension: InteriorExtension

    def follow(self, state: State, tracks: TrackReader, before: float, time: float, settings: Settings) -> None:
        """Brings the nodes at rest in the state from one time to another [s]."""
        name, field = f"body.{self.key}.rest", REST_FIELD.format(key=self.key)
        vertices = tracks.sample(name, time)
        if not np.isfinite(vertices).all() or vertices.shape != self.extension.vertices.shape:
            raise SolveFailed("rest-shape-not-finite", name=self.name, frame=_frame(settings, time))
        own, nodes = self.extension, state.fields.get(field)
        start = own.vertices if nodes is None else tracks.sample(name, before)
        if nodes is not None and np.array_equal(vertices, start):
            return
        nodes = own.follow(vertices, own.X if nodes is None else nodes, start)
        stretch = np.linalg.det(_edge_matrices(nodes, self.corners)) / np.linalg.det(self.Dm)
        bad = int(np.count_nonzero(~(stretch > MIN_VOLUME_RATIO)))
        if bad:
            raise SolveFailed("rest-shape-inverted", name=self.name, count=bad, frame=_frame(settings, time))
        state.fields[field] = nodes


def make_reshaped(
    scene: Scene, meshes: Sequence[TetMesh], bindings: Sequence[Binding], model: Model, tracks: TrackReader
) -> tuple[ReshapedBody, ...]:
    """Returns the bodies of a scene that have a track of their rest shape.

    Args:
        scene: What is asked for.
        meshes, bindings: Of its bodies; nodes and tets are their own.
        model: All bodies.
        tracks: Animated inputs.
    """
    made = []
    for number, (body, mesh, binding) in enumerate(zip(scene.bodies, meshes, bindings, strict=True)):
        if tracks.has(f"body.{body.key}.rest"):
            X, place = floats(mesh.nodes), model.bodies[number]
            tets = np.ascontiguousarray(model.tets[place.tets] - np.int32(place.nodes.start))
            own = make_interior_extension(
                X, tets, binding, floats(body.vertices), _vertex_areas(body), mesh.report.tet_size
            )
            made.append(ReshapedBody(body.key, body.name, number, place.tets, tets, _edge_matrices(X, tets), own))
    return tuple(made)


def update_rest_nodes(
    bodies: Sequence[ReshapedBody],
    state: State,
    tracks: TrackReader,
    before: float,
    time: float,
    settings: Settings,
    but: Collection[int] = (),
) -> None:
    """Brings nodes at rest from one time to another [s], of all of these bodies but those of the numbers `but`.

    Raises:
        SolveFailed: A track gives no numbers, or a shape in which tets would be flat or inside out.
    """
    for body in bodies:
        if body.number not in but:
            body.follow(state, tracks, before, time, settings)


def rest_shapes(bodies: Sequence[ReshapedBody], model: Model, state: State) -> dict[str, Floats]:
    """Returns what new rest shapes make of the fields of a model, by name; masses stay.

    A tet that is S times what it was built with, S = Dm′ Dm⁻¹, has Dm⁻¹ S⁻¹ and det S times its volume, also where
    it is not filled, or under stress at rest.
    """
    changed = [body for body in bodies if REST_FIELD.format(key=body.key) in state.fields]
    if not changed:
        return {}
    Dm_inverse, volume = model.Dm_inverse.copy(), model.volume.copy()
    for body in changed:
        nodes = state.fields[REST_FIELD.format(key=body.key)]
        inverse, size = shapes_of(nodes, body.corners)
        Dm_inverse[body.tets] = np.einsum("mij,mjk,mkl->mil", model.Dm_inverse[body.tets], body.Dm, inverse)
        volume[body.tets] = model.volume[body.tets] * (size / shapes_of(body.extension.X, body.corners)[1])
    return {"Dm_inverse": Dm_inverse, "volume": volume}


def _edge_matrices(nodes: Floats, tets: Indices) -> Floats:
    """Returns the edge matrices (x1 − x0 | x2 − x0 | x3 − x0) of tets [m], (m, 3, 3)."""
    x = nodes[tets]
    return np.ascontiguousarray(np.swapaxes(x[:, 1:] - x[:, :1], 1, 2))


def _vertex_areas(body: Body) -> Floats:
    """Returns the area around each render vertex [m²], (v,)."""
    corners = body.vertices[body.triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return floats(np.bincount(body.triangles.ravel(), np.repeat(area / 3.0, 3), minlength=len(body.vertices)))


def _frame(settings: Settings, time: float) -> float:
    return round(settings.frame_start + time * settings.fps, 2)
