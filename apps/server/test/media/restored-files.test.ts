/**
 * A restored copy that is given the object store of the database that it was copied from.
 */
import { assert, it } from "@effect/vitest"
import { Behaviour } from "@wac/sandbox"
import * as DatabaseTemplate from "@wac/testbed/DatabaseTemplate"
import * as S3Server from "@wac/testbed/S3Server"
import { Effect } from "effect"
import { until } from "../checks.ts"
import { resultOf, wac } from "../commandLine.ts"
import { call, hello, ready, send, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"
import { png, upload } from "./files.ts"

interface Row {
  readonly id: string
  readonly state: string
}

it.live("a restored copy neither deletes nor downloads files of a shared object store until its queue is released", () =>
  Effect.gen(function*() {
    const store = yield* Effect.acquireRelease(
      Effect.promise(() => S3Server.start()),
      ({ stop }) => Effect.promise(stop)
    )
    const server = yield* postgres
    const database = yield* freshDatabase(server)
    const copy = `${database}_copy`
    const environment = {
      DATABASE_URL: database,
      WAC_MASTER_KEY: masterKey(),
      MEDIA_STORE: `s3://${store.bucket}/wac`,
      AWS_ENDPOINT_URL: store.endpoint,
      AWS_ACCESS_KEY_ID: "an-id",
      AWS_SECRET_ACCESS_KEY: "a-secret"
    }
    const restored = { ...environment, DATABASE_URL: copy, WAC_RESTORED: "true" }
    const objects = Effect.promise(store.keys)
    const files = (of: string) => sql<Row>(of, "select id, state from wac.media order by id")
    const { picturing } = Behaviour.numbers

    // an upload in progress, a stored file, and a customer's file
    yield* Effect.scoped(Effect.gen(function*() {
      const { key, url } = yield* ready({ environment })
      const own = { url, authorization: `Bearer ${key.apiKey}` }
      for (const filename of ["broken.png", "used.png"]) {
        assert.strictEqual((yield* upload(own, { bytes: png, filename })).status, 201)
      }
      assert.strictEqual((yield* send({ url, key }, hello(picturing))).status, 200)
      // the object is there before the download has ended
      yield* until(files(database), (rows) => rows.filter(({ state }) => state === "stored").length === 3)
    }))
    const [broken, used, picture] = (yield* files(database)).map(({ id }) => id)
    const name = new URL(database).pathname.slice(1)
    yield* Effect.acquireRelease(
      sql(server, `create database "${name}_copy" template "${name}"`),
      () => Effect.promise(() => DatabaseTemplate.remove(server, `${name}_copy`))
    )
    // as half an hour after the backup, and before the customer's file was downloaded
    yield* sql(
      copy,
      `update wac.media set due_at = 0, state = case when id = '${broken}' then 'uploading' else state end
      where id in ('${broken}', '${used}')`
    )
    yield* sql(
      copy,
      `update wac.media set state = 'awaited', fetch_at = 0, lease_until = null, awaited = json_build_object(
        'id', id, 'workspaceId', workspace_id, 'phoneNumberId', phone_number_id, 'providerMediaId', provider_media_id,
        'filename', null, 'sha256', null, 'createdAt', (media::json->>'createdAt')::bigint
      ) where id = '${picture}'`
    )

    const kept = (yield* objects).toSorted()
    yield* Effect.scoped(Effect.gen(function*() {
      yield* start({ environment: restored })
      yield* until(files(copy), (rows) => rows.filter(({ state }) => state === "removed").length === 2)
      // its download was tried and given back
      yield* until(
        sql<Row>(copy, `select id, state from wac.media where fetch_at > 0 and lease_until is null`),
        ([row]) => row?.state === "awaited"
      )
      assert.deepStrictEqual((yield* objects).toSorted(), kept)
    }))
    yield* Effect.scoped(Effect.gen(function*() {
      const { key, url } = yield* ready({ environment })
      for (const id of [used, picture]) {
        const file = yield* call(`${url}/v1/media/${id}`, { headers: { authorization: `Bearer ${key.apiKey}` } })
        assert.strictEqual(file.status, 200)
      }
    }))

    assert.include(resultOf(yield* wac(restored)("messages confirm --json")), { released: true })
    yield* start({ environment: { ...restored, WAC_RESTORED: "false" } })
    // the row goes after its object
    const left = yield* until(files(copy), ({ length }) => length === 1)
    assert.deepStrictEqual(left.map(({ id }) => id), [picture])
    assert.lengthOf(yield* objects, 1)
  }).pipe(Effect.scoped))
