"""Page on antecedents that heads find."""
