"""Settings come from the environment; bad ones are reported without their values."""

from __future__ import annotations

import os

import pytest

from api.settings import (
    Settings,
    SettingsError,
    describe,
    load_settings,
    variable,
    warnings_of,
)


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith("UPSTREAM_"):
            monkeypatch.delenv(name)


def faults_with(monkeypatch: pytest.MonkeyPatch, **environment: str) -> list[str]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    return caught.value.faults


def test_without_an_environment_the_defaults_hold() -> None:
    settings = load_settings()
    assert (settings.host, settings.port, settings.demo) == ("127.0.0.1", 8_000, True)
    assert settings.max_body_bytes == 16 * 1024 * 1024
    assert settings.allowed_origins == ()
    assert not settings.access_log


def test_a_variable_sets_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_PORT", "9000")
    monkeypatch.setenv("UPSTREAM_DEMO", "false")
    settings = load_settings()
    assert (settings.port, settings.demo) == (9_000, False)


def test_given_settings_take_precedence_over_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UPSTREAM_PORT", "9000")
    assert load_settings({"port": 0}).port == 0


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_PORT", "")
    assert load_settings().port == 8_000


@pytest.mark.parametrize(
    ("text", "size"), [("65536", 65_536), ("64KiB", 65_536), ("2 MiB", 2 << 20), ("1GB", 10**9)]
)
def test_sizes_have_units(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("UPSTREAM_MAX_BODY_BYTES", text)
    settings = load_settings()
    assert settings.max_body_bytes == size
    assert type(settings.max_body_bytes) is int  # the hot paths compare with it


def test_origins_are_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_ALLOWED_ORIGINS", "https://Example.org/, http://localhost:3000,")
    assert load_settings().allowed_origins == ("https://example.org", "http://localhost:3000")


def test_proxies_are_addresses_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.9/8,::1")
    assert load_settings().trusted_proxies == ("127.0.0.1/32", "10.0.0.0/8", "::1/128")


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.0/33", "*"])
def test_an_invalid_address_of_a_proxy_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (fault,) = faults_with(monkeypatch, UPSTREAM_TRUSTED_PROXIES=text)
    assert "must be addresses or networks" in fault


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        setattr(Settings(), "port", 1)  # noqa: B010  # mypy would not have it either


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("UPSTREAM_PORT", "eighty", "a whole number from 0 to 65535"),
        ("UPSTREAM_PORT", "65536", "a whole number from 0 to 65535"),
        ("UPSTREAM_DEMO", "perhaps", "true or false"),
        ("UPSTREAM_LOG_LEVEL", "loud", "critical, error, warning, info or debug"),
        ("UPSTREAM_LOG_FORMAT", "xml", "auto, text or json"),
        ("UPSTREAM_MAX_BODY_BYTES", "-1", "a number of bytes from 1KiB to 4GiB"),
        ("UPSTREAM_MAX_BODY_BYTES", "5GiB", "a number of bytes from 1KiB to 4GiB"),
        ("UPSTREAM_MAX_BODY_BYTES", "lots", "a number of bytes from 1KiB to 4GiB"),
        ("UPSTREAM_MAX_WAIT_SECONDS", "nan", "a number of seconds from 0 to 3600"),
        ("UPSTREAM_HEARTBEAT_SECONDS", "0", "a number of seconds, more than 0 and at most 3600"),
        ("UPSTREAM_ALLOWED_ORIGINS", "example.org", "origins such as https://example.org"),
        ("UPSTREAM_ALLOWED_ORIGINS", "https://example.org/page", "origins such as"),
    ],
)
def test_a_fault_names_the_variable_and_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    (fault,) = faults_with(monkeypatch, **{name: value})
    assert fault.startswith(f"{name} must be {expected}")


def test_every_fault_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = faults_with(monkeypatch, UPSTREAM_PORT="x", UPSTREAM_DEMO="perhaps")
    assert sorted(fault.split()[0] for fault in faults) == ["UPSTREAM_DEMO", "UPSTREAM_PORT"]
    assert str(SettingsError(faults)).splitlines() == faults


@pytest.mark.parametrize("name", [variable(name) for name in Settings.model_fields])
def test_no_value_is_repeated(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    secret = "hunter2-" + "s3cr3t" * 50  # too long for the host, and no sense anywhere else
    assert "s3cr3t" not in "".join(faults_with(monkeypatch, **{name: secret}))


def test_the_fault_does_not_lead_to_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_PORT", "s3cr3t")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert caught.value.__suppress_context__  # so that a traceback does not show pydantic's


def test_a_port_that_kubernetes_set_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    (fault,) = faults_with(monkeypatch, UPSTREAM_PORT="tcp://10.0.0.1:8000")
    assert "enableServiceLinks" in fault


def test_a_setting_that_does_not_exist_is_a_fault() -> None:
    with pytest.raises(SettingsError, match="hots is not a setting; did you mean host"):
        load_settings({"hots": "127.0.0.1"})


def test_an_unknown_variable_is_warned_of_with_the_nearest_name() -> None:
    assert warnings_of({"UPSTREAM_PROT": "80", "PORT": "80", "UPSTREAM_PORT": "80"}) == [
        "UPSTREAM_PROT is not a setting; did you mean UPSTREAM_PORT?"
    ]


def test_an_unknown_variable_that_is_near_nothing_is_warned_of() -> None:
    assert warnings_of({"UPSTREAM_ZZZZZZZZZZZZ": "1"}) == ["UPSTREAM_ZZZZZZZZZZZZ is not a setting"]


@pytest.mark.parametrize(
    "name",
    ["UPSTREAM_URL", "UPSTREAM_SERVICE_HOST", "UPSTREAM_PORT_8000_TCP_ADDR", "upstream_port"],
)
def test_variables_of_others_are_not_warned_of(name: str) -> None:
    assert warnings_of({name: "x"}) == []


def test_every_setting_is_described() -> None:
    described = list(describe())
    assert [each.variable for each in described] == [
        variable(name) for name in Settings.model_fields
    ]
    for each in described:
        assert each.expected
        assert each.description.endswith(".")


def test_every_default_that_is_shown_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = load_settings()
    for each in describe():
        monkeypatch.setenv(each.variable, each.default)
    assert load_settings() == defaults
