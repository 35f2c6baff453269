"""From what is proved to what runs: pipes, pruning, the choice of kernels, the physical plan."""
