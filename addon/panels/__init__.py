# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the panels and in the 3D view."""
