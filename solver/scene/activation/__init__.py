# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources of the activation of muscles: length of the path, pose, data; and how fast activation follows them."""
