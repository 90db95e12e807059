# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptive tets whose sizes change between steps: smaller where strain varies or colliders are near, larger elsewhere.

body_levels.py       the tets that a body can have, and those that it has
split_criteria.py    which of them should become eight, or one again
scene_at_levels.py   what is simulated with the tets of a moment
level_transfer.py    how nodes go on when tets are switched: momenta are kept, and no energy is gained
elastic_energy.py    what a body stores, which a switch must not raise
mass_moments.py      masses of the new nodes with the moments of those before
switch_levels.py     all of it, after a step and when a bake is resumed
"""
