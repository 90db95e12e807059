# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass: what broke gets its final render mesh, moved as it was baked."""
