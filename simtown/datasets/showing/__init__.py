"""Showing data sets: descriptions, captions, sheets, galleries and 3D scenes."""
