"""Running merges: the merged relation of a window, kept up to date as the window slides."""
