# docker build .                  the broker; docker run -p 9092:9092 starts one for localhost:9092
# docker build --target spark .   the same with Java and Spark, for `kafka-shim pipeline`
FROM python:3.13-slim AS wheel
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.13-slim AS spark
RUN apt-get update && apt-get install -y --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[pipeline]" \
    && useradd --system --create-home kafka-shim
USER kafka-shim
ENTRYPOINT ["kafka-shim", "pipeline"]
CMD ["--help"]

FROM python:3.13-slim AS shim
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[control,compression,tls,oauth,capture]" \
    && useradd --system kafka-shim && install -d -o kafka-shim /traces
COPY examples/container.yaml /etc/kafka-shim/
USER kafka-shim
EXPOSE 9092 9093 8082
ENTRYPOINT ["kafka-shim"]
CMD ["serve", "--config", "/etc/kafka-shim/container.yaml"]
