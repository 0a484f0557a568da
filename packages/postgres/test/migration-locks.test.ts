/**
 * Migrations run while the previous version serves, so none may hold a lock for longer than a moment that stops reads
 * or writes of a table that already has rows. What takes as long as a table is large belongs into a background task, as
 * `ForgetMessages` does it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as IndexBuild from "../src/IndexBuild.ts"
import * as Migrations from "../src/Migrations.ts"

/** Statements without comments, in lower case and on one line each. Quoted text is emptied. */
const statementsOf = (sql: string): ReadonlyArray<string> =>
  sql.replace(/--[^\n]*/g, "").replace(/'(?:[^']|'')*'/g, "''").toLowerCase().split(";")
    .map((statement) => statement.replace(/\s+/g, " ").trim()).filter((statement) => statement !== "")

const created = (statement: string): string | undefined =>
  /^create table (?:if not exists )?([a-z_]+)/.exec(statement)?.[1]

/** Statements whose duration grows with a table, and the table. */
const slow: ReadonlyArray<readonly [pattern: RegExp, why: string]> = [
  [/^create (?:unique )?index (?:if not exists )?\S+ on ([a-z_]+)/, "reads the table while nobody can write to it"],
  [/^update ([a-z_]+)/, "rewrites rows, and holds their locks until the migration ends"],
  [/^delete from ([a-z_]+)/, "deletes rows, and holds their locks until the migration ends"],
  [/^alter table ([a-z_]+) .*\balter column \S+ (?:set data )?type\b/, "rewrites the table while nobody can read it"],
  [/^alter table ([a-z_]+) .*\bset not null\b/, "reads the table while nobody can read it"],
  [
    /^alter table ([a-z_]+) .*\badd (?:constraint \S+ )?(?:primary key|unique)\b/,
    "reads the table while nobody can read it"
  ],
  [
    /^alter table ([a-z_]+) .*\badd (?:constraint \S+ )?(?:check|foreign key)\b(?!.*\bnot valid\b)/,
    "reads the table while nobody can write to it"
  ],
  [/^alter table ([a-z_]+) .*\badd column .*\bdefault [^,]*\(/, "may rewrite the table while nobody can read it"],
  [/^(?:vacuum full|cluster|reindex)(?: table)? ([a-z_]+)/, "rewrites the table while nobody can read it"]
]

/**
 * Tables that are small in every installation: reading or rewriting them takes a moment. A row of `send_queue` is short,
 * and goes once its message was sent.
 */
const small = new Set([
  "api_keys",
  "campaigns",
  "invitations",
  "members",
  "phone_numbers",
  "send_queue",
  "templates",
  "webhooks",
  "workspaces"
])

/** What is wrong with a migration. */
const wrongs = ({ index, sql }: Pick<Migrations.Migration, "index" | "sql">): ReadonlyArray<string> => {
  const built = [index ?? []].flat().flatMap((index) => statementsOf(IndexBuild.ifMissing(index)))
  const statements = statementsOf(sql).filter((statement) => !built.includes(statement))
  const own = new Set(statements.map(created))
  return statements.flatMap((statement) =>
    slow.flatMap(([pattern, why]) => {
      const table = pattern.exec(statement)?.[1]
      return table === undefined || own.has(table) || small.has(table) ? [] : [`${table}: ${why}`]
    })
  )
}

/** Before the first release nobody has a large table, so these are let pass. No name is added. */
const beforeRelease = new Set(["people", "lists", "kinds", "campaign results"])

describe("migrations beside the previous version", () => {
  it.each(Migrations.all.map((migration) => [migration.name, migration] as const))(
    "the migration %s holds no strong lock for as long as a table is large",
    (name, migration) => {
      if (beforeRelease.has(name)) assert.isNotEmpty(wrongs(migration), `${name} need not be let pass any more`)
      else assert.deepStrictEqual(wrongs(migration), [])
    }
  )

  it.each([
    "create index messages_status on messages (status)",
    "alter table messages add constraint messages_x check (x > 0)",
    "alter table messages add column x text, alter column id type bytea",
    "alter table messages alter column x set not null",
    "alter table messages add column x text default gen_random_uuid()",
    "alter table messages add constraint x foreign key (x) references campaigns",
    "alter table messages add unique (x)",
    "update messages set x = 1",
    "delete from messages where x = 1"
  ])("the check finds: %s", (sql) => {
    assert.lengthOf(wrongs({ sql }), 1)
  })

  it("the check lets an index pass that is built before, and no other", () => {
    const index = { name: "x", table: "messages", definition: "(status)" }
    const sql = IndexBuild.ifMissing(index)
    assert.deepStrictEqual(wrongs({ index, sql }), [])
    assert.deepStrictEqual(wrongs({ index: [index], sql }), [])
    assert.lengthOf(wrongs({ index, sql: `${sql}; create index y on messages (kind)` }), 1)
  })

  it.each([
    "alter table messages add column x text",
    "alter table messages add column x integer not null default 7",
    "alter table messages add constraint messages_x check (x > 0) not valid",
    "create table one (x text); create index one_x on one (x); insert into one values ('update messages;')",
    "drop index messages_list",
    "comment on table messages is 'create index x on messages'"
  ])("the check lets pass: %s", (sql) => {
    assert.deepStrictEqual(wrongs({ sql }), [])
  })
})
