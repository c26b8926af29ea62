"""What a bench was measured on: the machine, and the versions that took part."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ascendsim.explore.speed.c_loop import FLAGS, compiler


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line.partition(":")[2] for line in file if line.startswith("model name")]
        name = models[0].strip() if models else name
    except OSError:
        pass
    load_average = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {"cpu": name, "cpus": os.cpu_count(), "load": load_average, "os": platform.system()}


def versions() -> dict[str, str]:
    """Return versions of what took part."""
    found = {"python": platform.python_version()}
    for package in ("ascendsim", "numpy", "numba", "llvmlite", "ml_dtypes", "jax", "triton"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    tool = compiler()
    if tool is not None:
        shown = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
        first = next(iter(shown.stdout.splitlines()), tool)
        found["C"] = f"{first}, {' '.join(FLAGS[:4])}"
    return found
