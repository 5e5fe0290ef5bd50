"""A page in the browser to play with a town: it is dragged, asked and changed, and every answer follows."""
