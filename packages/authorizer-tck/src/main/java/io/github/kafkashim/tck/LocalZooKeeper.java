package io.github.kafkashim.tck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper in this process, from the jars of the plug-in's Kafka. */
final class LocalZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 2000;
    private static final int SESSION_MS = 30_000;

    private final Path folder = Files.createTempDirectory("zookeeper");
    private final ServerCnxnFactory server;
    private final ZooKeeper client;
    private final AtomicInteger cases = new AtomicInteger();

    LocalZooKeeper() throws Exception {
        System.setProperty("zookeeper.forceSync", "no");
        server = ServerCnxnFactory.createFactory(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), TICK_MS));
        client = new ZooKeeper(address(), SESSION_MS, event -> {});
    }

    String address() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    /** Returns an address with a new, empty folder. */
    String emptyFolder() throws Exception {
        String folder = "/case-" + cases.incrementAndGet();
        client.create(folder, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        return address() + folder;
    }

    @Override
    public void close() throws Exception {
        client.close();
        server.shutdown();
        try (var files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(each -> {
                try {
                    Files.delete(each);
                } catch (IOException error) {
                    throw new UncheckedIOException(error);
                }
            });
        }
    }
}
