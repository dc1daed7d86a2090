// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.reprise.PayloadCodec;
import io.reprise.jackson.JacksonCodec;
import io.reprise.jackson2.Jackson2Codec;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/** The codec on the JSON mapper of the context: Jackson 3 where there is one, else Jackson 2. */
final class CodecConfiguration {

    private CodecConfiguration() {}

    /** Payloads by Jackson 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({JsonMapper.class, JacksonCodec.class})
    @ConditionalOnBean(type = "tools.jackson.databind.json.JsonMapper")
    @ConditionalOnMissingBean(PayloadCodec.class)
    static class Jackson3 {
        @Bean
        PayloadCodec reprisePayloadCodec(ObjectProvider<JsonMapper> mapper) {
            return new JacksonCodec(
                    mapper.getIfUnique(() -> JacksonCodec.defaults().build()));
        }
    }

    /** Payloads by Jackson 2. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ObjectMapper.class, Jackson2Codec.class})
    @ConditionalOnBean(type = "com.fasterxml.jackson.databind.ObjectMapper")
    @ConditionalOnMissingBean(PayloadCodec.class)
    static class Jackson2 {
        @Bean
        PayloadCodec reprisePayloadCodec(ObjectProvider<ObjectMapper> mapper) {
            return new Jackson2Codec(
                    mapper.getIfUnique(() -> Jackson2Codec.defaults().build()));
        }
    }
}
