"""Graph to plan: which nodes share a kernel, in which order, in which memory."""
