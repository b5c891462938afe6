import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;

/** Commands about topics, brokers and settings. */
final class Topics {
    static final Map<String, Driver.Command> COMMANDS = new HashMap<>();

    static {
        COMMANDS.put("create_topics", Topics::create);
        COMMANDS.put("delete_topics", Topics::delete);
        COMMANDS.put("create_partitions", Topics::createPartitions);
        COMMANDS.put("list_topics", Topics::list);
        COMMANDS.put("describe_topics", Topics::describe);
        COMMANDS.put("describe_cluster", Topics::describeCluster);
        COMMANDS.put("describe_configs", Topics::describeConfigs);
        COMMANDS.put("alter_configs", Topics::alterConfigs);
        COMMANDS.put("list_offsets", Topics::listOffsets);
        COMMANDS.put("delete_records", Topics::deleteRecords);
    }

    private Topics() {}

    private static Object create(Client client, JsonNode fields) throws Exception {
        Map<String, String> configs = Driver.pairs(fields, "configs");
        List<NewTopic> topics = new ArrayList<>();
        Driver.pairs(fields, "topics")
                .forEach(
                        (name, count) ->
                                topics.add(
                                        new NewTopic(name, Integer.parseInt(count), (short) 1).configs(configs)));
        return Driver.items(client.admin().createTopics(topics).values());
    }

    private static Object delete(Client client, JsonNode fields) throws Exception {
        return Driver.items(Release.deleteTopics(client.admin(), Driver.texts(fields, "names")));
    }

    private static Object createPartitions(Client client, JsonNode fields) throws Exception {
        Map<String, NewPartitions> wanted = new HashMap<>();
        Driver.pairs(fields, "topics")
                .forEach((name, count) -> wanted.put(name, NewPartitions.increaseTo(Integer.parseInt(count))));
        return Driver.items(client.admin().createPartitions(wanted).values());
    }

    private static Object list(Client client, JsonNode fields) throws Exception {
        return Map.of("topics", client.admin().listTopics().names().get());
    }

    private static Object describe(Client client, JsonNode fields) throws Exception {
        var options =
                new DescribeTopicsOptions().includeAuthorizedOperations(fields.get("operations").asBoolean());
        var found = Release.describeTopics(client.admin(), Driver.texts(fields, "names"), options);
        return Driver.items(found.keySet(), name -> {
            var topic = found.get(name).get();
            Map<String, Object> shown = operations(topic.authorizedOperations());
            shown.put("partitions", topic.partitions().size());
            return shown;
        });
    }

    private static Object describeCluster(Client client, JsonNode fields) throws Exception {
        var options =
                new DescribeClusterOptions()
                        .includeAuthorizedOperations(fields.get("operations").asBoolean());
        var found = client.admin().describeCluster(options);
        Map<String, Object> shown = operations(found.authorizedOperations().get());
        shown.put("brokers", found.nodes().get().stream().map(Node::id).toList());
        return shown;
    }

    /** Returns authorized operations by name; null if the client has none. */
    static Map<String, Object> operations(Set<AclOperation> operations) {
        Map<String, Object> found = new HashMap<>();
        found.put("operations", operations);
        return found;
    }

    private static Map<String, ConfigResource> resources(JsonNode fields) throws Driver.Unsupported {
        ConfigResource.Type type;
        try {
            type = ConfigResource.Type.valueOf(Driver.text(fields, "type").toUpperCase());
        } catch (IllegalArgumentException unknown) {
            throw new Driver.Unsupported();
        }
        Map<String, ConfigResource> found = new TreeMap<>();
        Driver.texts(fields, "names").forEach(name -> found.put(name, new ConfigResource(type, name)));
        return found;
    }

    private static Object describeConfigs(Client client, JsonNode fields) throws Exception {
        Map<String, ConfigResource> resources = resources(fields);
        var found = client.admin().describeConfigs(resources.values()).values();
        return Driver.items(resources.keySet(), name -> {
            Map<String, String> settings = new HashMap<>();
            for (ConfigEntry entry : found.get(resources.get(name)).get().entries()) {
                settings.put(entry.name(), entry.value());
            }
            return Map.of("settings", settings);
        });
    }

    private static Object alterConfigs(Client client, JsonNode fields) throws Exception {
        Map<String, ConfigResource> resources = resources(fields);
        ConfigEntry entry = new ConfigEntry(Driver.text(fields, "setting"), Driver.text(fields, "value"));
        Map<ConfigResource, Collection<AlterConfigOp>> wanted = new HashMap<>();
        for (ConfigResource resource : resources.values()) {
            wanted.put(resource, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET)));
        }
        var done = client.admin().incrementalAlterConfigs(wanted).values();
        return Driver.items(resources.keySet(), name -> done.get(resources.get(name)).get());
    }

    private static Object listOffsets(Client client, JsonNode fields) throws Exception {
        Map<String, TopicPartition> asked = Groups.partitions(Driver.texts(fields, "partitions"));
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        asked.values().forEach(partition -> latest.put(partition, OffsetSpec.latest()));
        var found = client.admin().listOffsets(latest);
        return Driver.items(
                asked.keySet(),
                name -> Map.of("offset", found.partitionResult(asked.get(name)).get().offset()));
    }

    private static Object deleteRecords(Client client, JsonNode fields) throws Exception {
        TopicPartition partition = Groups.partition(fields);
        var before = RecordsToDelete.beforeOffset(fields.get("before").asLong());
        client.admin().deleteRecords(Map.of(partition, before)).all().get();
        return null;
    }
}
