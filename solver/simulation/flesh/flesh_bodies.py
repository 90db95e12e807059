# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies that are flesh: the quasistatic and the dynamic ones as models of their own, and what they are made of.

Bodies whose formulation is Green's or the hybrid one move as dynamic flesh does, without being asked to be flesh.
With Exact contact flesh that follows a pose takes steps, too, without inertia: it is part of the dynamic one then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...integrators.dynamic_flesh_forces import DynamicFlesh, dynamic_flesh
from ...integrators.newton.lagged_hybrid_shear import pressure_only
from ...integrators.newton.newton_body_selection import LAW_BY_METHOD, scheme_of
from ...mechanics.hierarchical.hierarchical_bodies import hierarchical_numbers
from ...mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic, hyperelastic
from ...mechanics.hyperelastic.law_numbers import EXTENDED_LAWS
from ...mechanics.model import Model
from ...mechanics.submodel import Submodel, make_submodel
from ...quasistatic.contact import FleshContact
from ...runtime.arrays import Floats, Indices, floats
from ...scene.flesh import DYNAMIC, FLESH_MOTIONS, QUASISTATIC, Flesh
from ...scene.formulation import NEWTON_FORMULATIONS
from ...scene.muscle import FULL_MODEL
from ...scene.scene import EXACT_CONTACT, Body, Scene
from .unconstrained_parts import ConnectedPieces

NONE = np.zeros(0)
VOLUME_LAW = "neo-hookean"  # without a shear modulus κ/2 ln²J, the volume term of S07, A.2.4
# S07's constant stress brings bodies back from any tangle; a step of time needs an energy for every F
POSE_EXTENSION, STEP_EXTENSION = "constant", "smooth"


@dataclass(frozen=True, eq=False)
class FleshPart:
    """Some bodies of flesh, m tets in all.

    Attributes:
        part: Where they are in the whole model, and the model of these bodies alone.
        law: What their tets are made of.
        settings: What is asked of each, in the order of `part.bodies`.
        schemes: How each is stepped, by `dynamic_flesh`; none: quasistatic.
        contact: What they may touch; None: nothing.
        names: Of each, for people.
        averages: Of each, whether nearly incompressible tets leave part of their energy to their nodes.
    """

    part: Submodel
    law: Hyperelastic
    settings: tuple[Flesh, ...]
    schemes: tuple[str, ...] = ()
    contact: FleshContact | None = None
    names: tuple[str, ...] = ()
    averages: tuple[bool, ...] = ()

    @property
    def model(self) -> Model:
        """These bodies alone, in the rest shapes that they were built with."""
        return self.part.model

    @property
    def posed_bodies(self) -> tuple[int, ...]:
        """Numbers in the whole model of its bodies that follow a pose, and have no inertia."""
        asked = zip(self.part.bodies, self.settings, strict=True)
        return tuple(number for number, flesh in asked if flesh.motion == QUASISTATIC)

    @functools.cached_property
    def pieces(self) -> ConnectedPieces:
        """Which of their nodes hang together."""
        return ConnectedPieces.from_model(self.model)

    def model_in_rest_shapes(self, whole: Model) -> Model:
        """Returns these bodies alone in the rest shapes of `whole`, the present model of all bodies."""
        tets = self.part.tets
        return replace(self.part.model, Dm_inverse=whole.Dm_inverse[tets], volume=whole.volume[tets])

    def with_materials(self, whole: Model, pressure_modulus: Floats) -> FleshPart:
        """Returns these bodies with the moduli and masses of `whole`, all bodies in the rest shapes as built.

        Args:
            whole: The model.
            pressure_modulus: As for `make_flesh`.
        """
        names = ("density", "mu", "lam", "stiffness_damping")
        rows: dict[str, Any] = {name: floats(getattr(whole, name)[self.part.tets]) for name in names}
        rows |= {name: floats(getattr(whole, name)[self.part.nodes]) for name in ("mass", "mass_damping")}
        model = replace(self.part.model, **rows)
        law = _law_of(model, self.settings, self.averages, takes_steps=bool(self.schemes))
        part = replace(self, part=replace(self.part, model=model), law=law)
        return part.with_pressure(pressure_modulus) if self.schemes else part

    def with_pressure(self, pressure_modulus: Floats) -> FleshPart:
        """Returns these bodies with their part of a pressure beside their law; see `make_flesh`."""
        kappa = floats(pressure_modulus[self.part.tets]) if len(pressure_modulus) else pressure_modulus
        return replace(self, law=replace(self.law, pressure_modulus=kappa)) if kappa.any() else self

    def remapped(self, whole: Model) -> FleshPart:
        """Returns these bodies after nodes have split: of flesh those of others, of sheets also their own."""
        return replace(self, part=self.part.remapped(whole))


@dataclass(frozen=True, eq=False)
class FleshBodies:
    """The flesh of a scene.

    Attributes:
        quasistatic: The bodies that are at rest in every sample; None where there are none.
        dynamic: Those that take steps; None where there are none.
        dynamics: The latter as `integrators.integrator_choice` takes them, whose law is that of what it looks at in
            every solve.
    """

    quasistatic: FleshPart | None
    dynamic: FleshPart | None
    dynamics: DynamicFlesh | None

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of the quasistatic bodies in the model."""
        return self.quasistatic.part.bodies if self.quasistatic else ()

    @property
    def parts(self) -> list[FleshPart]:
        """All flesh."""
        return [part for part in (self.quasistatic, self.dynamic) if part is not None]

    def with_parts(self, whole: Model, parts: Mapping[int, FleshPart]) -> FleshBodies:
        """Returns this flesh with other parts in place of those with these ids, in the model `whole`."""
        quasistatic, dynamic = (
            None if part is None else parts.get(id(part), part) for part in (self.quasistatic, self.dynamic)
        )
        return _flesh_bodies(whole, quasistatic, dynamic)

    def with_materials(self, whole: Model, pressure_modulus: Floats) -> FleshBodies:
        """Returns this flesh with the moduli and masses of `whole`; see `FleshPart.with_materials`."""
        parts = (part and part.with_materials(whole, pressure_modulus) for part in (self.quasistatic, self.dynamic))
        return _flesh_bodies(whole, *parts)

    def with_laws(self, whole: Model, law_of: Callable[[Hyperelastic, Indices], Hyperelastic]) -> FleshBodies:
        """Returns this flesh with the laws that a function makes of those it has, and of numbers of tets in `whole`."""
        parts = (
            part and replace(part, law=law_of(part.law, part.part.tets)) for part in (self.quasistatic, self.dynamic)
        )
        return _flesh_bodies(whole, *parts)

    def remapped(self, whole: Model) -> FleshBodies:
        """Returns this flesh after nodes have split, in `whole`."""
        return _flesh_bodies(
            whole,
            self.quasistatic.remapped(whole) if self.quasistatic else None,
            self.dynamic.remapped(whole) if self.dynamic else None,
        )


def make_flesh(scene: Scene, model: Model, pressure_modulus: Floats = NONE) -> FleshBodies | None:
    """Returns the bodies of a scene that are flesh, or None where none is.

    Args:
        scene: What is asked for.
        model: All its bodies, painted material included.
        pressure_modulus: Of `self_weight_volume_penalty.py`, beside the law of dynamic flesh [Pa], (m,), or (0,).
    """
    if all(_flesh_settings(body) is None for body in scene.bodies) and not hierarchical_numbers(model):
        return None
    is_exact = scene.settings.contact == EXACT_CONTACT
    moving = _flesh_part(scene, model, FLESH_MOTIONS if is_exact else (DYNAMIC,), takes_steps=True)
    moving = moving and moving.with_pressure(pressure_modulus)
    still = None if is_exact else _flesh_part(scene, model, (QUASISTATIC,), takes_steps=False)
    return _flesh_bodies(model, still, moving)


def _flesh_bodies(model: Model, quasistatic: FleshPart | None, dynamic: FleshPart | None) -> FleshBodies:
    still = quasistatic.part.bodies if quasistatic else ()
    levels, stepping = hierarchical_numbers(model), None
    if dynamic is not None:
        law = pressure_only(dynamic.model, dynamic.law)
        stepping = dynamic_flesh(model, dynamic.part, law, dynamic.schemes, still, dynamic.names)
        stepping = replace(stepping, levels=levels)
    elif levels:
        stepping = DynamicFlesh(None, None, still, levels=levels)
    return FleshBodies(quasistatic, dynamic, stepping)


def _flesh_part(scene: Scene, model: Model, motions: Sequence[str], *, takes_steps: bool) -> FleshPart | None:
    wanted = [(number, body, _flesh_settings(body)) for number, body in enumerate(scene.bodies)]
    own = [(number, body, flesh) for number, body, flesh in wanted if flesh is not None and flesh.motion in motions]
    if not own:
        return None
    part = make_submodel(model, [number for number, _, _ in own])
    settings = tuple(flesh for _, _, flesh in own)
    averages = tuple(body.flesh is not None for _, body, _ in own)
    return FleshPart(
        part,
        _law_of(part.model, settings, averages, takes_steps=takes_steps),
        settings,
        schemes=tuple(_integration_scheme(body) for _, body, _ in own) if takes_steps else (),
        names=tuple(body.name for _, body, _ in own),
        averages=averages,
    )


def _law_of(model: Model, settings: Sequence[Flesh], averages: Sequence[bool], *, takes_steps: bool) -> Hyperelastic:
    """Returns what the tets of a model of flesh are made of that takes steps, or comes to rest in poses."""
    laws = [flesh.law for flesh in settings]
    wanted = STEP_EXTENSION if takes_steps else POSE_EXTENSION
    extension = wanted if any(law in EXTENDED_LAWS for law in laws) else None
    return hyperelastic(model, laws, extension, average=averages)


def _flesh_settings(body: Body) -> Flesh | None:
    """Returns what flesh a body is, by itself or by its formulation; None: none."""
    if body.flesh is None and body.method.name in NEWTON_FORMULATIONS:
        return Flesh(DYNAMIC, LAW_BY_METHOD[body.method.name])
    if body.flesh is not None and body.muscle is not None and body.muscle.model == FULL_MODEL:
        return replace(body.flesh, law=VOLUME_LAW)  # its shear is that of the muscle
    return body.flesh


def _integration_scheme(body: Body) -> str:
    """Returns how a dynamic body is stepped."""
    return scheme_of(body.method) if body.flesh is None else body.flesh.scheme
