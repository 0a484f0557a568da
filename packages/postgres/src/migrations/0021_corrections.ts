/**
 * Which quota a message gave back, to spend again if a report corrects its failure.
 */
export const sql = `
alter table messages add column returned_month text;
comment on column messages.returned_month is 'The month whose quota it gave back; null if none, or if it was spent again';
comment on column messages.status is
  'The best status that was reported, in the order sending, unknown, sent, failed, delivered, read (Message.apply)';
comment on column messages.delivery_unknown is
  'Failed because no report confirmed that it was sent; any report is better';
`
