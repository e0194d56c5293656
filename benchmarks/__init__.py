"""Benchmarks: each module measures one kernel against the vendor's library in the same process, on a GPU."""
