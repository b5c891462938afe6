package kafka.network;

import java.net.InetAddress;
import java.util.function.ToIntFunction;
import org.apache.kafka.common.network.ListenerName;
import outside.Inside;

/** The ports of a node in another process. */
public class SocketServer {
    private final ToIntFunction<ListenerName> ports;

    public SocketServer(ToIntFunction<ListenerName> ports) {
        this.ports = ports;
    }

    public int boundPort(ListenerName listener) {
        return ports.applyAsInt(listener);
    }

    public int connectionCount(InetAddress address) {
        throw new Inside("connectionCount");
    }

    public ConnectionQuotas connectionQuotas() {
        throw new Inside("connectionQuotas");
    }
}
