"""The sections of the page on relevance and what several of them draw; how maps over images and
texts are drawn stands in `maps`. A new section is a file here and a name in the page."""
