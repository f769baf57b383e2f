"""What jobs write: folders that appear complete or not at all, and the data cards in them."""
