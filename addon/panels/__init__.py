# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the Physics tab and of the sidebar."""
