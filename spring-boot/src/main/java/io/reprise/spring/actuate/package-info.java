// SPDX-License-Identifier: Apache-2.0
/**
 * Health, an endpoint and information for Spring Boot Actuator. Nothing here changes a job. Health has one class for each
 * of the two packages that Spring Boot has had for it.
 */
@NullMarked
package io.reprise.spring.actuate;

import org.jspecify.annotations.NullMarked;
