# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking and attaching without a window: `sinew bake` and `sinew attach`."""
