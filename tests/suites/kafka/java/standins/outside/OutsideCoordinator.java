package outside;

import java.lang.reflect.Proxy;
import java.util.Properties;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;

/** The configuration of `__consumer_offsets` that follows from a broker's settings. */
public final class OutsideCoordinator {
    private OutsideCoordinator() { }

    public static GroupCoordinator of(KafkaConfig config) {
        GroupCoordinatorConfig groups = config.groupCoordinatorConfig();
        return (GroupCoordinator) Proxy.newProxyInstance(
            GroupCoordinator.class.getClassLoader(), new Class<?>[] {GroupCoordinator.class}, (proxy, method, given) ->
                switch (method.getName()) {
                    case "groupMetadataTopicConfigs" -> topic(groups);
                    case "partitionFor" -> Utils.abs(given[0].hashCode()) % groups.offsetsTopicPartitions();
                    default -> throw new Inside("GroupCoordinator." + method.getName());
                });
    }

    private static Properties topic(GroupCoordinatorConfig groups) {
        Properties found = new Properties();
        found.setProperty("cleanup.policy", "compact");
        found.setProperty("compression.type", "producer");
        found.setProperty("segment.bytes", Integer.toString(groups.offsetsTopicSegmentBytes()));
        return found;
    }
}
