# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape in which a hyperelastic body is at rest, while some of its nodes are held: Newton's method, from any start.

    equilibrium = solve(EquilibriumProblem(model, law, FixedNodes(nodes, positions)), x)

`equilibrium.py` is the solver, `equilibrium_residual.py` says when it is done, `line_search.py` how far it goes along a
direction, `initial_guesses.py` and `harmonic_reset.py` where it begins, `outcome_classification.py` what it has come
to.
"""
