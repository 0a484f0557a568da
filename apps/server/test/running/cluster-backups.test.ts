/**
 * A backup of a PostgreSQL cluster under Patroni, as the guide makes and restores it with the files of `deploy/`: the
 * cluster goes back to the moment as a whole, with one primary.
 */
import { assert, describe, it } from "@effect/vitest"
import { deployed } from "@wac/testbed/Deployed"
import * as PatroniCluster from "@wac/testbed/PatroniCluster"
import * as Program from "@wac/testbed/Program"
import { Effect } from "effect"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { cluster as clusterOf } from "../cluster.ts"
import * as guide from "../guide.ts"
import { sql } from "../processes.ts"

const needed = Program.needed({
  programs: [...PatroniCluster.programs, "pgbackrest"],
  untested: "backups of PostgreSQL under Patroni, and their restoration",
  install: "apt-get install postgresql patroni etcd-server haproxy pgbackrest"
})

/** What a machine's files and Debian's directories are in the guide. */
const variables = ({ data, name, port, socket }: PatroniCluster.Machine) => ({
  PGDATA: data,
  PGHOST: socket,
  PGPORT: `${port}`,
  PGBACKREST_CONFIG: deployed("pgbackrest/pgbackrest.conf"),
  PGBACKREST_PG1_PATH: data,
  PGBACKREST_PG1_PORT: `${port}`,
  PGBACKREST_PG1_SOCKET_PATH: socket,
  PGBACKREST_REPO1_PATH: join(socket, "repository"),
  PGBACKREST_LOCK_PATH: join(socket, `${name}.lock`),
  PGBACKREST_LOG_PATH: join(socket, `${name}.log`),
  PGBACKREST_SPOOL_PATH: join(socket, `${name}.spool`)
})

const place = "a PostgreSQL cluster with backups"

it("pgbackrest.conf names the data directory that Patroni has", () => {
  const [, data] = /^PATRONI_POSTGRESQL_DATA_DIR=(.*)$/m.exec(readFileSync(deployed("patroni/patroni.env"), "utf8"))!
  assert.include(readFileSync(deployed("pgbackrest/pgbackrest.conf"), "utf8"), `# under Patroni ${data},`)
})

describe("a backup of a cluster", needed, () => {
  it.live("the cluster goes back to a moment of before, with one primary that the others copy", () =>
    Effect.gen(function*() {
      const cluster = yield* clusterOf(2, variables)
      const [archive] = yield* guide.blocks("backups.md", place)
      const [backup] = yield* guide.blocks("backups.md", `${place}, on the primary`)
      const [restore] = yield* guide.blocks("backups.md", `${place}, without Patroni`)
      const machine = (name: string) => cluster.members.find((member) => member.name === name)!
      const follow = (commands: string, name: string, more: Readonly<Record<string, string>> = {}) =>
        guide.run(commands, {
          replaced: [["/etc/patroni/config.yml", deployed("patroni/config.yml")]],
          directory: cluster.members[0]!.socket,
          env: { ...cluster.env, ...variables(machine(name)), ...more },
          asOwner: true
        })
      yield* follow(archive!, "db1")
      const primary = yield* Effect.promise(cluster.whole)
      const standby = primary === "db1" ? "db2" : "db1"
      yield* follow(backup!, primary)
      const database = `postgres://wac:secret@127.0.0.1:${machine(primary).port}/wac`
      yield* sql(database, "create table kept ()")
      // the moment has to be a whole second after the backup
      yield* Effect.sleep("2 seconds")
      const [row] = yield* sql<{ readonly moment: string }>(database, "select clock_timestamp()::text as moment")
      yield* sql(database, "create table gone ()")

      yield* Effect.promise(() => cluster.halt(standby))
      yield* Effect.promise(() => cluster.halt(primary))
      yield* follow(restore!, primary, { MOMENT: row!.moment })
      yield* Effect.promise(() => cluster.resume(primary))
      rmSync(machine(standby).data, { recursive: true })
      yield* Effect.promise(() => cluster.resume(standby))
      assert.strictEqual(yield* Effect.promise(cluster.whole), primary)
      const tables = yield* sql(database, "select tablename from pg_tables where schemaname = 'public'")
      assert.deepStrictEqual(tables, [{ tablename: "kept" }])
      // archiving goes on
      yield* follow("pgbackrest --stanza=wac check && pgbackrest --stanza=wac backup", primary)
    }).pipe(Effect.scoped))
})
