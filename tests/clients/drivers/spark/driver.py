"""Runs Spark's Kafka connector for each row of the table of rights; prints outcomes as JSON.

python driver.py JARS SASL_HOST:PORT
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

DEPRECATED = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
ERRORS = {
    "TopicAuthorizationException": "TopicAuthorizationException",
    "Not authorized to access group": "GroupAuthorizationException",  # of a stream: no class
    "Not authorized to access topics": "TopicAuthorizationException",
}


def session(jars: str) -> SparkSession:
    settings = {
        "spark.jars": ",".join(str(path) for path in sorted(Path(jars).glob("*.jar"))),
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    builder = SparkSession.builder.master("local[2]").appName("connector")
    for name, value in settings.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


class Connector:
    """Reads and writes through the connector as one principal."""

    def __init__(self, spark: SparkSession, address: str, user: str) -> None:
        self._spark = spark
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        self._options = {
            "kafka.bootstrap.servers": address,
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": f'{login} username="{user}" password="{user}-secret";',
            "startingOffsets": "earliest",
        }

    def batch(self, topic: str = "spark-in") -> int:
        reader = self._spark.read.format("kafka").options(**self._options)
        return reader.option("subscribe", topic).load().count()

    def stream(self, how: str = "subscribe", what: str = "spark-in", *, old: bool = False) -> int:
        self._spark.conf.set(DEPRECATED, str(old).lower())
        counts = []
        reader = self._spark.readStream.format("kafka").options(**self._options)
        with tempfile.TemporaryDirectory() as folder:
            writer = reader.option(how, what).load().writeStream.trigger(availableNow=True)
            query = (
                writer.foreachBatch(lambda batch, _: counts.append(batch.count()))
                .option("checkpointLocation", folder)
                .start()
            )
            query.awaitTermination()
        return sum(counts)

    def write(self) -> str:
        rows = self._spark.range(3).selectExpr("cast(id as string) as value")
        rows.write.format("kafka").options(**self._options).option("topic", "spark-out").save()
        return "written"


def outcome(what: Callable[[], Any]) -> Any:
    """Return the result, or the name of the authorization error."""
    try:
        return what()
    except (PySparkException, Py4JJavaError) as error:
        named = [name for text, name in ERRORS.items() if text in str(error)]
        return named[0] if named else f"another error: {str(error)[:200]}"


def main() -> None:
    spark = session(sys.argv[1])

    def as_user(user: str) -> Connector:
        return Connector(spark, sys.argv[2], user)

    rows: dict[str, Callable[[], Any]] = {
        "batch read": as_user("reader").batch,
        "stream read": as_user("reader").stream,
        "stream read by pattern": lambda: as_user("reader").stream("subscribePattern", "spark-.*"),
        "read with nothing granted": as_user("nobody").batch,
        "read with describe": as_user("describer").batch,
        "old offset fetching": lambda: as_user("grouped").stream(old=True),
        "old offset fetching without a group": lambda: as_user("reader").stream(old=True),
        "write": as_user("writer").write,
        "write with nothing granted": as_user("nobody").write,
    }
    json.dump({name: outcome(row) for name, row in rows.items()}, sys.stdout)
    spark.stop()


if __name__ == "__main__":
    main()
