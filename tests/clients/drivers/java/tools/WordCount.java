import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/** The word count of Kafka Streams: a repartition topic, a changelog, and the counts in a topic. */
final class WordCount {
    private WordCount() {}

    /** Counts `count` words; returns the counts by word. */
    static Object run(Driver.Request request) throws Exception {
        Map<String, Long> counts = new ConcurrentSkipListMap<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        var streams = new KafkaStreams(topology(request, counts).build(), settings(request));
        streams.setUncaughtExceptionHandler(
                error -> {
                    failure.set(error);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
        try {
            streams.start();
            await(counts, request.arguments().get("count").asInt(), failure);
        } finally {
            if (streams.close(Duration.ofSeconds(10))) {
                streams.cleanUp();
            }
        }
        return counts;
    }

    private static StreamsBuilder topology(Driver.Request request, Map<String, Long> counts) {
        var builder = new StreamsBuilder();
        builder.<String, String>stream(request.text("topic"))
                .flatMapValues(line -> List.of(line.split(" ")))
                .groupBy((key, word) -> word)
                .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
                .toStream()
                .peek(counts::put)
                .to(request.text("output"), Produced.with(Serdes.String(), Serdes.Long()));
        return builder;
    }

    private static Properties settings(Driver.Request request) throws Exception {
        Properties settings = new Properties();
        settings.putAll(request.settings());
        settings.put("application.id", request.text("group"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("state.dir", Files.createTempDirectory("streams").toString());
        settings.put("default.key.serde", Serdes.String().getClass());
        settings.put("default.value.serde", Serdes.String().getClass());
        settings.put("commit.interval.ms", 100);
        settings.put("replication.factor", 1);
        if (request.arguments().has("group_protocol")) {
            settings.put("group.protocol", request.text("group_protocol"));
        }
        if (request.arguments().has("guarantee")) {
            settings.put("processing.guarantee", request.text("guarantee"));
        }
        return settings;
    }

    private static void await(
            Map<String, Long> counts, int words, AtomicReference<Throwable> failure)
            throws Exception {
        long deadline = System.nanoTime() + 2 * Connection.DEADLINE_MS * 1_000_000L;
        while (counts.values().stream().mapToLong(Long::longValue).sum() < words) {
            if (failure.get() != null) {
                throw new IllegalStateException(failure.get());
            }
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("counted in time: " + counts);
            }
            Thread.sleep(20);
        }
    }
}
