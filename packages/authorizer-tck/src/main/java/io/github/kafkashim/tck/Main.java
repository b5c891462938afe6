package io.github.kafkashim.tck;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the command line, and starts the kit in a class loader with the jars of the plug-in and of its Kafka. */
public final class Main {
    private static final String USAGE = """
            usage: java -jar kafka-authorizer-tck.jar --class NAME --classpath JARS [options]

            Tests a class that implements org.apache.kafka.server.authorizer.Authorizer against the rules of Kafka's
            own authorizers. Exit codes: 0 no rule is broken, 2 wrong usage, 3 a rule is broken or none could be tried.

              --class NAME           the class to test
              --classpath JARS       jars and folders of the plug-in and of its Kafka, separated like a class path;
                                     `libs/*` is all jars of a folder; can be repeated
              --config KEY=VALUE     a setting of the broker, passed to configure; can be repeated
              --release RELEASE      the release of Kafka whose rules count; default: that of kafka-clients in JARS
              --rule NAME            test this rule only; can be repeated
              --zookeeper            start a ZooKeeper from JARS; the setting zookeeper.connect names it
              --acl-command COMMAND  runs before each case to replace the ACLs of a class without createAcls; it reads
                                     them from standard input, one JSON object in a line
              --json FILE            write the report as JSON
              --junit FILE           write the report as JUnit XML
              --list                 print the rules
              --with-broker CLONE    start a real Kafka of the release with the class, and send it the test vectors of
                                     the rules, for what only a broker can show; CLONE is a clone of kafka-shim after
                                     `make install`
            """;
    private static final List<String> FLAGS = List.of("--zookeeper", "--list");
    private static final List<String> WITH_VALUE = List.of(
            "--class", "--classpath", "--config", "--release", "--rule", "--acl-command", "--json", "--junit",
            "--with-broker", "--record");

    private Main() {}

    /** Runs the kit and exits. */
    public static void main(String[] arguments) throws Exception {
        if (List.of(arguments).contains("--help")) {
            System.out.print(USAGE);
            return;
        }
        Map<String, List<String>> options;
        List<URL> jars;
        try {
            options = options(List.of(arguments));
            jars = jars(options.getOrDefault("--classpath", List.of()));
        } catch (IllegalArgumentException error) {
            System.err.println("error: " + error.getMessage() + "; try --help");
            System.exit(2);
            return;
        }
        jars.add(Main.class.getProtectionDomain().getCodeSource().getLocation());
        // left open: the class of the plug-in can load others until the end
        URLClassLoader loader = new URLClassLoader(jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        var run = loader.loadClass("io.github.kafkashim.tck.Runner").getMethod("run", Map.class);
        try {
            System.exit((Integer) run.invoke(null, options));
        } catch (InvocationTargetException failed) {
            failed.getCause().printStackTrace();
            System.exit(1);
        }
    }

    private static Map<String, List<String>> options(List<String> arguments) {
        Map<String, List<String>> options = new LinkedHashMap<>();
        for (int at = 0; at < arguments.size(); at++) {
            String name = arguments.get(at);
            boolean hasValue = WITH_VALUE.contains(name);
            if (!hasValue && !FLAGS.contains(name)) {
                throw new IllegalArgumentException("unknown option " + name);
            }
            if (hasValue && ++at == arguments.size()) {
                throw new IllegalArgumentException(name + " needs a value");
            }
            options.computeIfAbsent(name, each -> new ArrayList<>()).add(hasValue ? arguments.get(at) : "");
        }
        if (!options.containsKey("--class") && !options.containsKey("--list")) {
            throw new IllegalArgumentException("--class is missing");
        }
        return options;
    }

    private static List<URL> jars(List<String> paths) {
        List<URL> jars = new ArrayList<>();
        for (String path : String.join(File.pathSeparator, paths).split(File.pathSeparator)) {
            File file = new File(path.endsWith("*") ? path.substring(0, path.length() - 1) : path);
            File[] files = path.endsWith("*") ? file.listFiles((folder, name) -> name.endsWith(".jar")) : new File[] {file};
            if (files == null || !path.isEmpty() && !file.exists()) {
                throw new IllegalArgumentException("there is no " + path + " (--classpath)");
            }
            for (File each : path.isEmpty() ? new File[0] : files) {
                jars.add(url(each.toURI()));
            }
        }
        return jars;
    }

    private static URL url(URI uri) {
        try {
            return uri.toURL();
        } catch (MalformedURLException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
