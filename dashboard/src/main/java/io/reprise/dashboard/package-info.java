// SPDX-License-Identifier: Apache-2.0
/** The files of the dashboard. The page itself is in {@code src/main/web}. */
package io.reprise.dashboard;
