"""What a user types: one module a command, and what the commands share."""
