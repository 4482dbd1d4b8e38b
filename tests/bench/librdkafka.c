/* What an audit costs with librdkafka's own functions: maps a file of lines, and for each line calls
 * the three keyed partitioners and compares their answers. One thread.
 *
 *   cc -O2 librdkafka.c -lrdkafka -o librdkafka && ./librdkafka FILE PARTITIONS
 */
#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
        struct stat st;
        int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
        if (fd < 0 || fstat(fd, &st) != 0) {
                fprintf(stderr, "usage: librdkafka FILE PARTITIONS\n");
                return 2;
        }
        int n = atoi(argv[2]);
        const char *data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        if (data == MAP_FAILED) {
                perror(argv[1]);
                return 3;
        }
        const char *end = data + st.st_size;
        unsigned long keys = 0, agree = 0;
        for (const char *key = data; key < end;) {
                const char *stop = memchr(key, '\n', end - key);
                if (!stop)
                        stop = end;
                size_t len = stop - key;
                int a = rd_kafka_msg_partitioner_murmur2(NULL, key, len, n, NULL, NULL);
                int b = rd_kafka_msg_partitioner_consistent(NULL, key, len, n, NULL, NULL);
                int c = rd_kafka_msg_partitioner_fnv1a(NULL, key, len, n, NULL, NULL);
                agree += a == b && b == c;
                keys++;
                key = stop + 1;
        }
        printf("%lu of %lu keys agree\n", agree, keys);
        return 0;
}
