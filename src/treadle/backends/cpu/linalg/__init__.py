"""Factorisations of matrices: algorithms in a small part of Python, compiled to LLVM IR."""
