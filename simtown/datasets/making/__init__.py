"""Making data sets: settings become shards and a manifest."""
