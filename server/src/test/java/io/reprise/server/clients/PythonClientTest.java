// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.clients;

import java.util.List;

class PythonClientTest extends ClientContract {

    private static final String HOME = "../clients/python/";

    @Override
    List<String> version() {
        return List.of("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 9))");
    }

    @Override
    List<String> partTests() {
        return List.of("python3", "-m", "unittest", "discover", HOME + "tests");
    }

    @Override
    List<String> probe() {
        return List.of("python3", HOME + "tests/probe.py");
    }
}
