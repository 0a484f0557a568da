/**
 * Counts of durations, of attempts at webhook deliveries and of the arrival of messages.
 */
export const sql = `
create table usage_timings (
  workspace_id text not null,
  kind text not null,
  span integer not null,
  at bigint not null,
  duration_group smallint not null,
  count bigint not null,
  primary key (workspace_id, kind, span, at, duration_group)
);
comment on table usage_timings is 'How long what a workspace did in a span of time took (Timing.Count)';
comment on column usage_timings.kind is 'Timing.kinds';
comment on column usage_timings.span is 'The length of the span in milliseconds (Timing.spans)';
comment on column usage_timings.at is 'The start of the span';
comment on column usage_timings.duration_group is 'Timing.groupOf';
`
