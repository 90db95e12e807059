# SPDX-License-Identifier: GPL-3.0-or-later
"""Two processes compile at once, and keep what they compile in one place however the package is reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sinew
from fixtures.compile_listener import LISTENER

FOLDERS = """
from sinew.solver.bake.warmup import helper_process as warm_process
from sinew.solver.linalg import pcg
found = []
def start(command, **_):
    found.append(command)
    raise OSError
warm_process.subprocess.Popen = start
assert warm_process.start_compiler_process("steps") is None
assert found[0][found[0].index("--package-dir") + 1] == sys.argv[1], found
print(pcg.__file__)
"""


def test_the_other_process_takes_the_same_way_to_the_sources(tmp_path: Path) -> None:
    """Numba keeps kernels by the paths of sources: through a link and past it, all would be compiled twice."""
    link = tmp_path / "sinew"
    link.symlink_to(Path(sinew.__file__).resolve().parent, target_is_directory=True)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + FOLDERS
    ended = subprocess.run([sys.executable, "-c", code, str(link)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == str(link / "solver" / "linalg" / "pcg.py")


def test_bodies_that_may_meet_have_the_kernels_for_it_compiled_ahead() -> None:
    """After both parts of the warm-up a box that falls on another compiles nothing."""
    code = """
from sinew.solver.bake.warmup import compile_contact as warm_touching
from sinew.solver.bake.warmup.compile_step import compile_step
compile_step()
warm_touching.compile_surface_contacts()
reports, advance = [], warm_touching.advance_frame
warm_touching.advance_frame = lambda *of: reports.append(advance(*of))
with listening():
    warm_touching.compile_surface_contacts()
assert not names, names
assert reports[-1].contacts > 0
"""
    ended = subprocess.run([sys.executable, "-c", LISTENER + code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_contact_that_settles_ahead_leaves_nothing_to_compile_to_one_of_a_body() -> None:
    """The process that builds finds what the other one has made of it, and calls it with the same types."""
    code = """
from sinew.solver.bake.warmup import compile_scene as warm_bake
from sinew.solver.contact.active_set import active_set_kernels
from sinew.solver.bake.warmup.small_scenes import free_fall_scene, reduced_scene
from sinew.solver.bake.warmup.compile_step import compile_active_set
compile_active_set()
before = active_set_kernels.update_active_set.signatures
warm_bake.compile_scene(reduced_scene(free_fall_scene()), lambda: None)
after = active_set_kernels.update_active_set.signatures
assert len(before) == 1 and after == before, after
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_scenes_with_fewer_features_than_a_compiled_one_compile_nothing() -> None:
    """One with all features was compiled: those that most begin with are known to be, and are."""
    code = """
from sinew.solver.bake.warmup import compile_scene as warm_bake
from sinew.solver.bake.warmup import warm_up
from sinew.solver.bake.warmup.small_scenes import full_feature_scene, free_fall_scene, pinned_scene, reduced_scene
for scene in (free_fall_scene(), pinned_scene(), full_feature_scene()):
    warm_up.warm_up(scene, print)
scenes = [free_fall_scene(), pinned_scene()]
scenes += [dataclasses.replace(scene, colliders=()) for scene in scenes]
with listening():
    for scene in scenes:
        assert warm_up.is_compiled(scene)
        warm_bake.compile_scene(reduced_scene(scene), lambda: None)
assert not names, names
"""
    ended = subprocess.run(
        [sys.executable, "-c", "import dataclasses" + LISTENER + code], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr


def test_what_answers_contacts_is_compiled_beside_what_finds_them() -> None:
    """A step of two bodies that push each other leaves nothing of the linear system to compile to one with skins."""
    code = """
from sinew.solver.bake.warmup import compile_contact as warm_touching
from sinew.solver.contact.active_set import active_set_kernels as settle
from sinew.solver.linalg import pcg_loop as conjugate_gradients
from sinew.solver.linalg import coupled_rigid_modes as coupled_modes
from sinew.solver.linalg import pair_terms as pairs
from sinew.solver.linalg import pattern_union as widening
from sinew.solver.bake.warmup.compile_step import compile_coupled_bodies, compile_step
KERNELS = (
    conjugate_gradients.conjugate_gradients, coupled_modes.coarse_correct_coupled,
    pairs.add_pair_terms, widening.merge_rows,
    settle.find_frozen_nodes, settle.has_gained_energy,
)
compile_step()
compile_coupled_bodies()
before = [kernel.signatures for kernel in KERNELS]
warm_touching.compile_surface_contacts()
assert all(before) and [kernel.signatures for kernel in KERNELS] == before, before
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_levels_are_compiled_ahead_for_stiff_steps_and_for_flesh() -> None:
    """A step of a stiff bar, held and free, and a solve for averaged flesh at rest go over to multigrid."""
    code = """
import dataclasses
import numpy as np
from sinew.solver.mechanics.hyperelastic.hyperelastic_element import (
    forces_and_tangent, hyperelastic, tet_arrays, whole_tangent,
)
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from sinew.solver.linalg.multigrid import switching_policy as preconditioner
from sinew.solver.linalg.multigrid import solve as take_over
from sinew.solver.scene.scene import Settings
from sinew.solver.mechanics.state import State
from sinew.solver.bake.warmup.compile_multigrid import compile_multigrid, cube
from sinew.solver.bake.warmup.compile_step import compile_step
compile_step()
compile_multigrid()
taken, take = [], take_over.solve_with_multigrid
take_over.solve_with_multigrid = lambda *of: taken.append(take(*of)) or taken[-1]
preconditioner.MIN_ISLAND_NODES = 0
model = cube()
stiff = dataclasses.replace(model, mu=1e6 * model.mu, lam=1e6 * model.lam)
law = hyperelastic(model, "neo-hookean", average=True)
values, force = np.empty((model.pattern.block_count, 9)), np.empty((model.node_count, 3))
work = tet_arrays(model.pattern)
forces_and_tangent(model, law, model.X, values, force, work)
pattern, values = whole_tangent(model, law, values, work)
held = model.X[:, 0] < 0.1
lattices = preconditioner.LatticeMultigrid(model.X, mesh=model.pattern)
with listening():
    for is_fixed in (held, held & False):
        state = State(model.X * [1.0, 1.0, 1.1], np.zeros_like(model.X))
        step(stiff, state, ExternalForces(is_fixed=is_fixed, fixed_target=state.x), 0.1, Settings())
    system = BlockSystem(pattern, values, model.X, ~held)
    lattices.solve(system, np.zeros_like(model.X), StoppingCriteria(1.0e-2, 4), None, PcgWorkspace())
assert len(taken) == 3, taken
assert not names, names
"""
    ended = subprocess.run([sys.executable, "-c", LISTENER + code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
