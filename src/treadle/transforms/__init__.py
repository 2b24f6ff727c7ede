"""Function in, function out."""
