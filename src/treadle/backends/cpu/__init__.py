"""The host processor: loop programs as LLVM IR."""
