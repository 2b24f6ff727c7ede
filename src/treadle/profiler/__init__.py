"""From a line of yours to the kernels that ran for it, how long they took, and the limit."""
