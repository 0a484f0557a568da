import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import * as processes from "../processes.ts"

const unavailable = { code: "server_error", reason: "storage_unavailable" } as const

const readiness = (url: string) => call(`${url}/readyz`)

const isReadyAgain = (url: string) => checks.until(readiness(url), ({ status }) => status === 200)

/** A server over a database of its own, whose user has every right that the service needs, and owns nothing. */
const served = Effect.gen(function*() {
  const { url } = yield* processes.ownPostgres
  const database = yield* processes.emptyDatabase(url)
  const env = { DATABASE_URL: database, WAC_MASTER_KEY: processes.masterKey() }
  yield* processes.carryOut(env, "migrate")
  yield* processes.sql(database, "create role sender login password 'sender'")
  yield* processes.sql(database, "grant usage on schema wac to sender")
  yield* processes.sql(database, "grant select, insert, update, delete on all tables in schema wac to sender")
  yield* processes.sql(database, "grant usage, select on all sequences in schema wac to sender")
  const limited = new URL(database)
  limited.username = limited.password = "sender"
  const limitedEnv = { ...env, DATABASE_URL: limited.href }
  const server = yield* processes.start(limitedEnv)
  const { key } = yield* processes.signedIn(server)
  return { postgres: url, database, env: limitedEnv, server: { ...server, key } }
})

describe("a storage that cannot be written", () => {
  it.live(
    "if the user lacks INSERT on one table, callers, /readyz, /status and doctor say so until it is granted",
    () =>
      Effect.gen(function*() {
        const { database, env, server } = yield* served
        const { output, url } = server
        yield* processes.sql(database, "revoke insert on wac.messages from sender")
        for (let i = 0; i < 20; i++) {
          const answer = yield* send(server, hello())
          checks.assertError(answer, 503, unavailable)
          assert.include(answer.text, "storage cannot be written at the moment")
        }
        const ready = yield* readiness(url)
        checks.assertError(ready, 503, unavailable)
        assert.include(
          ready.text,
          "storage cannot be written: the database user lacks a right to a table or a sequence"
        )
        assert.strictEqual((yield* call(`${url}/status`)).status, 503)
        const doctor = yield* processes.carryOut(env, "doctor")
        assert.include(
          doctor.stdout,
          "storage cannot be written: the database user lacks a right to a table or a sequence"
        )
        const told = output.stdout.split("\n").filter((line) => line.includes("permission denied for table messages"))
        assert.lengthOf(told, 1)
        yield* processes.sql(database, "grant insert on wac.messages to sender")
        yield* isReadyAgain(url)
        assert.strictEqual((yield* send(server, hello())).status, 200)
        // a look that fails hides none of the other findings
        yield* processes.sql(database, "revoke select on wac.phone_numbers from sender")
        const blind = yield* processes.carryOut(env, "doctor")
        assert.include(blind.stdout, "lacks rights")
        assert.include(blind.stdout, "WRONG  database: storage could not carry out PhoneNumberStore")
        assert.include(blind.stdout, "provider: the sandbox")
      })
  )

  it.live(
    "a server without requests is not ready while its database is without the schema",
    () =>
      Effect.gen(function*() {
        const { database, env, postgres, server } = yield* served
        const { url } = server
        assert.strictEqual((yield* readiness(url)).status, 200)
        const name = new URL(database).pathname.slice(1)
        yield* processes.sql(postgres, `drop database ${name} with (force)`)
        yield* processes.sql(postgres, `create database ${name} template template0 encoding 'UTF8'`)
        const ready = yield* checks.until(
          readiness(url),
          ({ text }) => text.includes("does not contain the schema")
        )
        checks.assertError(ready, 503, unavailable)
        const answer = yield* send(server, hello())
        checks.assertError(answer, 503, unavailable)
        assert.include(answer.text, "storage cannot be written at the moment")
        const status = yield* call(`${url}/status`)
        assert.strictEqual(status.status, 503)
        assert.deepInclude(status.body, {
          status: "down",
          parts: { requests: "down", deliveries: "down", inbound: "down" }
        })
        const doctor = yield* processes.carryOut(env, "doctor")
        assert.include(
          doctor.stdout,
          "check  database: the database does not contain the schema of this service\n" +
            "       → if it should contain data, check the database's name in DATABASE_URL, or restore the backup"
        )
      })
  )
})
