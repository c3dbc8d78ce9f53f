"""Shell texts: what bash would run, what each command does, and whether a scope covers it."""
