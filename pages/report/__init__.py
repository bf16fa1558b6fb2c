"""Collection of the reader's figures and notes, in order, for presentation and export."""
