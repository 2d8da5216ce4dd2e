# The server and the runner of a league; compose.yaml starts both beside PostgreSQL.
#   docker build --tag ludodrome .
FROM debian:bookworm-slim

RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap ca-certificates python3 python3-venv && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/ludodrome
COPY requirements.lock pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY scripts/install scripts/build_hook.py scripts/
COPY src/ src/
COPY docs/ docs/
RUN PYTHON=/usr/bin/python3 scripts/install

RUN useradd --create-home --home-dir /var/lib/ludodrome --uid 10001 ludodrome
USER ludodrome
ENV PATH=/opt/ludodrome/.venv/bin:/usr/bin:/bin LUDODROME_CACHE=/var/lib/ludodrome/cache
VOLUME /var/lib/ludodrome
EXPOSE 8008
CMD ["ludodrome", "serve", "--hosted", "--address", "0.0.0.0", "--port", "8008", "--no-browser"]
