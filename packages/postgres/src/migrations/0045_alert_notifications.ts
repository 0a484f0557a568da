/**
 * Whom nobody has told of an alert's change yet.
 */
export const sql = `
create table alert_notifications (
  workspace_id text not null,
  alert_id text not null,
  change text not null,
  due_at bigint not null,
  primary key (workspace_id, alert_id, change)
);
comment on table alert_notifications is 'Changes of alerts whose notifications are not finished (AlertStep)';
comment on column alert_notifications.change is 'opened or closed';
comment on column alert_notifications.due_at is 'When another process sends them, if the one that began has not finished';
`
