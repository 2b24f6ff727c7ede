"""NVIDIA GPUs: loop programs as Triton kernels, launched through the CUDA driver."""
