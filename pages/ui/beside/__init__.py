"""Any figure for another layer, head, file or the like, beside the one that is shown."""
