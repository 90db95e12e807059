# SPDX-License-Identifier: GPL-3.0-or-later
"""What `import sinew` gives besides the classes of the rooms: one call each for what takes several of them.

docs/library.md describes the whole interface; the package root lists its names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .bake.bake_loop import OnEvent
from .bake.cache import CacheReader
from .bake.cache.write_scene import write_scene
from .bake.run_bake import BakeOptions, run_bake
from .constraints.external_forces import ExternalForces
from .integrators.integrator_choice import step as take_step
from .integrators.step_report import StepReport
from .mechanics.hyperelastic import hyperelastic_bodies
from .mechanics.hyperelastic.anisotropic_terms import AnisotropicTerm
from .mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic
from .mechanics.hyperelastic.law_numbers import EXTENDED_LAWS
from .mechanics.model import Model, Part, make_model
from .mechanics.state import State
from .mesh.geometry.triangle_surface import make_surface
from .mesh.tet_mesh import TetMesh
from .mesh.tetrahedralize import tetrahedralize as fill_with_tets
from .quasistatic import equilibrium as newton
from .quasistatic.equilibrium import Equilibrium
from .quasistatic.equilibrium_problem import EquilibriumProblem
from .quasistatic.fixed_nodes import FixedNodes, check_constrained
from .runtime.arrays import Floats, floats, indices
from .runtime.errors import BadInput
from .scene.formulation import DEFAULT_FORMULATION, FormulationSettings
from .scene.scene import Material, Meshing, Scene, Settings
from .scene.tracks import MemoryTracks, Track
from .scene.validation import check_scene
from .simulation.simulation import memory_tracks

DEFAULT_LAW = "stable-neo-hookean"


def tetrahedralize(
    vertices: npt.ArrayLike, triangles: npt.ArrayLike, meshing: Meshing | None = None, name: str = "surface"
) -> TetMesh:
    """Returns the tets that fill a surface.

    Args:
        vertices, triangles: Positions [m], (n, 3), and vertex numbers, (t, 3): any triangles, also open, doubled,
            crossing each other or inside out.
        meshing: Method "smooth" or "robust" and the size of the tets; None: `Meshing()`.
        name: What the surface is called in the sentences of failures.

    Raises:
        BadInput: The surface is empty or not finite, the size does not fit it, or nothing is inside.
    """
    return fill_with_tets(make_surface(vertices, triangles, name), meshing or Meshing(), name)


def model_of_tets(
    nodes: npt.ArrayLike,
    tets: npt.ArrayLike,
    material: Material | None = None,
    fill: Floats | None = None,
    method: FormulationSettings = DEFAULT_FORMULATION,
) -> Model:
    """Returns one body as what steps and equilibria work on: masses, moduli, rest shapes and sparsity of its tets.

    Args:
        nodes, tets: Rest positions [m], (n, 3), and node numbers, positively oriented, (m, 4).
        material: What it is made of; None: `Material()`.
        fill: Share of each tet that is filled, in (0, 1], (m,); None: all of it (`TetMesh.fill` says it).
        method: By which formulation its tets resist.

    Raises:
        BadInput: There is no tet, or one without volume or inside out.
    """
    numbers = indices(tets, -1, 4)
    filled = np.ones(len(numbers)) if fill is None else fill
    return make_model(
        [Part("body", floats(nodes, -1, 3), numbers, filled, material or Material(), name="Body", method=method)]
    )


def rest_state(model: Model) -> State:
    """Returns the state of a model at rest in its rest shape, with arrays of its own."""
    return State(model.X.copy(), np.zeros_like(model.X))


def step(model: Model, state: State, forces: ExternalForces, dt: float, settings: Settings | None = None) -> StepReport:
    """Moves a state on by Δt in one step of the schemes that its bodies ask for; nothing else changes.

    Contacts, plastic flow, heat and fracture are not part of it: `Simulation.step` has them all.

    Args:
        model: The bodies.
        state: x, v and time, moved on in place.
        forces: Gravity, nodes that are held, springs and forces.
        dt: Δt [s].
        settings: `tolerance`, `max_iterations` and `linear_solver` are read; None: `Settings()`.

    Raises:
        SolveFailed: Velocities are no longer numbers; the state is as it was.
    """
    return take_step(model, state, forces, dt, settings or Settings())


def hyperelastic(
    model: Model,
    law: str = DEFAULT_LAW,
    *,
    parameter: float | None = None,
    anisotropic_term: AnisotropicTerm | None = None,
) -> Hyperelastic:
    """Returns a hyperelastic law for every tet of a model, as `equilibrium` and flesh have it.

    A law whose energy ends at J = 0 is extended below it; nearly incompressible tets leave part of their energy to
    averages at their nodes, so that they do not lock.

    Args:
        model: The bodies, with the moduli of the law for small strains.
        law: "neo-hookean", "stable-neo-hookean", "mooney-rivlin", "corotated", "stvk" or "hybrid".
        parameter: The law's own, such as the share of μ before the second invariant of Mooney–Rivlin; None: default.
        anisotropic_term: A term of one's own that is added to the law; None: none.

    Raises:
        BadInput: There is no such law.
    """
    extension = "constant" if law in EXTENDED_LAWS else None
    made = hyperelastic_bodies.hyperelastic(model, law, extension, parameter=parameter, average=True)
    return replace(made, anisotropic_term=anisotropic_term)


def equilibrium(
    model: Model,
    fixed: FixedNodes,
    law: str | Hyperelastic = DEFAULT_LAW,
    *,
    start: Floats | None = None,
    load: Floats | None = None,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
) -> Equilibrium:
    """Returns where a hyperelastic body is at rest, f(x) + load = 0, while some nodes are held.

    Args:
        model: The body, with the moduli of its law for small strains.
        fixed: Which nodes are held, and where; some of every piece.
        law: Name of the law, or what `hyperelastic` made.
        start: Where Newton's method begins [m], (n, 3); None: the rest shape.
        load: Forces on nodes [N], (n, 3); None: none.
        tolerance: Relative residual to reach; `Equilibrium.converged` says whether it was.
        max_iterations: Newton iterations at most.

    Raises:
        BadInput: There is no such law, a piece of which nothing is held, or the model has bound nodes.
    """
    if model.bound is not None:
        raise BadInput("bound-at-rest")
    check_constrained(model.tets, fixed, indices(np.arange(model.node_count, dtype=np.int64)), "model")
    law = hyperelastic(model, law) if isinstance(law, str) else law
    x = model.X.copy() if start is None else floats(start, -1, 3)
    return newton.solve(EquilibriumProblem(model, law, fixed, load), x, tolerance, max_iterations)


def bake(
    scene: Scene,
    folder: Path | str,
    tracks: Mapping[str, Track | tuple[Any, ...]] | MemoryTracks | None = None,
    *,
    resume: bool = False,
    on_event: OnEvent = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> CacheReader:
    """Simulates a scene into a cache folder, and returns a reader of it.

    Args:
        scene: What is asked for.
        folder: The cache, as "NAME.sinew"; it is made where it is not there.
        tracks: Animated inputs by name; None: nothing moves.
        resume: Whether to go on where an earlier bake of the same scene stopped; without it that is replaced.
        on_event: Called with each event (docs/architecture.md).
        should_stop: Asked after every step.

    Raises:
        BadInput: What the scene asks for cannot be done; nothing was written.
        SolveFailed, StorageFailed, Cancelled: Frames that were written stay, and can be gone on from.
    """
    check_scene(scene)
    write_scene(scene, memory_tracks(scene, tracks), Path(folder))
    run_bake(Path(folder), on_event, should_stop, options=BakeOptions(resume=resume))
    return CacheReader(Path(folder))
