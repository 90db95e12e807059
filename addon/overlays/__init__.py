# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew draws over the 3D view and over timelines."""
