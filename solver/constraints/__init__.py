# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds and moves bodies from outside: forces, pins, bones, rigid cores, animated rest shapes."""
