/**
 * Counts that many transactions change: each has several rows, so that few transactions wait for each other. Readers
 * add them up.
 */

/** How many rows share a count. Never another number: `campaign_tallies` has the shards of each variant in a row. */
export const shards = 16

/** The row that a transaction of this session changes. */
export const ownShard = `pg_backend_pid() % ${shards}`
