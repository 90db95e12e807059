# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints how many seconds each part of the window's tests took, the longest first.

python tests/window/part_seconds.py RESULT.json …
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Prints the table, and the seconds of each folder."""
    for name in filter(os.path.exists, sys.argv[1:]):  # a part alone has no installation
        seconds = json.loads(Path(name).read_text()).get("seconds", {})
        if seconds:
            print(f"{sum(seconds.values()):7.0f} s  {Path(name).parent}")
        for part in sorted(seconds, key=lambda part: -seconds[part]):
            print(f"{seconds[part]:7.1f} s      {part}")


if __name__ == "__main__":
    main()
