/**
 * SQL for counts that many transactions change. Each count is spread over several rows, so that few transactions wait
 * for each other; readers add the rows up.
 */

/**
 * The number of rows of a count. It must never change: `campaign_tallies` numbers the shards of its variants
 * consecutively.
 */
export const shards = 16

/** The row that a transaction of this session changes. */
export const ownShard = `pg_backend_pid() % ${shards}`
