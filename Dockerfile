# docker build .                  the broker; docker run -p 9092:9092 starts one for localhost:9092
# docker build --target spark .   the same with Java and Spark, for `kafka-shim pipeline`
# The user is a number, so that Kubernetes can see that it is not root (runAsNonRoot).
#
# The base image is pinned by the digest of its list of platforms, packages by requirements/parts (`make lock`). To take a newer
# base image, change tag and digest: docker buildx imagetools inspect python:3.13-slim
ARG BASE=python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS wheel
COPY requirements/parts/build.txt /
RUN pip install --no-cache-dir --require-hashes --requirement /build.txt
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels /src

FROM ${BASE} AS spark
RUN apt-get update && apt-get install -y --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY requirements/parts/spark.txt /
RUN pip install --no-cache-dir --require-hashes --requirement /spark.txt
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir --no-deps /wheels/*.whl \
    && useradd --uid 10001 --create-home kafka-shim
LABEL org.opencontainers.image.title="kafka-shim with Spark" \
      org.opencontainers.image.description="Analysis of kafka-shim's traces on Spark" \
      org.opencontainers.image.source="https://github.com/kafka-shim/kafka-shim" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
ENTRYPOINT ["kafka-shim", "pipeline"]
CMD ["--help"]

FROM ${BASE} AS shim
COPY requirements/parts/image.txt /
RUN pip install --no-cache-dir --require-hashes --requirement /image.txt
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir --no-deps /wheels/*.whl \
    && useradd --uid 10001 --create-home kafka-shim && install -d -o 10001 -g 10001 /traces /data
LABEL org.opencontainers.image.title="kafka-shim" \
      org.opencontainers.image.description="A Kafka broker for tests" \
      org.opencontainers.image.source="https://github.com/kafka-shim/kafka-shim" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY examples/container.yaml /etc/kafka-shim/
USER 10001:10001
EXPOSE 9092 9093
# `serve` writes the file once it answers, and removes it when it stops
ENV KAFKA_SHIM_READY_FILE=/tmp/kafka-shim.ready
HEALTHCHECK --interval=2s --timeout=2s --start-period=10s --retries=15 \
    CMD test -f "$KAFKA_SHIM_READY_FILE"
ENTRYPOINT ["kafka-shim"]
CMD ["serve", "--config", "/etc/kafka-shim/container.yaml"]
