/** The driver with Kafka Streams and Kafka's command-line tools. */
public final class DriverWithTools {
    private DriverWithTools() {}

    public static void main(String[] words) throws Exception {
        Driver.CALLS.put("kafka_acls", KafkaTools::acls);
        Driver.CALLS.put("console_consumer", KafkaTools::consoleConsumer);
        Driver.CALLS.put("console_share_consumer", KafkaTools::consoleShareConsumer);
        Driver.CALLS.put("count_words", WordCount::run);
        Driver.main(words);
    }
}
