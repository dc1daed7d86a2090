// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** Loads the JDBC module again from the class path of the tests, as if the driver of PostgreSQL were not on it. */
final class WithoutDriver extends URLClassLoader {

    private final ClassLoader others;

    WithoutDriver(ClassLoader others) throws MalformedURLException {
        super(urls(), null);
        this.others = others;
    }

    private static URL[] urls() throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!path.contains("postgresql-")) {
                urls.add(new File(path).toURI().toURL());
            }
        }
        return urls.toArray(URL[]::new);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.startsWith("org.postgresql.")) {
            throw new ClassNotFoundException(name);
        }
        return name.startsWith("io.reprise.jdbc.") ? super.findClass(name) : others.loadClass(name);
    }
}
