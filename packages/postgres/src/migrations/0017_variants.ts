/**
 * Variants of campaigns' templates.
 */
export const sql = `
alter table messages add column variant text;
comment on column messages.variant is 'The variant of its campaign''s template; null if the campaign has none';

alter table campaign_tallies add column variant text not null default '';
comment on column campaign_tallies.variant is 'The variant that they get; empty in a campaign without variants. Each '
  'variant has shards of its own';
`
