"""The judge of the kill -9 loop finds each kind of damage."""

import unittest

from .history import Acked, Found, number_of, value, violations


def log(*numbers, partition=0):
    return [Found(partition, offset, number) for offset, number in enumerate(numbers)]


class Violations(unittest.TestCase):
    def assert_one(self, text, acked, found, ends):
        wrong = violations(acked, found, ends)
        self.assertTrue(any(text in sentence for sentence in wrong), wrong)

    def test_a_sound_log_has_none(self):
        acked = [Acked(0, 0, 10), Acked(0, 2, 12), Acked(1, 0, 11)]
        found = log(10, 13, 12 + 100) + log(11, partition=1)
        self.assertEqual([], violations([acked[0], acked[2]], found, {0: (0, 3), 1: (0, 1)}))

    def test_an_unacknowledged_record_may_be_there(self):
        self.assertEqual([], violations([], log(1, 2), {0: (0, 2)}))

    def test_loss(self):
        self.assert_one("lost", [Acked(0, 1, 2)], log(1), {0: (0, 1)})

    def test_duplicate(self):
        self.assert_one("more than once", [Acked(0, 0, 1)], log(1, 1), {0: (0, 2)})

    def test_another_offset(self):
        self.assert_one("another offset", [Acked(0, 0, 2)], log(1, 2), {0: (0, 2)})

    def test_disorder(self):
        self.assert_one("out of order", [], log(2, 1), {0: (0, 2)})

    def test_a_gap(self):
        self.assert_one("not dense", [], [Found(0, 0, 1), Found(0, 2, 2)], {0: (0, 3)})

    def test_an_end_that_is_not_there(self):
        self.assert_one("not dense", [], log(1, 2), {0: (0, 3)})

    def test_damage(self):
        whole = value(7, 4)
        self.assertEqual(7, number_of(whole))
        for at in range(len(whole)):
            flipped = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:]
            self.assertIsNone(number_of(flipped))
        self.assertIsNone(number_of(whole[:-1]))
        self.assert_one("damaged", [], log(1, None), {0: (0, 2)})


if __name__ == "__main__":
    unittest.main()
