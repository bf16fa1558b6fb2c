"""Page on the mixing of tokens in whole layers."""
