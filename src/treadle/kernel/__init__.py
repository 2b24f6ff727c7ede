"""One fused kernel to loops."""
