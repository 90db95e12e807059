# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene: bodies, colliders and settings, in metres, seconds and kilograms.

A `Scene` is frozen, saved as a folder, and has a digest. What changes over time is not in it but in named
tracks beside it (`tracks.py`), which may grow while a solver already reads them. Neither this file nor
`tracks.py` loads Numba or SciPy: Blender imports them at start.

    FOLDER/scene.json     everything but the arrays, which are named by their path, "bodies.0.vertices"
    FOLDER/arrays.npz     the arrays
    FOLDER/tracks/…       the tracks
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.atomic_files import write_atomic
from ..runtime.checksums import digest, npz_bytes
from ..runtime.errors import BadInput, StorageFailed
from ..runtime.npz_reader import first_line, read_arrays
from .attachment import Attachment
from .body_binding import BodyBinding
from .constant_wind import Wind
from .contact import Collider as Collider
from .contact import Collision
from .flesh import DYNAMIC, QUASISTATIC, Bone, Flesh
from .force_fields import FieldWeights, ForceField
from .formulation import GREEN, FormulationSettings
from .goal import Goal
from .hook import Hook
from .joint import Joint
from .material import PLASTICITY_LAWS as PLASTICITY_LAWS
from .material import Faces, Fracture, Heat, Material, Plasticity
from .material import HeatSource as HeatSource
from .material import MaterialPaint as MaterialPaint
from .meshing import RIGID, SHEET
from .meshing import Meshing as Meshing
from .muscle import Muscle
from .object_key_rule import check_keys
from .pressure import Pressure
from .rest_scale import RestScale
from .rigid_core import Core
from .seams import Seams
from .serialisation.former_flesh_paint import read_former_flesh_paint
from .serialisation.range_check import check_ranges
from .serialisation.schema_constraints import (
    OneOf,
    RowsOf,
    at_least,
    closed_range,
    left_open_range,
    points,
    shape,
    shape_or_empty,
)
from .serialisation.sequence_coercion import convert_sequences
from .serialisation.typed_json import InvalidValue, from_tree, to_tree
from .serialisation.unused_fields import drop_unused_fields_of_scene
from .settings.fracture_settings import ATTRIBUTES_SETTING
from .settings.simulation_settings import (
    AIR_TEMPERATURE,
    CONTACT,
    FRAME_LIMITS,
    MAX_ITERATIONS,
    POSE_ITERATIONS,
    POSE_TOLERANCE,
    PREROLL,
    SAMPLES_PER_FRAME,
    SPEED,
    SUBSTEPS,
    TOLERANCE,
)
from .settings.simulation_settings import MAX_FRAME_NUMBER as MAX_FRAME_NUMBER
from .settings.size_and_start_settings import ANIMATED, INITIAL_SPIN, INITIAL_VELOCITY
from .sheet import Sheet
from .start import Start
from .stretch_limit import StretchLimit
from .surface_detail import SurfaceDetail

SCENE_FORMAT = 1
# what can be written per render vertex: von Mises and largest principal stress [Pa], norm of the plastic strain,
# temperature [°C], damage in [0, 1], velocity [m/s] (3 values)
ATTRIBUTES = ATTRIBUTES_SETTING.words
# what solves the linear systems of steps (`Settings.linear_solver`)
AUTO_SOLVER, JACOBI, MULTIGRID = "auto", "jacobi", "multigrid"
LINEAR_SOLVERS = (AUTO_SOLVER, JACOBI, MULTIGRID)
FAST_CONTACT, EXACT_CONTACT = CONTACT.words
FrameNumber = Annotated[int, FRAME_LIMITS]
FramesPerSecond = Annotated[float, left_open_range(0.0, 1.0e9, "Frame Rate")]
SamplesPerFrame = Annotated[int, SAMPLES_PER_FRAME.limits]
VelocityComponent = Annotated[float, INITIAL_VELOCITY.limits]
SpinComponent = Annotated[float, INITIAL_SPIN.limits]
GravityComponent = Annotated[float, closed_range(-1.0e9, 1.0e9, "Gravity")]
SCENE_FILE = "scene.json"
ARRAYS_FILE = "arrays.npz"


@dataclass(frozen=True)
class Body:
    """A soft body: its render mesh in the rest pose, its material and its constraints.

    Tracks that belong to it, by name (times in seconds from the first frame):
        "body.KEY.matrix" (4, 4): object space of the cache ← world [m] is the inverse of this one.
        "body.KEY.targets" (p, 3): targets of the vertices `pinned` [m], world.
        "body.KEY.pin_stiffness" (): see `pin_weights`; 0 releases all pins, exact ones too.
        "body.KEY.attached.targets" (q, 3): as "targets", for the vertices `attached`.
        "body.KEY.animated" (): instead of `animated`, on from ½ on; "body.KEY.animated.targets" (n, 3): where the
            animation has the render vertices [m], world, as "body.KEY.goal.targets" of a goal.
        "body.KEY.youngs_modulus" () and others: see `Material`; "body.KEY.rest_scale" ();
            "body.KEY.stretch_limit" (); "body.KEY.activation" () and others: see `Muscle`.
        "body.KEY.attachment.NUMBER.strength" (): see `Attachment`; "body.KEY.hook.NUMBER.matrix" and others: `Hook`.
        "body.KEY.rest" (n, 3): `vertices` as they would be at rest now, in the rest pose [m], where the rest shape
            changes (shape keys).

    Attributes:
        vertices: Render vertices [m], world, in the rest pose, which is that of the first frame unless
            `Settings.preroll` is above 0, (n, 3).
        triangles: Triangulated faces, (t, 3).
        material, meshing: What it is made of, and how it is filled with tets.
        key: Name in files and tracks: unique in the scene, letters, digits, "_" and "-" only.
        name: Name for people, as Blender shows it.
        pinned: The vertices with a pin weight above zero, (p,).
        pin_weights: Their weights in (0, 1], (p,), none: all 1. 1 is held exactly. Less is a spring to the target of
            stiffness w · pin_stiffness · (share of the body's mass by surface area) [N/m], with
            pin_stiffness in 1/s².
        attached, attached_weights: As `pinned` and `pin_weights`, for the part of the mesh that is not
            simulated and always follows the animation. Their pin_stiffness is constant. No vertex is in both.
        simulated_scale: Simulated size / real size s: the body moves as if it were scaled by this factor. Stress,
            strength and heat are those of that size: stress is E · strain, a crack tip bears K_c / √(s h), heat
            spreads as through lengths s times as long. A heat source's radius and velocities are of the real size.
        gravity_in_shape: Whether the first frame already sags: internal stress then balances gravity.
        initial_velocity: v at the first frame [m/s], (3,), and wherever the body is let go, if it is not zero.
        tet_nodes, tets: The tets that the body brings when `meshing.method` is "given", (k, 3) and (m, 4).
        plasticity, heat, fracture: None where it stays elastic, has no temperature, cannot break (if rigid, by hits).
        face_of_triangle: The polygon of the render mesh that each triangle is of, rising, (t,), or (0,): each
            its own. Only read where the body may break.
        attributes: What is written per render vertex and frame for shaders, of `ATTRIBUTES`.
        flesh: Where it is hyperelastic; None: a corotated body with inertia. Flesh neither flows, heats nor breaks.
        collision: How it meets other bodies and itself.
        method: By which formulation its tets resist; flesh does not read it.
        core: Which part of it moves as one rigid body; of a rigid body all does, and only hinge and pull are read here.
        field_weights: How much gravity and force fields act on it.
        material_paint: Where its material differs from `material`.
        rest_scale: How much larger it is without stress.
        goal: What pulls it towards its animated mesh; None: nothing does.
        initial_spin: ω about its centre, as `initial_velocity` [rad/s], (3,).
        animated: Whether it follows its animated mesh exactly (`constraints/animated_body.py`); its track decides.
        pressure: What presses on it from inside; None: nothing does.
        stretch_limit: How far it stretches before it stiffens; None: without end.
        muscle: Fibres that contract in flesh; None: there are none.
        attachments, hooks: What its surface slides along, or is tied to by springs, and places that pull it.
        bindings: Other bodies that its nodes follow exactly, besides attachments that are exact; only scripts write
            them.
        cap_vertices, wrap_vertices: How many of the last `vertices` close holes of the render mesh, and how many are of
            the Wrap inside, at which the body ends, in this order. They move with the body and are not played. What
            has a row per vertex has one for them, too.
        sheet: What it is besides where `meshing.method` is "sheet"; not read in other bodies.
        start: Shape and plastic strain at the first frame, at rest in the world [m]; None: the rest shape.
        seams: Pairs of vertices of a sheet that are sewn together; None: none are.
        surface_detail: Particles that keep dents finer than its tets; None: there are none.
        rigid_damping: What a rigid body loses of its motion and of its spin in a second, over these [1/s].
    """

    vertices: Annotated[Floats, points("n", 3)]
    triangles: Faces
    material: Material = field(default_factory=Material)
    meshing: Meshing = field(default_factory=Meshing)
    key: str = "body"
    name: str = "Body"
    pinned: Annotated[Indices, shape("p"), RowsOf("vertices")] = field(default_factory=lambda: np.zeros(0, np.int32))
    pin_weights: Annotated[Floats, shape("p")] = field(default_factory=lambda: np.zeros(0))
    simulated_scale: Annotated[float, closed_range(1.0e-9, 1.0e9, "Simulated Size")] = 1.0
    gravity_in_shape: bool = False
    initial_velocity: tuple[VelocityComponent, VelocityComponent, VelocityComponent] = (0.0, 0.0, 0.0)
    tet_nodes: Annotated[Floats, points("k", 3)] | None = None
    tets: Annotated[Indices, shape("m", 4), RowsOf("tet_nodes")] | None = None
    attached: Annotated[Indices, shape("q"), RowsOf("vertices")] = field(default_factory=lambda: np.zeros(0, np.int32))
    attached_weights: Annotated[Floats, shape("q")] = field(default_factory=lambda: np.zeros(0))
    plasticity: Plasticity | None = None
    heat: Heat | None = None
    fracture: Fracture | None = None
    face_of_triangle: Annotated[Indices, shape_or_empty("t")] = field(default_factory=lambda: np.zeros(0, np.int32))
    attributes: tuple[Annotated[str, OneOf(ATTRIBUTES)], ...] = ()
    flesh: Flesh | None = None
    collision: Collision = field(default_factory=Collision)
    method: FormulationSettings = field(default_factory=FormulationSettings)
    core: Core | None = None
    field_weights: FieldWeights = field(default_factory=FieldWeights)
    material_paint: MaterialPaint = field(default_factory=MaterialPaint)
    rest_scale: RestScale = field(default_factory=RestScale)
    goal: Goal | None = None
    initial_spin: tuple[SpinComponent, SpinComponent, SpinComponent] = INITIAL_SPIN.default
    animated: bool = ANIMATED.default
    pressure: Pressure | None = None
    stretch_limit: StretchLimit | None = None
    muscle: Muscle | None = None
    attachments: tuple[Attachment, ...] = ()
    hooks: tuple[Hook, ...] = ()
    cap_vertices: Annotated[int, at_least(0, "Cap Vertices")] = 0
    wrap_vertices: Annotated[int, at_least(0, "Wrap Vertices")] = 0
    start: Start | None = None
    bindings: tuple[BodyBinding, ...] = ()
    sheet: Sheet = field(default_factory=Sheet)
    seams: Seams | None = None
    surface_detail: SurfaceDetail | None = None
    rigid_damping: tuple[Annotated[float, at_least(0.0)], Annotated[float, at_least(0.0)]] = (0.0, 0.0)

    @property
    def played_count(self) -> int:
        """How many of the first vertices are render vertices."""
        return len(self.vertices) - self.cap_vertices - self.wrap_vertices

    @property
    def is_rigid(self) -> bool:
        """Whether it moves as one piece."""
        return self.meshing.method == RIGID

    @property
    def is_sheet(self) -> bool:
        """Whether its triangles are the elements, and it has no inside."""
        return self.meshing.method == SHEET

    @property
    def has_core(self) -> bool:
        """Whether all or a part of it moves as one rigid body."""
        return self.is_rigid or self.core is not None

    @property
    def follows_pose(self) -> bool:
        """Whether it is flesh at rest in every sample, which feels no body that has inertia."""
        return self.flesh is not None and self.flesh.motion == QUASISTATIC

    def __post_init__(self) -> None:
        """Takes lists for arrays, and holds pinned vertices exactly where no weights are given.

        Steps of sheets are solved by Newton's method, whatever `method` says.
        """
        convert_sequences(self)
        if self.is_sheet:
            object.__setattr__(self, "method", FormulationSettings(GREEN, scheme=self.method.scheme))
        if len(self.pinned) and not len(self.pin_weights):
            object.__setattr__(self, "pin_weights", np.ones(len(self.pinned)))


@dataclass(frozen=True)
class Settings:
    """Settings of the whole simulation and of its output.

    Tracks: "gravity" (3,) [m/s²], "air_temperature" () [°C] and "speed" (); without them the values here hold.

    Attributes:
        frame_start, frame_end: First and last frame, both written; the first is the start state.
        fps: Frames per second (frames_per_second / base of Blender).
        substeps: Steps per frame.
        samples_per_frame: Render positions written per frame; divides `substeps`.
        tolerance: Relative residual ‖b − A v‖ / ‖b‖ at which the linear solver stops.
        max_iterations: Maximum number of its iterations; a step that reaches it is reported.
        strict: Whether a step that did not converge stops the bake.
        threads: Threads for the kernels; None: all. Never changes a byte of the result.
        preroll: Frames before the first one in which bodies move from the rest pose to that of the first frame; their
            tracks begin so much earlier. Nothing of it is written, and nothing breaks in it.
        pose_tolerance: Relative residual (`quasistatic/equilibrium_residual.py`) at which quasistatic flesh is at rest.
        pose_iterations: Newton iterations that a try to bring a sample of it to rest may take; where the first try
            does not arrive there is a second one. That none did is reported, never hidden.
        preroll_tolerance: The same as `pose_tolerance`, for poses before the first frame, which only lead to it; None:
            `pose_tolerance`.
        linear_solver: Of `LINEAR_SOLVERS`, the preconditioner of conjugate gradients in a step: "jacobi" (blocks of the
            diagonal), "multigrid" (from the first iteration, where bodies are neither coupled by contacts nor have a
            rigid core), or "auto" (multigrid where a system needs it).
        speed: Simulated time that passes over the time of the scene (`time_scale.py`), ≥ 0.
        writes_preroll: Whether the positions of the pre-roll are written, for a later pass that follows them.
        contact: How bodies are kept apart, "fast" (by springs) or "exact" (surfaces never intersect).
    """

    frame_start: FrameNumber = 1
    frame_end: FrameNumber = 250
    fps: FramesPerSecond = 24.0
    substeps: Annotated[int, SUBSTEPS.limits] = SUBSTEPS.default
    samples_per_frame: SamplesPerFrame = SAMPLES_PER_FRAME.default
    gravity: tuple[GravityComponent, GravityComponent, GravityComponent] = (0.0, 0.0, -9.81)
    air_temperature: Annotated[float, AIR_TEMPERATURE.limits] = AIR_TEMPERATURE.default
    tolerance: Annotated[float, TOLERANCE.limits] = TOLERANCE.default
    max_iterations: Annotated[int, MAX_ITERATIONS.limits] = MAX_ITERATIONS.default
    strict: bool = False
    threads: Annotated[int, at_least(0, "Threads")] | None = None
    preroll: Annotated[int, PREROLL.limits] = PREROLL.default
    pose_tolerance: Annotated[float, POSE_TOLERANCE.limits] = POSE_TOLERANCE.default
    pose_iterations: Annotated[int, POSE_ITERATIONS.limits] = POSE_ITERATIONS.default
    preroll_tolerance: Annotated[float, POSE_TOLERANCE.limits] | None = None
    linear_solver: Annotated[str, OneOf(LINEAR_SOLVERS)] = AUTO_SOLVER
    speed: Annotated[float, SPEED.limits] = SPEED.default
    writes_preroll: bool = False
    contact: Annotated[str, OneOf(CONTACT.words)] = FAST_CONTACT

    @property
    def start_time(self) -> float:
        """Time at which bodies are in their rest pose and the simulation begins [s]: zero without a pre-roll."""
        return self.time(self.frame_start - self.preroll)

    @property
    def frame_count(self) -> int:
        """Frames to write, the first included."""
        return self.frame_end - self.frame_start + 1

    def time(self, frame: float) -> float:
        """Returns the time of a frame [s], zero at the first."""
        return (frame - self.frame_start) / self.fps


@dataclass(frozen=True)
class Scene:
    """The input of one simulation; all bodies move in the same world.

    Attributes:
        bodies, colliders, heat_sources, bones: Each has a key of its own. Lists are taken, too.
        settings: How it is simulated.
        ignored_pairs: Pairs of keys of bodies, or of a body and a collider, that pass through each other.
        wind: Air that moves; None: there is no air.
        force_fields: Blender's, each with a key of its own.
        joints: Between bodies, each with a key of its own.
    """

    bodies: tuple[Body, ...] = ()
    colliders: tuple[Collider, ...] = ()
    settings: Settings = field(default_factory=Settings)
    heat_sources: tuple[HeatSource, ...] = ()
    bones: tuple[Bone, ...] = ()
    ignored_pairs: tuple[tuple[str, str], ...] = ()
    wind: Wind | None = None
    force_fields: tuple[ForceField, ...] = ()
    joints: tuple[Joint, ...] = ()

    def __post_init__(self) -> None:
        """Takes lists for tuples."""
        convert_sequences(self)

    def is_loose_flesh(self, body: Body) -> bool:
        """Whether a body is flesh that moves and that nothing holds: it falls and lies as others do."""
        held = (
            len(body.pinned)
            or len(body.attached)
            or body.goal
            or any(not b.bodies or body.key in b.bodies for b in self.bones)
        )
        return body.flesh is not None and body.flesh.motion == DYNAMIC and not held

    def save(self, folder: Path, is_durable: bool = True) -> None:
        """Writes the scene into `folder`, complete or not at all; syncs it, unless it need not be durable yet."""
        arrays: dict[str, np.ndarray] = {}
        tree = {"format": SCENE_FORMAT, "scene": to_tree(self, "", arrays)}
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / ARRAYS_FILE, npz_bytes(arrays), is_durable)
        # a name that is no text, such as that of a file, is written in JSON's own escapes
        text = json.dumps(tree, indent=1, ensure_ascii=False)
        write_atomic(folder / SCENE_FILE, text.encode(errors="backslashreplace"), is_durable)

    @staticmethod
    def load(folder: Path) -> Scene:
        """Reads the scene that `save` wrote, and checks it against what the dataclasses declare.

        Raises:
            StorageFailed: There is no scene in `folder`, or one of another format, or it cannot be read.
            BadInput: A value is not what its dataclass declares; the sentence says which one.
        """
        try:
            tree = json.loads((folder / SCENE_FILE).read_text(encoding="utf-8"))
            found = tree.get("format") if isinstance(tree, dict) else None
            if found != SCENE_FORMAT or isinstance(found, bool):
                raise StorageFailed("scene-format", path=str(folder), found=found, wanted=SCENE_FORMAT)
            read_former_flesh_paint(tree.get("scene"))
            scene = from_tree(Scene, tree.get("scene"), read_arrays(folder / ARRAYS_FILE))
        except InvalidValue as problem:
            raise BadInput(
                "scene-value", path=str(folder), place=problem.place, found=problem.found, wanted=problem.wanted
            ) from problem
        except (OSError, ValueError, RecursionError) as problem:
            raise StorageFailed("scene-unreadable", path=str(folder), problem=first_line(problem)) from problem
        check_ranges(scene, shows_places=True)
        for named in (scene.bodies, scene.colliders, scene.heat_sources, scene.bones, scene.force_fields, scene.joints):
            check_keys(named)
        return scene

    def digest(self) -> str:
        """Returns 64 hex digits that change with anything that can change the result.

        Left out: what only says how long or how hard to work at it (threads, strict, frame_end), so
        that a bake may be resumed further, and whether the pre-roll is written.
        """
        arrays: dict[str, np.ndarray] = {}
        tree = to_tree(self, "", arrays)
        for name in ("threads", "strict", "frame_end", "writes_preroll"):
            del tree["settings"][name]
        drop_unused_fields_of_scene(self, tree, arrays)
        return digest([json.dumps(tree, sort_keys=True), *(p for name in sorted(arrays) for p in (name, arrays[name]))])
