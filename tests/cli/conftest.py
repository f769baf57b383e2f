"""What the tests of the command line share: a real service."""

from ..client.service_fixtures import client, name, service_url, unused_url

__all__ = ["client", "name", "service_url", "unused_url"]
