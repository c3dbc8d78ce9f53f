"""Every finding of a scan and of `remit check`: one module for each thing that is compared."""
