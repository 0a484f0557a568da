/**
 * Two migrations, of which the second builds an index on the table of the first.
 */
import type * as IndexBuild from "../src/IndexBuild.ts"
import { ifMissing } from "../src/IndexBuild.ts"
import type * as Migrations from "../src/Migrations.ts"

export const first: Migrations.Migration = {
  name: "first",
  sql:
    "create table one (x integer); comment on table one is 'semicolons; and $$dollars$$'; insert into one values (1);"
}

const index: IndexBuild.Index = { name: "one_x", table: "one", definition: "(x)" }

export const indexed: Migrations.Migration = { name: "indexed", sql: ifMissing(index), index }
