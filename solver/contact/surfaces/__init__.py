# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces that bodies and deforming colliders touch each other with, and where they meet during a step."""
