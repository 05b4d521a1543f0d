"""Builds the wheel for whoever calls from the root of the project: maturin, in this folder."""

import os
from pathlib import Path

from maturin import *  # noqa: F403 - the functions that pip calls

os.chdir(Path(__file__).parent)
