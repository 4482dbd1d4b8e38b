/* Places keys with librdkafka's own partitioners.
 *
 * usage: place version                       prints librdkafka's version
 *        place PARTITIONER COUNT,... < KEYS  prints a placement row (JSON) per key
 *
 * KEYS has a line per key: id, space, the key in hex; "-" is the null key, "" the empty one.
 *
 * A key with bytes goes to the exported rd_kafka_msg_partitioner_* function. A null or an empty key
 * does not always reach that function: the producer may choose a sticky partition first. So these
 * two are produced, by a real producer to librdkafka's own mock cluster, and the delivery report
 * tells the partition.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdkafka.h"
#include "rdkafka_mock.h"

#define INSTANCES 3 /* fresh producers */
#define REPEATS 3   /* placements in a row on each of them */
#define SAMPLES (INSTANCES * REPEATS)
#define MAX_COUNTS 64
#define FLUSH_MS 120000

typedef int32_t partitioner_fn(const rd_kafka_topic_t *, const void *, size_t, int32_t, void *, void *);

static const struct {
        const char *name;
        partitioner_fn *place;
} partitioners[] = {
    {"consistent", rd_kafka_msg_partitioner_consistent},
    {"consistent_random", rd_kafka_msg_partitioner_consistent_random},
    {"murmur2", rd_kafka_msg_partitioner_murmur2},
    {"murmur2_random", rd_kafka_msg_partitioner_murmur2_random},
    {"fnv1a", rd_kafka_msg_partitioner_fnv1a},
    {"fnv1a_random", rd_kafka_msg_partitioner_fnv1a_random},
    {"random", rd_kafka_msg_partitioner_random},
};

static int32_t counts[MAX_COUNTS];
static size_t count_n;

static rd_kafka_topic_t *topics[INSTANCES][MAX_COUNTS];
static int32_t null_placed[MAX_COUNTS][SAMPLES];
static int32_t empty_placed[MAX_COUNTS][SAMPLES];

static void fail(const char *format, ...) {
        va_list args;
        va_start(args, format);
        fprintf(stderr, "place: ");
        vfprintf(stderr, format, args);
        fprintf(stderr, "\n");
        va_end(args);
        exit(1);
}

static partitioner_fn *find_partitioner(const char *name) {
        for (size_t i = 0; i < sizeof(partitioners) / sizeof(*partitioners); i++)
                if (!strcmp(partitioners[i].name, name))
                        return partitioners[i].place;
        fail("no partitioner named %s", name);
        return NULL;
}

static void read_counts(char *list) {
        for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
                if (count_n == MAX_COUNTS)
                        fail("more than %d counts", MAX_COUNTS);
                counts[count_n++] = (int32_t)strtol(word, NULL, 10);
        }
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque) {
        (void)rk, (void)opaque;
        if (message->err)
                fail("delivery failed: %s", rd_kafka_err2str(message->err));
        *(int32_t *)message->_private = message->partition;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
        char error[512];
        if (rd_kafka_conf_set(conf, name, value, error, sizeof(error)))
                fail("%s: %s", name, error);
}

static rd_kafka_t *new_producer(const char *bootstrap) {
        char error[512];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
        set(conf, "log_level", "3"); /* the mock cluster's owner has no servers, and need not warn of it */
        if (bootstrap)
                set(conf, "bootstrap.servers", bootstrap);
        rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof(error));
        if (!rk)
                fail("no producer: %s", error);
        return rk;
}

static rd_kafka_topic_t *new_topic(rd_kafka_t *rk, int32_t partitions, const char *partitioner) {
        char name[32], error[512];
        snprintf(name, sizeof(name), "t%" PRId32, partitions);
        rd_kafka_topic_conf_t *conf = rd_kafka_topic_conf_new();
        if (rd_kafka_topic_conf_set(conf, "partitioner", partitioner, error, sizeof(error)))
                fail("partitioner: %s", error);
        rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, conf);
        if (!topic)
                fail("no topic handle: %s", rd_kafka_err2str(rd_kafka_last_error()));
        return topic;
}

static void produce(rd_kafka_topic_t *topic, const void *key, int32_t *placed) {
        *placed = -1;
        if (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, NULL, 0, key, 0, placed))
                fail("produce: %s", rd_kafka_err2str(rd_kafka_last_error()));
}

/* Makes the producers and their topic handles, and places the null and the empty key through them. */
static void run_producers(const char *partitioner) {
        rd_kafka_t *owner = new_producer(NULL);
        rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(owner, 1);
        if (!cluster)
                fail("no mock cluster");
        for (size_t c = 0; c < count_n; c++) {
                char name[32];
                snprintf(name, sizeof(name), "t%" PRId32, counts[c]);
                if (rd_kafka_mock_topic_create(cluster, name, counts[c], 1))
                        fail("the mock cluster refuses a topic of %" PRId32 " partitions", counts[c]);
        }
        for (int i = 0; i < INSTANCES; i++) {
                rd_kafka_t *rk = new_producer(rd_kafka_mock_cluster_bootstraps(cluster));
                for (size_t c = 0; c < count_n; c++) {
                        topics[i][c] = new_topic(rk, counts[c], partitioner);
                        for (int r = 0; r < REPEATS; r++)
                                produce(topics[i][c], NULL, &null_placed[c][i * REPEATS + r]);
                        for (int r = 0; r < REPEATS; r++)
                                produce(topics[i][c], "", &empty_placed[c][i * REPEATS + r]);
                }
                if (rd_kafka_flush(rk, FLUSH_MS))
                        fail("not everything was delivered within %d s", FLUSH_MS / 1000);
        }
        for (size_t c = 0; c < count_n; c++)
                for (int s = 0; s < SAMPLES; s++)
                        if (null_placed[c][s] < 0 || empty_placed[c][s] < 0)
                                fail("a record was produced without a delivery report");
}

static size_t decode_hex(const char *hex, unsigned char *bytes, size_t room) {
        size_t length = strlen(hex) / 2;
        if (length > room)
                fail("key of %zu bytes", length);
        for (size_t i = 0; i < length; i++)
                if (sscanf(hex + 2 * i, "%2hhx", &bytes[i]) != 1)
                        fail("not hex: %s", hex);
        return length;
}

static void print_row(const char *id, const char *hex, int32_t placed[MAX_COUNTS][SAMPLES]) {
        if (!strcmp(hex, "-"))
                printf("{\"id\":\"%s\",\"key_hex\":null,", id);
        else
                printf("{\"id\":\"%s\",\"key_hex\":\"%s\",", id, hex);
        for (size_t c = 0; c < count_n; c++)
                for (int s = 1; s < SAMPLES; s++)
                        if (placed[c][s] != placed[c][0]) {
                                printf("\"partitions\":null,\"outcome\":\"unpinned\","
                                       "\"detail\":\"differs between fresh producers\"}\n");
                                return;
                        }
        printf("\"partitions\":{");
        for (size_t c = 0; c < count_n; c++)
                printf("%s\"%" PRId32 "\":%" PRId32, c ? "," : "", counts[c], placed[c][0]);
        printf("}}\n");
}

int main(int argc, char **argv) {
        if (argc == 2 && !strcmp(argv[1], "version")) {
                puts(rd_kafka_version_str());
                return 0;
        }
        if (argc != 3)
                fail("usage: place version | place PARTITIONER COUNT,... < KEYS");
        partitioner_fn *place = find_partitioner(argv[1]);
        read_counts(argv[2]);
        run_producers(argv[1]);

        static char line[1 << 20], hex[1 << 20], id[64];
        static unsigned char key[1 << 19];
        while (fgets(line, sizeof(line), stdin)) {
                hex[0] = '\0';
                if (sscanf(line, "%63s %s", id, hex) < 1)
                        fail("not an id and a key: %s", line);
                if (!strcmp(hex, "-")) {
                        print_row(id, hex, null_placed);
                        continue;
                }
                size_t length = decode_hex(hex, key, sizeof(key));
                if (length == 0) {
                        print_row(id, hex, empty_placed);
                        continue;
                }
                int32_t placed[MAX_COUNTS][SAMPLES];
                for (size_t c = 0; c < count_n; c++)
                        for (int s = 0; s < SAMPLES; s++)
                                placed[c][s] = place(topics[s / REPEATS][c], key, length, counts[c], NULL, NULL);
                print_row(id, hex, placed);
        }
        fflush(stdout);
        /* The operating system frees the producers faster than librdkafka does. */
        _Exit(ferror(stdout) ? 1 : 0);
}
