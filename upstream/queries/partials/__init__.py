"""Running merges: the merged relation of a window, kept up to date as the window slides."""

from .running_merge import RunningMerge, running_merge

__all__ = ["RunningMerge", "running_merge"]
