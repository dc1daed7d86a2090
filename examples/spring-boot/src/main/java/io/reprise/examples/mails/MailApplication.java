// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.mails;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The main class as Spring Initializr writes it. */
@SpringBootApplication
public class MailApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(MailApplication.class, arguments);
    }
}
