package io.github.kafkashim.tck;

import java.net.URLClassLoader;
import java.util.stream.Stream;

/** Loads the classes of a plug-in anew, which have no state yet; it shares those of Kafka with the kit. */
final class PluginLoader extends URLClassLoader {
    PluginLoader() {
        super(((URLClassLoader) PluginLoader.class.getClassLoader()).getURLs(), PluginLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            if (findLoadedClass(name) != null) {
                return findLoadedClass(name);
            }
            if (Stream.of("java", "kafka.", "scala.", "org.apache.", "org.slf4j.").noneMatch(name::startsWith)) {
                try {
                    return findClass(name);
                } catch (ClassNotFoundException elsewhere) {
                    return super.loadClass(name, isResolved);
                }
            }
            return super.loadClass(name, isResolved);
        }
    }
}
