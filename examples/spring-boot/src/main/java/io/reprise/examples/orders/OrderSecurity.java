// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static org.springframework.security.config.Customizer.withDefaults;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Orders for everybody, the dashboard for those who log in. The users are for those who only want to look. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication
class OrderSecurity {

    // snippet:security
    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.requestMatchers("/reprise/**")
                        .authenticated()
                        .anyRequest()
                        .permitAll())
                .csrf(csrf -> csrf.ignoringRequestMatchers("/orders/**", "/dead-letters/**"))
                .formLogin(withDefaults())
                .httpBasic(withDefaults())
                .build();
    }
    // end

    @Bean
    UserDetailsService users() {
        return new InMemoryUserDetailsManager(
                User.withUsername("operator")
                        .password("{noop}operator")
                        .roles("OPERATOR")
                        .build(),
                User.withUsername("support")
                        .password("{noop}support")
                        .roles("SUPPORT")
                        .build(),
                User.withUsername("customer")
                        .password("{noop}customer")
                        .roles("CUSTOMER")
                        .build());
    }
}
