"""Headers have to come in time; who sends them is not held to anything else."""

from __future__ import annotations

import http.client
import socket

from api.patient_protocol import LATE, PatientHttpProtocol, patient
from tests.server_process import running


def test_slow_headers_end_the_connection_and_nobody_elses() -> None:
    environment = {"UPSTREAM_HEADER_TIMEOUT_SECONDS": "0.3"}
    with running(environment=environment) as server:
        address = ("127.0.0.1", server.port)
        patient_client = http.client.HTTPConnection(*address, timeout=30)
        for sent in (b"", b"GET /livez HTTP/1.1\r\nhost: x\r\n"):
            with socket.create_connection(address, timeout=20) as slow:
                slow.sendall(sent)
                assert slow.recv(1_000) == LATE
                assert slow.recv(1_000) == b""
            patient_client.request("GET", "/livez")
            assert patient_client.getresponse().read()
        patient_client.close()


def test_each_server_has_its_own_limit() -> None:
    assert patient(1.0).header_seconds == 1.0
    assert patient(2.0).header_seconds == 2.0
    assert PatientHttpProtocol.header_seconds == 10.0
