# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of breakable bodies while they are whole: strength tet by tet, neighbours, notches, limits."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...mechanics.model import BodyRange, Model, rest_shape_inverses
from ...mechanics.state import State
from ...mechanics.state_fields import CRACK_TIP_FIELD, DAMAGE_FIELD, LARGEST_STRESS_FIELD
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.node_splitting.face_adjacency import MIN_LOAD_SHARE, FaceAdjacency, face_adjacency, load_shares
from ...mesh.node_splitting.guided_faces import GuidedFaces, no_guided_faces
from ...mesh.node_splitting.minimum_fragment import MAX_THRESHOLD_SHARE, min_fragment_volume
from ...mesh.node_splitting.node_duplication import NO_LINKS
from ...mesh.tet_mesh import TetMesh
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.counter_rng import uniform
from ...runtime.errors import BadInput
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from .crack_contact_points import FracturePoints, find_fracture_points
from .crack_guides import find_guided_faces
from .reentrant_edges import notch_nodes
from .sheet_adjacency import SheetAdjacency, sheet_adjacency

SCATTER_STREAM, ORDER_STREAM = 1, 2  # what is drawn by lot
MIN_SHEET_FRAGMENT = 4.0  # least piece of a sheet, in triangles of it
MIN_STRENGTH_SHARE = 1.0e-6  # of the breaking stress that is left where the strength is painted away


@dataclass(frozen=True)
class BreakableBody:
    """One body that may break.

    Attributes:
        number: Which of the scene's bodies.
        key, name: As in the scene.
        breaking_stress: Where the scene has no track of it [Pa].
        toughness: K_c [Pa √m] at that breaking stress, over √s: tets of h have the size s h in the simulated size.
        simulated_scale: s: stresses are those of the simulated size, s² times those of the model.
        seed: Of what is drawn by lot.
        crack_advances, most_splits, most_pieces, wanted_pieces: See `Fracture`.
        min_fragment_volume: How much each of its pieces holds at least [m³].
        sheet: What hangs together in it; None: it is a solid.
    """

    number: int
    key: str
    name: str
    breaking_stress: float
    toughness: float
    simulated_scale: float
    seed: int
    crack_advances: int
    most_splits: int
    most_pieces: int
    wanted_pieces: int
    min_fragment_volume: float
    sheet: SheetAdjacency | None = None

    def parting_tets(self, tets: slice) -> slice:
        """Returns those of its tets, all of them `tets`, that can part: of a sheet its triangles."""
        return tets if self.sheet is None else slice(tets.start, tets.start + self.sheet.triangle_count)

    @property
    def links(self) -> Indices:
        """Pairs of corners that have one copy whatever parts, (l, 2)."""
        return NO_LINKS if self.sheet is None else self.sheet.links

    def strength(self, tracks: TrackReader, time: float) -> tuple[float, float]:
        """Returns breaking stress [Pa] and K_c [Pa √m] for the model's stresses at a time [s].

        An animated breaking stress takes K_c along.
        """
        squared = self.simulated_scale**2
        name = f"body.{self.key}.breaking_stress"
        if not tracks.has(name):
            return self.breaking_stress / squared, self.toughness / squared
        stress = max(float(tracks.sample(name, time)), MIN_STRENGTH_SHARE * self.breaking_stress)
        return stress / squared, self.toughness * stress / self.breaking_stress / squared


@dataclass(frozen=True)
class FractureBodies:
    """All breakable bodies of a scene; arrays are over the tets of the whole model.

    Attributes:
        bodies: One by one.
        is_breakable: Which tets may break, (m,).
        is_stress_checked: Whose stress tells whether a body breaks, (m,).
        load_share: Their filled share over that of the fullest around them, (m,).
        strength_share: Their strength over the breaking stress: paint and scatter, (m,).
        size: h: edge of the lattice cell whose tets are as large, ∛(12 V) [m], (m,).
        corner_mass: Mass that each tet gives each of its nodes [kg], (m,).
        material: Filled volume of each tet [m³], (m,).
        neighbours: The inner faces of the breakable bodies.
        is_bonded: Across which of them the tets never part, (m, 4).
        is_at_node: Whether a tet counts as one at the node of each of its corners, (m, 4): hinges of sheets do not, nor
            do triangles by their last corner, which is the one before it.
        is_notch: Which nodes of the whole bodies are at notches, (n,).
        points: Where broken faces get contact points.
        guides: Faces along which they are weaker; None: there are none.
    """

    bodies: tuple[BreakableBody, ...]
    is_breakable: Bools
    is_stress_checked: Bools
    load_share: Floats
    strength_share: Floats
    size: Floats
    corner_mass: Floats
    material: Floats
    neighbours: FaceAdjacency
    is_bonded: Bools
    is_at_node: Bools
    is_notch: Bools
    points: FracturePoints
    guides: GuidedFaces | None = None

    @functools.cached_property
    def weakest_share(self) -> Floats:
        """Strength of the tets over the breaking stress where they are weakest, along guides, (m,)."""
        return self.strength_share if self.guides is None else floats(self.strength_share * self.guides.strength_share)

    def begin(self, state: State, body_count: int) -> None:
        """Writes the first values of its fields into a state."""
        state.fields[CRACK_TIP_FIELD] = self.is_notch.astype(np.uint8)
        state.fields[DAMAGE_FIELD] = np.zeros(len(self.strength_share))
        state.fields[LARGEST_STRESS_FIELD] = np.zeros(body_count)


def make_fracture(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, surfaces: Sequence[Surface], gravity: float
) -> FractureBodies | None:
    """Returns what is known of the breakable bodies of a scene, or None where there are none.

    Args:
        scene: What is asked for.
        meshes: Tets of each body.
        model: All bodies in one.
        surfaces: Surface of each body.
        gravity: Magnitude of the acceleration at the first frame [m/s²].

    Raises:
        BadInput: The paint of a body leaves no strength, or nothing that may break.
    """
    if all(body.fracture is None for body in scene.bodies):
        return None
    is_breakable, share = np.zeros(model.tet_count, bool), np.ones(model.tet_count)
    may_part, is_notch = np.zeros(model.tet_count, bool), np.zeros(model.node_count, bool)
    _, volume = rest_shape_inverses(model.X, model.tets)
    is_at_node = np.ones((model.tet_count, 4), bool)
    if model.sheets is not None:
        volume[model.sheets.tets], is_at_node[model.sheets.tets] = 0.0, False
    fill = np.concatenate([mesh.fill for mesh in meshes])
    size, material = np.cbrt(12.0 * volume), fill * volume
    corner_mass = 0.25 * model.density * material
    bodies, sheets = [], []
    for number, (body, mesh, part) in enumerate(zip(scene.bodies, meshes, model.bodies, strict=True)):
        if body.fracture is None:
            continue
        if body.is_sheet:
            made, own = _tearing_sheet(body, number, mesh, model)
            triangles = made.parting_tets(part.tets)
            share[triangles], is_breakable[triangles], size[triangles], material[triangles] = own
            is_at_node[triangles, :3] = True
            bodies.append(made)
            sheets.append((body, part, made))
            continue
        share[part.tets], is_breakable[part.tets] = _strengths(body, mesh)
        may_part[part.tets] = True
        is_notch[part.nodes] = notch_nodes(surfaces[number], mesh.nodes, mesh.report.tet_size)
        least = min_fragment_volume(size[part.tets], material[part.tets])
        bodies.append(_breakable(body, number, mesh.report.tet_size, least))
    neighbours = face_adjacency(model.tets, may_part)
    together = neighbours.bonded_faces(fill, fill * volume)
    for body, part, made in sheets:
        _add_sheet_edges(made, body, part, neighbours, together)
    bearing = load_shares(model.tets, fill)
    points = find_fracture_points(scene, meshes, model, surfaces, gravity)
    guides = _guided_faces(scene, meshes, model, surfaces, neighbours, together)
    return FractureBodies(
        guides=guides,
        bodies=tuple(bodies),
        is_breakable=is_breakable,
        is_stress_checked=bearing >= MIN_LOAD_SHARE,
        load_share=bearing,
        strength_share=share,
        size=floats(size),
        corner_mass=corner_mass,
        material=floats(material),
        neighbours=neighbours,
        is_bonded=together,
        is_at_node=is_at_node,
        is_notch=is_notch,
        points=points,
    )


def _guided_faces(
    scene: Scene,
    meshes: Sequence[TetMesh],
    model: Model,
    surfaces: Sequence[Surface],
    neighbours: FaceAdjacency,
    is_bonded: Bools,
) -> GuidedFaces | None:
    """Returns the faces of all tets along which crack guides make bodies weaker; None: there are no guides."""
    guided = None
    for body, mesh, part, surface in zip(scene.bodies, meshes, model.bodies, surfaces, strict=True):
        if body.fracture is None or body.is_sheet or not body.fracture.guides:
            continue
        across = neighbours.tet[part.tets]
        across = indices(np.where(across >= 0, across - part.tets.start, -1))
        own = find_guided_faces(body, mesh, surface, across, is_bonded[part.tets])
        guided = guided or no_guided_faces(model.tet_count)
        for name in ("is_guided", "normal", "offset", "strength_share"):
            getattr(guided, name)[part.tets] = getattr(own, name)
    return guided


def _breakable(body: Body, number: int, tet_size: float, least: float) -> BreakableBody:
    fracture = body.fracture
    assert fracture is not None
    scale = body.simulated_scale
    tough = (
        fracture.breaking_stress * np.sqrt(tet_size)
        if fracture.toughness is None
        else fracture.toughness / np.sqrt(scale)
    )
    return BreakableBody(
        number=number,
        key=body.key,
        name=body.name,
        breaking_stress=fracture.breaking_stress,
        toughness=float(tough),
        simulated_scale=scale,
        seed=fracture.seed,
        crack_advances=fracture.crack_advances,
        most_splits=fracture.most_splits,
        most_pieces=fracture.most_pieces,
        wanted_pieces=fracture.wanted_pieces,
        min_fragment_volume=least,
    )


def _tearing_sheet(
    body: Body, number: int, mesh: TetMesh, model: Model
) -> tuple[BreakableBody, tuple[Floats, Bools, Floats, Floats]]:
    """Returns a sheet that may tear, and of its triangles the strength, which may break, size [m] and volume [m³]."""
    fracture, sheet, sheets = body.fracture, mesh.sheet, model.sheets
    assert fracture is not None and sheet is not None and sheets is not None
    corners = sheet.vertices[sheet.triangles]
    paint = fracture.strength_paint[corners].mean(axis=1) if len(fracture.strength_paint) else np.ones(len(corners))
    unbreakable = fracture.unbreakable[corners].mean(axis=1) if len(fracture.unbreakable) else np.zeros(len(corners))
    share, may_break = _scattered_strengths(body, floats(paint), floats(unbreakable))
    first = int(sheets.hinges.triangle_start[np.searchsorted(sheets.tets, model.bodies[number].tets.start)])
    volume = sheets.hinges.volume[first : first + len(corners)]
    least = min(MIN_SHEET_FRAGMENT * float(np.median(volume)), MAX_THRESHOLD_SHARE * float(volume.sum()))
    made = _breakable(body, number, mesh.report.tet_size, least)
    # a grid of squares of the size h has triangles of the area h² / 2
    size = np.sqrt(2.0 * volume / body.sheet.thickness)
    return replace(made, sheet=sheet_adjacency(sheet.triangles)), (share, may_break, floats(size), volume)


def _add_sheet_edges(
    made: BreakableBody, body: Body, part: BodyRange, neighbours: FaceAdjacency, together: Bools
) -> None:
    """Writes the edges of a sheet into the arrays of the whole model: what is across, and where polygons hold them."""
    assert made.sheet is not None
    own, edges = made.parting_tets(part.tets), made.sheet.edges
    neighbours.tet[own] = np.where(edges.tet >= 0, edges.tet + part.tets.start, -1)
    neighbours.twin[own] = np.where(edges.twin >= 0, edges.twin + 4 * part.tets.start, -1)
    together[own] = made.sheet.bonded_edges(body.face_of_triangle)


def _strengths(body: Body, mesh: TetMesh) -> tuple[Floats, Bools]:
    """Returns the strength of a body's tets over its breaking stress, (m,), and which of them may break, (m,)."""
    fracture = body.fracture
    assert fracture is not None
    coarse = mesh.coarse  # bisected tets are as strong as the one that they are parts of
    paints = extrapolate_to_tets(body, coarse, fracture.strength_paint, fracture.unbreakable)
    share, is_breakable = _scattered_strengths(body, *paints)
    if mesh.bisected is None:
        return share, is_breakable
    root = mesh.bisected.forest.root_of_fine
    return share[root], is_breakable[root]


def _scattered_strengths(body: Body, paint: Floats, unbreakable: Floats) -> tuple[Floats, Bools]:
    """Returns what `_strengths` does for the paints of its tets, (m,) each."""
    fracture = body.fracture
    assert fracture is not None
    if len(fracture.strength_paint) and not (fracture.strength_paint > 0.0).any():
        raise BadInput("strength-all-zero", name=body.name)
    is_breakable = unbreakable <= 0.5 if len(fracture.unbreakable) else np.ones(len(paint), bool)
    if not is_breakable.any():
        raise BadInput("nothing-breakable", name=body.name)
    lot = 2.0 * uniform(fracture.seed, SCATTER_STREAM, np.arange(len(paint), dtype=np.int64)) - 1.0
    return np.maximum(paint * (1.0 + fracture.scatter * lot), MIN_STRENGTH_SHARE), is_breakable
