"""Tables on whole layers: feed-forward, residual connections and normalisations as parts."""
