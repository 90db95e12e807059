# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts on bodies at rest is found once for the same positions, and is the sum over all that is on."""

from __future__ import annotations

import numpy as np

from sinew.solver.quasistatic.potential_forces import PotentialForces

NODES, BLOCKS, BODIES = 5, 7, 2


class Pull:
    """A force ∝ x − place; counts how often it was found."""

    def __init__(self, stiffness, waits=None):
        self.stiffness, self.count, self.began = stiffness, 0, 0
        if waits is not None:
            self.waits_for_untangling, self.tied_nodes = waits, np.arange(NODES) == self.stiffness

    def energies(self, x):
        return np.full(BODIES, 0.5 * self.stiffness * (x**2).sum())

    def add(self, x, values, force):
        self.count += 1
        force -= self.stiffness * x
        values += self.stiffness
        return self.energies(x)

    def begin(self):
        self.began += 1

    def restrict_to(self, bodies):
        pass

    def couplings(self):
        return None


def test_it_is_found_once_for_forces_and_tangent_at_the_same_positions():
    pulls = [Pull(2.0), Pull(3.0, waits=True)]
    potentials, x = PotentialForces(pulls, NODES, BLOCKS, BODIES), np.random.default_rng(0).normal(size=(NODES, 3))
    force, values = np.ones((NODES, 3)), np.ones((BLOCKS, 9))
    energies = potentials.add(x, force)
    assert np.array_equal(energies, potentials.energies(x)) and np.allclose(force, 1.0 - 5.0 * x)
    again = np.zeros_like(force)
    assert np.array_equal(potentials.add(x, again, values), energies)
    assert np.allclose(again, -5.0 * x) and (values == 6.0).all()
    assert [each.count for each in pulls] == [1, 1]
    potentials.add(x.copy(), again, values)
    assert [each.count for each in pulls] == [2, 2], "other positions may be other numbers"


def test_what_waits_for_untangling_does_not_act_meanwhile():
    pulls = [Pull(2.0), Pull(3.0, waits=True), Pull(4.0, waits=False)]
    potentials, x = PotentialForces(pulls, NODES, BLOCKS, BODIES), np.ones((NODES, 3))
    assert potentials.are_coupling and potentials.tied_nodes().tolist() == [False, False, False, True, True]
    for is_tangled, wanted in ((False, -9.0), (True, -6.0), (False, -9.0)):
        potentials.set_tangled(is_tangled)
        force = np.zeros((NODES, 3))
        potentials.add(x, force)
        assert (force == wanted).all()
    potentials.begin()
    assert [each.began for each in pulls] == [0, 1, 1]


def test_nothing_acts_where_there_are_no_forces():
    potentials, force = PotentialForces([], NODES, BLOCKS, BODIES), np.zeros((NODES, 3))
    assert not potentials.add(force, force).any() and not force.any()
    assert potentials.couplings() is None and potentials.tied_nodes() is None and not potentials.are_coupling
