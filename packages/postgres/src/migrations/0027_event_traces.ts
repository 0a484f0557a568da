/**
 * The span that recorded an event, for the spans of its deliveries to link to.
 */
export const sql = `
alter table events add column trace text;
comment on column events.trace is
  'The span that recorded it, as a W3C traceparent; null if no collector got that span';
`
