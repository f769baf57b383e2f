"""Logs have the right form, go to the right place, and contain nothing that clients sent."""

from __future__ import annotations

import json
import logging
import logging.config
import re
import sys
from collections.abc import Iterator

import pytest

from api.logs import (
    JsonFormatter,
    Repeated,
    TextFormatter,
    configure,
    dict_config,
    traceback_of,
)
from api.settings import Settings

LOGGERS = ("", "api", "uvicorn", "uvicorn.error", "uvicorn.access", "asyncio")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [
        (logger, logger.level, logger.handlers[:], logger.filters[:], logger.propagate)
        for logger in loggers
    ]
    yield
    for logger, level, handlers, filters, propagates in before:
        logger.setLevel(level)
        logger.handlers[:], logger.filters[:], logger.propagate = handlers, filters, propagates


Capture = pytest.CaptureFixture[str]


def events(capsys: Capture) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def json_settings(level: str = "info", *, access_log: bool = False) -> Settings:
    return Settings.model_validate(
        {"log_format": "json", "log_level": level, "access_log": access_log}
    )


def record(event: str, *args: object, name: str = "api.x", **fields: object) -> logging.LogRecord:
    made = logging.makeLogRecord({"name": name, "msg": event, "args": args, "levelname": "INFO"})
    vars(made).update(fields, created=1_800_000_000.25)
    return made


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001  # whichever it is
        return caught


# What a line looks like


def test_json_has_time_level_logger_event_and_fields() -> None:
    line = JsonFormatter().format(record("stream created", stream="trades", keys_known=3))
    assert list(json.loads(line).items()) == [
        ("time", "2027-01-15T08:00:00.250Z"),
        ("level", "info"),
        ("logger", "api.x"),
        ("event", "stream created"),
        ("stream", "trades"),
        ("keys_known", 3),
    ]


def test_text_has_fields_as_pairs() -> None:
    line = TextFormatter().format(record("stream created", stream="trades", why="a b", n=None))
    assert line == (
        '2027-01-15T08:00:00.250Z info     stream created  stream=trades  why="a b"  n=null'
    )


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_an_event_is_one_line_whatever_is_in_it(formatter: logging.Formatter) -> None:
    line = formatter.format(record("a\nb\x1b[31m\u2028c\ud800", field="d\r\ne"))
    assert line.isprintable()
    line.encode()


def test_a_field_cannot_pose_as_the_event() -> None:
    made = record("real", level="forged", n=1)
    vars(made)["event"] = "forged"
    line = JsonFormatter().format(made)
    assert json.loads(line)["event"] == "real"
    assert json.loads(line)["level"] == "info"
    assert json.loads(line)["n"] == 1


def test_only_the_type_is_shown_of_a_field_that_is_not_a_number_text_or_boolean() -> None:
    assert json.loads(JsonFormatter().format(record("x", update={"secret": 1})))["update"] == "dict"


# What must not be in the logs


@pytest.mark.parametrize("name", ["body", "key", "value", "Authorization", "query", "token"])
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_fields_of_these_names_are_hidden(formatter: logging.Formatter, name: str) -> None:
    line = formatter.format(record("x", **{name: "s3cr3t"}))
    assert "s3cr3t" not in line
    assert "hidden" in line


@pytest.mark.parametrize(
    "event",
    [
        "GET /v1/streams/trades/keys/s3cr3t",
        "GET /v1/streams/trades/keys/s3cr3t/with/slashes?json=1 failed",
        'x - "WebSocket /v1/queues/q/socket?keys=s3cr3t" [accepted]',
    ],
)
def test_paths_lose_keys_and_query_strings(event: str) -> None:
    assert "s3cr3t" not in JsonFormatter().format(record("%s", event))


def test_a_question_mark_is_no_query_string() -> None:
    line = JsonFormatter().format(record("did you mean PORT?"))
    assert json.loads(line)["event"] == "did you mean PORT?"


@pytest.mark.parametrize(
    "message",
    [
        "Exception in callback Queue.put('s3cr3t')\nhandle: <Handle Queue.put('s3cr3t')>",
        "Task exception was never retrieved\nfuture: <Task exception=KeyError('s3cr3t')>",
    ],
)
def test_arguments_of_callbacks_are_not_logged(message: str) -> None:
    line = JsonFormatter().format(record(message, name="asyncio"))
    assert "s3cr3t" not in line
    assert "xception" in line


@pytest.mark.parametrize(
    "error", [KeyError("s3cr3t"), ValueError("s3cr3t"), UnicodeEncodeError("a", "s3cr3t", 0, 1, "")]
)
@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_traceback_names_the_exception_but_not_the_data(
    formatter: logging.Formatter, error: Exception
) -> None:
    caught = raised(error)
    line = formatter.format(record("a request failed", exc_info=(type(error), caught, None)))
    # The line of source that raised is shown, as `raise error`; the message is not.
    assert "s3cr3t" not in line
    assert type(error).__name__ in line
    assert "in raised" in line


def test_a_traceback_has_the_messages_of_the_system() -> None:
    error = raised(OSError(98, "Address already in use"))
    assert "".join(traceback_of(error)).endswith("OSError: [Errno 98] Address already in use\n")


def test_a_traceback_tells_causes_first_and_all_of_a_group() -> None:
    cause = KeyError("s3cr3t")
    try:
        try:
            raise cause
        except KeyError as error:
            # Tests that raise between any two lines can leave an exception that is being handled.
            cause.__context__ = None
            raise ExceptionGroup("s3cr3t", [TypeError("told"), ValueError("s3cr3t")]) from error
    except ExceptionGroup as group:
        text = "".join(traceback_of(group))
    assert "s3cr3t" not in text.replace('KeyError("s3cr3t")', "").replace(
        'raise ExceptionGroup("s3cr3t", [TypeError("told"), ValueError("s3cr3t")]) from error', ""
    )
    assert re.findall(r"^(?:  \| )?(\w+(?:Error|Group).*)$", text, re.MULTILINE) == [
        "KeyError",
        "ExceptionGroup",
        "TypeError: told",
        "ValueError",
    ]


def test_a_suppressed_context_is_not_told() -> None:
    try:
        try:
            raise KeyError
        except KeyError:
            raise TypeError("told") from None
    except TypeError as error:
        text = "".join(traceback_of(error))
    assert "KeyError\n" not in text.replace("raise KeyError\n", "")
    assert text.endswith("TypeError: told\n")


def test_exceptions_that_are_each_others_cause_end() -> None:
    one, other = TypeError("one"), TypeError("other")
    one.__cause__, other.__cause__ = other, one
    assert "".join(traceback_of(one)).count("TypeError") == 2


# Where logs go, and which


def test_events_go_to_stderr_as_json(capsys: Capture) -> None:
    configure(json_settings())
    logging.getLogger("api.service").info("started", extra={"port": 8_000})
    (event,) = events(capsys)
    assert (event["event"], event["port"], event["logger"]) == ("started", 8_000, "api.service")


def test_uvicorns_events_are_as_ours_and_come_once(capsys: Capture) -> None:
    configure(json_settings())
    logging.getLogger("uvicorn.error").info(
        "Started server process [%d]", 7, extra={"color_message": "x"}
    )
    (event,) = events(capsys)
    assert event["event"] == "Started server process [7]"
    assert "color_message" not in event


def log_a_request() -> None:
    logging.getLogger("uvicorn.access").info(
        '%s - "%s %s HTTP/%s" %d',
        *("127.0.0.1:5", "GET", "/v1/queues/q/keys/s3cr3t?json=s3cr3t", "1.1", 200),
    )


def log_a_websocket() -> None:
    logger = logging.getLogger("uvicorn.error")
    logger.info('%s - "WebSocket %s" [accepted]', "127.0.0.1:5", "/v1/queues/q/socket?keys=s3cr3t")
    logger.info("connection open")
    logger.info("connection rejected (%d %s)", 403, "Forbidden")
    logger.info("connection closed")


def test_requests_and_connections_are_not_logged_by_default(capsys: Capture) -> None:
    configure(json_settings("debug"))
    log_a_request()
    log_a_websocket()
    assert capsys.readouterr().err == ""


def test_the_access_log_has_no_keys_and_no_query_strings(capsys: Capture) -> None:
    configure(json_settings(access_log=True))
    log_a_request()
    log_a_websocket()
    request, accepted, *others = shown = events(capsys)
    assert "s3cr3t" not in str(shown)
    assert request["event"] == "request"
    assert (request["client"], request["method"]) == ("127.0.0.1:5", "GET")
    assert (request["path"], request["status"]) == ("/v1/queues/q/keys/{key}", 200)
    assert str(accepted["event"]).endswith('/v1/queues/q/socket" [accepted]')
    assert [event["event"] for event in others] == [
        "connection open",
        "connection rejected (403 Forbidden)",
        "connection closed",
    ]


def test_a_websocket_that_fails_is_logged_all_the_same(capsys: Capture) -> None:
    configure(json_settings())
    logging.getLogger("uvicorn.error").error('%s - "WebSocket %s" 500', "127.0.0.1:5", "/x")
    assert len(events(capsys)) == 1


def test_the_debug_level_does_not_apply_to_libraries(capsys: Capture) -> None:
    configure(json_settings("debug"))
    logging.getLogger("uvicorn.error").debug("< TEXT '%s'", "s3cr3t")
    logging.getLogger("websockets.server").debug("s3cr3t")
    logging.getLogger("asyncio").debug("Using selector")
    logging.getLogger("api.push").debug("ours")
    assert [event["event"] for event in events(capsys)] == ["ours"]


@pytest.mark.parametrize("level", ["critical", "error", "warning", "info", "debug"])
def test_nothing_below_the_level_is_logged(capsys: Capture, level: str) -> None:
    configure(json_settings(level))
    for name in ("api", "uvicorn.error", "elsewhere"):
        for each in (10, 20, 30, 40, 50):
            logging.getLogger(name).log(each, "x")
    least = logging.getLevelNamesMapping()[level.upper()]
    numbers = logging.getLevelNamesMapping()
    shown = events(capsys)
    assert all(numbers[str(event["level"]).upper()] >= least for event in shown)
    of_ours = [event for event in shown if event["logger"] == "api"]
    assert len(of_ours) == 6 - least // 10


@pytest.mark.parametrize(("is_terminal", "is_text"), [(True, True), (False, False)])
def test_auto_is_text_on_a_terminal_and_json_elsewhere(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, is_terminal: bool, is_text: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    configure(Settings(log_format="auto"))
    logging.getLogger("api").info("hello")
    assert capsys.readouterr().err.startswith("{") != is_text


def test_a_failing_request_is_one_line_of_json(capsys: Capture) -> None:
    configure(json_settings())
    error = raised(TypeError("told"))
    logging.getLogger("uvicorn.error").error("Exception in ASGI application\n", exc_info=error)
    (event,) = events(capsys)
    assert event["event"] == "Exception in ASGI application"
    assert event["exception"] == "TypeError"
    assert str(event["traceback"]).endswith("TypeError: told\n")


def test_the_configuration_can_be_used_more_than_once(capsys: Capture) -> None:
    configuration = dict_config(json_settings())
    for _ in range(2):
        logging.config.dictConfig(configuration)
    logging.getLogger("api").warning("once")
    assert len(events(capsys)) == 1


# How often


def warned(event: str, at: float, **more: object) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": event, "levelno": logging.WARNING, **more})
    made.created = at
    return made


def test_equal_warnings_are_counted_after_the_first() -> None:
    repeated = Repeated(seconds=10.0)
    assert repeated.filter(warned("bad", 0.0))
    assert not any(repeated.filter(warned("bad", at)) for at in (0.0, 1.0, 9.9))
    assert repeated.filter(warned("other", 1.0))
    next_one = warned("bad", 10.0)
    assert repeated.filter(next_one)
    assert vars(next_one)["repeated"] == 4
    last = warned("bad", 20.0)
    assert repeated.filter(last)
    assert "repeated" not in vars(last)


def test_errors_information_and_tracebacks_are_logged_each_time() -> None:
    repeated = Repeated()
    error = raised(ValueError())
    for _ in range(3):
        assert repeated.filter(warned("bad", 0.0, levelno=logging.ERROR))
        assert repeated.filter(warned("bad", 0.0, levelno=logging.INFO))
        assert repeated.filter(warned("bad", 0.0, exc_info=(ValueError, error, None)))


@pytest.mark.parametrize("name", ["uvicorn.error", "asyncio"])
@pytest.mark.parametrize("access_log", [True, False])
def test_a_library_warns_once(capsys: Capture, name: str, access_log: bool) -> None:
    configure(json_settings(access_log=access_log))
    for _ in range(20):
        logging.getLogger(name).warning("Invalid HTTP request received.")
    assert len(events(capsys)) == 1
