# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of features. A feature has one file here and one line in `registry.py`.

Each hook below does nothing by default. `build.py`, `advance_frame.py`, `step_halving.py`, `current_model.py` and
`fracture_topology.py` call the hooks of all features in the order of the registry, and name no feature themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy.typing as npt

from ...constraints.force import Force
from ...contact.colliders.rigid_colliders import BuiltCollider
from ...contact.contact_step import ContactStep
from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.detection.surface_materials import ContactMaterials
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mesh.embedding import Binding
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.errors import SinewError
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from ..step_interval import StepPart

BodyNumbers = dict[str, dict[str, float]]  # key of a body → name → number
AnyFeature = TypeVar("AnyFeature", bound="Feature")


@dataclass(eq=False)
class BuildInputs:
    """What features and forces are built from.

    Attributes:
        scene, tracks: The scene and its animated inputs.
        surfaces, meshes, bindings: Of each body: its render surface, its tets, and the vertices in these tets.
        model: All bodies in one.
        body_contact_points: Of each body, in tets of the model.
        contact_points: The same of all bodies.
        colliders: Rigid ones, and deforming ones as they are at the first frame.
        gravity: At the first frame [m/s²], (3,).
        state: The first frame; features write the first values of their fields into it.
        features, forces: What has been built so far.
        kept: Features and forces that bodies have had before they were cut, and go on with instead of new ones.
    """

    scene: Scene
    tracks: TrackReader
    surfaces: Sequence[Surface]
    meshes: Sequence[TetMesh]
    bindings: Sequence[Binding]
    model: Model
    body_contact_points: Sequence[ContactPoints]
    contact_points: ContactPoints
    colliders: Sequence[BuiltCollider]
    gravity: Floats
    state: State
    features: list[Feature] = field(default_factory=list)
    forces: list[Force] = field(default_factory=list)
    kept: Sequence[Feature | Force] = ()

    def feature(self, kind: type[AnyFeature]) -> AnyFeature | None:
        """Returns the feature of a kind if it has been built; None where no body has it."""
        return find_feature(self.features, kind)


@dataclass(eq=False)
class FeatureStep:
    """One step, as the hooks of features see it.

    Attributes:
        scene, tracks: The scene and its animated inputs.
        built_model: All bodies in their present topology, with the rest shapes and moduli that they were built with.
        unbroken_model: The same before anything broke.
        state: Where the bodies are: at the start of the step, later at its end.
        begin, end: Times of the step [s].
        speed: Simulated time that passes over the time of the scene (`scene/time_scale.py`).
        resting_bodies: Numbers of the bodies that are brought to rest in poses and take no steps.
        model: The model that the step was taken with; `built_model` before it is taken.
        is_fixed: Which nodes were held exactly, (n,); None: none.
        is_parted: Across which faces tets have parted after the step, (m, 4), if any parted in it; else None.
        crack_advances: How often it has been taken before, with cracks that have advanced since (`crack_advances.py`).
        splits_left: Overloaded tets that wait for the next step because of a limit, by key of the body.
    """

    scene: Scene
    tracks: TrackReader
    built_model: Model
    unbroken_model: Model
    state: State
    begin: float
    end: float
    speed: float
    resting_bodies: tuple[int, ...]
    model: Model
    is_fixed: Bools | None = None
    is_parted: Bools | None = None
    crack_advances: int = 0
    splits_left: dict[str, float] = field(default_factory=dict)

    @property
    def dt(self) -> float:
        """Δt, simulated [s]."""
        return self.speed * (self.end - self.begin)


@dataclass(frozen=True, eq=False)
class SplitNodes:
    """Nodes have split, tets have not.

    Attributes:
        unbroken_model: The model before anything broke.
        model: The model now.
        origin: The node of the unbroken model that each node was, (n,).
        is_parted: Across which faces tets have parted, (m, 4).
    """

    unbroken_model: Model
    model: Model
    origin: Indices
    is_parted: Bools


class Feature:
    """Something that some bodies of a scene do. A subclass overrides the hooks that it needs.

    Attributes:
        state_fields: Names of its fields of the state; "{key}" stands for the key of a body. Fields that begin with
            "node." have a row per node and are copied when nodes split, those with "tet." a row per tet.
    """

    state_fields: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def check(cls, scene: Scene, tracks: TrackReader) -> None:
        """Raises BadInput where the scene asks for something impossible, before any work is done."""

    @classmethod
    def warnings(cls, body: Body, scene: Scene, tracks: TrackReader, tet_size: float) -> Sequence[SinewError]:
        """Returns what an artist should know about any body of a scene, with tets of `tet_size` [m]."""
        return ()

    @classmethod
    def initial_model(cls, scene: Scene, meshes: Sequence[TetMesh], model: Model) -> Model:
        """Returns the model with the masses and moduli that the feature gives it when it is built."""
        return model

    @classmethod
    def build(cls, inputs: BuildInputs) -> Feature | None:
        """Returns the feature of a scene, its first values written into `inputs.state`; None where no body has it."""
        raise NotImplementedError

    def with_contact_surfaces(self, surfaces: ContactMaterials | None, model: Model, gravity: Floats) -> Feature:
        """Returns the feature after the surfaces at which bodies touch each other have been built, if there are any."""
        return self

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of bodies that are brought to rest in poses and take no steps."""
        return ()

    @property
    def changing_bodies(self) -> tuple[int, ...]:
        """Numbers of bodies whose model may change though they come to rest in poses; others take no part in them."""
        return ()

    def before_step(self, step: FeatureStep) -> None:
        """Moves its fields of the state on before the bodies move."""

    def before_pose(self, step: FeatureStep) -> None:
        """Moves its fields of the state on, as far as they are of bodies at rest, before these come to rest."""

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with what the fields of the state make of it; topology and pattern stay."""
        return model

    def model_in_step(self, model: Model, scene: Scene, tracks: TrackReader, part: StepPart) -> Model:
        """Returns the model with what depends on the begin and end of a step or of a part of it."""
        return model

    def after_part(self, model: Model, state: State, contacts: ContactStep | None) -> None:
        """Moves its fields of the state on after a part of a step, by its contacts; None: nothing could touch."""

    def after_step(self, step: FeatureStep) -> None:
        """Moves its fields of the state on after the bodies have moved; may separate faces of tets."""

    def remapped(self, split: SplitNodes) -> Feature:
        """Returns the feature after nodes have split; fields of the state are carried over by their names."""
        return self

    def to_arrays(self, number: int) -> dict[str, npt.NDArray]:
        """Returns what a cache keeps of a body beside its tets, by name; see `Muscles`."""
        return {}

    def move_render_positions(self, model: Model, state: State, number: int, out: Floats) -> None:
        """Changes the positions of render vertices of a body [m], (v, 3), where they do not move with their tets."""

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns what the report of a frame says of bodies."""
        return {}


def find_feature(features: Sequence[Feature], kind: type[AnyFeature]) -> AnyFeature | None:
    """Returns the feature of a kind, or None."""
    return next((feature for feature in features if isinstance(feature, kind)), None)
