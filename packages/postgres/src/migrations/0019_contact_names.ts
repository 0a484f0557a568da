/**
 * The index of further names of customers: forms of their number that the provider answered with, and other user ids.
 * Also merges contacts whose number has a national prefix after its country code, such as the 0 in `+44 0…`, into those
 * of the number itself, which is their key from now on.
 */

/** Calling codes of the countries where people write a 0 before the national number, as of this migration. */
const withZero = "20 27 31 32 33 40 41 43 44 46 49 51 53 54 55 57 58 60 61 62 63 64 66 81 82 84 86 90 91 92 " +
  "93 94 95 98 211 212 213 218 231 232 233 234 243 249 250 251 252 254 255 256 260 261 262 " +
  "263 264 265 291 353 355 358 359 370 373 374 377 380 381 382 383 385 386 387 389 421 423 " +
  "508 590 591 593 594 595 596 598 686 850 855 856 880 886 961 962 963 964 966 967 970 971 " +
  "972 976 977 994 995 996"

/** Patterns of a number with a prefix: what is before it and after it is the number. */
const prefixed = [
  `^(\\+(?:${withZero.replaceAll(" ", "|")}))0([1-9][0-9]{6,13})$`,
  "^(\\+1)1([2-9][0-9]{9})$",
  "^(\\+7)8([0-9]{10})$",
  "^(\\+36)06([1-9][0-9]{7,8})$",
  "^(\\+375)8([1-9][0-9]{8})$",
  "^(\\+692)1([1-9][0-9]{6})$",
  "^(\\+993)8([1-9][0-9]{7})$"
]

/** Brazil's ninth digit and Argentina's 9, as in keys. */
const canonical = (key: string): string =>
  `regexp_replace(regexp_replace(
    ${prefixed.reduce((sql, pattern) => `regexp_replace(${sql}, '${pattern}', '\\1\\2')`, key)},
    '^\\+55([1-9][1-9])([6-9][0-9]{7})$', '+55\\19\\2'), '^\\+549([0-9]{10})$', '+54\\1')`

export const sql = `
alter table contacts add column aliases json;
comment on column contacts.aliases is 'Further names of the customer, each in contact_names; null if there is none';
create table contact_names (
  phone_number_id text not null,
  name text not null,
  key text not null,
  primary key (phone_number_id, name),
  foreign key (phone_number_id, key) references contacts (phone_number_id, key) on delete cascade
);
create index contact_names_contact on contact_names (phone_number_id, key);
comment on table contact_names is
  'Leads from a further name of a customer to their contact; its key and its user id are found in contacts';
with moved as (
  delete from contacts c where c.key like '+%' and ${canonical("c.key")} <> c.key
  returning c.*, ${canonical("c.key")} as canonical
)
insert into contacts as c (workspace_id, phone_number_id, key, phone, user_id, is_user_first, known_since,
  last_inbound_at, opted_out, preference_at)
select m.workspace_id, m.phone_number_id, m.canonical, min(m.phone), min(m.user_id), bool_or(m.is_user_first),
  min(m.known_since), max(m.last_inbound_at), bool_or(m.opted_out), max(m.preference_at)
from moved m group by 1, 2, 3
on conflict (phone_number_id, key) do update set user_id = coalesce(c.user_id, excluded.user_id),
  known_since = least(c.known_since, excluded.known_since),
  last_inbound_at = greatest(c.last_inbound_at, excluded.last_inbound_at),
  opted_out = c.opted_out or excluded.opted_out,
  preference_at = greatest(c.preference_at, excluded.preference_at);
`
