"""Tables on where attention rests, and on what makes it rest there."""
