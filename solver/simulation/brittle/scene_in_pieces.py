# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated with the pieces that brittle bodies have at a moment: a function of the faces that have parted.

Nothing of the steps in between enters, so a resumed bake gets the same arrays as one that ran through. The surfaces at
which pieces touch, and their points, are those of bodies that break by their stress (`simulation/fracture`); here they
are bound to one tet for each piece. A scene that takes steps has no other tets of brittle bodies; `PiecesOfScene.fine`
has them all, and so has a cache.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...brittle.bisected_body import bisected_body
from ...brittle.brittle_body import BrittleMaterial, brittle_body
from ...brittle.cracked_mesh import CrackedMesh, whole_mesh
from ...constraints.rigid_core import whole_core
from ...contact.colliders.collider_narrow_phase import SOLID
from ...contact.colliders.rigid_colliders import posed_collider
from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.detection.surface_materials import ContactMaterials
from ...integrators.exact_contact.energy_bodies import energy_bodies
from ...linalg.block_pattern_kernel import compiled_block_pattern
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import EXACT_PREFIX, PARTED_FIELD
from ...mechanics.topology_state import Topology
from ...mesh.embedding import Binding
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.tetrahedralize.material_moments import material_moments
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...scene.brittle_validation import is_brittle
from ...scene.scene import EXACT_CONTACT, Scene
from ..assemble_bodies import build_features, initial_model, initial_state, with_ignored_bodies
from ..assembled_scene import AssembledScene
from ..features.feature import BodyNumbers, BuildInputs
from ..forces import make_forces
from ..fracture_topology import SplitScene, split_scene
from .body_in_pieces import BodyInPieces
from .hit_surface import HitSurface
from .piece_contacts import contact_stiffnesses
from .piece_pins import held_tets, piece_pins

if TYPE_CHECKING:  # few scenes have Exact contact
    from ..exact_contact.exact_surfaces import ExactSurfaces


@dataclass(frozen=True, eq=False)
class PiecesOfScene:
    """The brittle bodies of a scene.

    Attributes:
        fine: The scene with all their tets while they are whole, which takes no steps.
        bodies: With the pieces that they have.
        surfaces: Of all bodies of the scene, by number.
        collider_surfaces: Of rigid colliders that are closed meshes, in their rigid spaces, by key.
        whole: The scene that takes steps while they are whole; None: it is this one.
    """

    fine: AssembledScene
    bodies: tuple[BodyInPieces, ...]
    surfaces: tuple[HitSurface, ...]
    collider_surfaces: dict[str, HitSurface]
    whole: AssembledScene | None = None

    @functools.cached_property
    def split(self) -> SplitScene | None:
        """The scene with all their tets, and copies of nodes where pieces are apart; None: all are whole."""
        is_apart = np.zeros(self.fine.model.tets.shape, bool)
        for body in self.bodies:
            is_apart[self.fine.model.bodies[body.number].tets] = body.is_apart
        return split_scene(self.fine, is_apart) if is_apart.any() else None

    @property
    def topology(self) -> Topology | None:
        """The nodes of all tets; None: all bodies are whole."""
        return self.split.topology if self.split else None

    @property
    def present_fine(self) -> AssembledScene:
        """The scene with all tets as they are."""
        return self.split.built if self.split else self.fine

    def report(self) -> BodyNumbers:
        """Returns for every brittle body its pieces without dust, and its dust, by key."""
        return {
            body.key: {"pieces": float(body.cracked.piece_count - body.dust_count), "dust": float(body.dust_count)}
            for body in self.bodies
        }

    def bodies_at_limit(self) -> dict[str, dict[str, Any]]:
        """Returns name and count of pieces of every brittle body, by key, that has as many as it may have."""
        assert self.fine.fracture is not None
        most = {asked.number: asked.most_pieces for asked in self.fine.fracture.bodies}
        found = {}
        for body in self.bodies:
            count = body.cracked.piece_count - body.dust_count
            if count >= max(most[body.number], 2):
                found[body.key] = {"name": body.name, "count": count}
        return found

    def node_positions(self, model: Model, x: Floats) -> Floats:
        """Returns where the nodes of all tets are [m], (k, 3), for those of the scene that takes steps [m], (n, 3)."""
        fine, by_number = self.present_fine.model, {body.number: body for body in self.bodies}
        out = np.empty_like(fine.X)
        for number, (part, own) in enumerate(zip(fine.bodies, model.bodies, strict=True)):
            body = by_number.get(number)
            out[part.nodes] = x[own.nodes] if body is None else self._positions_of(body, part.nodes, x[own.nodes])
        return out

    def _positions_of(self, body: BodyInPieces, nodes: slice, x: Floats) -> Floats:
        first = self.fine.model.bodies[body.number].tets.start
        return body.node_positions(self._corner_of_node[nodes] - np.int32(4 * first), x)

    @functools.cached_property
    def _corner_of_node(self) -> Indices:
        """The first corner 4 · tet + c at every node of all tets, (n,)."""
        if self.split:
            return self.split.corner
        pattern = self.fine.model.pattern
        return indices(pattern.corners[pattern.corner_start[:-1].astype(np.int64)])


def start_whole(fine: AssembledScene) -> AssembledScene:
    """Returns a scene whose brittle bodies are whole, given it with all their tets."""
    inputs = fine.build_inputs
    assert inputs is not None and fine.fracture is not None
    bodies = []
    for breakable in fine.fracture.bodies:
        asked, mesh = inputs.scene.bodies[breakable.number], inputs.meshes[breakable.number]
        own = fine.model.bodies[breakable.number].tets
        material = BrittleMaterial(
            asked.material.youngs_modulus,
            asked.material.poisson_ratio,
            asked.material.density,
            breakable.breaking_stress,
            breakable.toughness,
        )
        fracture = fine.fracture
        guides = fracture.guides and fracture.guides.of_tets(np.arange(own.start, own.stop, dtype=np.int32))
        is_held = held_tets(asked, inputs.bindings[breakable.number], len(mesh.tets))
        shares, breakable_tets = fracture.strength_share[own], fracture.is_breakable[own]
        surface, bisected = inputs.surfaces[breakable.number], mesh.bisected
        if bisected is not None:
            first, is_held = bisected.forest.fine_range[: bisected.forest.root_count, 0], bisected.held_coarse(is_held)
            shares, breakable_tets = shares[first], breakable_tets[first]
        coarse = mesh.coarse
        moments = material_moments(coarse.nodes, coarse.tets, coarse.fill, surface)
        made = brittle_body(
            coarse, material, shares, breakable_tets, guides if bisected is None else None, is_held, moments
        )
        made = replace(made, makes_dust=asked.fracture is not None and asked.fracture.makes_dust)
        halves = None
        if bisected is not None:
            halves = bisected_body(bisected, mesh.fill, made, surface, guides)
            made = halves.finest
        own_name = breakable.number, breakable.key, breakable.name
        bodies.append(BodyInPieces(*own_name, mesh.report, whole_mesh(made), halves))
    surfaces = tuple(HitSurface(surface) for surface in inputs.surfaces)
    return scene_in_pieces(PiecesOfScene(fine, tuple(bodies), surfaces, _collider_surfaces(fine, inputs.scene)))


def _collider_surfaces(fine: AssembledScene, scene: Scene) -> dict[str, HitSurface]:
    """Returns the surfaces of rigid colliders that are closed; a place on others counts as flat."""
    asked = {collider.key: collider for collider in scene.colliders}
    return {
        each.key: HitSurface(
            Surface(floats(asked[each.key].vertices @ each.stretch.T, -1, 3), asked[each.key].triangles)
        )
        for each in fine.colliders
        if each.bvh is not None and each.kind == SOLID
    }


def apply_pieces(built: AssembledScene, state: State) -> AssembledScene:
    """Returns a scene, whose brittle bodies are whole, with the pieces of a state."""
    assert built.pieces is not None
    parted = {body.number: state.fields[PARTED_FIELD.format(key=body.key)] for body in built.pieces.bodies}
    return scene_with_cracks(built, {number: values.astype(np.bool_) for number, values in parted.items()})


def scene_with_cracks(built: AssembledScene, is_parted: dict[int, Bools]) -> AssembledScene:
    """Returns a scene with other cracks in brittle bodies.

    Args:
        built: It, whatever cracks it has.
        is_parted: By number of the body, across which faces its tets have parted, (m, 4).
    """
    pieces = built.pieces
    assert pieces is not None
    bodies = tuple(
        replace(body, cracked=CrackedMesh(body.body, is_parted[body.number])) if body.number in is_parted else body
        for body in pieces.bodies
    )
    whole = pieces.whole or built
    if all(body.cracked.piece_count == 1 for body in bodies):
        return replace(whole, pieces=replace(pieces, bodies=bodies, whole=None))
    made = scene_in_pieces(replace(pieces, bodies=bodies, whole=whole))
    return replace(made, initial=whole.initial, unbroken=whole)


def scene_in_pieces(pieces: PiecesOfScene) -> AssembledScene:
    """Returns the scene that takes steps."""
    fine, present = pieces.fine, pieces.present_fine
    inputs, by_number = fine.build_inputs, {body.number: body for body in pieces.bodies}
    assert inputs is not None
    scene = _without_fracture(inputs.scene)
    meshes, bindings = list(inputs.meshes), list(inputs.bindings)
    for number, body in by_number.items():
        meshes[number], bindings[number] = body.mesh, body.piece_binding(inputs.bindings[number])
    model = _with_cores(initial_model(scene, inputs.surfaces, meshes, inputs.gravity), pieces.bodies)
    places = _PieceMap(present.model, model, by_number)
    dt = 1.0 / (scene.settings.fps * scene.settings.substeps)
    points = contact_stiffnesses(places.moved_points(present.contact_points), model, pieces.bodies, dt)
    materials = places.moved_materials(present.contact_materials)
    if materials is not None:
        of_surfaces = contact_stiffnesses(materials.points, model, pieces.bodies, dt, are_between_bodies=True)
        materials = replace(materials, points=of_surfaces)
    colliders = with_ignored_bodies(fine.colliders, scene, model)
    now = BuildInputs(
        scene=scene,
        tracks=inputs.tracks,
        surfaces=inputs.surfaces,
        meshes=meshes,
        bindings=bindings,
        model=model,
        body_contact_points=[_points_of(points, model, number) for number in range(len(model.bodies))],
        contact_points=points,
        colliders=(*colliders, *(posed_collider(each, each.vertices) for each in fine.deforming)),
        gravity=inputs.gravity,
        state=_initial_state(inputs, model, pieces),
    )
    build_features(now)
    forces = make_forces(now)
    for body in pieces.bodies:
        asked, binding = inputs.scene.bodies[body.number], inputs.bindings[body.number]
        pins = piece_pins(asked, binding, body, model.bodies[body.number].nodes.start)
        forces += (pins,) if pins is not None else ()
    built = fine.with_tets(now, colliders, materials, forces)
    exact = places.moved_exact_surfaces(present.exact_contact, pieces.whole, scene)
    return replace(built, crack_point_rows=present.crack_point_rows, pieces=pieces, exact_contact=exact)


def _without_fracture(scene: Scene) -> Scene:
    """Returns a scene whose brittle bodies are as rigid ones: no feature but this room sees them break, or held."""
    vertices, weights = np.zeros(0, np.int32), np.zeros(0)
    bodies = [
        replace(body, fracture=None, pinned=vertices, pin_weights=weights) if is_brittle(body) else body
        for body in scene.bodies
    ]
    return replace(scene, bodies=tuple(bodies))


def _with_cores(model: Model, bodies: Sequence[BodyInPieces]) -> Model:
    """Returns a model in which every piece is a rigid body, and an island."""
    by_first = {model.bodies[body.number].nodes.start: body for body in bodies}
    cores = []
    for core in model.cores:
        body = by_first.get(int(core.nodes[0]))
        if body is None:
            cores.append(core)
            continue
        own = model.bodies[body.number]
        one = whole_core(None, body.mesh.tets[:1])
        cores += [one.renumbered(own.nodes.start + 4 * k, own.tets.start + k) for k in range(len(body.mesh.tets))]
    starts = set(model.pattern.island_start[:-1].tolist())
    for body in bodies:
        nodes = model.bodies[body.number].nodes
        starts |= set(range(nodes.start, nodes.stop, 4))
    pattern = compiled_block_pattern(model.tets, model.node_count, sorted(starts))
    return replace(model, cores=tuple(cores), pattern=pattern)


def _initial_state(inputs: BuildInputs, model: Model, pieces: PiecesOfScene) -> State:
    """Returns the first frame, with the cracks that there are."""
    state = initial_state(inputs.scene, model)
    if inputs.scene.settings.contact == EXACT_CONTACT:  # what touches was moved apart, and some is not kept apart
        moved = inputs.state.x - initial_state(inputs.scene, inputs.model).x
        for now, fine in zip(model.bodies, inputs.model.bodies, strict=True):
            state.x[now.nodes] += moved[fine.nodes.start]
        kept = {name: values for name, values in inputs.state.fields.items() if name.startswith(EXACT_PREFIX)}
        state.fields.update(kept)
    for body in pieces.bodies:
        state.fields[PARTED_FIELD.format(key=body.key)] = body.cracked.is_parted.astype(np.uint8)
    return state


def _points_of(points: ContactPoints, model: Model, number: int) -> ContactPoints:
    own = model.bodies[number].tets
    return points.select((points.tet >= own.start) & (points.tet < own.stop))


@dataclass(frozen=True, eq=False)
class _PieceMap:
    """From tets of the scene with all tets to those of the scene that takes steps.

    Attributes:
        fine, model: Both models.
        bodies: The brittle bodies, by number.
    """

    fine: Model
    model: Model
    bodies: dict[int, BodyInPieces]

    def tets(self, tet: Indices) -> Indices:
        """Returns the present tets, (k,), −1 where there is none."""
        return self.points(tet, np.zeros((len(tet), 4)))[0]

    def points(self, tet: Indices, weights: Floats) -> tuple[Indices, Floats]:
        """Returns points in tets, (k,) and (k, 4), in the present ones."""
        moved, shares = np.full(len(tet), -1, np.int32), weights.copy()
        for number, (before, now) in enumerate(zip(self.fine.bodies, self.model.bodies, strict=True)):
            own = np.flatnonzero((tet >= before.tets.start) & (tet < before.tets.stop))
            bound = Binding(tet[own] - np.int32(before.tets.start), weights[own])
            if number in self.bodies:
                bound = self.bodies[number].piece_binding(bound)
            moved[own], shares[own] = bound.tet + np.int32(now.tets.start), bound.weights
        return moved, shares

    def moved_points(self, points: ContactPoints) -> ContactPoints:
        """Returns contact points in the present tets."""
        tet, weights = self.points(points.tet, points.weights)
        return replace(points, tet=tet, weights=weights, distance_bounds={})

    def moved_exact_surfaces(
        self, exact: ExactSurfaces | None, whole: AssembledScene | None, scene: Scene
    ) -> ExactSurfaces | None:
        """Returns what Exact contact keeps apart, bound to the present tets.

        Args:
            exact: Bound to all tets; None: the scene has Fast contact.
            whole: The scene while nothing had broken, whose barrier stays; None: it is this one.
            scene: The scene.
        """
        if exact is None:
            return None
        from ..exact_contact.exact_surfaces import contact_stiffness

        bound, is_body = exact.bound, exact.bound.tet >= 0
        tet, weights = bound.tet.copy(), bound.weights.copy()
        tet[is_body], weights[is_body] = self.points(bound.tet[is_body], bound.weights[is_body])
        nodes = indices(np.where(is_body[:, None], self.model.tets[np.maximum(tet, 0)], -1), -1, 4)
        options = exact.options
        if whole is not None and whole.exact_contact is not None:
            options = whole.exact_contact.options
        else:
            stiffness = contact_stiffness(scene, self.model, self.bodies)
            options = replace(options, barrier=options.barrier._replace(stiffness=stiffness))
        return replace(
            exact,
            bound=replace(bound, tet=tet, nodes=nodes, weights=weights),
            options=options,
            energy_bodies=energy_bodies(self.model, exact.dt),
        )

    def moved_materials(self, materials: ContactMaterials | None) -> ContactMaterials | None:
        """Returns the surfaces at which bodies touch each other, bound to the present tets."""
        if materials is None:
            return None
        surfaces = materials.surfaces
        tet, weights = self.points(surfaces.tet, surfaces.weights)
        nodes = surfaces.nodes.copy()
        for surface, number in enumerate(surfaces.body.tolist()):
            own = surfaces.vertices_of(surface)
            if number in self.bodies:
                nodes[own] = self.model.tets[tet[own]]
            elif number >= 0:
                before, now = self.fine.bodies[number], self.model.bodies[number]
                nodes[own] += np.int32(now.nodes.start - before.nodes.start)
        edges = surfaces.edges and replace(surfaces.edges, tet=self.tets(surfaces.edges.tet))
        return replace(
            materials,
            surfaces=replace(surfaces, tet=tet, weights=weights, nodes=indices(nodes, -1, 4), edges=edges),
            points=self.moved_points(materials.points),
            support_tet=self.tets(materials.support_tet),
        )
