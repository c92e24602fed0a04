/* test_measure.c - the commands that measure a point and its floor, and what becomes of a point.
 *
 * Covered: the arguments for each kind of point; what the floor is asked for, and then instead.
 * Not covered: measuring, which test/sweep_smoke.sh does with the real programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "measure.h"

#include "run_suite.h"

#include <string.h>

static struct sweep_point point;
static struct measure_conditions conditions;

static void begin(void)
{
    point = (struct sweep_point){.cpus = 2,
                                 .method = "register",
                                 .transport = "udp",
                                 .ports = 100,
                                 .window = 50,
                                 .threads = "event",
                                 .workers = 1,
                                 .selector = "epoll",
                                 .listen = 1};
    conditions = (struct measure_conditions){.duration = 5 * VD_SEC,
                                             .warmup = 250 * VD_MSEC,
                                             .repeats = 1,
                                             .base_port = 11000,
                                             .floor = "/bin/floor"};
}

/* The arguments of a command in one line. */
static const char *line_of(const struct child_command *command)
{
    static char line[CHILD_TEXT];
    memcpy(line, command->text, command->used);
    for (size_t i = 0; i + 1 < command->used; i++) {
        line[i] = line[i] == '\0' ? ' ' : line[i];
    }
    return line;
}

static bool point_has(const char *arguments)
{
    struct child_command command;
    measure_point_command(&command, &point, &conditions);
    return strstr(line_of(&command), arguments) != NULL;
}

static void point_is_measured_with_its_options(void)
{
    struct child_command command;
    begin();
    measure_point_command(&command, &point, &conditions);
    CU_ASSERT_STRING_EQUAL(line_of(&command),
                           "testStack --udp --ports 100 --window 50 --threads event "
                           "--duration 5.000 --warmup 0.250 --base-port 11000 --json - "
                           "--selector epoll");
    CU_ASSERT_EQUAL(command.cpus, 2);
}

static void each_dimension_has_its_option(void)
{
    begin();
    strcpy(point.method, "invite");
    CU_ASSERT(point_has(" --invite "));
    strcpy(point.method, "options");
    CU_ASSERT(point_has(" --method OPTIONS"));
    strcpy(point.transport, "tls");
    CU_ASSERT(point_has(" --tls "));
    strcpy(point.threads, "sharded");
    point.workers = 3;
    CU_ASSERT(point_has(" --threads sharded --workers 3 "));
    strcpy(point.selector, "io_uring");
    CU_ASSERT(point_has(" --selector io_uring"));
    point.listen = 0;
    CU_ASSERT(point_has(" --no-listen"));
    conditions.duration = 0;
    conditions.runs = 700;
    CU_ASSERT(point_has(" --runs 700 "));
    conditions.ipv6 = true;
    conditions.bind = "::1";
    CU_ASSERT(point_has(" --ipv6 --bind ::1 "));
}

static void floor_is_asked_for_the_same_first(void)
{
    struct child_command command;
    begin();
    strcpy(point.selector, "poll");
    strcpy(point.threads, "sharded");
    point.workers = 2;
    CU_ASSERT(measure_floor_command(&command, &point, &conditions, 0));
    CU_ASSERT_STRING_EQUAL(command.path, "/bin/floor");
    CU_ASSERT_STRING_EQUAL(line_of(&command),
                           "floor --udp --ports 100 --window 50 --threads sharded --workers 2 "
                           "--duration 5.000 --warmup 0.250 --base-port 11000 --json - "
                           "--selector poll");
    CU_ASSERT(measure_floor_command(&command, &point, &conditions, 1));
    CU_ASSERT_STRING_EQUAL(line_of(&command),
                           "floor --udp --ports 100 --window 50 --threads sharded --workers 2 "
                           "--duration 5.000 --warmup 0.250 --base-port 11000 --json -");
    CU_ASSERT(measure_floor_command(&command, &point, &conditions, 2));
    CU_ASSERT_STRING_EQUAL(line_of(&command),
                           "floor --udp --ports 100 --window 50 --threads event "
                           "--duration 5.000 --warmup 0.250 --base-port 11000 --json -");
    CU_ASSERT_FALSE(measure_floor_command(&command, &point, &conditions, 3));
    CU_ASSERT_EQUAL(command.cpus, 2);
}

static void without_a_floor_there_is_no_rate_and_a_reason(void)
{
    struct measure_floor floor;
    begin();
    conditions.floor = NULL;
    CU_ASSERT_EQUAL(measure_floor(&point, &conditions, &floor), 0);
    CU_ASSERT_FALSE(floor.rate > 0);
    CU_ASSERT(floor.note[0] != '\0');
}

/* The program is true, whose output is nothing at all. */
static void floor_that_prints_nothing_has_no_rate(void)
{
    struct measure_floor floor;
    begin();
    conditions.floor = "/bin/true";
    CU_ASSERT_EQUAL(measure_floor(&point, &conditions, &floor), 0);
    CU_ASSERT_FALSE(floor.rate > 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"point_is_measured_with_its_options", point_is_measured_with_its_options},
        {"each_dimension_has_its_option", each_dimension_has_its_option},
        {"floor_is_asked_for_the_same_first", floor_is_asked_for_the_same_first},
        {"without_a_floor_there_is_no_rate_and_a_reason",
         without_a_floor_there_is_no_rate_and_a_reason},
        {"floor_that_prints_nothing_has_no_rate", floor_that_prints_nothing_has_no_rate},
        CU_TEST_INFO_NULL,
    };
    return run_suite("measure", tests);
}
