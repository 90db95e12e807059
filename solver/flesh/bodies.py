# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies that are flesh: the quasistatic and the dynamic ones as models of their own, and what they are made of.

Bodies whose formulation is Green's or the hybrid one move as dynamic flesh does, without being asked to be flesh.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from ..anatomy import DYNAMIC, QUASISTATIC, Flesh
from ..arrays import Floats, floats
from ..hierarchical.numbers import level_numbers
from ..hyperelastic.element import Hyperelastic, hyperelastic
from ..hyperelastic.laws import EXTENDED
from ..integrators.by_newton import LAW_OF, scheme_of
from ..integrators.flesh import DynamicFlesh, dynamic_flesh
from ..integrators.held_shear import pressure_alone
from ..late_dataclass import dataclass
from ..method import BY_NEWTON
from ..model import Model
from ..part_model import PartModel, part_model
from ..quasistatic.contact import FleshContact
from ..scene import Body, Scene
from .pieces import Pieces

NONE = np.zeros(0)
# S07's constant stress brings bodies back from any tangle; a step of time needs an energy for every F
EXTENSION = {QUASISTATIC: "constant", DYNAMIC: "smooth"}


@dataclass(frozen=True, eq=False)
class FleshPart:
    """Some bodies of flesh, m tets in all.

    Attributes:
        part: Where they are in the whole model, and the model of these bodies alone.
        law: What their tets are made of.
        asked: What is asked of each, in the order of `part.bodies`.
        schemes: How each is stepped, by `integrators.flesh`; none: quasistatic.
        contact: What they may touch; None: nothing.
        names: Of each, for people.
    """

    part: PartModel
    law: Hyperelastic
    asked: tuple[Flesh, ...]
    schemes: tuple[str, ...] = ()
    contact: FleshContact | None = None
    names: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        """These bodies alone, in the rest shapes that they were built with."""
        return self.part.model

    @functools.cached_property
    def pieces(self) -> Pieces:
        """Which of their nodes hang together."""
        return Pieces.of(self.model)

    def at_rest_in(self, whole: Model) -> Model:
        """Returns these bodies alone in the rest shapes of `whole`, the present model of all bodies."""
        tets = self.part.tets
        return replace(self.part.model, Dm_inverse=whole.Dm_inverse[tets], volume=whole.volume[tets])

    def following(self, whole: Model) -> FleshPart:
        """Returns these bodies where they are after nodes of others have split."""
        return replace(self, part=self.part.following(whole))


@dataclass(frozen=True, eq=False)
class FleshBodies:
    """The flesh of a scene.

    Attributes:
        quasistatic: The bodies that are at rest in every sample; None where there are none.
        dynamic: Those that have inertia; None where there are none.
        stepping: The latter as `integrators.step` takes them, whose law is that of what it looks at in every solve.
    """

    quasistatic: FleshPart | None
    dynamic: FleshPart | None
    stepping: DynamicFlesh | None

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of the quasistatic bodies in the model."""
        return self.quasistatic.part.bodies if self.quasistatic else ()

    @property
    def parts(self) -> list[FleshPart]:
        """All flesh."""
        return [part for part in (self.quasistatic, self.dynamic) if part is not None]

    def following(self, whole: Model) -> FleshBodies:
        """Returns this flesh after nodes of other bodies have split: where it is in `whole` now."""
        return _bodies(
            whole,
            self.quasistatic.following(whole) if self.quasistatic else None,
            self.dynamic.following(whole) if self.dynamic else None,
        )


def make_flesh(scene: Scene, model: Model, pressure_modulus: Floats = NONE) -> FleshBodies | None:
    """Returns the bodies of a scene that are flesh, or None where none is.

    Args:
        scene: What is asked for.
        model: All its bodies, painted moduli included (`painted_moduli.py`).
        pressure_modulus: Of what dynamic flesh has beside its law (`weight_pressure.py`) [Pa], (m,), or (0,).
    """
    if all(_asked(body) is None for body in scene.bodies) and not level_numbers(model):
        return None
    moving = _part(scene, model, DYNAMIC)
    if moving is not None and len(pressure_modulus):
        kappa = floats(pressure_modulus[moving.part.tets])
        moving = replace(moving, law=replace(moving.law, pressure_modulus=kappa)) if kappa.any() else moving
    return _bodies(model, _part(scene, model, QUASISTATIC), moving)


def _bodies(model: Model, quasistatic: FleshPart | None, dynamic: FleshPart | None) -> FleshBodies:
    still = quasistatic.part.bodies if quasistatic else ()
    levels, stepping = level_numbers(model), None
    if dynamic is not None:
        law = pressure_alone(dynamic.model, dynamic.law)
        stepping = dynamic_flesh(model, dynamic.part, law, dynamic.schemes, still, dynamic.names)
        stepping = replace(stepping, levels=levels)
    elif levels:
        stepping = DynamicFlesh(None, None, still, levels=levels)
    return FleshBodies(quasistatic, dynamic, stepping)


def _part(scene: Scene, model: Model, motion: str) -> FleshPart | None:
    wanted = [(number, body, _asked(body)) for number, body in enumerate(scene.bodies)]
    own = [(number, body, flesh) for number, body, flesh in wanted if flesh is not None and flesh.motion == motion]
    if not own:
        return None
    part = part_model(model, [number for number, _, _ in own])
    laws = [flesh.law for _, _, flesh in own]
    extension = EXTENSION[motion] if any(law in EXTENDED for law in laws) else None
    law = hyperelastic(part.model, laws, extension, average=[body.flesh is not None for _, body, _ in own])
    schemes = tuple(_scheme(body) for _, body, _ in own) if motion == DYNAMIC else ()
    return FleshPart(
        part, law, tuple(flesh for _, _, flesh in own), schemes, names=tuple(body.name for _, body, _ in own)
    )


def _asked(body: Body) -> Flesh | None:
    """Returns what flesh a body is, by itself or by its formulation; None: none."""
    if body.flesh is None and body.method.name in BY_NEWTON:
        return Flesh(DYNAMIC, LAW_OF[body.method.name])
    return body.flesh


def _scheme(body: Body) -> str:
    """Returns how a dynamic body is stepped."""
    return scheme_of(body.method) if body.flesh is None else body.flesh.scheme
