# SPDX-License-Identifier: GPL-3.0-or-later
"""Bindings: points that follow the nodes of tets, triangles, edges, rigid cores or other bound points.

A hard-bound node has no motion of its own, but that of its target (`hard_bindings.py`, `linalg/bound_nodes.py`).
A soft-bound particle has, and follows its target by a spring (`soft_particles.py`), or drifts from it within a step
(`synchronized_particles.py`).

Source: S07, chapter 6.
"""
