# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles as a feature: bodies of flesh whose tets have fibres, with the activation of the end of every step.

The fibres are found once, at rest. A muscle has a bulk modulus of at least 33 times its peak stress; in the full model
it has no other isotropic stiffness. Peak stress and moduli are those of the simulated size, as Young's modulus is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ...mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic
from ...mechanics.model import Model
from ...mechanics.muscle.fibres.muscle_region import muscle_region, used_nodes
from ...mechanics.muscle.muscle_kernels import MuscleArrays
from ...mechanics.muscle.muscle_term import MuscleTerm
from ...mechanics.state import State
from ...mechanics.state_fields import ACTIVATION_FIELD
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.tet_averages import TetSamples, meets_surface, sample_tets
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import BadInput
from ...runtime.frozen_memo import derived_from
from ...scene.muscle import END_WEIGHT, FULL_MODEL, TENDON_SHEAR_MODULUS, Muscle
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from .feature import BuildInputs, Feature, FeatureStep
from .muscle_ends import EndNodes, end_nodes
from .muscle_fibres import check_fibre_source, muscle_fibres, needs_ends
from .muscle_units import activations_at, constant_activations, has_activation_track, unit_count, units_of_tets


@dataclass(frozen=True, eq=False)
class Muscles(Feature):
    """Bodies that are muscles.

    Attributes:
        bodies: By their numbers.
        arrays: What their tets are made of, all in one, units numbered through all bodies; (k, …).
        tets: Of the model of all bodies, ascending, (k,).
        keyed: Numbers of those with a track of an activation or of the strength.
        lam: λ of the model as it was built, (m,).
        cached: By numbers of bodies, what overlays draw: directions and shares of tendon of its tets, their units
            (counted from its first one), and which of its nodes are ends.
    """

    bodies: Mapping[int, Body]
    arrays: MuscleArrays
    tets: Indices
    keyed: frozenset[int]
    lam: Floats
    cached: Mapping[int, dict[str, npt.NDArray]]
    state_fields: ClassVar[tuple[str, ...]] = (ACTIVATION_FIELD,)

    @classmethod
    def check(cls, scene: Scene, tracks: TrackReader) -> None:
        """Raises BadInput where a muscle is not flesh, or has no ends."""
        for body in scene.bodies:
            if body.muscle is None:
                continue
            if body.flesh is None:
                raise BadInput("muscle-not-flesh", name=body.name)
            check_fibre_source(body, body.muscle)
            for end in ("origin", "insertion"):
                if needs_ends(body.muscle) and not (getattr(body.muscle, end) > END_WEIGHT).any():
                    raise BadInput("muscle-end-missing", name=body.name, end=end)

    @classmethod
    def initial_model(cls, scene: Scene, meshes: Sequence[TetMesh], model: Model) -> Model:
        """Returns the model with the bulk modulus of muscles."""
        muscles = {number: body for number, body in enumerate(scene.bodies) if body.muscle is not None}
        return with_muscle_moduli(model, muscles)

    @classmethod
    def build(cls, inputs: BuildInputs) -> Muscles | None:
        """Returns the muscles of a scene with their fibres; None where there is none."""
        bodies = {n: body for n, body in enumerate(inputs.scene.bodies) if body.muscle is not None}
        if not bodies:
            return None
        parts, cached, first_unit = [], {}, 0
        for number, body in bodies.items():
            ends = _ends(inputs, number)
            made = _muscle_arrays(body, inputs.meshes[number], ends)
            cached[number] = _cached_arrays(made, ends)
            parts.append(made._replace(unit=made.unit + np.int32(first_unit)))
            first_unit += unit_count(muscle_of(body))
        arrays = MuscleArrays(*(np.ascontiguousarray(np.concatenate(rows)) for rows in zip(*parts, strict=True)))
        tets = np.concatenate(
            [np.arange(t.start, t.stop, dtype=np.int64) for t in (inputs.model.bodies[n].tets for n in bodies)]
        )
        keyed = frozenset(n for n, b in bodies.items() if has_activation_track(b, muscle_of(b), inputs.tracks))
        found = cls(bodies, arrays, tets.astype(np.int32), keyed, inputs.model.lam, cached)
        for number in keyed:
            found._store(number, inputs.tracks, inputs.scene.settings.start_time, inputs.state)
        return found

    def before_step(self, step: FeatureStep) -> None:
        """Takes the activations of the end of the step for muscles that take steps."""
        self._follow(step, are_resting=False)

    def before_pose(self, step: FeatureStep) -> None:
        """Takes the activations of the sample for muscles that come to rest in poses."""
        self._follow(step, are_resting=True)

    def _follow(self, step: FeatureStep, *, are_resting: bool) -> None:
        for number in self.keyed:
            if (number in step.resting_bodies) == are_resting:
                self._store(number, step.tracks, step.end, step.state)

    def _store(self, number: int, tracks: TrackReader, time: float, state: State) -> None:
        body = self.bodies[number]
        state.fields[ACTIVATION_FIELD.format(key=body.key)] = activations_at(body, muscle_of(body), tracks, time)

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the moduli of muscles, which keyed materials have replaced."""
        if model.lam is self.lam:
            return model
        return derived_from(self, "current_model", lambda: with_muscle_moduli(model, self.bodies), inputs=(model,))

    def to_arrays(self, number: int) -> dict[str, npt.NDArray]:
        """Returns `fibre_direction`, `fibre_tendon`, `fibre_unit`, `is_origin` and `is_insertion` of a muscle."""
        return self.cached.get(number, {})

    def activations(self, state: State) -> Floats:
        """Returns the activation of every contractile unit, (u,): muscle by muscle, in the order of `bodies`."""
        values = []
        for number, body in self.bodies.items():
            stored = state.fields.get(ACTIVATION_FIELD.format(key=body.key)) if number in self.keyed else None
            values.append(constant_activations(muscle_of(body)) if stored is None else stored)
        return np.concatenate(values)

    def added_moduli(self, tet_count: int) -> Floats:
        """Returns the Young's modulus that the muscle adds to the law of each tet [Pa], (m,): 3 G of the full model.

        The law of such tets has no shear modulus; what is incompressible has three times that of its fibres.
        """
        found = np.zeros(tet_count)
        found[self.tets] = 3.0 * self.arrays.shear.max(axis=1)
        return found

    def with_term(self, law: Hyperelastic, tets: Indices, activation: Floats) -> Hyperelastic:
        """Returns the law of some tets of the model, ascending, with the muscle in them at activations, one each."""
        term = MuscleTerm(self.tets, self.arrays, activation).of_tets(tets)
        if term is not None and law.left is not None:  # nodes bear their bulk modulus: see `muscle_energy.py`
            is_deviatoric = ~law.left.is_averaged[term.tets]
            term = replace(term, arrays=term.arrays._replace(is_deviatoric=is_deviatoric))
        return replace(law, anisotropic_term=term)


def muscle_of(body: Body) -> Muscle:
    """Returns the muscle of a body that is one."""
    assert body.muscle is not None
    return body.muscle


def with_muscle_moduli(model: Model, bodies: Mapping[int, Body]) -> Model:
    """Returns the model in which muscles have at least their bulk modulus, and in the full model no shear modulus."""
    if not bodies:
        return model
    mu, lam = model.mu.copy(), model.lam.copy()
    for number, body in bodies.items():
        muscle, tets = muscle_of(body), model.bodies[number].tets
        if muscle.model == FULL_MODEL:
            mu[tets] = 0.0
        least = muscle.bulk_modulus / body.simulated_scale**2
        lam[tets] = np.maximum(lam[tets], least - 2.0 / 3.0 * mu[tets])
    return replace(model, mu=mu, lam=lam)


def _ends(inputs: BuildInputs, number: int) -> tuple[EndNodes, EndNodes]:
    """Returns the nodes of the origin and of the insertion of a body."""
    body, mesh, binding = inputs.scene.bodies[number], inputs.meshes[number], inputs.bindings[number]
    muscle = muscle_of(body)
    return end_nodes(muscle.origin, body, mesh, binding), end_nodes(muscle.insertion, body, mesh, binding)


def _cached_arrays(arrays: MuscleArrays, ends: tuple[EndNodes, EndNodes]) -> dict[str, npt.NDArray]:
    """Returns what a cache keeps of a muscle, its units numbered from 0."""
    return {
        "fibre_direction": arrays.direction.astype(np.float32),
        "fibre_tendon": arrays.tendon.astype(np.float32),
        "fibre_unit": arrays.unit,
        "is_origin": ends[0].is_end,
        "is_insertion": ends[1].is_end,
    }


def _muscle_arrays(body: Body, mesh: TetMesh, ends: tuple[EndNodes, EndNodes]) -> MuscleArrays:
    """Returns what the tets of a muscle are made of, its units numbered from 0."""
    muscle, count, scale = muscle_of(body), len(mesh.tets), 1.0 / body.simulated_scale**2
    region = muscle_region(body.name, mesh.nodes, mesh.tets, *(end.is_end for end in ends))
    region = replace(region, end_depths=(ends[0].depth[used_nodes(mesh.tets)], ends[1].depth[used_nodes(mesh.tets)]))
    samples = sample_tets(mesh, build_bvh(body.vertices, body.triangles))
    fibres = muscle_fibres(body, muscle, samples, region)
    return MuscleArrays(
        direction=floats(fibres.direction),
        unit=units_of_tets(body, muscle, mesh),
        tendon=floats(fibres.tendon),
        peak_stress=np.full(count, muscle.peak_stress * scale, np.float64),
        tendon_stress=np.full(count, muscle.tendon_stress * scale, np.float64),
        optimal_stretch=np.full(count, muscle.optimal_stretch, np.float64),
        is_deviatoric=np.ones(count, np.bool_),
        shear=scale * _shear_moduli(muscle, floats(fibres.tendon)),
        fascia=muscle.fascia_stiffness * scale * _fascia_share(muscle, body, samples),
    )


def _shear_moduli(muscle: Muscle, tendon: Floats) -> Floats:
    """Returns G1 and G2 of the full model by the share of tendon [Pa], (k, 2); zero in the simplified one."""
    if muscle.model != FULL_MODEL:
        return np.zeros((len(tendon), 2))
    own = np.array([muscle.along_shear, muscle.cross_shear])
    added = np.zeros(2) if muscle.fibres.tendon_only else np.maximum(TENDON_SHEAR_MODULUS - own, 0.0)
    return floats(own + tendon[:, None] * added)


def _fascia_share(muscle: Muscle, body: Body, samples: TetSamples) -> Floats:
    """Returns the mean over each tet of what is 1 at the surface and falls to 0 at the depth of the fascia, (k,)."""
    share = np.zeros(len(samples.mesh.tets))
    if muscle.fascia_stiffness == 0.0:
        return share
    surface, depth = build_bvh(body.vertices, body.triangles), muscle.fascia_depth
    near = np.flatnonzero(meets_surface(samples.mesh, surface, depth))
    points = samples.at_points(samples.mesh.nodes, near)
    distance = closest_points(surface, floats(points.reshape(-1, 3)), depth).distance.reshape(points.shape[:2])
    share[near] = samples.average(np.maximum(1.0 - distance / depth, 0.0), near)
    return share
