"""What other systems and devices lack."""
