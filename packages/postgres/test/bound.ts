/**
 * Bounds what a statement may touch, in rows: what takes too long is undone, and would fail at each repetition. A bound
 * in rows does not depend on the machine's speed.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"

/** Makes each statement fail that deletes or updates more rows of one of the tables, also by a cascade. */
export const bound = (most: number, tables: ReadonlyArray<string>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client.unsafe(`create function wac.bound() returns trigger language plpgsql as $$ begin
      if (select count(*) from touched) > ${most} then raise exception 'a statement touches too many rows'; end if;
      return null;
    end $$`)
    for (const table of tables) {
      for (const event of ["delete", "update"]) {
        yield* client.unsafe(`create trigger bound_${event} after ${event} on wac.${table}
          referencing old table as touched for each statement execute function wac.bound()`)
      }
    }
  }))
