# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects for broken bodies: a new object with the final topology replaces the original, which is hidden."""
