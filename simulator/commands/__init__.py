"""The commands of the command line, but for the demo, one module each."""
