# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape in which a hyperelastic body is at rest, while some of its nodes are held: Newton's method, from any start.

    equilibrium = solve(model, law, Held(nodes, positions), x)

`newton.py` is the solver, `residual.py` says when it is done, `step_length.py` how far it goes along a direction,
`starts.py` and `forgetting.py` where it begins, `outcome.py` what it has come to.
"""
