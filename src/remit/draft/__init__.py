"""A first policy: from what a repository says, from a kind of team, or from a server's tools; never wider."""
