# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrap: one smooth closed surface around several meshes, which bridges the grooves between them."""
