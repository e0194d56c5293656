"""Phobos at run time, installed as `phobos.runtime`: devices, arrays, launches, timing and tuning through cuda-python.

Importing it needs no driver; the first launch does. It takes the compiler's artefacts and nothing else of it.
"""
