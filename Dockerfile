# docker build .                  the broker
# docker build --target spark .   the same with Java and Spark, for `kafka-shim pipeline`
FROM python:3.13-slim AS source
COPY . /src

FROM python:3.13-slim AS spark
RUN apt-get update && apt-get install -y --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY --from=source /src /src
RUN pip install --no-cache-dir '/src[pipeline]' && rm -rf /src && useradd --system -m kafka-shim
USER kafka-shim
ENTRYPOINT ["kafka-shim", "pipeline"]
CMD ["--help"]

FROM python:3.13-slim AS shim
COPY --from=source /src /src
RUN pip install --no-cache-dir '/src[speed,control,compression]' && rm -rf /src \
    && useradd --system kafka-shim && install -d -o kafka-shim /traces
USER kafka-shim
EXPOSE 9092 9093 8082
ENTRYPOINT ["kafka-shim"]
CMD ["serve", "--listener", "PLAINTEXT://0.0.0.0:9092"]
