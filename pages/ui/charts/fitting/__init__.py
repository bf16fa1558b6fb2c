"""Charts fitted to the width of their place on the page, which only the browser knows."""
