# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to its motion: what is built of it, and how a frame and a time step go."""
