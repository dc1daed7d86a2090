// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows the API on one page for people: no script, nothing loaded from elsewhere. */
public final class OpenApiPage {

    private static final String STYLE = """
            body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}
            h2{margin-top:2.5rem;border-bottom:1px solid #ccc}h3{margin:1.6rem 0 .2rem;font:600 1rem ui-monospace,monospace}
            h3 b{display:inline-block;min-width:4.5rem}p{margin:.2rem 0}small{color:#666}
            table{border-collapse:collapse;margin:.4rem 0}td{padding:.1rem .8rem .1rem 0;vertical-align:top}
            code{font:14px ui-monospace,monospace}
            """;

    private OpenApiPage() {}

    public static Response response(List<Operation> operations, String version) {
        StringBuilder page = new StringBuilder("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
                + "<title>Reprise HTTP API</title><style>" + STYLE + "</style><h1>Reprise HTTP API</h1><p>Version ");
        page.append(escape(version))
                .append(". For programs: <a href=\"/openapi.json\">/openapi.json</a>. Errors are RFC 9457 problems.");
        Map<String, StringBuilder> sections = new LinkedHashMap<>();
        operations.forEach(
                each -> operation(sections.computeIfAbsent(each.section(), name -> new StringBuilder()), each));
        sections.forEach((name, text) ->
                page.append("<h2>").append(escape(name)).append("</h2>").append(text));
        return Response.text(
                        "text/html; charset=utf-8", page.append("</html>\n").toString())
                .header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
    }

    private static void operation(StringBuilder page, Operation operation) {
        page.append("<h3 id=\"").append(escape(operation.id())).append("\"><b>").append(operation.method());
        page.append("</b>").append(escape(operation.path())).append("</h3><p>").append(escape(operation.summary()));
        Scope scope = operation.scope();
        page.append(". <small>")
                .append(scope == null ? "No key" : "Scope " + scope.text())
                .append("</small></p>");
        page.append("<table>");
        operation
                .parameters()
                .values()
                .forEach(each -> row(
                        page, each.name() + " (" + each.place().name().toLowerCase(Locale.ROOT) + ")", each.about()));
        Schema body = operation.body();
        if (body != null) {
            members(page, body.items == null ? body : body.items);
        }
        operation.replies().forEach((status, reply) -> row(page, Integer.toString(status), reply.about()));
        page.append("</table>");
    }

    private static void members(StringBuilder page, Schema body) {
        if (body.members.isEmpty()) {
            row(page, "body", body.about);
        }
        body.members.forEach(
                (name, member) -> row(page, name + (body.required.contains(name) ? " *" : ""), member.about));
    }

    private static void row(StringBuilder page, String name, @Nullable String about) {
        page.append("<tr><td><code>").append(escape(name)).append("</code><td>");
        page.append(about == null ? "" : escape(about)).append("</tr>");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
