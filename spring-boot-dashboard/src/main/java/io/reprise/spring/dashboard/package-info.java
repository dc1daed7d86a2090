// SPDX-License-Identifier: Apache-2.0
/**
 * The dashboard at a path of a Spring application. Spring Security says who calls. A caller without a mapped authority
 * sees nothing.
 */
@NullMarked
package io.reprise.spring.dashboard;

import org.jspecify.annotations.NullMarked;
