"""What pages share: the words, the open file, pickers, charts, export. None of these is a page."""
