"""The interpreter: the meaning of tile ops in NumPy, one of the judges of what the compiler emits."""

from .memory import InterpError, TrapError
from .numbers import bf16_from_f32, bf16_to_f32
from .run import dims_of, run

__all__ = ["InterpError", "TrapError", "bf16_from_f32", "bf16_to_f32", "dims_of", "run"]
