# syntax=docker/dockerfile:1

# The service as an image:
#
#     docker build -t upstream . && docker run --rm -p 127.0.0.1:8000:8000 upstream
#
# It runs without privileges and writes nothing, so `--read-only --cap-drop ALL` is fine. Settings
# are UPSTREAM_* in the environment; arguments go to `python -m api`, such as `--no-demo`.

FROM python:3.11-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build

# What changes rarely comes first: a change of the code does not fetch the packages again.
RUN ["python", "-m", "venv", "--without-pip", "/venv"]
COPY requirements/run.txt requirements/
RUN ["pip", "--python", "/venv/bin/python", "install", "--require-hashes", "-r", "requirements/run.txt"]

COPY pyproject.toml README.md LICENSE ./
COPY upstream upstream
RUN ["pip", "--python", "/venv/bin/python", "install", "--no-deps", "--no-build-isolation", "."]

FROM python:3.11-slim

LABEL org.opencontainers.image.title="UpStream" \
      org.opencontainers.image.description="Keeps the newest update of every key, and serves the keys so that the picture stays fresh" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    UPSTREAM_HOST=0.0.0.0

WORKDIR /app
COPY --from=build /venv /venv
COPY api api
COPY simulator simulator
RUN ["python", "-m", "compileall", "-q", "."]

# By number, so that whoever runs it can tell that it is not root.
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM

# Not through a proxy that the environment may name.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + (os.environ.get('UPSTREAM_PORT') or '8000') + '/readyz', timeout=2)"]

# Without a shell in between, which would keep SIGTERM to itself.
ENTRYPOINT ["python", "-m", "api"]
