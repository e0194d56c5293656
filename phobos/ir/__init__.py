"""The tile IR: types, op classes, printer, parser, verifier, rewriter."""
