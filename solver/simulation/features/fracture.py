# SPDX-License-Identifier: GPL-3.0-or-later
"""Fracture as a feature: which nodes split after a step where the elastic stress is more than the material bears."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...contact.detection.surface_materials import ContactMaterials
from ...mechanics.elements.formulation_strain import formulation_strain
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import CRACK_TIP_FIELD, DAMAGE_FIELD, LARGEST_STRESS_FIELD, TETS_FIELD
from ...mesh.node_splitting.node_duplication import count_pieces
from ...mesh.node_splitting.plane_separation import FaceList
from ...runtime.arrays import Bools, Floats
from ..fracture.breakable_bodies import BreakableBody, FractureBodies, make_fracture
from ..fracture.failure_criterion import StrainedTets, TetStrengths, evaluate_overload
from ..fracture.fragment_surfaces import FragmentSurfaces, make_fragment_surfaces
from ..fracture.sheet_stress import evaluate_sheet_overload
from ..fracture.split_selection import NodeSplitter
from .feature import BodyNumbers, BuildInputs, Feature, FeatureStep

NO_NODE_MASK = np.zeros(0, bool)


@dataclass(frozen=True, eq=False)
class Fracture(Feature):
    """Bodies that may break.

    Attributes:
        bodies: Strength, neighbours and notches of their tets.
        surfaces: The surfaces at which their pieces touch; None where nothing can touch.
    """

    bodies: FractureBodies
    surfaces: FragmentSurfaces | None = None
    state_fields: ClassVar[tuple[str, ...]] = (CRACK_TIP_FIELD, DAMAGE_FIELD, LARGEST_STRESS_FIELD)

    @classmethod
    def build(cls, inputs: BuildInputs) -> Fracture | None:
        """Returns the breakable bodies of a scene; None where there are none."""
        weight = float(np.linalg.norm(inputs.gravity))
        made = make_fracture(inputs.scene, inputs.meshes, inputs.model, inputs.surfaces, weight)
        if made is None:
            return None
        made.begin(inputs.state, len(inputs.scene.bodies))
        return cls(made)

    def with_contact_surfaces(self, surfaces: ContactMaterials | None, model: Model, gravity: Floats) -> Fracture:
        """Returns the feature with the surfaces at which pieces will touch."""
        return replace(self, surfaces=make_fragment_surfaces(surfaces, self.bodies, model, gravity))

    def after_step(self, step: FeatureStep) -> None:
        """Chooses the nodes that split, but for steps before the first frame: there all bodies are whole."""
        if step.end <= 0.0:
            return
        is_fixed = NO_NODE_MASK if step.is_fixed is None else step.is_fixed
        settings, model = step.scene.settings, step.model
        number = round(step.end * settings.fps * settings.substeps)
        overload = np.zeros(model.tet_count)
        splitter: NodeSplitter | None = None
        splits_by_body: list[tuple[BreakableBody, list[FaceList]]] = []
        for body in self.bodies.bodies:
            count = _evaluate_overload(self.bodies, body, step, is_fixed, overload)
            step.splits_left[body.key] = float(count)
            if not count or piece_count(model, body) >= body.most_pieces or step.crack_advances >= body.crack_advances:
                continue
            splitter = splitter or _make_splitter(self.bodies, model, step.state, is_fixed)
            splits = splitter.select_splits(body, overload, number, may_begin=not step.crack_advances)
            step.splits_left[body.key] = float(splits.deferred)
            if splits.faces:
                splits_by_body.append((body, splits.faces))
        if splitter is None or not splits_by_body:
            return
        for body, faces in splits_by_body:
            used = _splits_within_limit(self.bodies, model, body, splitter.is_parted, faces)
            step.splits_left[body.key] += len(faces) - used
            for face in faces[:used]:
                splitter.is_parted[face] = True
        step.is_parted = splitter.is_parted

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns for every breakable body the largest stress so far [Pa], its pieces, and nodes split so far."""
        numbers = {}
        for body in self.bodies.bodies:
            now, before = model.bodies[body.number].nodes, unbroken_model.bodies[body.number].nodes
            numbers[body.key] = {
                "largest_stress": float(state.fields[LARGEST_STRESS_FIELD][body.number]) * body.simulated_scale**2,
                "pieces": float(piece_count(model, body)),
                "splits": float((now.stop - now.start) - (before.stop - before.start)),
            }
        return numbers


def piece_count(model: Model, body: BreakableBody) -> int:
    """Returns into how many pieces a body has fallen: the islands of its nodes."""
    nodes = model.bodies[body.number].nodes
    first, last = np.searchsorted(model.pattern.island_start, [nodes.start, nodes.stop])
    return int(last - first)


def _evaluate_overload(
    fracture: FractureBodies, body: BreakableBody, step: FeatureStep, is_fixed: Bools, overload: Floats
) -> int:
    """Writes how near a body's tets are to breaking, (m,), and returns how many are overloaded."""
    state, model = step.state, step.model
    own, largest = model.bodies[body.number].tets, state.fields[LARGEST_STRESS_FIELD]
    stress, toughness = body.strength(step.tracks, step.end)
    strengths = TetStrengths(
        fracture.is_breakable,
        fracture.is_stress_checked,
        fracture.load_share,
        fracture.weakest_share,
        fracture.size,
    )
    limits = (
        strengths,
        is_fixed,
        state.fields[CRACK_TIP_FIELD],
        stress,
        toughness,
        float(largest[body.number]),
        state.fields[DAMAGE_FIELD],
        overload,
    )
    if body.sheet is None:
        strain = formulation_strain(model, own, state.x)
        strained = StrainedTets(model.tets, model.Dm_inverse, model.mu, model.lam, model.initial_strain, strain)
        reached, count = evaluate_overload(own.start, own.stop, state.x, strained, *limits)
    else:
        triangles = _triangles_of(model, own.start, body.sheet.triangle_count)
        reached, count = evaluate_sheet_overload(own.start, state.x, model.tets, triangles, *limits)
    # splinters on hard ground are under stresses that say nothing of what the body bears
    if piece_count(step.built_model, body) == piece_count(step.unbroken_model, body):
        largest[body.number] = reached
    return int(count)


def _triangles_of(model: Model, first_tet: int, count: int) -> tuple[Floats, Floats]:
    """Returns the inverse rest edges and the moduli of the triangles of a sheet that may tear."""
    sheets = model.sheets
    assert sheets is not None
    first = int(sheets.hinges.triangle_start[np.searchsorted(sheets.tets, first_tet)])
    own = slice(first, first + count)
    return sheets.hinges.rest_inverse[own], sheets.hinges.moduli[own]


def _make_splitter(fracture: FractureBodies, model: Model, state: State, is_fixed: Bools) -> NodeSplitter:
    """Returns the bodies at the end of a step, as far as splitting goes."""
    is_unbreakable = ~fracture.is_breakable
    if len(is_fixed):
        is_unbreakable |= is_fixed[model.tets].all(axis=1)
    is_parted = (
        fracture.neighbours.is_parted(model.tets) if TETS_FIELD in state.fields else np.zeros(model.tets.shape, bool)
    )
    return NodeSplitter(
        model,
        state.x,
        fracture.neighbours,
        is_parted,
        state.fields[CRACK_TIP_FIELD] > 0,
        is_unbreakable,
        fracture.is_bonded,
        fracture.is_at_node,
        fracture.material,
        fracture.guides,
    )


def _splits_within_limit(
    fracture: FractureBodies, model: Model, body: BreakableBody, is_parted: Bools, faces: list[FaceList]
) -> int:
    """Returns how many of the splits can be made before a body falls into more pieces than it may."""
    own = body.parting_tets(model.bodies[body.number].tets)
    across, twin = fracture.neighbours.tet[own], fracture.neighbours.twin[own]

    def pieces(count: int) -> int:
        tried = is_parted[own].copy()
        for tet, face in faces[:count]:
            tried[tet - own.start, face] = True
        return count_pieces(across, twin, tried, own.start, body.links)

    fits, too_many = 0, len(faces) + 1
    if piece_count(model, body) + len(faces) < body.most_pieces or pieces(len(faces)) <= body.most_pieces:
        return len(faces)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if pieces(middle) <= body.most_pieces else (fits, middle)
    return fits
