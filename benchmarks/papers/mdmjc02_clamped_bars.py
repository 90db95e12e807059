# SPDX-License-Identifier: GPL-3.0-or-later
"""The bars of MDMJC02 and their formulations."""

from __future__ import annotations

from papers.simulation_setup import body, hold_in_place, make_simulation
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Material
from sinew.solver.simulation.simulation import Simulation

SHORT_BAR_CELLS, LONG_BAR_CELLS = 10, 17  # cells along: 4 × 4 × 11 nodes are 450 tets, 4 × 4 × 18 are 765
SIDE = 1.0  # [m]
DT = 0.01
MATERIAL = Material(1.0e6, 0.33, 1000.0, 0.0, 0.0)
LINEAR = FormulationSettings("linear")
WARPED = FormulationSettings("vertex-warp", rotation_field="edges")
NON_LINEAR = FormulationSettings("green", one_step=True)
# the paper's three methods, in its order, and Sinew's other methods
PAPER_METHODS = {"linear": LINEAR, "vertex-warp": WARPED, "green": NON_LINEAR}
OTHER_METHODS = {
    "vertex-warp, least squares": FormulationSettings("vertex-warp"),
    "polar": FormulationSettings("polar"),
    "qr": FormulationSettings("qr"),
    "hybrid": FormulationSettings("hybrid"),
}
DESCRIPTION = (
    "The bar is fixed to a wall at one end and bends under gravity: E = 10⁶ N/m², ν = 0.33, Δt = 10 ms, implicit "
    "Euler. The paper gives neither its size nor its density; Sinew's bar consists of cubes of five tets, "
    f"{SIDE:g} m thick (4 nodes), 1000 kg/m³, undamped."
)


def clamped_bar(cells: int, method: FormulationSettings, dt: float = DT, side: float = SIDE, **settings) -> Simulation:
    """Returns a horizontal bar, `cells` long and `side` thick [m], held at its end y = 0."""
    nodes, tets = box_tets((3, cells, 3), (side, side * cells / 3.0, side))
    asked = {"tolerance": 1e-6, "max_iterations": 2000, **settings}
    return make_simulation(
        body(nodes, tets, MATERIAL, method), dt, held=hold_in_place(nodes, nodes[:, 1] == 0.0), **asked
    )
