"""What the reader collected: in order, with notes, to be presented and sent on."""
