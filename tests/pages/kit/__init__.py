"""Tools of the tests of pages: browsers, page openers, files and common checks."""
