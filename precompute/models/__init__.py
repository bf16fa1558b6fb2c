"""The only reader of weights: models with their processors and heads, ready to be traced."""
