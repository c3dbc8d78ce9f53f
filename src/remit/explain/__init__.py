"""What people read: why a call was decided so, who can do what, the matrix, and access reports."""
