# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear system of a step: its matrix and right-hand side, and which solver takes it."""
