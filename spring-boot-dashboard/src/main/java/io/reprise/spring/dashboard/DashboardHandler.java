// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.dashboard;

import io.reprise.server.MountedApi;
import io.reprise.server.http.Caller;
import io.reprise.server.http.LocalCalls;
import io.reprise.server.http.Scope;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.springframework.web.HttpRequestHandler;

/**
 * Serves the page, its files and the API below the path of the dashboard.
 *
 * @param base the path with that of the application, as browsers see it
 */
record DashboardHandler(MountedApi api, SecurityCallers callers, String base) implements HttpRequestHandler {

    /** The place in the page where attributes are added. */
    private static final String ATTRIBUTES = "data-base=";

    @Override
    public void handleRequest(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String uri = request.getRequestURI();
        if (uri.equals(base)) {
            response.sendRedirect(base + "/");
            return;
        }
        if (!uri.startsWith(base + "/")) {
            // The same path in other characters, such as %72 for r.
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        String path = uri.substring(base.length());
        Caller caller = callers.current();
        if (!caller.may(Scope.READ)) {
            response.sendError(
                    HttpServletResponse.SC_FORBIDDEN,
                    "The dashboard needs an authority of reprise.dashboard.authorities");
            return;
        }
        LocalCalls.Call call = new LocalCalls.Call(
                caller,
                request.getMethod(),
                path,
                // After a login Spring Security comes back with "?continue". The page itself takes no parameters.
                path.equals("/") ? null : request.getQueryString(),
                request::getHeader,
                request.getInputStream());
        if (path.equals("/")) {
            page(call, request, response);
        } else {
            api.answer(call, new ServletReply(response, null));
        }
    }

    /** The page is the only answer that differs between callers: it has the token of the caller's session. */
    private void page(LocalCalls.Call call, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        ByteArrayOutputStream page = new ByteArrayOutputStream();
        String attributes = callers.csrfAttributes(request);
        api.answer(call, new ServletReply(response, page));
        String text = page.toString(StandardCharsets.UTF_8);
        int at = text.indexOf(ATTRIBUTES);
        response.getOutputStream()
                .write((at < 0 ? text : text.substring(0, at) + attributes + text.substring(at))
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** Writes to the response, or keeps the body for a change. */
    private record ServletReply(
            HttpServletResponse response,
            @org.jspecify.annotations.Nullable OutputStream kept) implements LocalCalls.Reply {

        @Override
        public void begin(int status, Map<String, String> headers) {
            response.setStatus(status);
            headers.forEach(response::setHeader);
        }

        @Override
        public OutputStream body() throws IOException {
            return kept == null ? response.getOutputStream() : kept;
        }
    }
}
