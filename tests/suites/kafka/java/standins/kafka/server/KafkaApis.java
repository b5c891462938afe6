package kafka.server;

import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.authorizer.Authorizer;
import scala.Option;

/** The parts of a broker's request handlers that harnesses use. */
public class KafkaApis {
    private final BrokerServer broker;

    KafkaApis(BrokerServer broker) {
        this.broker = broker;
    }

    public int brokerId() {
        return broker.config().brokerId();
    }

    public MetadataCache metadataCache() {
        return broker.metadataCache();
    }

    public QuotaFactory.QuotaManagers quotas() {
        return broker.quotaManagers();
    }

    public Option<Plugin<Authorizer>> authorizerPlugin() {
        return broker.authorizerPlugin();
    }

    public String clusterId() {
        return broker.clusterId();
    }

    public boolean isConsumerGroupProtocolEnabled() {
        return broker.config().groupCoordinatorRebalanceProtocols()
            .contains(org.apache.kafka.coordinator.group.Group.GroupType.CONSUMER);
    }
}
