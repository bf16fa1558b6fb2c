"""Tables on how attention comes to depend on positions."""
