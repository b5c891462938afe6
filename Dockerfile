FROM python:3.13-slim
COPY . /src
RUN pip install --no-cache-dir '/src[speed]' && rm -rf /src && useradd --system kafka-shim
USER kafka-shim
EXPOSE 9092 9093
ENTRYPOINT ["kafka-shim"]
CMD ["serve", "--listener", "PLAINTEXT://0.0.0.0:9092"]
