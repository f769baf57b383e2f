"""Running experiments: over processes, resumably, into files and a page that shows them all."""
