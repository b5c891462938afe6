package io.github.kafkashim.tck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** Reads the file of rules and writes reports: a plug-in's class path may have any library for JSON, or none. */
final class Json {
    private static final Pattern TOKEN = Pattern.compile("[\\[\\]{}]|\"((?:[^\"\\\\]|\\\\.)*)\"|[a-z]+|-?[0-9]+");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(u([0-9a-f]{4})|.)");

    private final Matcher tokens;

    private Json(String text) {
        tokens = TOKEN.matcher(text);
    }

    /** Returns maps, lists, strings, booleans, numbers as Long, and null. */
    static Object read(String text) {
        return new Json(text).next();
    }

    private Object next() {
        tokens.find();
        String token = tokens.group();
        return switch (token) {
            case "[" -> list();
            case "{" -> map();
            case "true", "false" -> Boolean.valueOf(token);
            case "null" -> null;
            default -> token.startsWith("\"") ? string(tokens.group(1)) : isEnd(token) ? tokens : (Object) Long.valueOf(token);
        };
    }

    private static boolean isEnd(String token) {
        return token.equals("]") || token.equals("}");
    }

    /** Returns the elements up to the end, which `next` returns as the tokens themselves. */
    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        for (Object each = next(); each != tokens; each = next()) {
            list.add(each);
        }
        return list;
    }

    private Map<String, Object> map() {
        Map<String, Object> map = new LinkedHashMap<>();
        for (Object key = next(); key != tokens; key = next()) {
            map.put((String) key, next());
        }
        return map;
    }

    private static String string(String text) {
        return ESCAPE.matcher(text).replaceAll(found -> Matcher.quoteReplacement(
                found.group(2) == null ? found.group(1) : String.valueOf((char) Integer.parseInt(found.group(2), 16))));
    }

    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(each -> write(each.getKey()) + ": " + write(each.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof Iterable<?> list) {
            return StreamSupport.stream(list.spliterator(), false).map(Json::write).collect(Collectors.joining(", ", "[", "]"));
        }
        if (!(value instanceof String text)) {
            return String.valueOf(value);
        }
        return text.chars()
                .mapToObj(each -> each < ' ' || each > '~' || each == '"' || each == '\\'
                        ? String.format("\\u%04x", each)
                        : String.valueOf((char) each))
                .collect(Collectors.joining("", "\"", "\""));
    }
}
