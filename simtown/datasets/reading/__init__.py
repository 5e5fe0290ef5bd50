"""Reading data sets: files, caches, remote stores and PyTorch."""
