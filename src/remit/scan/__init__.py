"""What a repository says about its agents: found in definitions, settings and documents, joined, and compared."""
