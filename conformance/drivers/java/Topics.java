import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;

/** Commands about topics, brokers and settings. */
final class Topics {
    private Topics() {}

    static Object createTopics(Client client, Loop.Fields fields) throws Exception {
        Map<String, String> configs = fields.pairs("configs");
        List<NewTopic> wanted = new ArrayList<>();
        fields.pairs("topics").forEach((name, count) -> {
            NewTopic topic = new NewTopic(name, Integer.parseInt(count), (short) 1);
            wanted.add(topic.configs(configs));
        });
        return Driver.items(client.admin().createTopics(wanted).values());
    }

    static Object deleteTopics(Client client, Loop.Fields fields) throws Exception {
        return Driver.items(Release.deleteTopics(client.admin(), fields.texts("names")));
    }

    static Object createPartitions(Client client, Loop.Fields fields) throws Exception {
        Map<String, NewPartitions> wanted = new HashMap<>();
        fields.pairs("topics").forEach((name, count) -> {
            wanted.put(name, NewPartitions.increaseTo(Integer.parseInt(count)));
        });
        return Driver.items(client.admin().createPartitions(wanted).values());
    }

    static Object listTopics(Client client, Loop.Fields fields) throws Exception {
        return Map.of("topics", client.admin().listTopics().names().get());
    }

    static Object describeTopics(Client client, Loop.Fields fields) throws Exception {
        var options = new DescribeTopicsOptions();
        options.includeAuthorizedOperations(fields.flag("operations"));
        var found = Release.describeTopics(client.admin(), fields.texts("names"), options);
        return Loop.items(found.keySet(), name -> {
            var topic = found.get(name).get();
            int count = topic.partitions().size();
            return described(topic.authorizedOperations(), "partitions", count);
        });
    }

    static Object describeCluster(Client client, Loop.Fields fields) throws Exception {
        var options = new DescribeClusterOptions();
        options.includeAuthorizedOperations(fields.flag("operations"));
        var found = client.admin().describeCluster(options);
        var brokers = found.nodes().get().stream().map(Node::id).toList();
        return described(found.authorizedOperations().get(), "brokers", brokers);
    }

    /** Returns authorized operations, null if the client has none, and another field. */
    static Object described(Set<AclOperation> operations, String name, Object value) {
        Map<String, Object> found = new HashMap<>();
        found.put("operations", operations);
        found.put(name, value);
        return found;
    }

    private static Map<String, ConfigResource> resources(Loop.Fields fields)
            throws Loop.Unsupported {
        try {
            var type = ConfigResource.Type.valueOf(fields.text("type").toUpperCase());
            Map<String, ConfigResource> found = new TreeMap<>();
            fields.texts("names").forEach(name -> found.put(name, new ConfigResource(type, name)));
            return found;
        } catch (IllegalArgumentException unknown) {
            throw new Loop.Unsupported();
        }
    }

    static Object describeConfigs(Client client, Loop.Fields fields) throws Exception {
        Map<String, ConfigResource> resources = resources(fields);
        var found = client.admin().describeConfigs(resources.values()).values();
        return Loop.items(resources.keySet(), name -> {
            Map<String, String> settings = new HashMap<>();
            for (ConfigEntry entry : found.get(resources.get(name)).get().entries()) {
                settings.put(entry.name(), entry.value());
            }
            return Map.of("settings", settings);
        });
    }

    static Object alterConfigs(Client client, Loop.Fields fields) throws Exception {
        ConfigEntry entry = new ConfigEntry(fields.text("setting"), fields.text("value"));
        var change = List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
        Map<ConfigResource, Collection<AlterConfigOp>> wanted = new HashMap<>();
        Map<String, ConfigResource> resources = resources(fields);
        resources.values().forEach(resource -> wanted.put(resource, change));
        var done = client.admin().incrementalAlterConfigs(wanted).values();
        return Loop.items(resources.keySet(), name -> done.get(resources.get(name)).get());
    }

    static Object listOffsets(Client client, Loop.Fields fields) throws Exception {
        Map<String, TopicPartition> asked = Driver.partitions(fields);
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        asked.values().forEach(partition -> latest.put(partition, OffsetSpec.latest()));
        var found = client.admin().listOffsets(latest);
        return Loop.items(asked.keySet(), name -> {
            return Map.of("offset", found.partitionResult(asked.get(name)).get().offset());
        });
    }

    static Object deleteRecords(Client client, Loop.Fields fields) throws Exception {
        var before = RecordsToDelete.beforeOffset(fields.number("before"));
        client.admin().deleteRecords(Map.of(Driver.partition(fields), before)).all().get();
        return null;
    }
}
