# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies of a scene: rigid ones that hits break, each piece of which is a rigid body then."""
