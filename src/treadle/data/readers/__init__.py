"""Files and bundled sets that need no network: each reader refuses what is damaged."""
