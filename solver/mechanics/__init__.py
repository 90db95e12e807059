# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanics of continua: model and state, elements, hyperelastic laws, plasticity and heat."""
