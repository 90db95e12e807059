# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation, ready to run: what `build.py` makes of a scene."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .contact.colliders import BuiltCollider
from .contact.points import ContactPoints
from .contact.skin_surfaces import SkinSurfaces
from .core_pull import CorePull
from .embedding import Binding
from .errors import SinewError
from .fracture.bodies import FractureBodies
from .fracture.broken_skins import BreakingSkins
from .heat import HeatBodies
from .late_dataclass import dataclass
from .model import BodyRange, Model
from .pins import BodyPins
from .plastic import PlasticBody
from .reshaped import ReshapedBody
from .skins.deforming import DeformingCollider
from .state import State
from .tetrahedralize.tet_mesh import TetMesh

if TYPE_CHECKING:  # these take long to load, and few scenes have them
    from .bones import Bones
    from .flesh import FleshBodies


@dataclass(frozen=True)
class BuiltBody:
    """One body, ready.

    Attributes:
        key, name: As in the scene.
        mesh: Its tets; node and tet numbers are its own.
        binding: Its render vertices in these tets.
        range: Where it is in the model.
        warnings: What the artist should know, not raised.
    """

    key: str
    name: str
    mesh: TetMesh
    binding: Binding
    range: BodyRange
    warnings: tuple[SinewError, ...]


@dataclass(frozen=True)
class Built:
    """A simulation, ready to run.

    Attributes:
        model: All bodies in one.
        bodies: One by one.
        pins: Of the bodies that have any.
        contact_points: Of all bodies.
        colliders: What they may touch, but for what deforms.
        initial: The first frame.
        heat: Of the bodies that have a temperature; None where none has.
        plastic: The bodies that take a new shape for good.
        fracture: Of the bodies that may break; None where none may.
        broken_keys: Which of `contact_points`, the last ones, lie on broken faces (`fracture/broken_points.py`), (k,).
        whole: What was built before anything broke; None: this.
        flesh: Of the bodies that are flesh; None where none is.
        bones: What holds bodies; None where no bone may.
        reshaped: The bodies whose rest shape changes.
        deforming: Colliders that change their shape.
        skins: With which bodies touch each other, themselves and what deforms; None where nothing can meet.
        breaking: What skins become when bodies break; None where none may.
        pulls: Springs that pull rigid cores.
    """

    model: Model
    bodies: tuple[BuiltBody, ...]
    pins: tuple[BodyPins, ...]
    contact_points: ContactPoints
    colliders: tuple[BuiltCollider, ...]
    initial: State
    heat: HeatBodies | None = None
    plastic: tuple[PlasticBody, ...] = ()
    fracture: FractureBodies | None = None
    broken_keys: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    whole: Built | None = None
    flesh: FleshBodies | None = None
    bones: Bones | None = None
    reshaped: tuple[ReshapedBody, ...] = ()
    deforming: tuple[DeformingCollider, ...] = ()
    skins: SkinSurfaces | None = None
    breaking: BreakingSkins | None = None
    pulls: tuple[CorePull, ...] = ()
