import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Prints what Kafka's classes say of settings, a line for each fact, with tabs between its parts.
 *
 * <pre>
 * topic|broker|group NAME TYPE DEFAULT VALID
 * dynamic NAME MODE                             (broker settings that clients can change)
 * topic-synonym NAME BROKER_NAME FACTOR         (the strongest first)
 * group-synonym NAME BROKER_NAME
 * </pre>
 */
public final class Settings {
    private Settings() {
    }

    public static void main(String[] args) {
        print("topic", LogConfig.configDefCopy());
        print("broker", kafka.server.KafkaConfig.configDef());
        print("group", GroupConfig.CONFIG_DEF);
        new TreeMap<>(DynamicBrokerConfig.dynamicConfigUpdateModes()).forEach((name, mode) -> line("dynamic", name, mode));
        new TreeMap<>(ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS).forEach((name, synonyms) -> {
            for (ConfigSynonym synonym : synonyms) {
                line("topic-synonym", name, synonym.name(), synonym.converter().apply("1"));
            }
        });
        new TreeMap<>(GroupConfig.ALL_GROUP_CONFIG_SYNONYMS).forEach((name, synonym) ->
            synonym.ifPresent(broker -> line("group-synonym", name, broker)));
    }

    private static void print(String kind, ConfigDef settings) {
        for (Map.Entry<String, ConfigDef.ConfigKey> entry : new TreeMap<>(settings.configKeys()).entrySet()) {
            ConfigDef.ConfigKey key = entry.getValue();
            String value = key.defaultValue == ConfigDef.NO_DEFAULT_VALUE || key.defaultValue == null
                ? "<null>" : ConfigDef.convertToString(key.defaultValue, key.type);
            String valid = key.validator == null ? "" : key.validator.toString();
            line(kind, key.name, key.type.toString(), value, valid);
        }
    }

    private static void line(String... parts) {
        System.out.println(String.join("\t", parts).replace('\n', ' '));
    }
}
