"""What tests of pages share: browsers, openings of pages, files, and what is asked of them."""
