# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten random scatters each of four bodies, solved from the scatters themselves (S07, figure 3.1).

    make validate ARGS="--scatter-seed 100"

takes other seeds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fixtures import quasistatic_scenes as scenes
from harness import creature_mesh
from sinew.solver.mechanics.model import Model
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.quasistatic import initial_guesses, outcome_classification
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.scene.scene import Meshing

SECTION = "Random scatters, solved from themselves"
SEEDS = 10
LEAST_BACK = 9
MOST_ITERATIONS = 80.0  # in the median: those of S07
SIDES = 10.0  # of the cube, in longest sides of the body
LARGE_DIVISIONS = 70


def body(request: pytest.FixtureRequest, name: str) -> tuple[Model, FixedNodes]:
    """Returns a body and what is held of it, by name."""
    if name == "creature":
        filled = creature_mesh.creature_tets()
        return scenes.model_of(filled.nodes, filled.tets), creature_mesh.hands_and_feet(filled.nodes)
    shared = request.getfixturevalue("shared")
    if name == "half a million tets":
        surface = read_surface(shared / "testdata" / "wild" / "suzanne.ply")
        filled = tetrahedralize(surface, Meshing(method="robust", divisions=LARGE_DIVISIONS), "suzanne")
        model = scenes.model_of(filled.nodes, filled.tets)
    else:
        model = scenes.model_of_file(shared / "testdata" / "tet" / f"polyfem_{name}.msh")
    return model, scenes.three_regions(model.X)


@pytest.mark.parametrize("name", ["bunny", "creature", "dinosaur", "half a million tets"])
def test_scatters_come_back(reach: Callable[..., bool], request: pytest.FixtureRequest, name: str):
    model, held = body(request, name)
    law = scenes.law_of(model, "neo-hookean")
    first = int(request.config.getoption("--scatter-seed"))
    iterations, back, silent = [], 0, 0
    for seed in range(first, first + SEEDS):
        found = solve(
            EquilibriumProblem(model, law, held),
            initial_guesses.scattered(model.X, held, SIDES, seed),
            keeps_start=True,
        )
        assert not found.start_replaced
        iterations.append(found.newton_iterations)
        is_back = scenes.is_back(model, found)
        back += is_back
        # what ended elsewhere has to be known to have: by its own words, not by the rest shape
        silent += (
            not is_back
            and outcome_classification.classify_outcome(EquilibriumProblem(model, law, held), found, True, 1e-6).kind
            == outcome_classification.AT_REST
        )
    label = f"{name}, {model.tet_count} tets, seeds {first} to {first + SEEDS - 1}:"
    reach(SECTION, f"{label} back at rest to 1e-4", f"{back} of {SEEDS}", LEAST_BACK, back >= LEAST_BACK)
    reach(SECTION, f"{label} ends elsewhere without saying so", silent, 0, silent == 0)
    median = float(np.median(iterations))
    line = f"{label} Newton iterations, median ({min(iterations)} to {max(iterations)})"
    reach(SECTION, line, median, MOST_ITERATIONS, median <= MOST_ITERATIONS)
