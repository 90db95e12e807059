# SPDX-License-Identifier: GPL-3.0-or-later
"""What each object is in the simulation: its role, what holds it, what it collides with, whether its mesh will do."""
