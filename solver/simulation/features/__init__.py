# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies can do besides deforming: heat, plastic flow, fracture, flesh, rest shapes, rigid cores.

feature.py      the interface, and what its hooks are given
registry.py     all features, in the order in which every hook calls them
"""
