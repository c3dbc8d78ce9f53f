"""Confinement: commands run inside limits that the kernel holds, and that come from the policy."""
