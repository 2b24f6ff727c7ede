"""Text as numbers: bytes, byte pairs, and other tokenizers' files."""
