"""Running on its own: the daemon that hooks ask, and whatever else serves many callers."""
