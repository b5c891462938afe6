import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.*;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.function.Function;

/**
 * Reads commands and writes answers, one line of JSON each. Commands are methods, with the names of
 * the contract in Java's form: `createTopics`. An exception in an answer becomes an `error`.
 */
final class Loop {
    static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, MethodHandle> commands = new TreeMap<>();

    /** Returns the result for one of several names, or throws its error. */
    interface Outcome<T> {
        Object of(T name) throws Exception;
    }

    /** The client does not support the command. */
    static final class Unsupported extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** The fields of a command, or of an object in it. */
    static final class Fields {
        private final JsonNode node;

        Fields(JsonNode node) {
            this.node = node;
        }

        boolean has(String name) {
            return node.hasNonNull(name);
        }

        /** Returns a field that is an object; without it, an object without fields. */
        Fields at(String name) {
            return new Fields(node.path(name));
        }

        List<Fields> all(String name) {
            List<Fields> found = new ArrayList<>();
            node.path(name).forEach(row -> found.add(new Fields(row)));
            return found;
        }

        String text(String name) {
            return has(name) ? node.get(name).asText() : null;
        }

        List<String> texts(String name) {
            List<String> found = new ArrayList<>();
            node.path(name).forEach(value -> found.add(value.asText()));
            return found;
        }

        boolean flag(String name) {
            return node.path(name).asBoolean();
        }

        long number(String name) {
            return node.path(name).asLong();
        }

        long nanos(String name) {
            return (long) (node.path(name).asDouble() * 1e9);
        }

        /** Returns a field that is an object of texts or numbers, sorted by name. */
        Map<String, String> pairs(String name) {
            Map<String, String> found = new TreeMap<>();
            Fields at = at(name);
            at.node.fieldNames().forEachRemaining(key -> found.put(key, at.text(key)));
            return found;
        }
    }

    /** Finds commands: the methods of `areas` that take a client and fields. */
    Loop(Class<?> client, Class<?>... areas) throws IllegalAccessException {
        for (Class<?> area : areas) {
            for (Method method : area.getDeclaredMethods()) {
                List<Class<?>> taken = List.of(method.getParameterTypes());
                boolean isPrivate = Modifier.isPrivate(method.getModifiers());
                if (!isPrivate && taken.equals(List.of(client, Fields.class))) {
                    String name = method.getName().replaceAll("([A-Z])", "_$1").toLowerCase();
                    commands.put(name, MethodHandles.lookup().unreflect(method));
                }
            }
        }
    }

    Set<String> commands() {
        return commands.keySet();
    }

    /** Answers commands until standard input ends; `clients` has the open ones by name. */
    void serve(Object hello, Map<String, ?> clients, Function<Throwable, Object> errors)
            throws Throwable {
        JSON.registerModule(new SimpleModule().addSerializer(Throwable.class, new Shown(errors)));
        OutputStream output = new FileOutputStream(FileDescriptor.out);
        PrintStream answers = new PrintStream(output, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // so that other output is not read as an answer
        Reader input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(input);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Fields asked = new Fields(JSON.readTree(line));
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("id", asked.number("id"));
            try {
                Object found = hello;
                if (!asked.text("command").equals("hello")) {
                    MethodHandle command = commands.get(asked.text("command"));
                    if (command == null) {
                        throw new Unsupported();
                    }
                    found = (Object) command.invoke(clients.get(asked.text("client")), asked);
                }
                answer.put("ok", found == null ? Map.of() : found);
            } catch (Unsupported unsupported) {
                answer.put("unsupported", true);
            } catch (Exception error) {
                answer.put("error", error);
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        System.exit(0);
    }

    /** Returns the outcome for each name, an object or an error, as the `items` of an answer. */
    static <T> Map<String, Object> items(Collection<T> names, Outcome<T> outcome)
            throws Unsupported {
        Map<String, Object> found = new TreeMap<>();
        for (T name : names) {
            try {
                Object told = outcome.of(name);
                found.put(name.toString(), told == null ? Map.of() : told);
            } catch (Unsupported unsupported) {
                throw unsupported;
            } catch (Exception error) {
                found.put(name.toString(), error);
            }
        }
        return Map.of("items", found);
    }

    private static final class Shown extends JsonSerializer<Throwable> {
        private final Function<Throwable, Object> errors;

        Shown(Function<Throwable, Object> errors) {
            this.errors = errors;
        }

        @Override
        public void serialize(Throwable error, JsonGenerator out, SerializerProvider types)
                throws IOException {
            out.writeObject(errors.apply(error));
        }
    }
}
