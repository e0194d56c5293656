"""Layouts: which thread's register, or which byte of shared memory, holds which element of a tile."""
