package io.github.kafkashim.tck;

import io.github.kafkashim.tck.Kit.CaseResult;
import io.github.kafkashim.tck.Kit.Outcome;
import io.github.kafkashim.tck.Kit.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results of all rules, as a table, JSON and JUnit XML. */
final class Report {
    private static final int SHOWN_CASES = 3;

    private final String title;
    private final Map<Rule, List<CaseResult>> results = new LinkedHashMap<>();

    Report(String title) {
        this.title = title;
    }

    void add(Rule rule, List<CaseResult> cases) {
        results.put(rule, cases);
    }

    /** A rule holds if all of its cases were tried and hold. */
    static Outcome outcome(List<CaseResult> cases) {
        boolean isBroken = cases.stream().anyMatch(each -> each.outcome() == Outcome.BROKEN);
        boolean isHeld = !cases.isEmpty() && cases.stream().allMatch(each -> each.outcome() == Outcome.HELD);
        return isBroken ? Outcome.BROKEN : isHeld ? Outcome.HELD : Outcome.NOT_TRIED;
    }

    long count(Outcome outcome) {
        return results.values().stream().filter(each -> outcome(each) == outcome).count();
    }

    String totals() {
        return title + ": " + count(Outcome.HELD) + " rules hold, " + count(Outcome.BROKEN) + " are broken, "
                + count(Outcome.NOT_TRIED) + " not tried";
    }

    String table() {
        StringBuilder table = new StringBuilder(totals()).append('\n');
        results.forEach((rule, cases) -> {
            Outcome outcome = outcome(cases);
            long held = cases.stream().filter(each -> each.outcome() == Outcome.HELD).count();
            table.append(String.format("%n%-20s %-9s %3d of %3d cases  %s", rule.name(), word(outcome), held, cases.size(), rule.text()));
            details(rule, cases).forEach(each -> table.append("\n    ").append(each));
        });
        return table.append('\n').toString();
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns the first broken cases, and the reasons why cases were not tried. */
    static List<String> details(Rule rule, List<CaseResult> cases) {
        List<String> lines = new ArrayList<>();
        List<CaseResult> broken = cases.stream().filter(each -> each.outcome() == Outcome.BROKEN).toList();
        broken.stream().limit(SHOWN_CASES).forEach(each -> lines.add(each.title() + ": " + each.text()));
        if (broken.size() > SHOWN_CASES) {
            lines.add("and " + (broken.size() - SHOWN_CASES) + " more cases");
        }
        if (outcome(cases) == Outcome.BROKEN) {
            lines.add("source: " + rule.source());
        }
        Map<String, Integer> reasons = new LinkedHashMap<>();
        cases.stream()
                .filter(each -> each.outcome() == Outcome.NOT_TRIED)
                .forEach(each -> reasons.merge(each.text(), 1, Integer::sum));
        reasons.forEach((reason, count) -> lines.add("not tried, " + count + " cases: " + reason));
        if (cases.isEmpty()) {
            lines.add("not tried: this release of Kafka does not have the rule");
        }
        return lines;
    }

    String json() {
        List<Object> rules = new ArrayList<>();
        results.forEach((rule, cases) -> {
            List<Object> rows = new ArrayList<>();
            for (CaseResult each : cases) {
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("case", each.title());
                row.put("result", word(each.outcome()));
                if (each.text() != null) {
                    row.put("text", each.text());
                }
                rows.add(row);
            }
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("rule", rule.name());
            row.put("text", rule.text());
            row.put("source", rule.source());
            row.put("result", word(outcome(cases)));
            row.put("cases", rows);
            rules.add(row);
        });
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("subject", title);
        for (Outcome each : Outcome.values()) {
            report.put(word(each).replace(' ', '_'), count(each));
        }
        report.put("rules", rules);
        return Json.write(report) + "\n";
    }

    String junit() {
        StringBuilder xml = new StringBuilder(String.format(
                "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">%n",
                xml(title), results.size(), count(Outcome.BROKEN), count(Outcome.NOT_TRIED)));
        results.forEach((rule, cases) -> {
            xml.append(String.format("  <testcase classname=\"authorizer\" name=\"%s\">", xml(rule.name())));
            String text = xml(rule.text() + "\n" + String.join("\n", details(rule, cases)));
            switch (outcome(cases)) {
                case BROKEN -> xml.append("<failure message=\"").append(xml(rule.text())).append("\">").append(text).append("</failure>");
                case NOT_TRIED -> xml.append("<skipped message=\"").append(text).append("\"/>");
                default -> { }
            }
            xml.append("</testcase>\n");
        });
        return xml.append("</testsuite>\n").toString();
    }

    private static String xml(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;").replace("\n", "&#10;")
                .replaceAll("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]", "?");
    }
}
