/**
 * The fields and the subject of a request, and requests of people.
 */
export const sql = `
alter table requests add column user_id text, add column fields json, add column subject text;
alter table requests add constraint requests_caller check ((api_key_id = '') = (user_id is not null)) not valid;
comment on table requests is 'Requests, for a week: no value of a body, no header values';
comment on column requests.api_key_id is 'Empty: a person made it, which the version before need not know';
comment on column requests.user_id is 'The person who made it; only of requests that were to change something or were refused';
comment on column requests.fields is 'For each known field of the body its name, type and length; null: no JSON was read';
comment on column requests.subject is 'The id of what it made, changed or read';
`
