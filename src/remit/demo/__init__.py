"""Stories that show Remit at work, in a private folder, on real tools: `remit demo`."""
