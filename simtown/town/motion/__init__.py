"""Motion in a town: physics, driving, traffic and clips."""
