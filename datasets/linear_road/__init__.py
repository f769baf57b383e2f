"""Traffic on the expressways of the Linear Road benchmark, as a stream of its input tuples."""
