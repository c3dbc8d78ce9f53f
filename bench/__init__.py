"""What a decision costs: Remit, a bare table lookup and other engines, timed side by side in one run."""
