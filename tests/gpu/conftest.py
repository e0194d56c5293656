"""GPU tests: they need torch with a CUDA device, and fail where there is none, since they were asked for by name."""
