package io.debezium.kafka;

import java.io.File;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** Stands in for Debezium's embedded broker: the one at the address in `suite.broker`. */
public class KafkaServer {
    private static final String ADDRESS = System.getProperty("suite.broker");
    private final int id;
    private File stateDirectory;

    public KafkaServer(Supplier<String> zookeeper, int id) {
        this.id = id;
    }

    protected int brokerId() {
        return id;
    }

    public KafkaServer setPort(int port) {
        return this;
    }

    public KafkaServer setProperties(Properties properties) {
        return this;
    }

    public void setStateDirectory(File folder) {
        stateDirectory = folder;
    }

    public File getStateDirectory() {
        return stateDirectory;
    }

    public String getConnection() {
        return ADDRESS;
    }

    public KafkaServer startup() {
        return this;
    }

    public void shutdown(boolean deleteData) {}

    public void deleteData() {}

    public void createTopics(String... names) {
        for (String name : names) {
            createTopic(name, 1, 1);
        }
    }

    public void createTopics(int partitions, int replicas, String... names) {
        for (String name : names) {
            createTopic(name, partitions, replicas);
        }
    }

    public void createTopic(String name, int partitions, int replicas) {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) replicas))).all().get();
        } catch (InterruptedException | ExecutionException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Admin admin() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", ADDRESS);
        return Admin.create(settings);
    }
}
