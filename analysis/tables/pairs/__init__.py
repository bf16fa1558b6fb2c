"""Tables on pairs of tokens and what each module changes in their mixing."""
