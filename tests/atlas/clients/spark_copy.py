"""Spark's connector copies the records of one topic to another, with Structured Streaming.

python spark_copy.py JARS FOLDER
"""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    jars, folder = sys.argv[1:]
    user, password = os.environ["KAFKA_USER"], os.environ["KAFKA_PASSWORD"]
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    settings = {
        "kafka.bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": f'{module} required username="{user}" password="{password}";',
    }
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars", ",".join(str(path) for path in sorted(Path(jars).glob("*.jar"))))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    source = spark.readStream.format("kafka").options(**settings)
    rows = source.option("subscribe", "orders").option("startingOffsets", "earliest").load()
    sink = rows.select("value").writeStream.format("kafka").options(**settings)
    sink = sink.option("topic", "invoices").option("checkpointLocation", f"{folder}/checkpoints")
    query = sink.trigger(availableNow=True).start()
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
