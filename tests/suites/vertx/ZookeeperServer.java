package io.debezium.kafka;

import java.io.File;

/** Stands in for Debezium's embedded ZooKeeper: there is none. */
public class ZookeeperServer {
    private File stateDirectory;

    public ZookeeperServer startup() {
        return this;
    }

    public void shutdown(boolean deleteData) {}

    public String getConnection() {
        return "";
    }

    public ZookeeperServer setPort(int port) {
        return this;
    }

    public int getPort() {
        return 0;
    }

    public ZookeeperServer setStateDirectory(File folder) {
        stateDirectory = folder;
        return this;
    }

    public File getStateDirectory() {
        return stateDirectory;
    }
}
