# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo's flex as a peer: the same tets of the same material, moved by its "discrete" integrator.

`make_flex` makes one that touches nothing, `make_heap` several that touch each other and a surface that stands still.

Its documentation: only "discrete" integrates the elasticity of a flex implicitly ("Deformables" of its chapter on
modelling). Without contacts and constraints a step is one linear system (M + Δt² K) a = f − Δt K v, Saint
Venant-Kirchhoff elasticity, which at rest has the matrix of linear elasticity, solved by conjugate gradients with the
inverses of the 3×3 blocks of the diagonal; `iterations` and `tolerance` end them, and nothing else does. `solver`, CG
or Newton, says how constraints are solved, so that it changes nothing here, and neither do threads: its pool works on
contacts and on islands of constraints. The mass of a flex is spread evenly over its vertices, those held included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.scene.scene import Material

SETTINGS_TEXT = "flex, integrator discrete, no contacts, no constraints, tolerance 0"

MODEL_XML = """<mujoco><size memory="{memory}M"/>
<option timestep="{dt!r}" gravity="{gravity}" integrator="discrete" solver="CG" tolerance="0">
<flag contact="disable" constraint="disable"/></option>
<worldbody><flexcomp name="flex" type="direct" dim="3" mass="{mass!r}" radius="1e-4" point="{nodes}" element="{tets}">
<pin id="{held}"/><elasticity young="{young!r}" poisson="{poisson!r}"/>
<contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>"""

HEAP_XML = """<mujoco><size memory="500M"/><option timestep="{dt!r}" integrator="discrete" solver="CG"/>
<worldbody>{flexes}</worldbody></mujoco>"""
BODY_XML = """<flexcomp name="body{number}" type="direct" dim="3" mass="{mass!r}" radius="{radius!r}" point="{nodes}"
element="{tets}"><elasticity young="{young!r}" poisson="{poisson!r}" damping="{damping!r}"/>
<contact selfcollide="none" friction="{friction!r} 0 0"/></flexcomp>"""
STILL_XML = """<flexcomp name="still" type="direct" dim="2" mass="1" radius="{radius!r}" point="{vertices}"
element="{triangles}" rigid="true"><contact selfcollide="none" friction="{friction!r} 0 0"/></flexcomp>"""


@dataclass
class MujocoFlex:
    """A flex and its state.

    Attributes:
        model, data: Of MuJoCo.
        is_free: Which nodes are not held, (n,).
        mass: Of the free nodes; nothing at held ones [kg], (n,).
    """

    model: Any
    data: Any
    is_free: Bools
    mass: Floats

    def start_again(self, iterations: int) -> None:
        """Puts it at rest; from now on steps have so many iterations."""
        import mujoco

        self.model.opt.iterations = iterations
        mujoco.mj_resetData(self.model, self.data)

    def step(self) -> None:
        """Moves it on by Δt."""
        import mujoco

        mujoco.mj_step(self.model, self.data)

    def velocities(self) -> Floats:
        """Returns the velocities of all nodes [m/s], (n, 3)."""
        first = self.model.body_dofadr[self.model.flex_vertbodyid[self.is_free]]
        v = np.zeros((len(self.is_free), 3))
        v[self.is_free] = self.data.qvel[first[:, None] + np.arange(3)]
        return v


def make_flex(
    X: Floats, tets: Indices, is_free: Bools, young: float, poisson: float, mass: float, gravity: tuple[float, ...],
    dt: float,
) -> MujocoFlex:  # fmt: skip
    """Returns a flex of tets.

    Args:
        X: Nodes at rest [m], (n, 3).
        tets: (m, 4).
        is_free: Which nodes are not held, (n,).
        young: Young's modulus [Pa].
        poisson: Poisson's ratio.
        mass: Of all nodes together [kg].
        gravity: [m/s²], (3,).
        dt: Δt [s].
    """
    import mujoco

    # said at every step whose iterations end before round-off does
    mujoco.set_mju_user_warning(lambda message: None)
    text = MODEL_XML.format(
        memory=200 + len(tets) // 50,
        dt=dt,
        gravity=_join_numbers(gravity),
        mass=mass,
        nodes=_join_numbers(X.ravel().tolist()),
        tets=_join_numbers(tets.ravel().tolist()),
        held=_join_numbers(np.flatnonzero(~is_free).tolist()),
        young=young,
        poisson=poisson,
    )
    model = mujoco.MjModel.from_xml_string(text)
    masses = model.body_mass[model.flex_vertbodyid]
    return MujocoFlex(model, mujoco.MjData(model), is_free, np.where(is_free, masses, 0.0))


@dataclass
class MujocoHeap:
    """Flexes that touch each other, and their state.

    Attributes:
        model, data: Of MuJoCo.
        node_count: Of all bodies.
    """

    model: Any
    data: Any
    node_count: int

    def step(self) -> None:
        """Moves them on by Δt."""
        import mujoco

        mujoco.mj_step(self.model, self.data)

    def nodes(self) -> Floats:
        """Returns the nodes of all bodies [m], (n, 3)."""
        return np.array(self.data.flexvert_xpos[: self.node_count])


def make_heap(
    bodies: Model, material: Material, friction: float, still: tuple[Floats, Indices], radius: float, dt: float
) -> MujocoHeap:
    """Returns all bodies of a model as flexes.

    Args:
        bodies: The bodies.
        material: Of all of them.
        friction: μ of all surfaces.
        still: A surface that stands still: vertices [m], (v, 3), and triangles, (t, 3).
        radius: Around vertices, edges and faces: two of them touch at twice of it [m].
        dt: Δt [s].
    """
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)
    flexes = [
        BODY_XML.format(
            number=number,
            mass=float(bodies.mass[body.nodes].sum()),
            radius=radius,
            nodes=_join_numbers(bodies.X[body.nodes].ravel().tolist()),
            tets=_join_numbers((bodies.tets[body.tets] - body.nodes.start).ravel().tolist()),
            young=material.youngs_modulus,
            poisson=material.poisson_ratio,
            damping=material.stiffness_damping,
            friction=friction,
        )
        for number, body in enumerate(bodies.bodies)
    ]
    vertices, triangles = (_join_numbers(each.ravel().tolist()) for each in still)
    flexes.append(STILL_XML.format(radius=radius, vertices=vertices, triangles=triangles, friction=friction))
    model = mujoco.MjModel.from_xml_string(HEAP_XML.format(dt=dt, flexes="".join(flexes)))
    return MujocoHeap(model, mujoco.MjData(model), bodies.node_count)


def _join_numbers(numbers: Any) -> str:
    return " ".join(map(repr, numbers))
