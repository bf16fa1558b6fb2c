"""Tables on attention sinks, and on the scores behind them."""
