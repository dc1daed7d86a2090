// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.dashboard.WebFiles;
import io.reprise.dashboard.WebFiles.WebFile;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import java.util.List;
import java.util.Map;

/** Endpoints that serve the dashboard. They need no key: the page shows nothing before its reader has logged in. */
public final class PageEndpoints implements Endpoints {

    private static final String SECTION = "Dashboard";
    private static final String FOLDER = "/ui/";
    private static final String FOR_EVER = "public, max-age=31536000, immutable";

    private final Response page;
    private final Map<String, WebFile> files;

    PageEndpoints(String base) {
        WebFiles web = new WebFiles(base, FOLDER);
        this.files = web.files();
        this.page = Response.text("text/html; charset=utf-8", web.page())
                .header("Content-Security-Policy", web.contentSecurityPolicy())
                .header("Referrer-Policy", "no-referrer")
                .header("Cross-Origin-Opener-Policy", "same-origin");
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/", "page")
                        .section(SECTION)
                        .summary("The dashboard")
                        .forAnyone()
                        .answersAs(200, "a page", "text/html")
                        .does(request -> page),
                Operation.get(FOLDER + "{file}", "pageFile")
                        .section(SECTION)
                        .summary("A file of the dashboard")
                        .forAnyone()
                        .path("file", Schema.text(1, 100), "a name that the page mentions")
                        .header("Accept-Encoding", Schema.text(0, 1_000), "gzip for the compressed form")
                        .answersAs(200, "a script, a style sheet or a picture", "*/*")
                        .does(this::file));
    }

    private Answer file(Request request) {
        WebFile file = files.get(request.path("file"));
        if (file == null) {
            throw Problem.notFound("File '" + request.path("file") + "'");
        }
        String accepted = request.parameter("Accept-Encoding");
        boolean zip = accepted != null && accepted.contains("gzip");
        Response response = Response.bytes(file.contentType(), zip ? file.zipped() : file.content())
                .header("Cache-Control", FOR_EVER)
                .header("Vary", "Accept-Encoding");
        return zip ? response.header("Content-Encoding", "gzip") : response;
    }
}
