# SPDX-License-Identifier: GPL-3.0-or-later
"""What all rooms use: results that are computed again only when necessary."""
