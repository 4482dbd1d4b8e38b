"""Says from several placements of a key whether a client pins it, leaves it open or rejects it."""

# Asked of one process: this shows round-robin and random placements.
IN_A_ROW = 3
# Asked of so many other processes, once each: this shows sticky placements, and
# Python's hash(), which has another seed in every process.
FRESH_PROCESSES = 3
# So many that placements made at random can't be equal by chance, and prime, so
# that numbers which differ in their high bits only (addresses, as in hash(None))
# differ there too. Always tried, whatever counts were asked for.
PROBE_COUNT = 65521


def tried_counts(counts):
    return counts if PROBE_COUNT in counts else [*counts, PROBE_COUNT]


def judge(outcomes, counts):
    """The fields of a row that say where the key goes.

    `outcomes` has for every tried count the placements: those made in a row,
    then those of the fresh processes. A string among them is the message of a
    client that refused.
    """
    everything = [one for some in outcomes.values() for one in some]
    refused = [one for one in everything if isinstance(one, str)]
    if refused and len(refused) < len(everything):
        raise ValueError(f"refused at some counts or times only: {refused[0]}")
    if refused:
        return {"partitions": None, "outcome": "rejected", "detail": refused[0]}
    for count, some in outcomes.items():
        for partition in some:
            if not 0 <= partition < count:
                raise ValueError(f"partition {partition} of {count}: out of range")
    unstable = [count for count, some in outcomes.items() if len(set(some)) > 1]
    if not unstable:
        return {"partitions": {str(count): outcomes[count][0] for count in counts}}
    if PROBE_COUNT not in unstable:
        raise ValueError(
            f"placements differ at {unstable} partitions but not at {PROBE_COUNT}: neither pinned nor random"
        )
    return {"partitions": None, "outcome": "unpinned", "detail": describe(outcomes[PROBE_COUNT])}


def describe(placements):
    row, fresh = placements[:IN_A_ROW], placements[IN_A_ROW:]
    if len(set(row)) == 1:
        return "same in one process, differs between processes"
    if set(fresh) == {row[0]}:
        return "differs call by call, in the same way in every process"
    return "differs call by call and between processes"
