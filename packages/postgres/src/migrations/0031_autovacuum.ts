/**
 * When autovacuum visits the tables that lose their oldest rows by age. A step of the deletion begins at the low end of
 * an index, and reads past the entries of all rows that were deleted since the last visit; by default those may be a
 * fifth of the table (docs/decisions/0048-capacity.md).
 */
const tables = [
  "messages",
  "message_names",
  "conversations",
  "events",
  "deliveries",
  "attempts",
  "requests",
  "inbound_posts",
  "inbound_post_bodies"
]

export const sql = tables.map((table) =>
  `alter table ${table} set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);`
).join("\n")
