# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes for shaders, per render vertex and frame."""
