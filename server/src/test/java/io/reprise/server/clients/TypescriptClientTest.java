// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.clients;

import java.util.List;

class TypescriptClientTest extends ClientContract {

    private static final String HOME = "../clients/typescript/";

    @Override
    List<String> version() {
        return List.of("node", "-e", "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)");
    }

    @Override
    List<String> partTests() {
        return List.of("node", "--test", HOME + "tests/parts.test.js");
    }

    @Override
    List<String> probe() {
        return List.of("node", HOME + "tests/probe.js");
    }
}
