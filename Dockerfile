# Serves a folder of files of statistics, read-only (docs/serving.md):
#   docker build --tag mixscope .
#   docker run --read-only --tmpfs /tmp --publish 127.0.0.1:8501:8501 \
#       --volume "$PWD/statistics:/statistics:ro" mixscope --name localhost
FROM python:3.12-slim
ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
WORKDIR /mixscope
COPY requirements.lock ./
RUN pip install --require-hashes -r requirements.lock
COPY . .
RUN pip install --no-deps --no-build-isolation -e . && useradd reader
USER reader
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/ready', timeout=4)"]
ENTRYPOINT ["mixscope", "serve", "/statistics", "--host", "0.0.0.0"]
CMD ["--name", "localhost"]
