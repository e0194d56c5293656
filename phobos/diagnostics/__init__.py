"""Diagnostics: one object for what people read, what editors parse and what tests check."""

from .codes import CODES, Code
from .core import CompileError, Diagnostic, InternalError, Label, Severity, Sink

__all__ = ["CODES", "Code", "CompileError", "Diagnostic", "InternalError", "Label", "Severity", "Sink"]
