"""Source text to typed tree: lexer, parser, checker."""
