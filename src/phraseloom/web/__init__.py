"""The page: files for a server to serve, or one file that needs none."""
