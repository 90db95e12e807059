# SPDX-License-Identifier: GPL-3.0-or-later
"""What was tried to be faster and was taken out again, since it cost more than it brought; sentences for the page."""

from __future__ import annotations

TRIED: tuple[str, ...] = ()
