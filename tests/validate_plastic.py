# SPDX-License-Identifier: GPL-3.0-or-later
"""What plastic flow and creep promise, measured on whole bodies.

python -m pytest -s tests/validate_plastic.py
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.plastic_bodies import FLOWS, PULL, a_model, flowed, forces, relaxation, rest_shape
from fixtures.plastic_tets import Tets, some_gradients
from fixtures.relative_time import RelativeTime
from fixtures.scenes import Run, block, rotation
from reference import plastic_flow as twin
from reference.linear_elasticity import energy_density
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.plasticity import flow, plastic_norm, with_plastic_strain
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Collider, Material, Plasticity, Scene, Settings
from sinew.solver.simulation.current_model import current_model

SECTION = "Plastic flow and creep"
COW = Plasticity(yield_strain=0.01, flow=100.0, maximum_strain=10.0)  # Müller and Gross 2004, table 1
WAX = Material(5.0e4, 0.33, 1000.0, 0.0, 0.01)
MG04 = Settings(frame_end=1000, fps=100.0, substeps=1, max_iterations=20)
GROUND = (Collider("ground", "Ground"),)
LAWS = ("multiplicative", "additive")


def block_of_wax(folder, asked, material=WAX, **settings):
    """Returns the block of 0.5 m and 900 tets that stands on the ground."""
    body = block((6, 6, 5), (0.5, 0.5, 0.5), material=material, plasticity=asked, **settings)
    run = Run(folder, Scene((body,), GROUND, MG04))
    assert run.built.model.tet_count == 900
    return run


def volumes(run):
    """Returns det F of every tet, whatever has flowed."""
    edges = run.state.x[run.built.model.tets[:, 1:]] - run.state.x[run.built.model.tets[:, :1]]
    return np.linalg.det(edges) * np.linalg.det(run.built.model.Dm_inverse)


@pytest.mark.parametrize("dt", [0.04, 0.02, 0.005])
def test_relaxation(dt):
    off = max(abs(tension - np.exp(-5.0 * 2.0 / 3.0 * 1.33 * t)) for t, tension in relaxation(dt, seconds=1.0))
    reach(
        SECTION,
        f"bar, sides free, relaxes as exp(-c 2/3 (1+nu) t), step {1e3 * dt:g} ms",
        f"{off:.3%}",
        "1 %",
        off < 0.01,
    )
    tets = Tets(some_gradients(20, 0.15), rate=5.0)
    start, off = tets.norms, 0.0
    for number in range(1, int(1.0 / dt) + 1):
        tets.flow(dt)
        off = max(off, np.abs(tets.norms / start - np.exp(-5.0 * number * dt)).max())
    reach(SECTION, f"strain held relaxes as exp(-c t), step {1e3 * dt:g} ms", f"{off:.1e}", "1 %", off < 0.01)


@pytest.mark.parametrize("law", LAWS)
def test_below_yield(law, tmp_path):
    runs = []
    for name, asked in (("with", dataclasses.replace(COW, law=law, yield_strain=1.0)), ("without", None)):
        runs.append(block_of_wax(tmp_path / name, asked))
        runs[-1].advance(1000)
    one, other = (run.state.to_arrays() for run in runs)
    same = sum(one[name].tobytes() == values.tobytes() for name, values in other.items())
    stored = [one[name] for name in ("field.tet.Fp_inverse", "field.tet.plastic_strain") if name in one]
    kept = (
        all((values == values[0]).all() for values in stored)
        and plastic_norm(runs[0].built.model, runs[0].state).max() == 0.0
    )
    reach(
        SECTION, f"{law}, below yield 1000 steps change nothing: arrays with the bytes of an elastic body",
        f"{same} of {len(other)}", "all", same == len(other) and kept,
    )  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_maximum(law, tmp_path):
    run = block_of_wax(tmp_path, dataclasses.replace(COW, law=law, maximum_strain=0.2))
    largest = []
    for _ in range(100):
        run.advance()
        largest.append(run.reports[-1].bodies["block"]["largest_plastic_strain"])
    over = max(largest) / 0.2 - 1.0
    reach(SECTION, f"{law}, the maximum is kept: passed by", f"{over:.1e}", "1e-9", -1e-3 < over < 1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_unloading_and_turning(law):
    model = a_model()
    state = flowed(model, PULL, dataclasses.replace(FLOWS, law=law))
    Fp, present = rest_shape(model, state), with_plastic_strain(model, state)
    made_as, _ = forces(present, model.X)
    left, _ = forces(present, model.X @ Fp.T)
    part = np.abs(left).max() / np.abs(made_as).max()
    reach(
        SECTION, f"{law}, unloads to exactly its stored plastic strain: force left", f"{part:.1e}", "1e-9", part < 1e-9
    )
    worst = 0.0
    for angle in np.linspace(0.1, 3.1, 13):
        turned, _ = forces(present, model.X @ Fp.T @ rotation([1.0, -2.0, 0.7], angle).T)
        worst = max(worst, np.abs(turned).max() / np.abs(made_as).max())
    reach(SECTION, f"{law}, turned as a whole makes no force", f"{worst:.1e}", "1e-9", worst < 1e-9)


def test_stiffness():
    model = a_model()
    x = model.X @ PULL.T
    _, before = forces(model, x)
    _, after = forces(with_plastic_strain(model, flowed(model, PULL, dataclasses.replace(FLOWS, law="additive"))), x)
    differ = int((before != after).sum())
    reach(SECTION, "additive only: entries of the system matrix that change", differ, "0", differ == 0)


def test_volume_by_both_laws(tmp_path):
    """The 0.5 m block with the cow's parameters for one second."""
    for law in LAWS:
        run = block_of_wax(tmp_path / law, dataclasses.replace(COW, law=law))
        most = 0
        for _ in range(100):
            run.advance()
            most = max(most, run.reports[-1].inverted_tets)
        J = volumes(run)
        kept, inverted, height = J.mean(), int((J <= 0.0).sum()), np.ptp(run.state.x[:, 2])
        text = f"{kept:.1%}, {inverted} of 900 inside out (most {most}), {height:.2f} m high"
        if law == "additive":
            reach(SECTION, "additive, volume of the 0.5 m block after 1 s", text, "is lost (printed)", kept < 0.5)
        else:
            reach(
                SECTION,
                "multiplicative, volume of the 0.5 m block after 1 s",
                text,
                "98 %, none",
                kept > 0.98 and most == 0,
            )


def elastic_energy(model, x):
    """Returns the elastic energy of every tet [J], (m,)."""
    edges = (x[model.tets[:, 1:]] - x[model.tets[:, :1]]).transpose(0, 2, 1)
    strains = [np.diag(twin.stretches(F)[1] - 1.0) for F in edges @ model.Dm_inverse]
    return model.volume * energy_density(np.array(strains), model.mu, model.lam)


def test_energy(tmp_path):
    """Every step, the elastic energy of the body before its flow and after."""
    run = block_of_wax(tmp_path, COW)
    run.advance(2)
    model, worst, of_one = run.built.model, -np.inf, -np.inf
    for _ in range(60):
        before = State(run.state.x, run.state.v, 0.0, {k: a.copy() for k, a in run.state.fields.items()})
        run.advance()
        old, new = (elastic_energy(with_plastic_strain(model, s), run.state.x) for s in (before, run.state))
        worst = max(worst, (new.sum() - old.sum()) / old.sum())
        of_one = max(of_one, (new - old).max() / old.sum())
    text = f"{worst:+.1%} (one tet {of_one:+.1e})"
    reach(
        SECTION, "flow never adds elastic energy: largest change in a step", text, "0", worst <= 0.0 and of_one <= 1e-6
    )


@pytest.mark.parametrize(
    ("E", "nu", "rate"), [(5.0e4, 0.33, 100.0), (5.0e3, 0.49, 10.0), (500.0, 0.499, 100.0), (500.0, 0.499, 1.0e4)]
)
def test_liquids(E, nu, rate, tmp_path):
    """No yield strain at all, down to a hundredth of the wax's stiffness in shear; the block falls into a puddle."""
    run = block_of_wax(tmp_path, Plasticity(yield_strain=0.0, flow=rate), Material(E, nu, 1000.0, 0.0, 0.01))
    most = 0
    for _ in range(200):
        run.advance()
        most = max(most, run.reports[-1].inverted_tets)
    kept, strain = volumes(run).mean(), run.reports[-1].bodies["block"]["largest_plastic_strain"]
    text = f"{kept:.1%}, {most} ever inside out, strain {strain:.1f}"
    line = f"without yield strain, E {E:g} Pa, c {rate:g}/s: volume of the block after 2 s"
    reach(SECTION, line, text, "97 %, none", kept > 0.97 and most == 0)


@pytest.mark.timed
def test_cost(tmp_path):
    """What plastic flow adds to a step of 900 tets that all flow."""
    run = block_of_wax(tmp_path, COW)
    run.advance(30)
    built, state, tracks = run.built, run.state, run.tracks
    model = current_model(built, state)
    held = {name: values.copy() for name, values in state.fields.items()}
    # over the stress of the same tets, in turns and on as many threads: a busy machine missed 0.25 ms by the clock
    times = {name: RelativeTime() for name in ("present model", "flow", "stress")}
    for _ in range(300):
        again = State(state.x, state.v, state.time, {name: values.copy() for name, values in held.items()})
        times["present model"].time(lambda: current_model(built, again))  # noqa: B023
        times["flow"].time(lambda: flow(built.plastic, built.model, model, again, tracks, 0.01))  # noqa: B023
        times["stress"].time(lambda: elastic_stress(model, state.x))
    best = {name: 1e3 * spent.fastest() for name, spent in times.items()}
    total = best["flow"] + best["present model"]
    text = ", ".join(f"{name} {value:.3f}" for name, value in best.items())
    share = total / best["stress"]
    reach(SECTION, f"flow of 900 tets over their stress [{text} ms]", f"{share:.1f}", "6", share < 6.0)
