package io.github.kafkashim;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The process of `kafka-shim run`, if there is one, or else one that ends with this JVM. */
final class KafkaShimProcess {
    private static ControlApi control;
    private static Process process; // referenced: when its standard input is closed, it stops

    private KafkaShimProcess() {}

    static synchronized ControlApi control() {
        if (control == null) {
            String url = System.getenv("KAFKA_SHIM_CONTROL_URL");
            control = url == null || url.isEmpty()
                    ? new ControlApi(start(command()), null)
                    : new ControlApi(url, System.getenv("KAFKA_SHIM_CONTROL_TOKEN"));
        }
        return control;
    }

    /** Returns the binary in KAFKA_SHIM_BINARY, else that of the classified jar, else `kafka-shim` on the PATH. */
    static String command() {
        String binary = System.getenv("KAFKA_SHIM_BINARY");
        if (binary != null && !binary.isEmpty()) {
            return binary;
        }
        try (InputStream packed = KafkaShimProcess.class.getResourceAsStream("/kafka-shim/" + platform())) {
            return packed == null ? "kafka-shim" : unpack(packed).toString();
        } catch (IOException error) {
            throw new UncheckedIOException("cannot unpack the binary of kafka-shim", error);
        }
    }

    /** Returns the classifier of the jar for this machine, named as os-maven-plugin does: linux-x86_64, osx-aarch_64. */
    static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String name = os.startsWith("windows") ? "windows" : os.startsWith("mac") ? "osx" : "linux";
        return name + (System.getProperty("os.arch").equals("aarch64") ? "-aarch_64" : "-x86_64");
    }

    private static Path unpack(InputStream packed) throws IOException {
        Path binary = Files.createTempDirectory("kafka-shim").resolve("kafka-shim.exe"); // Windows needs the suffix
        Files.copy(packed, binary);
        binary.toFile().setExecutable(true);
        binary.getParent().toFile().deleteOnExit();
        binary.toFile().deleteOnExit(); // before its folder: in the opposite order
        return binary;
    }

    /** Starts a process, waits until it is ready, and returns the URL of its control API. */
    static String start(String command) {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                command, "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
                "--control", "127.0.0.1:0", "--log-level", "warn", "--stop-with-stdin"));
        // settings of brokers in the environment, such as KAFKA_NUM_PARTITIONS, are for other brokers
        builder.environment().keySet().removeIf(name -> name.startsWith("KAFKA_"));
        try {
            process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
            return urlWhenReady(process.inputReader(), command);
        } catch (IOException error) {
            String advice = "; add the dependency kafka-shim-junit5 with the classifier %s, or set KAFKA_SHIM_BINARY";
            throw new UncheckedIOException(error.getMessage() + advice.formatted(platform()), error);
        }
    }

    private static String urlWhenReady(BufferedReader output, String command) throws IOException {
        String url = null;
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("control on ")) {
                url = line.substring("control on ".length());
            } else if (line.startsWith("[KafkaServer")) {
                return url;
            }
        }
        throw new IOException(command + " ended before it was ready");
    }
}
