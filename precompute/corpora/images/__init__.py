"""Images and their masks: folders, files, decoding, patches."""
