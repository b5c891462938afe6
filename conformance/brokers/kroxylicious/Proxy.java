import io.kroxylicious.proxy.KafkaProxy;
import io.kroxylicious.proxy.config.ConfigParser;
import io.kroxylicious.proxy.config.ServiceBasedPluginFactoryRegistry;
import io.kroxylicious.proxy.internal.config.Features;

/** A Kroxylicious proxy without filters: the addresses of two listeners of a broker, two free ports. */
class Proxy {
    private static String cluster(String name, String target, String port) {
        return """
              - name: %s
                targetCluster: {bootstrapServers: "%s"}
                gateways:
                  - name: default
                    portIdentifiesNode: {bootstrapAddress: "127.0.0.1:%s"}
            """.formatted(name, target, port);
    }

    public static void main(String[] args) throws Exception {
        String clusters = cluster("plaintext", args[0], args[2]) + cluster("sasl", args[1], args[3]);
        var configuration = new ConfigParser().parseConfiguration("virtualClusters:\n" + clusters);
        var plugins = new ServiceBasedPluginFactoryRegistry();
        try (var proxy = new KafkaProxy(plugins, configuration, Features.defaultFeatures())) {
            proxy.startup();
            System.out.println("ready");
            proxy.block();
        }
    }
}
