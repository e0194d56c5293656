"""The pass pipeline: one tuple that a person can read, from form "built" to form "synced"."""

from .options import Options
from .pipeline_table import FORMS, PIPELINE, Pass, run

__all__ = ["FORMS", "PIPELINE", "Options", "Pass", "run"]
