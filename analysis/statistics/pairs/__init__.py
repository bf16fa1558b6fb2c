"""Tables on pairs of tokens and on the effects of modules on their mixing."""
