"""How a written value may look: shapes that read it, with positions, and describe it as JSON Schema. No YAML."""
