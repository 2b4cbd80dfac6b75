# Three stages: the first builds the wheel with the tools of development, the second installs it beside what it needs,
# the third has only that.
FROM python:3.13-slim AS wheel
WORKDIR /src
COPY requirements.lock pyproject.toml README.md LICENSE CHANGELOG.md app.yaml ./
COPY bot ./bot
COPY rules ./rules
RUN pip install --no-cache-dir --require-hashes -r requirements.lock \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.13-slim AS install
COPY runtime.lock /src/
COPY --from=wheel /wheels /wheels
RUN python -m venv /opt/seamguard \
    && /opt/seamguard/bin/pip install --no-cache-dir --require-hashes -r /src/runtime.lock \
    && /opt/seamguard/bin/pip install --no-cache-dir --no-deps --no-index /wheels/*.whl \
    && /opt/seamguard/bin/python -m compileall -q /opt/seamguard/lib

FROM python:3.13-slim
RUN useradd --system --create-home --home-dir /var/lib/seamguard --shell /usr/sbin/nologin seamguard
COPY --from=install /opt/seamguard /opt/seamguard
ENV PATH=/opt/seamguard/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8080
USER seamguard
WORKDIR /var/lib/seamguard
VOLUME /var/lib/seamguard
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz')"]
# One process that receives and works; DATABASE_URL and `worker` split the two.
CMD ["seamguard", "serve"]
