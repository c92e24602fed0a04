/* test_connection_table.c - connections by number and by address, and counts of sources.
 *
 * Covered: both tables while they grow, numbers that wrap round, several connections with one
 * address, sources of both families, missing memory. Not covered: who uses them (test_tcp.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "connection.h"
#include "counting_mem.h"
#include "run_suite.h"

enum { COUNT = 3000 };

static struct counting_mem memory;
static struct vd__connection_table table;
static struct vd__stream_endpoint endpoints[2] = {{.id = 1}, {.id = 2}};

static void begin(void)
{
    counting_mem_init(&memory);
    CU_ASSERT_EQUAL_FATAL(vd__connection_table_init(&table, &memory.mem), 0);
}

static void end(void)
{
    vd__connection_table_free(&table);
    CU_ASSERT_TRUE(counting_mem_is_clean(&memory));
}

static struct vd_addr address(unsigned i)
{
    return (struct vd_addr){.family = VD_FAMILY_IP4,
                            .port = (uint16_t)(i * 7),
                            .ip = {192, 0, (uint8_t)(i >> 8), (uint8_t)i}};
}

static bool add(struct vd__connection *connection, unsigned endpoint, const struct vd_addr *remote)
{
    *connection = (struct vd__connection){.endpoint = &endpoints[endpoint], .remote = *remote};
    if (!vd__connection_table_reserve(&table)) {
        return false;
    }
    vd__connection_table_number(&table, connection);
    vd__connection_table_insert(&table, connection);
    return true;
}

static void take_out(struct vd__connection *connection)
{
    vd__connection_table_remove(&table, connection);
    vd__connection_table_forget(&table, connection);
}

static void what_is_in_is_found_by_number_and_by_address(void)
{
    struct vd__connection *connections = calloc(COUNT, sizeof *connections);

    begin();
    CU_ASSERT_PTR_NULL(vd__connection_table_find(&table, 1));
    struct vd_addr none = address(1);
    CU_ASSERT_PTR_NULL(vd__connection_table_find_remote(&table, &endpoints[0], &none));
    for (unsigned i = 0; i < COUNT; i++) {
        struct vd_addr remote = address(i / 2);
        CU_ASSERT_TRUE(add(&connections[i], i % 2, &remote));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct vd_addr remote = address(i / 2);
        CU_ASSERT_PTR_EQUAL(vd__connection_table_find(&table, connections[i].number),
                            &connections[i]);
        CU_ASSERT_PTR_EQUAL(vd__connection_table_find_remote(&table, &endpoints[i % 2], &remote),
                            &connections[i]);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct vd_addr remote = address(i / 2);
        take_out(&connections[i]);
        CU_ASSERT_PTR_NULL(vd__connection_table_find(&table, connections[i].number));
        CU_ASSERT_PTR_NULL(vd__connection_table_find_remote(&table, &endpoints[i % 2], &remote));
    }
    CU_ASSERT_EQUAL(table.number_count, 0);
    CU_ASSERT_EQUAL(table.address_count, 0);
    end();
    free(connections);
}

static void of_several_with_one_address_the_latest_is_found(void)
{
    struct vd__connection connections[3];
    struct vd_addr remote = address(1);
    static struct vd__connection others[500];

    begin();
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(add(&connections[i], 0, &remote));
    }
    /* The order outlives a larger table. */
    for (unsigned i = 0; i < 500; i++) {
        struct vd_addr other = address(i + 2);
        CU_ASSERT_TRUE(add(&others[i], 0, &other));
    }
    for (unsigned i = 3; i-- > 0;) {
        CU_ASSERT_PTR_EQUAL(vd__connection_table_find_remote(&table, &endpoints[0], &remote),
                            &connections[i]);
        vd__connection_table_remove(&table, &connections[i]);
        vd__connection_table_remove(&table, &connections[i]);
    }
    CU_ASSERT_PTR_NULL(vd__connection_table_find_remote(&table, &endpoints[0], &remote));
    end();
}

/* Connections come and go while a few stay for ever; the numbers go round twice. */
static void a_number_names_one_connection_at_a_time(void)
{
    struct vd__connection lasting[40];
    struct vd__connection passing;
    struct vd_addr remote = address(1);

    begin();
    for (unsigned i = 0; i < 20; i++) {
        CU_ASSERT_TRUE(add(&lasting[i], 0, &remote));
    }
    for (int round = 0; round < 2; round++) {
        table.last_number = UINT32_MAX - 10;
        for (unsigned i = 0; i < 10 && round == 0; i++) {
            CU_ASSERT_TRUE(add(&lasting[20 + i], 0, &remote));
        }
        for (unsigned i = 0; i < 100; i++) {
            CU_ASSERT_TRUE(add(&passing, 0, &remote));
            CU_ASSERT_NOT_EQUAL(passing.number, 0);
            CU_ASSERT_PTR_EQUAL(vd__connection_table_find(&table, passing.number), &passing);
            for (unsigned j = 0; j < 30; j++) {
                CU_ASSERT_NOT_EQUAL(lasting[j].number, passing.number);
                CU_ASSERT_PTR_EQUAL(vd__connection_table_find(&table, lasting[j].number),
                                    &lasting[j]);
            }
            take_out(&passing);
        }
    }
    CU_ASSERT_PTR_NULL(vd__connection_table_find(&table, 0));
    end();
}

static void addresses_of_one_port_or_host_fall_into_all_buckets(void)
{
    enum { BUCKETS = 256 };
    unsigned filled[2] = {0};
    bool hit[2][BUCKETS] = {{false}};

    begin();
    for (unsigned i = 0; i < 4 * BUCKETS; i++) {
        struct vd_addr host = {.family = VD_FAMILY_IP4, .port = 5060, .ip = {10, 0, 0, 1}};
        struct vd_addr port = host;
        host.ip[2] = (uint8_t)(i >> 8);
        host.ip[3] = (uint8_t)i;
        port.port = (uint16_t)i;
        hit[0][vd__connection_table_hash(&table, &host, 1) % BUCKETS] = true;
        hit[1][vd__connection_table_hash(&table, &port, 1) % BUCKETS] = true;
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        filled[0] += hit[0][i];
        filled[1] += hit[1][i];
    }
    /* Four in a bucket leave 2 % of them empty on the average. */
    CU_ASSERT(filled[0] > BUCKETS / 2);
    CU_ASSERT(filled[1] > BUCKETS / 2);
    end();
}

static void without_memory_there_is_no_room(void)
{
    struct vd__connection connection;
    struct vd_addr remote = address(1);

    begin();
    for (uint64_t i = 0; i < 2; i++) {
        counting_mem_fail_after(&memory, i);
        CU_ASSERT_FALSE(add(&connection, 0, &remote));
        counting_mem_fail_after(&memory, COUNTING_MEM_NEVER);
    }
    CU_ASSERT_TRUE(add(&connection, 0, &remote));
    end();
}

/* ---- Sources ---- */

static void connections_are_counted_by_source(void)
{
    struct vd__origins origins;
    struct vd__origin *found[COUNT];

    begin();
    vd__origins_init(&origins, &memory.mem, &table);
    for (unsigned i = 0; i < COUNT; i++) {
        /* Ten connections of each source, from different ports. */
        struct vd_addr remote = address(i / 10);
        remote.port = (uint16_t)i;
        found[i] = vd__origin_enter(&origins, &remote);
        CU_ASSERT_PTR_NOT_NULL_FATAL(found[i]);
        CU_ASSERT_EQUAL(found[i]->connections, i % 10 + 1);
    }
    CU_ASSERT_EQUAL(origins.count, COUNT / 10);
    for (unsigned i = 0; i < COUNT - 1; i++) {
        vd__origin_leave(&origins, found[i]);
    }
    CU_ASSERT_EQUAL(origins.count, 1);
    vd__origin_leave(&origins, NULL);
    vd__origins_free(&origins);
    end();
}

/* Whoever has one IPv6 address has 2^64 of them. */
static void an_ip6_source_is_a_network_of_64_bits(void)
{
    struct vd__origins origins;
    struct vd_addr remote = {.family = VD_FAMILY_IP6, .ip = {0x20, 1, 0xd, 0xb8, [15] = 1}};

    begin();
    vd__origins_init(&origins, &memory.mem, &table);
    CU_ASSERT_EQUAL(vd__origin_enter(&origins, &remote)->connections, 1);
    remote.ip[8] = 0xff;
    CU_ASSERT_EQUAL(vd__origin_enter(&origins, &remote)->connections, 2);
    remote.ip[7] = 1;
    CU_ASSERT_EQUAL(vd__origin_enter(&origins, &remote)->connections, 1);
    vd__origins_free(&origins);
    end();
}

static void without_memory_a_source_is_not_entered(void)
{
    struct vd__origins origins;
    struct vd_addr remote = address(1);

    begin();
    vd__origins_init(&origins, &memory.mem, &table);
    for (uint64_t i = 0; i < 2; i++) {
        counting_mem_fail_after(&memory, i);
        CU_ASSERT_PTR_NULL(vd__origin_enter(&origins, &remote));
        counting_mem_fail_after(&memory, COUNTING_MEM_NEVER);
    }
    CU_ASSERT_PTR_NOT_NULL(vd__origin_enter(&origins, &remote));
    vd__origins_free(&origins);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"what is in is found by number and by address",
         what_is_in_is_found_by_number_and_by_address},
        {"of several with one address the latest is found",
         of_several_with_one_address_the_latest_is_found},
        {"a number names one connection at a time", a_number_names_one_connection_at_a_time},
        {"addresses of one port or host fall into all buckets",
         addresses_of_one_port_or_host_fall_into_all_buckets},
        {"without memory there is no room", without_memory_there_is_no_room},
        {"connections are counted by source", connections_are_counted_by_source},
        {"an IPv6 source is a network of 64 bits", an_ip6_source_is_a_network_of_64_bits},
        {"without memory a source is not entered", without_memory_a_source_is_not_entered},
        CU_TEST_INFO_NULL,
    };
    return run_suite("connection_table", tests);
}
