"""What all tests share: output does not depend on the width that the caller's shell announces."""

from __future__ import annotations

import os

os.environ.pop("COLUMNS", None)
