import random
import unittest

from rule import FRESH_PROCESSES, IN_A_ROW, judge, tried_counts


def placements(start_process, counts):
    """What the processes of a client would answer; start_process() gives a function of the count."""
    outcomes = {count: [] for count in tried_counts(counts)}
    for count, some in outcomes.items():
        one = start_process()
        some += [one(count) for _ in range(IN_A_ROW)]
        some += [start_process()(count) for _ in range(FRESH_PROCESSES)]
    return outcomes


def round_robin():
    state = [-1]

    def place(count):
        state[0] += 1
        return state[0] % count

    return place


def per_process():
    seed = random.getrandbits(64)
    return lambda count: seed % count


class Rule(unittest.TestCase):
    def test_a_function_of_the_key_is_pinned_at_the_counts_asked_for(self):
        outcomes = placements(lambda: lambda count: 7 % count, [1, 5, 12])
        self.assertEqual(judge(outcomes, [1, 5, 12]), {"partitions": {"1": 0, "5": 2, "12": 7}})

    def test_every_kind_of_open_placement_is_unpinned_even_among_one_partition(self):
        for start, detail in (
            (round_robin, "in the same way in every process"),
            (per_process, "same in one process"),
            (lambda: random.randrange, "call by call and between processes"),
        ):
            for counts in ([1], [1, 2], [12], [65536]):
                row = judge(placements(start, counts), counts)
                self.assertEqual((row["partitions"], row["outcome"]), (None, "unpinned"))
                self.assertIn(detail, row["detail"])

    def test_an_exception_is_a_rejection(self):
        row = judge(placements(lambda: lambda count: "ValueError: no key", [12]), [12])
        self.assertEqual(row, {"partitions": None, "outcome": "rejected", "detail": "ValueError: no key"})

    def test_what_is_neither_pinned_nor_open_fails_the_run(self):
        step = iter(range(10**6))
        for place, message in (
            (lambda count: count, "out of range"),
            (lambda count: -1, "out of range"),
            (lambda count: "not five" if count == 5 else 0, "at some counts"),
            (lambda count: next(step) % 5 if count == 5 else 0, "neither pinned nor random"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                judge(placements(lambda: place, [5, 12]), [5, 12])


if __name__ == "__main__":
    unittest.main()
